// Two waves exchange values in local memory without a barrier. GPU: gfx1030
// RUN: --grid 128 --block 128 --arg buf:128:u32
#include "opencl.h"

kernel void wrong(global uint* out) {
  local uint tile[128];
  tile[local_id()] = local_id();  // FINDING: race lds
  out[local_id()] = tile[127 - local_id()];  // FINDING: race lds
}
kernel void mended(global uint* out) {
  local uint tile[128];
  tile[local_id()] = local_id();
  work_group_barrier();
  out[local_id()] = tile[127 - local_id()];
}
