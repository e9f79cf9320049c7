// Waves add to a sum in LDS under a lock that not all of them take; compilers set it free by an ordinary store.
#include "../case.h"

__global__ void add_up(unsigned* out, bool mended) {
  __shared__ unsigned lock, next, serving, sum, other_sum;
  const unsigned id = threadIdx.x;
  if (id == 0) lock = next = serving = sum = other_sum = 0;
  __syncthreads();
  if (id % warpSize == 0) {
    if (mended || id != 0) {
      while (atomicCAS(&lock, 0, 1) != 0) __builtin_amdgcn_s_sleep(1);
    }
    __threadfence_block();
    sum += id + 1;  // FINDING: race lds
    __threadfence_block();
    if (mended || id != 0) atomicExch(&lock, 0);
    // The same by a ticket.
    if (mended) {
      const unsigned own = __hip_atomic_fetch_add(&next, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
      while (__hip_atomic_load(&serving, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) != own)
        __builtin_amdgcn_s_sleep(1);
      other_sum += id;
      __hip_atomic_store(&serving, own + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
  }
  __syncthreads();
  out[id] = sum + other_sum;
}

void run(bool mended) {
  unsigned* out = allocate<unsigned>(256);
  add_up<<<1, 256>>>(out, mended);
  finish();
  HIP(hipFree(out));
}
