// The last vector of four reaches past the end. GPU: gfx1201
// RUN: --grid 32 --block 32 --arg buf:126:u32
#include "opencl.h"

kernel void wrong(global uint4* data) {
  data[local_id()] = (uint4)(local_id());  // FINDING: memory out-of-bounds
}
kernel void mended(global uint4* data) {
  if (local_id() < 31) data[local_id()] = (uint4)(local_id());
}
