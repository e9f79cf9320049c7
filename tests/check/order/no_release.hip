// The flag is raised while the data are still on their way: nothing waits for the store before it.
#include "handover.h"

__global__ void pass_on(unsigned* data, unsigned* flag, unsigned* out, bool mended) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[5] = 42;
    if (mended) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    raise(flag);
  } else {
    wait_for(flag);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    out[blockIdx.x] = data[5];  // FINDING: order missing-release
  }
}

void run(bool mended) { hand_over(pass_on, mended); }
