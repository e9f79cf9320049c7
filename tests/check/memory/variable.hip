// A __device__ array that is too short.
#include "../case.h"

__device__ int table[24];

__global__ void fill(int* out, unsigned count) {
  if (threadIdx.x < count) table[threadIdx.x] = 1;  // FINDING: memory variable-out-of-bounds
  out[threadIdx.x] = static_cast<int>(count);
}

void run(bool mended) {
  int* out = allocate<int>(64);
  fill<<<1, 64>>>(out, mended ? 24 : 25);
  finish();
  HIP(hipFree(out));
}
