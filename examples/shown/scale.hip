#include <hip/hip_runtime.h>

// The program of the README with a mistake: its grid has a work-group more than the buffer has room for.
__global__ void scale(float* data, float factor) {
  data[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}

int main() {
  float* data = nullptr;
  if (hipMalloc(&data, 1024 * sizeof(float)) != hipSuccess) return 1;
  scale<<<5, 256>>>(data, 2.5F);
  return hipDeviceSynchronize() != hipSuccess ? 1 : 0;
}
