// OpenCL buffers: reads, writes, copies and fills, of rectangles too; mapped and on the host's memory; sub-buffers.
#include "opencl.h"

namespace {

using opencl::Buffer;
using opencl::Gpu;

std::vector<int> ramp(size_t count, int start = 0) {
  std::vector<int> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = start + static_cast<int>(i);
  return values;
}

void check_copies(const Gpu& gpu) {
  const Buffer from = gpu.buffer(ramp(1000)), to = gpu.buffer(4000);
  const int pattern[2] = {-7, 8};
  CL(clEnqueueFillBuffer(gpu.queue(), to, pattern, sizeof pattern, 0, 4000, 0, nullptr, nullptr));
  CL(clEnqueueCopyBuffer(gpu.queue(), from, to, 400, 1204, 800, 0, nullptr, nullptr));
  const int written[3] = {11, 12, 13};
  CL(clEnqueueWriteBuffer(gpu.queue(), to, CL_FALSE, 3988, sizeof written, written, 0, nullptr, nullptr));
  std::vector<int> want(1000);
  for (int i = 0; i < 1000; ++i) want[i] = i % 2 == 0 ? -7 : 8;
  for (int i = 0; i < 200; ++i) want[301 + i] = 100 + i;
  for (int i = 0; i < 3; ++i) want[997 + i] = written[i];
  check::equal("copied and filled", gpu.read<int>(to, 1000), want);
}

// A box of 7 by 5 by 3 out of volumes of other pitches.
void check_rectangles(const Gpu& gpu) {
  constexpr size_t width = 20, height = 10, depth = 6;
  const std::vector<int> volume = ramp(width * height * depth);
  const Buffer from = gpu.buffer(volume), to = gpu.buffer(ramp(volume.size(), 100'000));
  const size_t source[] = {3 * 4, 2, 1}, target[] = {8 * 4, 4, 2}, origin[] = {0, 0, 0}, region[] = {7 * 4, 5, 3};
  CL(clEnqueueCopyBufferRect(gpu.queue(), from, to, source, target, region, width * 4, width * height * 4, width * 4,
                             width * height * 4, 0, nullptr, nullptr));
  std::vector<int> box(7 * 5 * 3);
  CL(clEnqueueReadBufferRect(gpu.queue(), to, CL_TRUE, target, origin, region, width * 4, width * height * 4, 0, 0,
                             box.data(), 0, nullptr, nullptr));
  std::vector<int> want_box, want = ramp(volume.size(), 100'000);
  for (size_t z = 0; z < 3; ++z) {
    for (size_t y = 0; y < 5; ++y) {
      for (size_t x = 0; x < 7; ++x) {
        const int value = volume[((z + 1) * height + y + 2) * width + x + 3];
        want_box.push_back(value);
        want[((z + 2) * height + y + 4) * width + x + 8] = value;
      }
    }
  }
  check::equal("the box", box, want_box);
  check::equal("the volume around it", gpu.read<int>(to, volume.size()), want);
  for (int& value : box) value = -value;
  CL(clEnqueueWriteBufferRect(gpu.queue(), from, CL_TRUE, source, origin, region, width * 4, width * height * 4, 0, 0,
                              box.data(), 0, nullptr, nullptr));
  want = volume;
  for (size_t z = 0; z < 3; ++z) {
    for (size_t y = 0; y < 5; ++y) {
      for (size_t x = 0; x < 7; ++x) want[((z + 1) * height + y + 2) * width + x + 3] *= -1;
    }
  }
  check::equal("the box written", gpu.read<int>(from, volume.size()), want);
}

void check_mapping(const Gpu& gpu) {
  for (const cl_mem_flags flags : {cl_mem_flags{0}, cl_mem_flags{CL_MEM_ALLOC_HOST_PTR}}) {
    const Buffer buffer = gpu.buffer(4000, CL_MEM_READ_WRITE | flags);
    auto* mapped = static_cast<int*>(CL_NEW(clEnqueueMapBuffer(
        gpu.queue(), buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 4000, 0, nullptr, nullptr, &status)));
    for (int i = 0; i < 1000; ++i) mapped[i] = 5 * i;
    CL(clEnqueueUnmapMemObject(gpu.queue(), buffer, mapped, 0, nullptr, nullptr));
    mapped = static_cast<int*>(CL_NEW(clEnqueueMapBuffer(gpu.queue(), buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 400,
                                                         40, 0, nullptr, nullptr, &status)));
    EXPECT(mapped[0] == 500 && mapped[9] == 545);
    mapped[3] = 1;
    CL(clEnqueueUnmapMemObject(gpu.queue(), buffer, mapped, 0, nullptr, nullptr));
    std::vector<int> want(1000);
    for (int i = 0; i < 1000; ++i) want[i] = 5 * i;
    want[103] = 1;
    check::equal("mapped", gpu.read<int>(buffer, 1000), want);
  }
}

// The buffer is the program's own array, up to date whenever it is mapped.
void check_host_memory(const Gpu& gpu, cl_program program) {
  std::vector<int> values = ramp(3000);
  const Buffer buffer = gpu.buffer(12'000, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, values.data());
  const opencl::Kernel kernel = opencl::kernel(program, "add");
  opencl::set_arguments(kernel, 0, buffer, 1000);
  opencl::launch(gpu.queue(), kernel, 3000);
  void* mapped =
      CL_NEW(clEnqueueMapBuffer(gpu.queue(), buffer, CL_TRUE, CL_MAP_READ, 0, 12'000, 0, nullptr, nullptr, &status));
  EXPECT(mapped == values.data());
  check::equal("the host's memory", values, ramp(3000, 1000));
  CL(clEnqueueUnmapMemObject(gpu.queue(), buffer, mapped, 0, nullptr, nullptr));
  CL(clFinish(gpu.queue()));
}

void check_parts(const Gpu& gpu, cl_program program) {
  const Buffer whole = gpu.buffer(ramp(4096));
  const size_t align = gpu.info<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  const cl_buffer_region region = {align, 1024};
  const Buffer part =
      CL_NEW(clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
  const opencl::Kernel kernel = opencl::kernel(program, "add");
  opencl::set_arguments(kernel, 0, part, 50);
  opencl::launch(gpu.queue(), kernel, 256);
  CL(clFinish(gpu.queue()));
  std::vector<int> want = ramp(4096);
  for (size_t i = 0; i < 256; ++i) want[align / 4 + i] += 50;
  check::equal("a part", gpu.read<int>(part, 256),
               {want.begin() + static_cast<long>(align / 4), want.begin() + static_cast<long>(align / 4 + 256)});
  check::equal("the whole", gpu.read<int>(whole, 4096), want);
  size_t offset = 0;
  CL(clGetMemObjectInfo(part, CL_MEM_OFFSET, sizeof offset, &offset, nullptr));
  EXPECT(offset == align);
}

}  // namespace

int main() {
  const Gpu gpu;
  const opencl::Program program =
      gpu.build("kernel void add(global int* values, int amount) { values[get_global_id(0)] += amount; }");
  check_copies(gpu);
  check_rectangles(gpu);
  check_mapping(gpu);
  check_host_memory(gpu, program);
  check_parts(gpu, program);
  return check::result();
}
