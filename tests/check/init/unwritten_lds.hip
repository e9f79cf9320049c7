// A work-group of 48 fills an array in LDS of 64, all of which is added up: the sum decides.
#include "unwritten.h"

__global__ void any_positive(const int* in, int* out, bool mended) {
  __shared__ int values[64];
  values[threadIdx.x] = in[threadIdx.x];
  if (mended && threadIdx.x < 16) values[48 + threadIdx.x] = 0;
  __syncthreads();
  if (values[threadIdx.x] + values[63 - threadIdx.x] > 5) {  // FINDING: init branch
    atomicAdd(out, 1);
  }
}

void run(bool mended) {
  int *in = allocate<int>(64), *out = allocate<int>(1);
  any_positive<<<1, 48>>>(in, out, mended);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(out));
}
