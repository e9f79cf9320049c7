// A grid of whole work-groups, and one element more than the buffer has.
#include "../case.h"

__global__ void fill(int* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = i;  // FINDING: memory out-of-bounds
}

void run(bool mended) {
  int* out = allocate<int>(100);
  fill<<<2, 64>>>(out, mended ? 100 : 101);
  finish();
  HIP(hipFree(out));
}
