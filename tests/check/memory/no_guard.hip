// The kernel forgets that the grid is rounded up.
#include "../case.h"

__global__ void twice(unsigned short* values, int count, bool guard) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (guard && i >= count) return;
  values[i] *= 2;  // FINDING: memory out-of-bounds
}

void run(bool mended) {
  constexpr int count = 3000;
  auto* values = allocate<unsigned short>(count);
  twice<<<(count + 255) / 256, 256>>>(values, count, mended);
  finish();
  HIP(hipFree(values));
}
