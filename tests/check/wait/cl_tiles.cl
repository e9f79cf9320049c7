// Tiles are copied to LDS while the ones before are worked on, and the wait is for the copies before those. GPU: gfx1250
// RUN: --grid 64 --block 64 --arg buf:1K:u32=ramp --arg buf:64:u32 --arg 8 --arg lds:512
// CHECK: wait,memory,race
#include "opencl.h"

#define PLACES 64

static void add_tiles(global uint* in, global uint* out, int tiles, local uint* places, bool waits_too_little) {
  const uint i = local_id();
  __builtin_amdgcn_global_load_async_to_lds_b32((global int*)(in + i), (local int*)(places + i), 0, 0);
  uint sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      local uint* next = places + ((tile + 1) & 1) * PLACES + i;
      __builtin_amdgcn_global_load_async_to_lds_b32((global int*)(in + (tile + 1) * PLACES + i), (local int*)next, 0, 0);
      if (waits_too_little) {
        __builtin_amdgcn_s_wait_asynccnt(2);
      } else {
        __builtin_amdgcn_s_wait_asynccnt(1);
      }
    } else {
      __builtin_amdgcn_s_wait_asynccnt(0);
    }
    work_group_barrier();
    sum += places[(tile & 1) * PLACES + (i ^ (PLACES - 1))];  // FINDING: wait missing-wait
    work_group_barrier();
  }
  out[i] = sum;
}

kernel void wrong(global uint* in, global uint* out, int tiles, local uint* places) {
  add_tiles(in, out, tiles, places, true);
}

kernel void mended(global uint* in, global uint* out, int tiles, local uint* places) {
  add_tiles(in, out, tiles, places, false);
}
