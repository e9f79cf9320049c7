// Ten bytes, and the byte after them: bounds are those that the program requested.
#include "../case.h"

__global__ void mark(char* out, unsigned count) {
  if (threadIdx.x < count) out[threadIdx.x] = 'x';  // FINDING: memory out-of-bounds
}

void run(bool mended) {
  char* out = allocate<char>(10);
  mark<<<1, 64>>>(out, mended ? 10 : 11);
  finish();
  HIP(hipFree(out));
}
