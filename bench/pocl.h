// pocl, an OpenCL implementation that runs kernels on the host: what Atoll is compared with.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstddef>
#include <string>
#include <vector>

#include "kernel_case.h"

namespace Atoll::bench {

/// The OpenCL platform of that name, with the source built for it.
class Pocl {
 public:
  explicit Pocl(const std::string& source);
  Pocl(const Pocl&) = delete;
  Pocl& operator=(const Pocl&) = delete;
  ~Pocl();

  const std::string& version() const { return version_; }
  cl_uint threads() const { return units_; }
  cl_context context() const { return context_; }
  cl_command_queue queue() const { return queue_; }
  cl_program program() const { return program_; }

 private:
  friend class PoclKernel;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  std::string version_;
  cl_uint units_ = 0;
};

/// A kernel with its arguments in place.
class PoclKernel {
 public:
  PoclKernel(const Pocl& pocl, const KernelCase& work);
  PoclKernel(const PoclKernel&) = delete;
  PoclKernel& operator=(const PoclKernel&) = delete;
  ~PoclKernel();

  void launch() const;
  std::vector<std::byte> result() const;

 private:
  const Pocl& pocl_;
  const KernelCase& case_;
  cl_kernel kernel_ = nullptr;
  std::vector<cl_mem> buffers_;
};

}  // namespace Atoll::bench
