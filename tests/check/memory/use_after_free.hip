// A kernel gets a pointer that was freed before.
#include "../case.h"

__global__ void increment(int* values) {
  values[threadIdx.x] += 1;  // FINDING: memory use-after-free
}

void run(bool mended) {
  int* values = allocate<int>(64);
  if (!mended) HIP(hipFree(values));
  increment<<<1, 64>>>(values);
  finish();
  if (mended) HIP(hipFree(values));
}
