// One work-group waits for another's flag and reads what that has written before, with an acquire for its own work-group
// alone: from GFX10 on that invalidates the caches of the CU, not those behind them.
#include "../case.h"

__global__ void pass_on(unsigned* data, unsigned* flag, unsigned* out, bool mended) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[5] = 42;
    __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  } else {
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
    if (mended) {
      __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    } else {
      __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    }
    *out = data[5];  // FINDING: race global
  }
}

void run(bool mended) {
  unsigned* memory = allocate<unsigned>(64);
  unsigned* flag = allocate<unsigned>(1);
  unsigned* out = allocate<unsigned>(1);
  pass_on<<<2, 64>>>(memory, flag, out, mended);
  finish();
  HIP(hipFree(memory));
  HIP(hipFree(flag));
  HIP(hipFree(out));
}
