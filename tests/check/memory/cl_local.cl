// An index past an array in local memory. GPU: gfx906
// RUN: --grid 64 --block 64 --arg buf:64:u32
#include "opencl.h"

static inline void turn(global uint* out, local uint* tile, uint last) {
  tile[local_id()] = out[local_id()];
  work_group_barrier();
  out[local_id()] = tile[last - local_id()];  // FINDING: memory lds-out-of-bounds
}
kernel void wrong(global uint* out) {
  local uint tile[64];
  turn(out, tile, 70);
}
kernel void mended(global uint* out) {
  local uint tile[64];
  turn(out, tile, 63);
}
