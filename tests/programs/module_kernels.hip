// What module.hip loads from a file at run time.
#include <hip/hip_runtime.h>

extern "C" {

__device__ int offset = 3;

__global__ void scale(const float* in, float* out, float factor, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = in[i] * factor + static_cast<float>(offset);
}

// Marks who ran, for grids that are no multiple of the work-group.
__global__ void mark(unsigned* marks) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  marks[i] = 1000 + threadIdx.x;
}

extern __shared__ int shared[];
__global__ void reverse(int* values) {
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

}  // extern "C"
