// A hand-made barrier of the whole grid. It waits until all work-groups have arrived and their values are visible,
// but the waiting work-group does not invalidate its cache.
#include "../case.h"

__device__ void meet(unsigned* arrived, bool mended) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    __hip_atomic_fetch_add(arrived, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    while (__hip_atomic_load(arrived, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) != gridDim.x)
      __builtin_amdgcn_s_sleep(1);
    if (mended) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  }
  __syncthreads();
}

__global__ void turn(unsigned* values, unsigned* arrived, unsigned* out, bool mended) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
  values[i] = i + 1;
  meet(arrived, mended);
  out[i] = values[(i + blockDim.x) % count];  // FINDING: order missing-acquire
}

void run(bool mended) {
  auto *values = allocate<unsigned>(512), *arrived = allocate<unsigned>(1), *out = allocate<unsigned>(512);
  turn<<<8, 64>>>(values, arrived, out, mended);
  finish();
  HIP(hipFree(values));
  HIP(hipFree(arrived));
  HIP(hipFree(out));
}
