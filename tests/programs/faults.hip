// Kernels that do what they must not. `faults CASE` provokes one of the cases; the test driver knows how it has to end:
// with an error from the HIP call where HIP defines one, or with the program aborted and a report on standard error.
#include "check.h"

namespace {

__global__ void write_to(int* place, int value) { place[threadIdx.x] = value; }

__global__ void read_far(const int* values, int* out, size_t distance) {
  out[threadIdx.x] = values[threadIdx.x * distance];
}

__global__ void endless(volatile int* flag) {
  while (*flag == 0) {
  }
}

__global__ void trap() {
  if (threadIdx.x == 5) __builtin_trap();
}

__global__ void illegal() { asm volatile(".long 0xffffffff"); }

__host__ __device__ __attribute__((noinline)) int deep(int depth, volatile int* sink) {
  volatile int frame[64];
  for (int i = 0; i < 64; ++i) frame[i] = depth + i;
  if (depth == 0) return *sink;
  return deep(depth - 1, sink) + frame[depth % 64];
}
__global__ void overflow(int* out, int depth) { out[threadIdx.x] = deep(depth, out); }

extern __shared__ int lds[];
__global__ void use_lds(int* out) {
  lds[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = lds[0];
}

int variable[64];

/// How a launch that HIP refuses ends: the error, and a device that works on.
int refused(hipError_t error, hipError_t wanted) {
  std::printf("%s\n", hipGetErrorName(error));
  EXPECT(error == wanted);
  const check::Device<int> out(64);
  write_to<<<1, 64>>>(out.get(), 3);
  check::finish();
  check::equal("afterwards", out.read(), std::vector<int>(64, 3));
  return check::result();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  const check::Device<int> out(1024);
  int on_stack[64];
  std::vector<int> on_heap(64);
  if (which == "null") {
    write_to<<<1, 64>>>(nullptr, 1);
  } else if (which == "unmapped") {
    read_far<<<2, 64>>>(out.get(), out.get(), size_t{1} << 38);
  } else if (which == "host-stack") {  // all of these work with xnack on
    write_to<<<1, 64>>>(on_stack, 1);
  } else if (which == "host-heap") {
    write_to<<<1, 64>>>(on_heap.data(), 1);
  } else if (which == "host-variable") {
    write_to<<<1, 64>>>(variable, 1);
  } else if (which == "endless") {
    endless<<<1, 64>>>(out.get());
    std::printf("launched\n");
    std::fflush(stdout);
  } else if (which == "trap") {
    trap<<<1, 64>>>();
  } else if (which == "illegal") {
    illegal<<<1, 64>>>();
  } else if (which == "overflow") {
    overflow<<<1, 64>>>(out.get(), 1 << 20);
  } else if (which == "large-lds") {
    use_lds<<<1, 64, 70000>>>(out.get());
    return refused(hipGetLastError(), HIP_VERSION < 50700000 ? hipErrorOutOfMemory : hipErrorInvalidValue);
  } else if (which == "large-work-group") {
    write_to<<<1, 2048>>>(out.get(), 1);
    const bool says_value = HIP_VERSION >= 50700000 && HIP_VERSION < 70000000;
    return refused(hipGetLastError(), says_value ? hipErrorInvalidValue : hipErrorInvalidConfiguration);
  } else {
    std::fprintf(stderr, "faults: no case '%s'\n", which.c_str());
    return 2;
  }
  const hipError_t error = hipDeviceSynchronize();
  std::printf("hipDeviceSynchronize: %s\n", hipGetErrorName(error));
  return error == hipSuccess ? 0 : 3;
}
