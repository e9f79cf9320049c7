// A wave returns before the barrier that the others come to. GPU: gfx1101
// RUN: --grid 128 --block 128 --arg buf:128:u32
#include "opencl.h"

kernel void wrong(global uint* out) {
  if (__builtin_amdgcn_readfirstlane(local_id()) >= 96) return;
  out[local_id()] = 1;
  __builtin_amdgcn_s_barrier();  // FINDING: sync barrier-missed
  out[local_id()] = 2;
}
kernel void mended(global uint* out) {
  out[local_id()] = 1;
  __builtin_amdgcn_s_barrier();
  if (__builtin_amdgcn_readfirstlane(local_id()) >= 96) return;
  out[local_id()] = 2;
}
