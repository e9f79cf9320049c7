// An index past one argument in local memory, where the next one would be. GPU: gfx906
// RUN: --grid 64 --block 64 --arg buf:64:u32 --arg lds:256 --arg lds:256
#include "opencl.h"

static inline void shift(global uint* out, local uint* tile, local uint* sums, uint by) {
  sums[local_id()] = 0;
  tile[local_id() + by] = out[local_id()];  // FINDING: memory lds-out-of-bounds
  work_group_barrier();
  out[local_id()] = tile[local_id()] + sums[63 - local_id()];
}
kernel void wrong(global uint* out, local uint* tile, local uint* sums) { shift(out, tile, sums, 4); }
kernel void mended(global uint* out, local uint* tile, local uint* sums) { shift(out, tile, sums, 0); }
