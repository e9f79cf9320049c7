// Memory is allocated by HIP's templates, which are inlined: the report names the program's lines, not the header's.
#include "../case.h"

__global__ void fill(int* data, int count) {
  data[threadIdx.x + count - 64] = 1;  // FINDING: memory out-of-bounds
}

void run(bool mended) {
  int* data = nullptr;
  HIP(hipMalloc(&data, 100 * sizeof(int)));  // FRAME: allocated
  fill<<<1, 64>>>(data, mended ? 100 : 101);
  finish();
  HIP(hipFree(data));
}
