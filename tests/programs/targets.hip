// A program for one GPU only: which one is up to the compiler's flags. It prints what the runtime made of that.
#include <hip/hip_runtime.h>

#include <cstdio>

namespace {

__global__ void answer(int* out) { *out = 42; }

}  // namespace

int main() {
  int* device = nullptr;
  int result = 0;
  hipError_t error = hipMalloc(&device, sizeof(int));
  if (error == hipSuccess) {
    answer<<<1, 1>>>(device);
    error = hipGetLastError();
  }
  if (error == hipSuccess) error = hipMemcpy(&result, device, sizeof result, hipMemcpyDeviceToHost);
  std::printf("%s %d\n", hipGetErrorName(error), result);
  return error == hipSuccess && result == 42 ? 0 : 1;
}
