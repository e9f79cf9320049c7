// The memory has been freed, and another buffer of the same size allocated since.
#include "../case.h"

__global__ void copy(const int* from, int* to) {
  const int value = from[threadIdx.x];  // FINDING: memory use-after-free
  to[threadIdx.x] = value;
}

void run(bool mended) {
  int* first = allocate<int>(1000);
  if (!mended) HIP(hipFree(first));
  int* second = allocate<int>(1000);
  copy<<<1, 64>>>(first, second);
  finish();
  if (mended) HIP(hipFree(first));
  HIP(hipFree(second));
}
