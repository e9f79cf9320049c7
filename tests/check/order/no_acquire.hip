// The data have arrived when the flag is raised, but the reader's cache may have them as they were before.
#include "handover.h"

__global__ void pass_on(unsigned* data, unsigned* flag, unsigned* out, bool mended) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[5] = 42;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    raise(flag);
  } else {
    wait_for(flag);
    if (mended) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    out[blockIdx.x] = data[5];  // FINDING: order missing-acquire
  }
}

void run(bool mended) { hand_over(pass_on, mended); }
