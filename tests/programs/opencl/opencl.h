// What the OpenCL programs have in common: calls that must succeed, the GPU with a context and a queue, programs built
// from source, and objects that release themselves.
#pragma once

#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <utility>

#include "../compare.h"

/// Ends the program when an OpenCL call that returns a status fails.
#define CL(call)                                                                     \
  do {                                                                               \
    const cl_int cl_status = (call);                                                 \
    if (cl_status != CL_SUCCESS) {                                                   \
      std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, cl_status); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (false)

/// The value of an OpenCL call that takes the place of its status last, as `status`.
#define CL_NEW(call)                                                   \
  [&] {                                                                \
    cl_int status = CL_SUCCESS;                                        \
    auto result = (call);                                              \
    if (status != CL_SUCCESS) {                                        \
      std::fprintf(stderr, "%s:%d: %d\n", __FILE__, __LINE__, status); \
      std::exit(1);                                                    \
    }                                                                  \
    return result;                                                     \
  }()

namespace opencl {

inline void release(cl_mem object) { CL(clReleaseMemObject(object)); }
inline void release(cl_kernel object) { CL(clReleaseKernel(object)); }
inline void release(cl_program object) { CL(clReleaseProgram(object)); }
inline void release(cl_event object) { CL(clReleaseEvent(object)); }
inline void release(cl_command_queue object) { CL(clReleaseCommandQueue(object)); }
inline void release(cl_context object) { CL(clReleaseContext(object)); }

/// An OpenCL object that is released with its scope.
template <typename T>
class Object {
 public:
  Object(T object) : object_(object) {}
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() {
    if (object_ != nullptr) release(object_);
  }
  operator T() const { return object_; }

 private:
  T object_;
};

using Buffer = Object<cl_mem>;
using Kernel = Object<cl_kernel>;
using Program = Object<cl_program>;
using Event = Object<cl_event>;
using Queue = Object<cl_command_queue>;

/// The first GPU of any platform, its context, and a queue that runs its commands in order.
class Gpu {
 public:
  Gpu()
      : device_(find()),
        context_(CL_NEW(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status))),
        queue_(queue(CL_QUEUE_PROFILING_ENABLE)) {}

  cl_device_id device() const { return device_; }
  cl_context context() const { return context_; }
  cl_command_queue queue() const { return queue_; }

  /// Another queue, with these properties.
  Queue queue(cl_command_queue_properties properties) const {
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    return CL_NEW(clCreateCommandQueueWithProperties(context_, device_, list, &status));
  }

  Program source(const char* text) const {
    return CL_NEW(clCreateProgramWithSource(context_, 1, &text, nullptr, &status));
  }

  std::string log(cl_program program) const {
    size_t size = 0;
    CL(clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size));
    std::string text(size, '\0');
    CL(clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, size, text.data(), nullptr));
    return text;
  }

  /// Ends the program with the compiler's log when it refuses the source.
  Program build(const char* text, const char* options = "-cl-std=CL2.0") const {
    Program program = source(text);
    if (clBuildProgram(program, 1, &device_, options, nullptr, nullptr) != CL_SUCCESS) {
      std::fprintf(stderr, "%s\n", log(program).c_str());
      std::exit(1);
    }
    return program;
  }

  template <typename T>
  T info(cl_device_info which) const {
    T value{};
    CL(clGetDeviceInfo(device_, which, sizeof value, &value, nullptr));
    return value;
  }

  Buffer buffer(size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr) const {
    return CL_NEW(clCreateBuffer(context_, flags, bytes, host, &status));
  }

  template <typename T>
  Buffer buffer(const std::vector<T>& values) const {
    return buffer(values.size() * sizeof(T), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, const_cast<T*>(values.data()));
  }

  template <typename T>
  std::vector<T> read(cl_mem buffer, size_t count, size_t offset = 0) const {
    std::vector<T> values(count);
    CL(clEnqueueReadBuffer(queue_, buffer, CL_TRUE, offset * sizeof(T), count * sizeof(T), values.data(), 0, nullptr,
                           nullptr));
    return values;
  }

 private:
  static cl_device_id find() {
    cl_platform_id platforms[8];
    cl_uint count = 0;
    CL(clGetPlatformIDs(8, platforms, &count));
    for (cl_uint i = 0; i < std::min(count, 8u); ++i) {
      cl_device_id device = nullptr;
      if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 1, &device, nullptr) == CL_SUCCESS) return device;
    }
    std::fprintf(stderr, "no OpenCL platform has a GPU\n");
    std::exit(1);
  }

  cl_device_id device_;
  Object<cl_context> context_;
  Queue queue_;
};

inline void set_arguments(cl_kernel, cl_uint) {}

/// Sets the arguments from `index` on: buffers by their handles, everything else by its value.
template <typename First, typename... Rest>
void set_arguments(cl_kernel kernel, cl_uint index, const First& first, const Rest&... rest) {
  if constexpr (std::is_same_v<First, Buffer>) {
    const cl_mem memory = first;
    CL(clSetKernelArg(kernel, index, sizeof memory, &memory));
  } else {
    CL(clSetKernelArg(kernel, index, sizeof first, &first));
  }
  set_arguments(kernel, index + 1, rest...);
}

/// A kernel of a program, launched over a line of work-items.
inline Kernel kernel(cl_program program, const char* name) { return CL_NEW(clCreateKernel(program, name, &status)); }

inline void launch(cl_command_queue queue, cl_kernel kernel, size_t global, size_t local = 0) {
  CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, local == 0 ? nullptr : &local, 0, nullptr, nullptr));
}

}  // namespace opencl
