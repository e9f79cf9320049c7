// A kernel's input is written in part; the host looks at all of the result.
#include "unwritten.h"

__global__ void scale(const float* in, float* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

void run(bool mended) {
  constexpr unsigned count = 256;
  float *in = unwritten<float>(count), *out = unwritten<float>(count);
  static float host[count], result[count];
  HIP(hipMemcpy(in, host, (mended ? count : count - 16) * sizeof(float), hipMemcpyHostToDevice));
  scale<<<1, count>>>(in, out);
  finish();
  HIP(hipMemcpy(result, out, sizeof result, hipMemcpyDeviceToHost));  // FINDING: init copy
  HIP(hipFree(in));
  HIP(hipFree(out));
}
