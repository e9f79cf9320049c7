// Only the first work-items come to the barrier. GPU: gfx900
// RUN: --grid 64 --block 64 --arg buf:64:u32
#include "opencl.h"

kernel void wrong(global uint* out) {
  if (out[local_id()] == 0 && local_id() < 32) {
    __builtin_amdgcn_s_barrier();  // FINDING: sync divergent-barrier
    out[local_id()] = 1;
  }
}
kernel void mended(global uint* out) {
  __builtin_amdgcn_s_barrier();
  if (out[local_id()] == 0 && local_id() < 32) out[local_id()] = 1;
}
