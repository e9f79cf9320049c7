// hipMemset gets the number of elements in place of the number of bytes: it sets only a quarter of them.
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
