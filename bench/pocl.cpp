#include "pocl.h"

#include <array>
#include <cstring>

#include "measure.h"

namespace Atoll::bench {

namespace {

void check(cl_int status, std::string_view what) {
  if (status != CL_SUCCESS) die(fmt::format("{} failed with OpenCL error {}", what, status));
}

std::string text_of(cl_device_id device, cl_device_info info) {
  char text[200] = {};
  check(clGetDeviceInfo(device, info, sizeof text - 1, text, nullptr), "clGetDeviceInfo");
  return text;
}

cl_device_id find_device() {
  cl_uint count = 0;
  std::array<cl_platform_id, 16> platforms{};
  check(clGetPlatformIDs(platforms.size(), platforms.data(), &count), "clGetPlatformIDs");
  for (cl_uint i = 0; i < count; ++i) {
    char name[200] = {};
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
    if (std::strstr(name, "Portable Computing Language") == nullptr) continue;
    cl_device_id device = nullptr;
    check(clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, nullptr), "clGetDeviceIDs");
    return device;
  }
  die("there is no pocl (package pocl-opencl-icd)");
}

}  // namespace

Pocl::Pocl(const std::string& source) {
  cl_device_id device = find_device();
  clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units_, &units_, nullptr);
  version_ = text_of(device, CL_DRIVER_VERSION) + " (" + text_of(device, CL_DEVICE_NAME) + ")";
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

Pocl::~Pocl() {
  clReleaseProgram(program_);
  clReleaseCommandQueue(queue_);
  clReleaseContext(context_);
}

PoclKernel::PoclKernel(const Pocl& pocl, const KernelCase& work)
    : pocl_(pocl), case_(work), buffers_(work.arguments.size(), nullptr) {
  cl_int status = 0;
  kernel_ = clCreateKernel(pocl.program_, work.kernel.c_str(), &status);
  check(status, "clCreateKernel");
  for (size_t i = 0; i < work.arguments.size(); ++i) {
    const KernelValue& value = work.arguments[i];
    const auto index = static_cast<cl_uint>(i);
    if (value.is_buffer) {
      buffers_[i] = clCreateBuffer(pocl.context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, value.bytes.size(),
                                   const_cast<std::byte*>(value.bytes.data()), &status);
      check(status, "clCreateBuffer");
      check(clSetKernelArg(kernel_, index, sizeof(cl_mem), static_cast<const void*>(&buffers_[i])), "clSetKernelArg");
    } else {
      check(clSetKernelArg(kernel_, index, value.bytes.size(), value.bytes.data()), "clSetKernelArg");
    }
  }
}

PoclKernel::~PoclKernel() {
  for (cl_mem memory : buffers_) {
    if (memory != nullptr) clReleaseMemObject(memory);
  }
  clReleaseKernel(kernel_);
}

void PoclKernel::launch() const {
  const size_t grid[2] = {case_.grid[0], case_.grid[1]}, block[2] = {case_.block[0], case_.block[1]};
  check(clEnqueueNDRangeKernel(pocl_.queue_, kernel_, 2, nullptr, grid, block, 0, nullptr, nullptr), "launch");
  check(clFinish(pocl_.queue_), "clFinish");
}

std::vector<std::byte> PoclKernel::result() const {
  std::vector<std::byte> bytes(case_.arguments[case_.result].bytes.size());
  check(clEnqueueReadBuffer(pocl_.queue_, buffers_[case_.result], CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr,
                            nullptr),
        "clEnqueueReadBuffer");
  return bytes;
}

}  // namespace Atoll::bench
