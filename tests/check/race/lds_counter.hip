// A counter in LDS that some waves count up before it is set to zero.
#include "../case.h"

__global__ void count(unsigned* out, bool mended) {
  __shared__ unsigned counter;
  if (threadIdx.x == 0) counter = 0;
  if (mended) __syncthreads();
  atomicAdd(&counter, threadIdx.x & 1);  // FINDING: race lds
  __syncthreads();
  if (threadIdx.x == 0) *out = counter;
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(1);
  count<<<1, 256>>>(out, mended);
  finish();
  HIP(hipFree(out));
}
