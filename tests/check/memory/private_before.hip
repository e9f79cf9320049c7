// An index into a local array is far below zero.
#include "../case.h"

__global__ void pick(const int* indices, int* out) {
  volatile int local[16];
  for (int i = 0; i < 16; ++i) local[i] = i;
  out[threadIdx.x] = local[indices[threadIdx.x]];  // FINDING: memory scratch-out-of-bounds
}

void run(bool mended) {
  int values[64];
  for (int& value : values) value = mended ? 3 : -100;
  int* indices = allocate<int>(64);
  int* out = allocate<int>(64);
  HIP(hipMemcpy(indices, values, sizeof values, hipMemcpyHostToDevice));
  pick<<<1, 64>>>(indices, out);
  finish();
  HIP(hipFree(indices));
  HIP(hipFree(out));
}
