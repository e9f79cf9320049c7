// A loop that goes one element too far. GPU: gfx1100
// RUN: --grid 64 --block 64 --arg buf:64:u32 --arg buf:64:u32
#include "opencl.h"

static inline void sum(global uint* in, global uint* out, uint last) {
  uint result = 0;
  for (uint i = local_id(); i <= last; i += 16) {
    result += in[i];  // FINDING: memory out-of-bounds
  }
  out[local_id()] = result;
}
kernel void wrong(global uint* in, global uint* out) { sum(in, out, 64); }
kernel void mended(global uint* in, global uint* out) { sum(in, out, 63); }
