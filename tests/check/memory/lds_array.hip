// A reduction whose first step reaches past the array in LDS. GPUs read 0 there, so that the result is right.
#include "../case.h"

__global__ void sum(const int* in, int* out, unsigned first) {
  __shared__ int parts[64];
  const unsigned i = threadIdx.x;
  parts[i] = in[i];
  __syncthreads();
  for (unsigned step = first; step != 0; step /= 2) {
    int other = 0;
    if (i < step) other = parts[i + step];  // FINDING: memory lds-out-of-bounds
    __syncthreads();
    parts[i] += other;
    __syncthreads();
  }
  if (i == 0) *out = parts[0];
}

void run(bool mended) {
  int *in = allocate<int>(64), *out = allocate<int>(1);
  sum<<<1, 64>>>(in, out, mended ? 32 : 64);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(out));
}
