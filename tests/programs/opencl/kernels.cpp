// OpenCL C built at run time: options and logs, work-items in three dimensions, local memory, vectors and built-in
// functions, atomics, work-group functions, constants and structures, what a kernel tells of itself, binaries, separate
// compilation.
#include "opencl.h"

namespace {

using opencl::Buffer;
using opencl::Gpu;
using opencl::Kernel;
using opencl::Program;

// Where each work-item is, in a grid with offsets that is not a multiple of its work-groups.
void check_grid(const Gpu& gpu) {
  const Program program = gpu.build(R"(
    kernel void where(global uint4* out) {
      const size_t i = ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) +
          get_global_id(1) - get_global_offset(1)) * get_global_size(0) + get_global_id(0) - get_global_offset(0);
      out[i] = (uint4)(get_global_id(0) | get_global_id(1) << 8 | get_global_id(2) << 16,
          get_local_id(0) | get_local_id(1) << 8 | get_local_id(2) << 16,
          get_group_id(0) | get_group_id(1) << 8 | get_group_id(2) << 16,
          get_local_size(0) | get_local_size(1) << 8 | get_local_size(2) << 16);
    })");
  const Kernel kernel = opencl::kernel(program, "where");
  const size_t offset[] = {5, 1, 2}, global[] = {21, 10, 3}, local[] = {8, 4, 2};
  const Buffer out = gpu.buffer(21 * 10 * 3 * 16);
  opencl::set_arguments(kernel, 0, out);
  CL(clEnqueueNDRangeKernel(gpu.queue(), kernel, 3, offset, global, local, 0, nullptr, nullptr));
  std::vector<uint32_t> want;
  for (uint32_t z = 0; z < 3; ++z) {
    for (uint32_t y = 0; y < 10; ++y) {
      for (uint32_t x = 0; x < 21; ++x) {
        want.push_back((x + 5) | (y + 1) << 8 | (z + 2) << 16);
        want.push_back(x % 8 | y % 4 << 8 | z % 2 << 16);
        want.push_back(x / 8 | y / 4 << 8 | z / 2 << 16);
        want.push_back(std::min(8u, 21 - x / 8 * 8) | std::min(4u, 10 - y / 4 * 4) << 8 |
                       std::min(2u, 3 - z / 2 * 2) << 16);
      }
    }
  }
  check::equal("grid", gpu.read<uint32_t>(out, want.size()), want);
}

void check_local_memory(const Gpu& gpu) {
  const Program program = gpu.build(R"(
    kernel void sum(global const int* in, global int* out, local int* part) {
      local int last;
      const size_t i = get_local_id(0);
      part[i] = in[get_global_id(0)];
      if (i == get_local_size(0) - 1) last = part[i];
      for (size_t half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < half_size) part[i] += part[i + half_size];
      }
      if (i == 0) out[get_group_id(0)] = part[0] * 1000 + last;
    })");
  std::vector<int> in(4096), want(16);
  for (int i = 0; i < 4096; ++i) in[i] = i * 7 % 100;
  for (int group = 0; group < 16; ++group) {
    int sum = 0;
    for (int i = 0; i < 256; ++i) sum += in[group * 256 + i];
    want[group] = sum * 1000 + in[group * 256 + 255];
  }
  const Kernel kernel = opencl::kernel(program, "sum");
  const Buffer device_in = gpu.buffer(in), out = gpu.buffer(64);
  opencl::set_arguments(kernel, 0, device_in, out);
  CL(clSetKernelArg(kernel, 2, 256 * sizeof(int), nullptr));
  opencl::launch(gpu.queue(), kernel, 4096, 256);
  check::equal("local memory", gpu.read<int>(out, 16), want);
}

// Functions whose results the specification determines: integers, vectors, relations, exact conversions.
void check_functions(const Gpu& gpu) {
  const Program program = gpu.build(R"(
    kernel void functions(global const int* in, global int* out) {
      const int i = get_global_id(0);
      const int a = in[i], b = in[(i + 1) % 256];
      const int4 v = (int4)(a, b, a ^ b, 3);
      global int* o = out + 16 * i;
      o[0] = mul_hi(a, b);
      o[1] = add_sat(a, b);
      o[2] = hadd(a, b);
      o[3] = rotate(a, 5);
      o[4] = clz(a);
      o[5] = popcount(a);
      o[6] = mad24(a & 0xfff, b & 0xfff, 9);
      o[7] = v.s2 + v.wzyx.x;
      o[8] = convert_char_sat(a);
      o[9] = any(v < (int4)(0)) | all(v > (int4)(0)) << 1;
      o[10] = as_int(fma(2.0f, (float)(a >> 16), 1.0f));
      o[11] = vload4(0, in)[3];
      o[12] = shuffle(v, (uint4)(1, 0, 3, 2)).y;
      o[13] = upsample((short)a, (ushort)b);
      o[14] = convert_int_rtp((float)(a >> 20) / 4);
      o[15] = abs_diff(a, b);
    })");
  std::vector<int> in(256), want;
  check::Random random(17);
  for (int& value : in) value = static_cast<int>(random.next());
  for (int i = 0; i < 256; ++i) {
    const int a = in[i], b = in[(i + 1) % 256];
    const int64_t wide_a = a, wide_b = b;
    want.push_back(static_cast<int>(wide_a * wide_b >> 32));
    want.push_back(static_cast<int>(std::clamp<int64_t>(wide_a + wide_b, INT32_MIN, INT32_MAX)));
    want.push_back(static_cast<int>((wide_a + wide_b) >> 1));
    want.push_back(static_cast<int>(static_cast<uint32_t>(a) << 5 | static_cast<uint32_t>(a) >> 27));
    want.push_back(a == 0 ? 32 : __builtin_clz(static_cast<uint32_t>(a)));
    want.push_back(__builtin_popcount(static_cast<uint32_t>(a)));
    want.push_back((a & 0xfff) * (b & 0xfff) + 9);
    want.push_back((a ^ b) + 3);
    want.push_back(std::clamp(a, -128, 127));
    want.push_back((a < 0 || b < 0 || (a ^ b) < 0 ? 1 : 0) | (a > 0 && b > 0 && (a ^ b) > 0 ? 2 : 0));
    const float fused = 2.0f * static_cast<float>(a >> 16) + 1.0f;
    int bits = 0;
    std::memcpy(&bits, &fused, 4);
    want.push_back(bits);
    want.push_back(in[3]);
    want.push_back(a);
    want.push_back(static_cast<int>(static_cast<uint32_t>(a) << 16 | (static_cast<uint32_t>(b) & 0xffff)));
    want.push_back(static_cast<int>(std::ceil(static_cast<float>(a >> 20) / 4)));
    want.push_back(static_cast<int>(static_cast<uint32_t>(wide_a > wide_b ? wide_a - wide_b : wide_b - wide_a)));
  }
  const Kernel kernel = opencl::kernel(program, "functions");
  const Buffer device_in = gpu.buffer(in), out = gpu.buffer(want.size() * 4);
  opencl::set_arguments(kernel, 0, device_in, out);
  opencl::launch(gpu.queue(), kernel, 256);
  check::equal("functions", gpu.read<int>(out, want.size()), want);
}

void check_atomics(const Gpu& gpu) {
  const Program program = gpu.build(R"(
    kernel void count(global int* old_style, global atomic_int* counters, global long* wide) {
      const int i = get_global_id(0);
      atomic_add(&old_style[i % 4], i);
      atomic_max(&old_style[4], i);
      atomic_fetch_add_explicit(&counters[0], 2, memory_order_relaxed, memory_scope_device);
      int expected = i;
      atomic_compare_exchange_strong(&counters[1], &expected, i + 1);
      local atomic_int in_group;
      if (get_local_id(0) == 0) atomic_init(&in_group, 0);
      work_group_barrier(CLK_LOCAL_MEM_FENCE);
      atomic_fetch_or(&in_group, 1 << (i % 31));
      work_group_barrier(CLK_LOCAL_MEM_FENCE);
      if (get_local_id(0) == 0) atomic_fetch_xor(&counters[2], atomic_load(&in_group));
      atomic_fetch_add((global atomic_long*)wide, (long)i << 20);
    })");
  const Kernel kernel = opencl::kernel(program, "count");
  const Buffer old_style = gpu.buffer(std::vector<int>(5)), counters = gpu.buffer(std::vector<int>{0, -1, 0}),
               wide = gpu.buffer(std::vector<int64_t>(1));
  opencl::set_arguments(kernel, 0, old_style, counters, wide);
  opencl::launch(gpu.queue(), kernel, 6528, 128);
  std::vector<int> want(5);
  int64_t want_wide = 0;
  for (int i = 0; i < 6528; ++i) {
    want[i % 4] += i;
    want_wide += static_cast<int64_t>(i) << 20;
  }
  want[4] = 6527;
  check::equal("OpenCL 1 atomics", gpu.read<int>(old_style, 5), want);
  check::equal("OpenCL 2 atomics", gpu.read<int>(counters, 3), {13'056, -1, 0x7fffffff});
  check::equal("atomics of 64 bits", gpu.read<int64_t>(wide, 1), {want_wide});
}

void check_group_functions(const Gpu& gpu) {
  const Program program = gpu.build(R"(
    kernel void group(global const int* in, global int4* out) {
      const int i = get_global_id(0), value = in[i];
      out[i] = (int4)(work_group_reduce_add(value), work_group_scan_inclusive_max(value),
          work_group_broadcast(value, 3), work_group_any(value == 77) | work_group_all(value >= 0) << 1);
    })");
  std::vector<int> in(512), want;
  for (int i = 0; i < 512; ++i) in[i] = i * 37 % 101;
  for (int start = 0; start < 512; start += 128) {
    int sum = 0, most = 0;
    bool any = false;
    for (int i = start; i < start + 128; ++i) {
      sum += in[i];
      any |= in[i] == 77;
    }
    for (int i = start; i < start + 128; ++i) {
      most = std::max(most, in[i]);
      want.insert(want.end(), {sum, most, in[start + 3], (any ? 1 : 0) | 2});
    }
  }
  const Kernel kernel = opencl::kernel(program, "group");
  const Buffer device_in = gpu.buffer(in), out = gpu.buffer(512 * 16);
  opencl::set_arguments(kernel, 0, device_in, out);
  opencl::launch(gpu.queue(), kernel, 512, 128);
  check::equal("work-group functions", gpu.read<int>(out, want.size()), want);
}

struct Shape {
  cl_char kind;
  cl_double size;
  cl_short corners[3];
};

// Arguments by value, tables in constant memory, variables of the program.
void check_arguments(const Gpu& gpu) {
  const Program program = gpu.build(R"(
    typedef struct { char kind; double size; short corners[3]; } Shape;
    constant int squares[5] = {0, 1, 4, 9, 16};
    global int launches = 40;
    kernel void arguments(Shape shape, constant float* table, uchar3 color, long big, global double* out) {
      out[0] = shape.kind; out[1] = shape.size; out[2] = shape.corners[2];
      out[3] = table[3]; out[4] = color.x + color.z; out[5] = big; out[6] = squares[4]; out[7] = ++launches;
    })");
  const Kernel kernel = opencl::kernel(program, "arguments");
  const Shape shape = {7, 2.5, {1, 2, -3}};
  const Buffer table = gpu.buffer(std::vector<float>{1, 2, 3, 4.5f}), out = gpu.buffer(64);
  const cl_uchar4 color = {{200, 1, 100, 0}};
  opencl::set_arguments(kernel, 0, shape, table, color, cl_long{1} << 40, out);
  for (int round = 1; round <= 2; ++round) {
    opencl::launch(gpu.queue(), kernel, 1);
    check::equal("arguments", gpu.read<double>(out, 8), {7, 2.5, -3, 4.5, 300, 0x1p40, 16, 40.0 + round});
  }
}

void check_messages(const Gpu& gpu) {
  const Program broken = gpu.source("kernel void broken(global int* a) { a[0] = nothing; }");
  const cl_device_id device = gpu.device();
  EXPECT(clBuildProgram(broken, 1, &device, "", nullptr, nullptr) == CL_BUILD_PROGRAM_FAILURE);
  EXPECT(gpu.log(broken).find("nothing") != std::string::npos);
  const Program defined = gpu.build(
      "#ifndef VALUE\n#error no value\n#endif\nkernel void value(global int* a) { a[0] = VALUE + sizeof(int); }",
      "-DVALUE=38 -cl-std=CL1.2 -cl-fast-relaxed-math");
  const Kernel kernel = opencl::kernel(defined, "value");
  const Buffer out = gpu.buffer(4);
  opencl::set_arguments(kernel, 0, out);
  opencl::launch(gpu.queue(), kernel, 1);
  check::equal("options", gpu.read<int>(out, 1), {42});
}

void check_kernel_information(const Gpu& gpu) {
  const Program program = gpu.build(
      "kernel __attribute__((reqd_work_group_size(64, 2, 1))) void a(global const float* first, local int* second) "
      "{ second[0] = first[0]; }\nkernel void b(int only) {}",
      "-cl-std=CL2.0 -cl-kernel-arg-info");
  size_t count = 0;
  CL(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, nullptr));
  EXPECT(count == 2);
  const Kernel kernel = opencl::kernel(program, "a");
  cl_uint arguments = 0;
  CL(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, nullptr));
  EXPECT(arguments == 2);
  char name[32] = {};
  CL(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, sizeof name, name, nullptr));
  EXPECT(std::string(name) == "first");
  CL(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof name, name, nullptr));
  EXPECT(std::string(name) == "float*");
  cl_kernel_arg_address_qualifier space{};
  CL(clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, nullptr));
  EXPECT(space == CL_KERNEL_ARG_ADDRESS_LOCAL);
  size_t required[3] = {};
  CL(clGetKernelWorkGroupInfo(kernel, gpu.device(), CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required,
                              nullptr));
  EXPECT(required[0] == 64 && required[1] == 2 && required[2] == 1);
  size_t multiple = 0;
  CL(clGetKernelWorkGroupInfo(kernel, gpu.device(), CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple,
                              &multiple, nullptr));
  // The lanes of a wave, which the kernel's code has settled. (AMD's cl_amd_device_attribute_query tells a device's.)
  cl_uint lanes = 0;
  CL(clGetDeviceInfo(gpu.device(), CL_DEVICE_WAVEFRONT_WIDTH_AMD, sizeof lanes, &lanes, nullptr));
  EXPECT(lanes == 32 || lanes == 64);
  EXPECT(multiple == lanes);
  size_t global = 128, local = 32;
  EXPECT(clEnqueueNDRangeKernel(gpu.queue(), kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr) != CL_SUCCESS);
}

// A program from the binary of another, and one of two parts that are compiled apart, with a header.
void check_binaries(const Gpu& gpu) {
  const cl_device_id device = gpu.device();
  const char* text = "kernel void triple(global int* a) { a[get_global_id(0)] *= 3; }";
  std::vector<unsigned char> binary;
  {
    const Program program = gpu.build(text);
    size_t size = 0;
    CL(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr));
    EXPECT(size > 0);
    binary.resize(size);
    unsigned char* pointer = binary.data();
    CL(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr));
  }
  const size_t size = binary.size();
  const unsigned char* pointer = binary.data();
  cl_int binary_status = -1;
  const Program loaded =
      CL_NEW(clCreateProgramWithBinary(gpu.context(), 1, &device, &size, &pointer, &binary_status, &status));
  CL(binary_status);
  CL(clBuildProgram(loaded, 1, &device, "", nullptr, nullptr));
  const Buffer values = gpu.buffer(std::vector<int>{1, 2, 3});
  const Kernel triple = opencl::kernel(loaded, "triple");
  opencl::set_arguments(triple, 0, values);
  opencl::launch(gpu.queue(), triple, 3);
  check::equal("from a binary", gpu.read<int>(values, 3), {3, 6, 9});

  const Program header = gpu.source("int shift(int x);\n");
  const Program library = gpu.source("#include \"shift.h\"\nint shift(int x) { return x << 4; }");
  const Program user = gpu.source(
      "#include \"shift.h\"\nkernel void apply(global int* a) { a[get_global_id(0)] = shift(a[get_global_id(0)]); }");
  const cl_program headers[] = {header};
  const char* names[] = {"shift.h"};
  CL(clCompileProgram(library, 1, &device, "", 1, headers, names, nullptr, nullptr));
  CL(clCompileProgram(user, 1, &device, "", 1, headers, names, nullptr, nullptr));
  const cl_program parts[] = {user, library};
  const Program linked = CL_NEW(clLinkProgram(gpu.context(), 1, &device, "", 2, parts, nullptr, nullptr, &status));
  const Kernel apply = opencl::kernel(linked, "apply");
  opencl::set_arguments(apply, 0, values);
  opencl::launch(gpu.queue(), apply, 3);
  check::equal("linked", gpu.read<int>(values, 3), {48, 96, 144});
}

}  // namespace

int main() {
  const Gpu gpu;
  check_grid(gpu);
  check_local_memory(gpu);
  check_functions(gpu);
  check_atomics(gpu);
  check_group_functions(gpu);
  check_arguments(gpu);
  check_messages(gpu);
  check_kernel_information(gpu);
  check_binaries(gpu);
  return check::result();
}
