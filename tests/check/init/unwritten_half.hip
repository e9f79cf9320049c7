// An array of shorts of which every other one is written, read two at a time.
#include "unwritten.h"

__global__ void fill(short* values, int step) { values[threadIdx.x * step] = static_cast<short>(threadIdx.x); }

__global__ void choose(const short2* pairs, int* out) {
  const short2 pair = pairs[threadIdx.x];
  if (pair.x > 3) atomicAdd(out, 1);
  if (pair.y > 3) atomicAdd(out, 2);  // FINDING: init branch
}

void run(bool mended) {
  short* values = unwritten<short>(128);
  int* out = allocate<int>(1);
  fill<<<1, mended ? 128 : 64>>>(values, mended ? 1 : 2);
  choose<<<1, 64>>>(reinterpret_cast<const short2*>(values), out);
  finish();
  HIP(hipFree(values));
  HIP(hipFree(out));
}
