// A wave waits for the flag of another wave of its work-group and reads what that has released, without an acquire: in
// WGP mode the other may be on another CU, whose loads have a cache of their own.
#include "../case.h"

__global__ void pass_on(unsigned* data, unsigned* flag, unsigned* out, bool mended) {
  if (threadIdx.x == 0) {
    data[5] = 42;
    __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
  } else if (threadIdx.x == 64) {
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP) == 0) __builtin_amdgcn_s_sleep(1);
    if (mended) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    *out = data[5];  // FINDING ON gfx1030: race global, NOTE ON gfx90a: race not-portable
  }
}

void run(bool mended) {
  unsigned* memory = allocate<unsigned>(64);
  unsigned* flag = allocate<unsigned>(1);
  unsigned* out = allocate<unsigned>(1);
  pass_on<<<1, 128>>>(memory, flag, out, mended);
  finish();
  HIP(hipFree(memory));
  HIP(hipFree(flag));
  HIP(hipFree(out));
}
