// A work-group turns its elements round by LDS, and nothing waits until all are there.
#include "../case.h"

__global__ void turn(unsigned* out, bool mended) {
  __shared__ unsigned tile[256];
  tile[threadIdx.x] = threadIdx.x;  // FINDING: race lds
  if (mended) __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];  // FINDING: race lds
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(256);
  turn<<<1, 256>>>(out, mended);
  finish();
  HIP(hipFree(out));
}
