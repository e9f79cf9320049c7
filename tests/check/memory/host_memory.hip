// Host memory for GPUs has bounds, too.
#include "../case.h"

__global__ void fill(int* out, unsigned count) {
  if (threadIdx.x < count) out[threadIdx.x] = 1;  // FINDING: memory out-of-bounds
}

void run(bool mended) {
  int* out = nullptr;
  HIP(hipHostMalloc(reinterpret_cast<void**>(&out), 33 * sizeof(int)));
  fill<<<1, 64>>>(out, mended ? 33 : 34);
  finish();
  HIP(hipHostFree(out));
}
