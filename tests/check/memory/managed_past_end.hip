// Managed memory is the program's own, and has bounds to the byte all the same.
#include "../case.h"

__global__ void fill(int* out, unsigned count) {
  if (threadIdx.x < count) out[threadIdx.x] = 1;  // FINDING: memory out-of-bounds
}

void run(bool mended) {
  int* out = nullptr;
  HIP(hipMallocManaged(reinterpret_cast<void**>(&out), 33 * sizeof(int)));
  fill<<<1, 64>>>(out, mended ? 33 : 34);
  finish();
  HIP(hipFree(out));
}
