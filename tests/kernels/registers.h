// So many values at once that a wave needs more VGPRs than an instruction can name (GFX12.5 has 1,024 of them).
#ifdef __AMDGCN__
#define KERNEL_OPTIONS __attribute__((amdgpu_flat_work_group_size(64, 64), amdgpu_waves_per_eu(1, 1)))
#endif
#include "kernel.h"

/// Integers, single and double precision, in rounds whose number is known when it runs.
KERNEL(many_registers) {
  enum { count = 400 };
  unsigned values[count];
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < count; ++i) values[i] = in[(item + i * 7) % 1000] + i;
  for (unsigned round = in[item] % 3 + 2; round > 0; --round) {
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < count; ++i) {
      values[i] = values[i] * 0x9E3779B1u ^ values[(i * 11 + 5) % count];
      if (i % 16 == 3) values[i] ^= bits_of((float)(values[i] >> 8) * 0.5f + (float)(values[(i + 200) % count] >> 20));
      if (i % 64 == 9)
        values[i] += (unsigned)(bits_of_double(number(values[i]) * number(values[(i + 77) % count])) >> 20);
    }
  }
  unsigned sum = 0;
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < count; ++i) sum = mixed(sum, values[i]);
  out[item * 4] = sum;
  out[item * 4 + 1] = values[in[item + 1] % 2 == 0 ? 300 : 399];
}
