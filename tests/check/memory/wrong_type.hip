// A buffer of floats that is used as one of doubles.
#include "../case.h"

__global__ void fill(double* out, int count) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) out[i] = 1;  // FINDING: memory out-of-bounds
}

void run(bool mended) {
  float* out = allocate<float>(64);
  fill<<<1, 64>>>(reinterpret_cast<double*>(out), mended ? 32 : 64);
  finish();
  HIP(hipFree(out));
}
