// Vectors of 16 bytes over a buffer whose size is not a multiple of 16: the last vector is half inside.
#include "../case.h"

__global__ void sum(const float4* in, float* out, int vectors) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= vectors) return;
  const float4 value = in[i];  // FINDING: memory out-of-bounds
  out[i] = value.x + value.y + value.z + value.w;
}

void run(bool mended) {
  float *in = allocate<float>(4 * 31 + 2), *out = allocate<float>(32);
  sum<<<1, 64>>>(reinterpret_cast<float4*>(in), out, mended ? 31 : 32);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(out));
}
