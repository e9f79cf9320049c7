// An index into LDS is negative where the address is a flat one, as without optimisation: it lies below LDS.
#include "../case.h"

__global__ void rotate(int* out, int by) {
  __shared__ int values[64];
  const int i = static_cast<int>(threadIdx.x);
  values[i] = i;
  __syncthreads();
  const int* from = values;
  __asm__ volatile("" : "+v"(from));    // hides where it points
  out[i] = from[i >= by ? i - 1 : 63];  // FINDING: memory lds-out-of-bounds
}

void run(bool mended) {
  int* out = allocate<int>(64);
  rotate<<<1, 64>>>(out, mended ? 1 : 0);
  finish();
  HIP(hipFree(out));
}
