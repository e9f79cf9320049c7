// All work-groups add to the same sums.
#include "../case.h"

__global__ void add(unsigned* sums, bool mended) {
  if (mended) {
    atomicAdd(&sums[threadIdx.x], blockIdx.x + 1);
  } else {
    sums[threadIdx.x] += blockIdx.x + 1;  // FINDING: race global
  }
}

void run(bool mended) {
  unsigned* sums = allocate<unsigned>(64);
  add<<<8, 64>>>(sums, mended);
  finish();
  HIP(hipFree(sums));
}
