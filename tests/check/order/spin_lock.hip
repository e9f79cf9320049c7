// A lock that is taken and released without order: the next owner may read a stale sum from its CU's cache.
#include "../case.h"

__global__ void add(unsigned* sum, unsigned* lock, bool mended) {
  if (threadIdx.x != 0) return;
  unsigned free = 0;
  while (!__hip_atomic_compare_exchange_strong(lock, &free, 1u, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                               __HIP_MEMORY_SCOPE_AGENT)) {
    free = 0;
    __builtin_amdgcn_s_sleep(1);
  }
  if (mended) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  *sum += blockIdx.x;  // FINDING: order missing-acquire
  __hip_atomic_store(lock, 0u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

void run(bool mended) {
  auto *sum = allocate<unsigned>(1), *lock = allocate<unsigned>(1);
  add<<<32, 64>>>(sum, lock, mended);
  finish();
  HIP(hipFree(sum));
  HIP(hipFree(lock));
}
