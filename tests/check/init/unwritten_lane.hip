// An uninitialized value comes from another lane.
#include "unwritten.h"

__global__ void neighbours(const int* in, int* out) {
  const int mine = in[threadIdx.x];
  if (__shfl_xor(mine, 1) > 3) atomicAdd(out, 1);  // FINDING: init branch
}

void run(bool mended) {
  int *in = unwritten<int>(64), *out = allocate<int>(1);
  HIP(hipMemset(in, 0, (mended ? 64 : 63) * sizeof(int)));
  neighbours<<<1, 64>>>(in, out);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(out));
}
