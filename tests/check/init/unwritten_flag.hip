// A branch on uninitialized memory.
#include "unwritten.h"

__global__ void choose(const int* flags, int* out) {
  if (flags[threadIdx.x] > 3) out[threadIdx.x] = 1;  // FINDING: init branch
}

void run(bool mended) {
  int *flags = unwritten<int>(64), *out = allocate<int>(64);
  if (mended) HIP(hipMemset(flags, 0, 64 * sizeof(int)));
  choose<<<1, 64>>>(flags, out);
  finish();
  HIP(hipFree(flags));
  HIP(hipFree(out));
}
