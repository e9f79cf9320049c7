// An uninitialized value selects one of two values for the host, without a branch.
#include "unwritten.h"

__global__ void choose(int* out, unsigned written) {
  __shared__ int values[64];
  const unsigned i = threadIdx.x;
  if (i < written) values[i] = static_cast<int>(i);
  __syncthreads();
  out[i] = values[i] > 3 ? 1 : 2;
}

void run(bool mended) {
  int* out = unwritten<int>(64);
  choose<<<1, 64>>>(out, mended ? 64 : 48);
  finish();
  static int result[64];
  HIP(hipMemcpy(result, out, sizeof result, hipMemcpyDeviceToHost));  // FINDING: init copy
  HIP(hipFree(out));
}
