// An array in a structure that is passed by value: an index past its end reads what lies behind the kernel's arguments.
#include "../case.h"

struct Weights {
  float of[8];
};

__global__ void weigh(const int* indices, float* out, Weights weights) {
  out[threadIdx.x] = weights.of[indices[blockIdx.x]];  // FINDING: memory arguments-out-of-bounds
}

void run(bool mended) {
  int indices[2] = {3, mended ? 4 : 400};
  int* in = allocate<int>(2);
  float* out = allocate<float>(64);
  HIP(hipMemcpy(in, indices, sizeof indices, hipMemcpyHostToDevice));
  weigh<<<2, 64>>>(in, out, Weights{{1, 2, 3, 4, 5, 6, 7, 8}});
  finish();
  HIP(hipFree(in));
  HIP(hipFree(out));
}
