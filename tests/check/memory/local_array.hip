// An index into a local array that is far too large.
#include "../case.h"

__global__ void pick(const int* indices, int* out) {
  volatile int local[16];
  for (int i = 0; i < 16; ++i) local[i] = i;
  out[threadIdx.x] = local[indices[threadIdx.x]];  // FINDING: memory scratch-out-of-bounds
}

void run(bool mended) {
  int indices[64];
  for (int i = 0; i < 64; ++i) indices[i] = i % 16;
  if (!mended) indices[7] = 40;
  int *in = allocate<int>(64), *out = allocate<int>(64);
  HIP(hipMemcpy(in, indices, sizeof indices, hipMemcpyHostToDevice));
  pick<<<1, 64>>>(in, out);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(out));
}
