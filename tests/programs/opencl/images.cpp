// OpenCL images: of one, two and three dimensions and arrays, read with samplers and without, written, and filled by
// the host; formats with their conversions.
#include "opencl.h"

namespace {

using opencl::Buffer;
using opencl::Gpu;
using opencl::Kernel;
using opencl::Program;

constexpr size_t width = 21, height = 9, depth = 4;

constexpr const char* source = R"(
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t repeat = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;

kernel void negate(read_only image2d_t from, write_only image2d_t to) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(to, at, 1.0f - read_imagef(from, at));
}
kernel void sample(read_only image2d_t from, global float* out) {
  int x = get_global_id(0);
  out[x] = read_imagef(from, edge, (float2)(x * 0.25f, 2.5f)).x;
  out[x + 100] = read_imagef(from, border, (int2)(x - 5, 2)).x;
  out[x + 200] = read_imagef(from, repeat, (float2)((x - 40 + 0.5f) / get_image_width(from), 2.5f / get_image_height(from))).x;
}
kernel void slices(read_only image3d_t volume, read_only image2d_array_t layers, read_only image1d_array_t rows,
                   global uint* out) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  int i = (z * get_global_size(1) + y) * get_global_size(0) + x, all = get_global_size(0) * get_global_size(1) * get_global_size(2);
  out[i] = read_imageui(volume, (int4)(x, y, z, 0)).x;
  out[all + i] = read_imageui(layers, (int4)(x, y, z, 0)).x;
  out[2 * all + i] = read_imageui(rows, (int2)(x, y)).x;
  out[3 * all] = get_image_depth(volume);
  out[3 * all + 1] = get_image_array_size(layers);
}
)";

Buffer image(const Gpu& gpu, cl_image_format format, cl_mem_object_type type, size_t layers, const void* data) {
  cl_image_desc description{};
  description.image_type = type;
  description.image_width = width;
  description.image_height = type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 0 : height;
  if (type == CL_MEM_OBJECT_IMAGE3D) {
    description.image_depth = layers;
  } else {
    description.image_array_size = layers;
  }
  const cl_mem_flags flags = CL_MEM_READ_WRITE | (data != nullptr ? CL_MEM_COPY_HOST_PTR : 0);
  return CL_NEW(clCreateImage(gpu.context(), flags, &format, &description, const_cast<void*>(data), &status));
}

template <typename... Arguments>
Kernel kernel(cl_program program, const char* name, const Arguments&... arguments) {
  Kernel made = CL_NEW(clCreateKernel(program, name, &status));
  cl_uint index = 0;
  const auto set = [&](cl_mem argument) { CL(clSetKernelArg(made, index++, sizeof argument, &argument)); };
  (set(arguments), ...);
  return made;
}

void run(const Gpu& gpu, cl_kernel made, std::vector<size_t> size) {
  CL(clEnqueueNDRangeKernel(gpu.queue(), made, static_cast<cl_uint>(size.size()), nullptr, size.data(), nullptr, 0,
                            nullptr, nullptr));
}

template <typename T>
std::vector<T> read_image(const Gpu& gpu, cl_mem object, size_t layers) {
  std::vector<T> values(width * height * layers);
  const size_t origin[3] = {0, 0, 0}, region[3] = {width, height, layers};
  CL(clEnqueueReadImage(gpu.queue(), object, CL_TRUE, origin, region, 0, 0, values.data(), 0, nullptr, nullptr));
  return values;
}

void check_conversions(const Gpu& gpu, cl_program program) {
  std::vector<unsigned char> bytes(width * height * 4), want;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 13);
  for (const cl_channel_order order : {CL_RGBA, CL_BGRA}) {
    const Buffer from = image(gpu, {order, CL_UNORM_INT8}, CL_MEM_OBJECT_IMAGE2D, 0, bytes.data());
    const Buffer to = image(gpu, {order, CL_UNORM_INT8}, CL_MEM_OBJECT_IMAGE2D, 0, nullptr);
    run(gpu, kernel(program, "negate", from, to), {width, height});
    want.clear();
    for (const unsigned char byte : bytes) want.push_back(static_cast<unsigned char>(255 - byte));
    const std::vector<cl_uint> pixels = read_image<cl_uint>(gpu, to, 1);
    std::vector<unsigned char> got(bytes.size());
    std::memcpy(got.data(), pixels.data(), got.size());
    check::equal("bytes as fractions", got, want);
  }
}

void check_samplers(const Gpu& gpu, cl_program program) {
  std::vector<float> values(width * height), want(300);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 97);
  const Buffer from = image(gpu, {CL_R, CL_FLOAT}, CL_MEM_OBJECT_IMAGE2D, 0, values.data());
  const Buffer out = gpu.buffer(want.size() * sizeof(float));
  run(gpu, kernel(program, "sample", from, out), {100});
  const float* row = values.data() + 2 * width;
  constexpr int end = static_cast<int>(width);
  for (int x = 0; x < 100; ++x) {
    const float at = static_cast<float>(x) * 0.25F - 0.5F;
    const int first = static_cast<int>(std::floor(at));
    const auto element = [&](int i) { return row[std::clamp(i, 0, end - 1)]; };
    want[x] = element(first) + (element(first + 1) - element(first)) * (at - static_cast<float>(first));
    want[x + 100] = x >= 5 && x - 5 < end ? row[x - 5] : 0;
    want[x + 200] = row[(x - 40 + 2 * end) % end];
  }
  const std::vector<float> got = gpu.read<float>(out, want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::fabs(got[i] - want[i]) <= (i < 100 ? 1e-4F : 0)) continue;
    check::failed("samplers", static_cast<int>(i), "got " + check::text(got[i]) + ", want " + check::text(want[i]));
  }
}

void check_slices(const Gpu& gpu, cl_program program) {
  std::vector<cl_uint> values(width * height * depth), want;
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<cl_uint>(i * 2654435761U);
  const cl_image_format format{CL_R, CL_UNSIGNED_INT32};
  const Buffer volume = image(gpu, format, CL_MEM_OBJECT_IMAGE3D, depth, values.data());
  const Buffer layers = image(gpu, format, CL_MEM_OBJECT_IMAGE2D_ARRAY, depth, values.data());
  const Buffer rows = image(gpu, format, CL_MEM_OBJECT_IMAGE1D_ARRAY, height, values.data());
  const size_t all = values.size();
  const Buffer out = gpu.buffer((3 * all + 2) * sizeof(cl_uint));
  run(gpu, kernel(program, "slices", volume, layers, rows, out), {width, height, depth});
  want = values;
  want.insert(want.end(), values.begin(), values.end());
  for (size_t i = 0; i < all; ++i) want.push_back(values[i % (width * height)]);
  want.push_back(depth);
  want.push_back(depth);
  check::equal("slices", gpu.read<cl_uint>(out, want.size()), want);
  check::equal("read back", read_image<cl_uint>(gpu, layers, depth), values);
}

void check_fill(const Gpu& gpu) {
  const Buffer filled = image(gpu, {CL_RG, CL_SIGNED_INT16}, CL_MEM_OBJECT_IMAGE2D, 0, nullptr);
  const cl_int color[4] = {-5, 70000, 0, 0};
  const size_t origin[3] = {0, 0, 0}, region[3] = {width, height, 1};
  CL(clEnqueueFillImage(gpu.queue(), filled, color, origin, region, 0, nullptr, nullptr));
  check::equal("filled", read_image<cl_uint>(gpu, filled, 1), std::vector<cl_uint>(width * height, 0x7FFF'FFFB));
}

}  // namespace

int main() {
  const Gpu gpu;
  const Program program = gpu.build(source);
  check_conversions(gpu, program);
  check_samplers(gpu, program);
  check_slices(gpu, program);
  check_fill(gpu);
  return check::result();
}
