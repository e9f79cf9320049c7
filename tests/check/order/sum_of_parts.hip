// The last work-group to come adds up what the others left. They make sure that it is there, but it does not make sure
// that it looks anew.
#include "../case.h"

__global__ void sum(unsigned* parts, unsigned* tickets, unsigned* out, bool mended) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = blockIdx.x + 1;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  const unsigned ticket = __hip_atomic_fetch_add(tickets, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  if (ticket != gridDim.x - 1) return;
  if (mended) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  unsigned all = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) all += parts[i];  // FINDING: order missing-acquire
  *out = all;
}

void run(bool mended) {
  auto *parts = allocate<unsigned>(32), *tickets = allocate<unsigned>(1), *out = allocate<unsigned>(1);
  sum<<<32, 64>>>(parts, tickets, out, mended);
  finish();
  HIP(hipFree(parts));
  HIP(hipFree(tickets));
  HIP(hipFree(out));
}
