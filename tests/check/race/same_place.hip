// All work-items of a wave store numbers of their own to one place.
#include "../case.h"

__global__ void store(unsigned* out, bool mended) {
  if (!mended || threadIdx.x == 3) *out = threadIdx.x;  // FINDING: race lanes
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(1);
  store<<<1, 32>>>(out, mended);
  finish();
  HIP(hipFree(out));
}
