// A kernel gets a pointer to the host's heap, which GPUs without xnack cannot use.
#include "../case.h"

__global__ void fill(int* out) {
  out[threadIdx.x] = 1;  // FINDING: memory bad-address
}

void run(bool mended) {
  int* host = static_cast<int*>(std::malloc(1 << 20));
  int* out = allocate<int>(64);
  fill<<<1, 64>>>(mended ? out : host);
  finish();
  HIP(hipFree(out));
  std::free(host);
}
