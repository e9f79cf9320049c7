// Half of a wave multiplies matrices. GPU: gfx90a
// RUN: --grid 64 --block 64 --arg buf:512:f32=ramp
#include "opencl.h"

typedef float floats __attribute__((ext_vector_type(4)));

static inline void multiply(global float* data, bool some) {
  floats sum = 0;
  if (some) sum = __builtin_amdgcn_mfma_f32_16x16x4f32(data[local_id()], data[64 + local_id()], sum, 0, 0, 0);  // FINDING: sync divergent-operation
  for (uint i = 0; i < 4; ++i) data[256 + 4 * local_id() + i] = sum[i];
}
kernel void wrong(global float* data) { multiply(data, local_id() < 32); }
kernel void mended(global float* data) { multiply(data, group_id() == 0); }
