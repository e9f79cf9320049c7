// A histogram with a bin too few.
#include "../case.h"

__global__ void count(const unsigned char* values, unsigned* bins, int size) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < size) __atomic_fetch_add(&bins[values[i]], 1u, __ATOMIC_RELAXED);  // FINDING: memory out-of-bounds
}

void run(bool mended) {
  unsigned char values[64];
  for (int i = 0; i < 64; ++i) values[i] = static_cast<unsigned char>(i % 17);
  auto* in = allocate<unsigned char>(64);
  HIP(hipMemcpy(in, values, sizeof values, hipMemcpyHostToDevice));
  auto* bins = allocate<unsigned>(mended ? 17 : 16);
  count<<<1, 64>>>(in, bins, 64);
  finish();
  HIP(hipFree(in));
  HIP(hipFree(bins));
}
