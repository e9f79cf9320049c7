// A kernel faults without a finding before that: the fault stands in the report. CHECK: race
#include "../case.h"

__global__ void fill(unsigned* out) {
  out[threadIdx.x] = 1;  // FINDING: fault memory
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(64);
  fill<<<1, 64>>>(mended ? out : nullptr);
  finish();
  HIP(hipFree(out));
}
