// The same by atomics that read and write: with a release and an acquire for the work-group nothing is wrong, and until
// GFX9 the code has no instruction for these.
#include "../case.h"

__global__ void pass_on(unsigned* data, unsigned* count, unsigned* out, bool mended) {
  if (threadIdx.x == 0) {
    data[5] = 42;
    __hip_atomic_fetch_add(count, 1u, mended ? __ATOMIC_RELEASE : __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  } else if (threadIdx.x == 64) {
    while (__hip_atomic_fetch_add(count, 0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP) == 0) {
      __builtin_amdgcn_s_sleep(1);
    }
    if (mended) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    *out = data[5];  // FINDING ON gfx1030: race global, NOTE ON gfx90a: race not-portable
  }
}

void run(bool mended) {
  unsigned* memory = allocate<unsigned>(64);
  unsigned* count = allocate<unsigned>(1);
  unsigned* out = allocate<unsigned>(1);
  pass_on<<<1, 128>>>(memory, count, out, mended);
  finish();
  HIP(hipFree(memory));
  HIP(hipFree(count));
  HIP(hipFree(out));
}
