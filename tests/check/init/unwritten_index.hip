// Indices that nobody has written.
#include "unwritten.h"

__global__ void gather(const unsigned* indices, const int* in, int* out) {
  out[threadIdx.x] = in[indices[threadIdx.x] % 64];  // FINDING: init address
}

void run(bool mended) {
  unsigned* indices = unwritten<unsigned>(64);
  int *in = allocate<int>(64), *out = allocate<int>(64);
  if (mended) HIP(hipMemset(indices, 0, 64 * sizeof(unsigned)));
  gather<<<1, 64>>>(indices, in, out);
  finish();
  HIP(hipFree(indices));
  HIP(hipFree(in));
  HIP(hipFree(out));
}
