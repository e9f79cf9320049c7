// A barrier in a branch that half of the work-items take.
#include "../case.h"

__global__ void wait_in_branch(unsigned* out, bool mended) {
  if (mended || threadIdx.x % 2 == 0) {
    __syncthreads();  // FINDING: sync divergent-barrier
    out[threadIdx.x] = 1;
  }
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(256);
  wait_in_branch<<<1, 256>>>(out, mended);
  finish();
  HIP(hipFree(out));
}
