// Waves of one work-group that wait at different barriers.
#include "../case.h"

__global__ void part(unsigned* out, bool mended) {
  __shared__ unsigned tile[256];
  tile[threadIdx.x] = threadIdx.x;
  if (mended) __syncthreads();
  if (!mended && threadIdx.x < 128) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else if (!mended) {
    out[threadIdx.x] = 2;
    __syncthreads();  // FINDING: sync other-barrier
    out[threadIdx.x + 256] = tile[threadIdx.x];
  }
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(512);
  part<<<1, 256>>>(out, mended);
  finish();
  HIP(hipFree(out));
}
