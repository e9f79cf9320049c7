// A tile with a halo in an array without room for it: what is written there is lost.
#include "../case.h"

__global__ void tile(int* out, unsigned halo) {
  __shared__ int cells[64];
  cells[(threadIdx.x + halo) % 128] = static_cast<int>(threadIdx.x);  // FINDING: memory lds-out-of-bounds
  __syncthreads();
  out[threadIdx.x] = cells[threadIdx.x];
}

void run(bool mended) {
  int* out = allocate<int>(64);
  tile<<<1, 64>>>(out, mended ? 0 : 1);
  finish();
  HIP(hipFree(out));
}
