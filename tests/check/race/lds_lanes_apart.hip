// Two waves of a work-group store to the same places in LDS: the first lane the value that is there, the others not.
#include "../case.h"

__global__ void mark(unsigned* out, bool mended) {
  __shared__ unsigned places[128];
  places[threadIdx.x] = 0;
  __syncthreads();
  const unsigned wave = threadIdx.x / warpSize, lane = threadIdx.x % warpSize;
  places[mended ? threadIdx.x : lane] = lane == 0 ? 0 : wave * 100 + lane;  // FINDING: race lds
  __syncthreads();
  out[threadIdx.x] = places[threadIdx.x];
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(128);
  mark<<<1, 128>>>(out, mended);
  finish();
  HIP(hipFree(out));
}
