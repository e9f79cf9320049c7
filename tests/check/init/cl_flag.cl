// A flag in local memory that nobody sets. GPU: gfx803
// RUN: --grid 64 --block 64 --arg buf:64:u32
#include "opencl.h"

static inline void wait_and_look(global uint* out, volatile local uint* flag) {
  work_group_barrier();
  if (*flag == 3) {  // FINDING: init branch
    out[local_id()] = 1;
  }
}
kernel void wrong(global uint* out) {
  local uint flag;
  wait_and_look(out, &flag);
}
kernel void mended(global uint* out) {
  local uint flag;
  if (local_id() == 0) flag = 0;
  wait_and_look(out, &flag);
}
