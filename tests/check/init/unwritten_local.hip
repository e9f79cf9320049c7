// A local array of which only some elements are written.
#include "unwritten.h"

__global__ void choose(const int* indices, int* out, int written) {
  volatile int local[16];
  for (int i = 0; i < written; ++i) local[i] = i;
  if (local[indices[threadIdx.x] + 9] > 3) {  // FINDING: init branch
    atomicAdd(out, 1);
  }
}

void run(bool mended) {
  int *indices = allocate<int>(64), *out = allocate<int>(1);
  choose<<<1, 64>>>(indices, out, mended ? 16 : 8);
  finish();
  HIP(hipFree(indices));
  HIP(hipFree(out));
}
