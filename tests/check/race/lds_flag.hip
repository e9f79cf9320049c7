// A wave waits for a flag in LDS, which another sets before the data rather than after them. That the flag is an atomic
// does not show in the code: it is loaded and stored as anything else.
#include "../case.h"

constexpr unsigned values = 32;

__global__ void hand_over(unsigned* out, bool mended) {
  __shared__ unsigned flag, data[values];
  const unsigned id = threadIdx.x;
  if (id == 0) flag = 0;
  __syncthreads();
  if (id < values) {
    if (mended) data[id] = 3 * id;
    __builtin_amdgcn_wave_barrier();
    if (id == 0) __hip_atomic_store(&flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    __builtin_amdgcn_wave_barrier();
    if (!mended) data[id] = 3 * id;  // FINDING EITHER: race lds
  } else if (id >= 64 && id < 64 + values) {
    while (__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) == 0) __builtin_amdgcn_s_sleep(1);
    out[id - 64] = data[id - 64];  // FINDING EITHER: race lds
  }
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(values);
  hand_over<<<1, 128>>>(out, mended);
  finish();
  HIP(hipFree(out));
}
