// The flag is raised while the data are still on their way: nothing waits for the store before it.
#include "handover.h"

__global__ void pass_on(unsigned* data, unsigned* flag, unsigned* out, bool mended) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 42;
    if (mended) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    if (threadIdx.x == 0) raise(flag);
  } else if (threadIdx.x == 0) {
    wait_for(flag);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    out[blockIdx.x] = data[blockIdx.x];  // FINDING: order missing-release
  }
}

void run(bool mended) { hand_over(pass_on, mended); }
