// A stencil whose last work-item reads its right neighbour.
#include "../case.h"

__global__ void differences(const float* in, float* out, int count, int last) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count || i > last) return;
  const float right = in[i + 1];  // FINDING: memory out-of-bounds
  out[i] = right - in[i];
}

void run(bool mended) {
  constexpr int count = 1000;
  float *in = allocate<float>(count), *out = allocate<float>(count);
  differences<<<(count + 255) / 256, 256>>>(in, out, count, mended ? count - 2 : count - 1);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(out));
}
