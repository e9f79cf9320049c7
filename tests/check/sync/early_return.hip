// Waves that have nothing to do return before the barrier that the others come to.
#include "../case.h"

__global__ void shift(unsigned* out, unsigned count, bool mended) {
  __shared__ unsigned tile[256];
  const bool is_inside = threadIdx.x < count;
  if (!mended && !is_inside) return;
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();  // FINDING: sync barrier-missed
  if (is_inside) out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(256);
  shift<<<1, 256>>>(out, 128, mended);
  finish();
  HIP(hipFree(out));
}
