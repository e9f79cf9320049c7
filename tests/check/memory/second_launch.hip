// The first launch is right, the second has the sizes of another buffer.
#include "../case.h"

__global__ void scale(float* values, int count, float factor) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    values[i] *= factor;  // FINDING: memory out-of-bounds
  }
}

void run(bool mended) {
  float *large = allocate<float>(5000), *small = allocate<float>(500);
  scale<<<4, 256>>>(large, 5000, 2);
  scale<<<4, 256>>>(small, mended ? 500 : 5000, 2);
  finish();
  HIP(hipFree(large));
  HIP(hipFree(small));
}
