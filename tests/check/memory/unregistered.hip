// A kernel gets host memory that is no longer registered.
#include <vector>

#include "../case.h"

__global__ void increment(int* values) {
  values[threadIdx.x] += 1;  // FINDING: memory use-after-free
}

void run(bool mended) {
  std::vector<int> values(64, 1);
  int* of_gpu = nullptr;
  HIP(hipHostRegister(values.data(), values.size() * sizeof(int), hipHostRegisterDefault));
  HIP(hipHostGetDevicePointer(reinterpret_cast<void**>(&of_gpu), values.data(), 0));
  increment<<<1, 64>>>(of_gpu);
  finish();
  if (!mended) HIP(hipHostUnregister(values.data()));
  increment<<<1, 64>>>(of_gpu);
  finish();
  if (mended) HIP(hipHostUnregister(values.data()));
}
