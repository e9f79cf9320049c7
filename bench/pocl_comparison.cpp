// The same OpenCL C kernels on the same data: run by Atoll as gfx90a, and by pocl on this host through OpenCL. Prints a
// Markdown table of the medians; ends with 1 when the results differ.
//
//     pocl_comparison KERNELS.cl KERNELS.co
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "atoll/atoll.h"

namespace {

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "pocl_comparison: %s\n", what.c_str());
  std::exit(2);
}

void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS) die(std::string(what) + " failed with OpenCL error " + std::to_string(status));
}

/// One argument of a kernel: a buffer with its initial contents, or the bytes of a number.
struct Value {
  bool is_buffer;
  std::vector<std::byte> bytes;
};

template <typename T>
Value buffer(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return {true, {bytes, bytes + values.size() * sizeof(T)}};
}

template <typename T>
Value number(T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  return {false, {bytes, bytes + sizeof value}};
}

struct Case {
  const char* kernel;
  std::string size;  ///< for the table
  std::vector<Value> arguments;
  size_t result;     ///< which argument holds the results
  double tolerance;  ///< relative, for results that are float; 0: every bit the same
  uint32_t grid[2];  ///< work-items
  uint32_t block[2];
};

std::vector<float> ramp(size_t count, float step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 1024) * step - 1;
  return values;
}

std::vector<uint32_t> noise(size_t count) {
  std::vector<uint32_t> values(count);
  uint32_t state = 1;
  for (uint32_t& value : values) value = state = state * 1664525u + 1013904223u;
  return values;
}

std::vector<Case> cases() {
  constexpr uint32_t vector_size = 1u << 20, matrix = 256, bodies = 2048, picture = 512, words = 1u << 20;
  std::vector<Case> list;
  list.push_back({"saxpy",
                  "1,048,576 elements",
                  {number(1.5f), buffer(ramp(vector_size, 0.25f)), buffer(ramp(vector_size, 0.5f))},
                  2,
                  0,
                  {vector_size, 1},
                  {256, 1}});
  list.push_back({"sgemm",
                  "256 x 256",
                  {buffer(ramp(matrix * matrix, 0.01f)), buffer(ramp(matrix * matrix, 0.02f)),
                   buffer(std::vector<float>(matrix * matrix)), number<int32_t>(matrix)},
                  2,
                  0,
                  {matrix, matrix},
                  {16, 16}});
  std::vector<float> places(bodies * 4);
  const std::vector<uint32_t> random = noise(places.size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<float>(random[i]) * 0x1p-32f;
  list.push_back({"nbody",
                  "2,048 bodies",
                  {buffer(places), buffer(std::vector<float>(places.size())), number<int32_t>(bodies)},
                  1,
                  1e-3,
                  {bodies, 1},
                  {256, 1}});
  list.push_back({"mandelbrot",
                  "512 x 512, 256 steps",
                  {buffer(std::vector<int32_t>(picture * picture)), number<int32_t>(picture), number<int32_t>(256)},
                  0,
                  0,
                  {picture, picture},
                  {16, 16}});
  list.push_back({"hash",
                  "262,144 words, 64 rounds",
                  {buffer(noise(vector_size / 4)), buffer(std::vector<uint32_t>(vector_size / 4)), number<int32_t>(64)},
                  1,
                  0,
                  {vector_size / 4, 1},
                  {256, 1}});
  list.push_back({"histogram",
                  "4,194,304 bytes",
                  {buffer(noise(words)), buffer(std::vector<uint32_t>(256)), number<int32_t>(words)},
                  1,
                  0,
                  {16384, 1},
                  {256, 1}});
  return list;
}

/// The median of the seconds that `run` takes, after one run that does not count.
template <typename Run>
double median_seconds(int runs, Run run) {
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

struct Outcome {
  std::vector<std::byte> result;  ///< of the first run
  double seconds;                 ///< median of those that follow
};

/// pocl, found as the OpenCL platform of that name.
class Pocl {
 public:
  explicit Pocl(const std::string& source) {
    cl_uint count = 0;
    cl_platform_id platforms[16];
    check(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
    cl_device_id device = nullptr;
    for (cl_uint i = 0; i < count && device == nullptr; ++i) {
      char name[200] = {};
      clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
      if (std::strstr(name, "Portable Computing Language") == nullptr) continue;
      check(clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, nullptr), "clGetDeviceIDs");
      char version[200] = {};
      clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version - 1, version, nullptr);
      clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units_, &units_, nullptr);
      char device_name[200] = {};
      clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof device_name - 1, device_name, nullptr);
      version_ = std::string(version) + " (" + device_name + ")";
    }
    if (device == nullptr) die("there is no pocl (package pocl-opencl-icd)");
    cl_int status = 0;
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    queue_ = clCreateCommandQueue(context_, device, 0, &status);
    check(status, "clCreateCommandQueue");
    const char* text = source.c_str();
    program_ = clCreateProgramWithSource(context_, 1, &text, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program_, 1, &device, "-cl-std=CL1.2", nullptr, nullptr), "clBuildProgram");
  }
  Pocl(const Pocl&) = delete;
  Pocl& operator=(const Pocl&) = delete;
  ~Pocl() {
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }

  const std::string& version() const { return version_; }
  cl_uint threads() const { return units_; }

  Outcome run(const Case& work, int runs) {
    cl_int status = 0;
    cl_kernel kernel = clCreateKernel(program_, work.kernel, &status);
    check(status, "clCreateKernel");
    std::vector<cl_mem> buffers(work.arguments.size(), nullptr);
    for (size_t i = 0; i < work.arguments.size(); ++i) {
      const Value& value = work.arguments[i];
      if (value.is_buffer) {
        buffers[i] = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, value.bytes.size(),
                                    const_cast<std::byte*>(value.bytes.data()), &status);
        check(status, "clCreateBuffer");
        check(clSetKernelArg(kernel, static_cast<cl_uint>(i), sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
      } else {
        check(clSetKernelArg(kernel, static_cast<cl_uint>(i), value.bytes.size(), value.bytes.data()),
              "clSetKernelArg");
      }
    }
    const size_t grid[2] = {work.grid[0], work.grid[1]}, block[2] = {work.block[0], work.block[1]};
    const auto launch = [&] {
      check(clEnqueueNDRangeKernel(queue_, kernel, 2, nullptr, grid, block, 0, nullptr, nullptr), "launch");
      check(clFinish(queue_), "clFinish");
    };
    launch();
    Outcome outcome;
    outcome.result.resize(work.arguments[work.result].bytes.size());
    check(clEnqueueReadBuffer(queue_, buffers[work.result], CL_TRUE, 0, outcome.result.size(), outcome.result.data(), 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
    outcome.seconds = median_seconds(runs, launch);
    for (cl_mem memory : buffers) {
      if (memory != nullptr) clReleaseMemObject(memory);
    }
    clReleaseKernel(kernel);
    return outcome;
  }

 private:
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  std::string version_;
  cl_uint units_ = 0;
};

template <typename T>
T value_of(Atoll::Expected<T> expected) {
  if (!expected) die(expected.error().message);
  return std::move(*expected);
}

Outcome run_on_atoll(const Atoll::Gpu& gpu, const Atoll::Code& code, const Case& work, int runs) {
  std::vector<Atoll::Argument> arguments;
  std::vector<Atoll::Buffer> buffers(work.arguments.size());
  for (size_t i = 0; i < work.arguments.size(); ++i) {
    const Value& value = work.arguments[i];
    if (value.is_buffer) {
      buffers[i] = value_of(gpu.allocate_bytes(value.bytes.size()));
      std::memcpy(buffers[i].data(), value.bytes.data(), value.bytes.size());
      arguments.emplace_back(buffers[i]);
    } else {
      arguments.emplace_back(0);
      arguments.back().bytes = value.bytes;
    }
  }
  const Atoll::LaunchShape shape{.grid = {work.grid[0], work.grid[1], 1}, .block = {work.block[0], work.block[1], 1}};
  const auto launch = [&] { value_of(gpu.launch_with(code, work.kernel, shape, arguments)); };
  launch();
  Outcome outcome;
  const auto* data = static_cast<const std::byte*>(buffers[work.result].data());
  outcome.result.assign(data, data + buffers[work.result].size());
  outcome.seconds = median_seconds(runs, launch);
  return outcome;
}

bool agree(const Case& work, const std::vector<std::byte>& got, const std::vector<std::byte>& want) {
  if (work.tolerance == 0) return got == want;
  for (size_t i = 0; i + sizeof(float) <= want.size(); i += sizeof(float)) {
    float a = 0, b = 0;
    std::memcpy(&a, &got[i], sizeof a);
    std::memcpy(&b, &want[i], sizeof b);
    if (!(std::fabs(a - b) <= work.tolerance * std::max(1.0f, std::fabs(b)))) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) die("usage: pocl_comparison KERNELS.cl KERNELS.co");
  std::ifstream file(argv[1]);
  const std::string source{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (source.empty()) die(std::string("cannot read ") + argv[1]);
  Pocl pocl(source);
  const Atoll::Gpu gpu = value_of(Atoll::Gpu::create("gfx90a"));
  const Atoll::Code code = value_of(gpu.load_file(argv[2]));

  std::printf("pocl %s on %u host threads; medians of 11 runs (pocl) and 5 runs (Atoll), results compared.\n\n",
              pocl.version().c_str(), pocl.threads());
  std::printf("| kernel | size | pocl, ms | Atoll, ms | ratio |\n| --- | --- | ---: | ---: | ---: |\n");
  bool all_agree = true;
  double logarithms = 0;
  const std::vector<Case> list = cases();
  for (const Case& work : list) {
    const Outcome host = pocl.run(work, 11);
    const Outcome atoll = run_on_atoll(gpu, code, work, 5);
    const double ratio = atoll.seconds / host.seconds;
    logarithms += std::log(ratio);
    std::printf("| %s | %s | %.3f | %.2f | %.1f |\n", work.kernel, work.size.c_str(), host.seconds * 1e3,
                atoll.seconds * 1e3, ratio);
    if (!agree(work, atoll.result, host.result)) {
      std::fprintf(stderr, "pocl_comparison: the results of %s differ\n", work.kernel);
      all_agree = false;
    }
  }
  std::printf("| **geometric mean** | | | | **%.1f** |\n", std::exp(logarithms / static_cast<double>(list.size())));
  return all_agree ? 0 : 1;
}
