// Work-groups count without an atomic. GPU: gfx942
// RUN: --grid 512 --block 64 --arg buf:1:u32
#include "opencl.h"

kernel void wrong(global uint* counter) {
  if (local_id() == 0) *counter += 1;  // FINDING: race global
}
kernel void mended(global uint* counter) {
  if (local_id() == 0) atomic_increment(counter);
}
