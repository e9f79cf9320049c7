// bfloat16, in which clang computes since version 18.
#include "kernel.h"

typedef __bf16 brain2 __attribute__((ext_vector_type(2)));

KERNEL(brains) {
  const __bf16 a = (__bf16)((float)(int)in[item] / 1000.0f), b = (__bf16)((float)(in[item + 1] & 0xFFFF) / 3.0f + 1);
  const __bf16 c = a * b, d = a / b, e = a - b, f = (__bf16)(a + b) * (__bf16)0.1f;
  out[item * 4] = __builtin_bit_cast(unsigned short, c) | (unsigned)__builtin_bit_cast(unsigned short, d) << 16;
  out[item * 4 + 1] = __builtin_bit_cast(unsigned short, e) | (unsigned)__builtin_bit_cast(unsigned short, f) << 16;
  out[item * 4 + 2] = bits_of((float)d) ^ (unsigned)(int)((float)c * 0.001f) ^ (a < b ? 1u : 0u);
  // Rounding: ties, overflow to infinity, denormals.
  const unsigned edges[] = {0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x00018000, 0x80000001, 0x3F807FFF};
  out[item * 4 + 3] = __builtin_bit_cast(unsigned short, (__bf16)float_of(edges[in[item + 2] % 6])) |
                      (unsigned)__builtin_bit_cast(unsigned short, (__bf16)float_of(in[item] & 0xBFFFFFFF)) << 16;
}

KERNEL(brain_vectors) {
  const brain2 a = {(__bf16)(float)(in[item] & 0xFFF), (__bf16)((float)(in[item] >> 20) * 0.25f)};
  const brain2 b = {(__bf16)0.375f, (__bf16)(float)(short)in[item + 1]};
  const brain2 c = a * b, d = c + a.yx, e = d - b * a;
  out[item * 4] = __builtin_bit_cast(unsigned, c);
  out[item * 4 + 1] = __builtin_bit_cast(unsigned, d);
  out[item * 4 + 2] = __builtin_bit_cast(unsigned, e);
}
