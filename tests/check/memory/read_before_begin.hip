// The first work-item reads its left neighbour.
#include "../case.h"

__global__ void differences(const float* in, float* out, int first, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < first || i >= count) return;
  const float left = in[i - 1];  // FINDING: memory out-of-bounds
  out[i] = in[i] - left;
}

void run(bool mended) {
  constexpr int count = 256;
  float *in = allocate<float>(count), *out = allocate<float>(count);
  differences<<<1, count>>>(in, out, mended ? 1 : 0, count);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(out));
}
