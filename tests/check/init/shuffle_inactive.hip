// A shuffle in a branch that the lanes which are read from do not take.
#include "unwritten.h"

__global__ void choose(const int* in, int* out, bool mended) {
  const int mine = in[threadIdx.x];
  int other = 0;
  if (mended) other = __shfl_down(mine, 16);
  if (threadIdx.x < 16) {
    if (!mended) other = __shfl_down(mine, 16);
    if (other > 3) atomicAdd(out, 1);  // FINDING: init inactive-lane
  }
}

void run(bool mended) {
  int *in = allocate<int>(32), *out = allocate<int>(1);
  choose<<<1, 32>>>(in, out, mended);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(out));
}
