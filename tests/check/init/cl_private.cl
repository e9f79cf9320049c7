// An array of which one element is not written. GPU: gfx1100
// RUN: --grid 32 --block 32 --arg buf:32:u32
#include "opencl.h"

static inline void choose(global uint* out, uint written) {
  volatile uint table[8];
  for (uint i = 0; i < written; ++i) table[i] = i;
  out[table[local_id() % 8] & 31] = 1;  // FINDING: init address
}
kernel void wrong(global uint* out) { choose(out, 7); }
kernel void mended(global uint* out) { choose(out, 8); }
