// A hardware floating-point atomic on fine-grained memory of the host, which gfx90a drops. Other GPUs have none here:
// the compiler makes a loop about a compare-and-swap.
#include "../case.h"

__global__ void add(double* sum) {
  unsafeAtomicAdd(sum, 1.0);  // FINDING ON gfx90a: memory dropped-atomic
}

void run(bool mended) {
  double* sum = nullptr;
  const unsigned grain = mended ? hipHostMallocNonCoherent : hipHostMallocCoherent;
  HIP(hipHostMalloc(reinterpret_cast<void**>(&sum), sizeof *sum, grain));
  *sum = 0;
  add<<<1, 64>>>(sum);
  finish();
  if (mended && *sum != 64) std::exit(4);
  HIP(hipHostFree(sum));
}
