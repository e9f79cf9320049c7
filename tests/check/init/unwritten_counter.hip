// A counter that is never set to zero.
#include "unwritten.h"

__global__ void count(const int* in, unsigned* counter) {
  if (in[threadIdx.x] == 0) atomicAdd(counter, 1u);  // FINDING: init atomic
}

void run(bool mended) {
  int* in = allocate<int>(64);
  unsigned* counter = unwritten<unsigned>(1);
  if (mended) HIP(hipMemset(counter, 0, sizeof(unsigned)));
  count<<<1, 64>>>(in, counter);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(counter));
}
