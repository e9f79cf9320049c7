// A branch on uninitialized memory, around a loop: the compiler gives the branch no line of its own.
#include "unwritten.h"

__global__ void choose(const int* flags, int* out) {
  if (flags[threadIdx.x] > 3) {  // FINDING: init branch
    for (int i = 0; i < flags[threadIdx.x] % 8; ++i) atomicAdd(out, i);
  }
}

void run(bool mended) {
  int *flags = unwritten<int>(64), *out = allocate<int>(64);
  if (mended) HIP(hipMemset(flags, 0, 64 * sizeof(int)));
  choose<<<1, 64>>>(flags, out);
  finish();
  HIP(hipFree(flags));
  HIP(hipFree(out));
}
