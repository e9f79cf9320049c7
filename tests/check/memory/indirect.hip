// A gather by indices of which one was never set right.
#include "../case.h"

__global__ void gather(const int* indices, const double* from, double* to) {
  const int at = indices[threadIdx.x];
  to[threadIdx.x] = from[at];  // FINDING: memory out-of-bounds
}

void run(bool mended) {
  int indices[64];
  for (int i = 0; i < 64; ++i) indices[i] = 63 - i;
  if (!mended) indices[40] = 64;
  int* in = allocate<int>(64);
  double *from = allocate<double>(64), *to = allocate<double>(64);
  HIP(hipMemcpy(in, indices, sizeof indices, hipMemcpyHostToDevice));
  gather<<<1, 64>>>(in, from, to);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(from));
  HIP(hipFree(to));
}
