// The buffer was never allocated.
#include "../case.h"

__global__ void fill(int* out) {
  out[threadIdx.x] = 1;  // FINDING: memory bad-address
}

void run(bool mended) {
  int* out = mended ? allocate<int>(64) : nullptr;
  fill<<<1, 64>>>(out);
  finish();
  HIP(hipFree(out));
}
