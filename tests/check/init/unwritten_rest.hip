// hipMemset is told how many elements there are, and wants bytes: only a quarter of them is set.
#include "unwritten.h"

__global__ void count(unsigned* bins) {
  atomicAdd(&bins[threadIdx.x], 1u);  // FINDING: init atomic
}

void run(bool mended) {
  unsigned* bins = unwritten<unsigned>(64);
  HIP(hipMemset(bins, 0, mended ? 64 * sizeof(unsigned) : 64));
  count<<<1, 64>>>(bins);
  finish();
  HIP(hipFree(bins));
}
