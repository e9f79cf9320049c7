// A kernel gets managed memory that was freed before: HIP unmaps it without a notification.
#include "../case.h"

__global__ void increment(int* values) {
  values[threadIdx.x] += 1;  // FINDING: memory use-after-free
}

void run(bool mended) {
  int* values = nullptr;
  HIP(hipMallocManaged(reinterpret_cast<void**>(&values), 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i) values[i] = i;
  if (!mended) HIP(hipFree(values));
  increment<<<1, 64>>>(values);
  finish();
  if (mended) HIP(hipFree(values));
}
