// The launch requests less dynamic LDS than the kernel uses.
#include "../case.h"

extern __shared__ float cells[];

__global__ void turn(float* values) {
  cells[threadIdx.x] = values[threadIdx.x];  // FINDING: memory lds-out-of-bounds
  __syncthreads();
  values[threadIdx.x] = cells[threadIdx.x ^ 1];  // FINDING: memory lds-out-of-bounds
}

void run(bool mended) {
  float* values = allocate<float>(64);
  turn<<<1, 64, mended ? 64 * sizeof(float) : 60 * sizeof(float)>>>(values);
  finish();
  HIP(hipFree(values));
}
