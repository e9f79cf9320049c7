// Common parts of the wrong programs about order: the first work-group hands data to others, which wait for a
// flag.
#pragma once

#include "../case.h"

constexpr unsigned groups = 24;

__device__ inline void wait_for(unsigned* flag) {
  while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
}

__device__ inline void raise(unsigned* flag) {
  __hip_atomic_store(flag, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

inline void hand_over(void (*kernel)(unsigned* data, unsigned* flag, unsigned* out, bool mended), bool mended) {
  auto *data = allocate<unsigned>(64), *flag = allocate<unsigned>(1), *out = allocate<unsigned>(groups);
  kernel<<<groups, 32>>>(data, flag, out, mended);
  finish();
  HIP(hipFree(data));
  HIP(hipFree(flag));
  HIP(hipFree(out));
}
