// A tile that is filled anew while other waves still read what was in it: the second barrier of the loop is missing.
#include "../case.h"

__global__ void turn(unsigned* out, bool mended) {
  __shared__ unsigned tile[256];
  unsigned sum = 0;
  for (unsigned i = 0; i < 3; ++i) {
    tile[threadIdx.x] = threadIdx.x + i;  // FINDING: race lds
    __syncthreads();
    sum += tile[255 - threadIdx.x];  // FINDING: race lds
    if (mended) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(256);
  turn<<<1, 256>>>(out, mended);
  finish();
  HIP(hipFree(out));
}
