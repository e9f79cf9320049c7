// CHECK: leak
// Memory that nobody frees.
#include "../case.h"

__global__ void fill(int* out) { out[threadIdx.x] = 1; }

void run(bool mended) {
  int* out = allocate<int>(64);
  fill<<<1, 64>>>(out);
  finish();
  if (mended) HIP(hipFree(out));
}
// FINDING: leak not-freed
