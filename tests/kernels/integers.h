// Integer arithmetic of all widths.
#include "kernel.h"

/// 32 and 64 bits, division among it.
KERNEL(integers) {
  const unsigned a = in[item], b = in[item + 1] | 1;
  const uint64 c = (uint64)in[item + 2] << 32 | in[item + 3], d = ((uint64)in[item + 4] << 20 | in[item + 5]) | 1;
  const int64 e = (int64)c, f = (int64)d - (1l << 40);
  out[item * 4] = a / b + a % b * 31 + (unsigned)((int)a / (int)b) + (unsigned)((int)a % (int)b);
  const uint64 g = c / d + c % d * 17 + (uint64)(e / (f | 1)) + (uint64)(e % (f | 1)) + c * d + (c >> (a & 63)) +
                   (uint64)(e >> (b & 63)) + (d << (a & 31));
  out[item * 4 + 1] = (unsigned)g;
  out[item * 4 + 2] = (unsigned)(g >> 32);
  const unsigned short h = (unsigned short)(a * b), k = (unsigned short)(a >> 5);
  const signed char m = (signed char)(h + k);
  out[item * 4 + 3] = (unsigned)(short)(h - 3 * k) + (unsigned)(m * 5) + (unsigned)(h / (k | 1)) +
                      (unsigned)__builtin_popcount(a) + (unsigned)__builtin_clz(b) + (unsigned)__builtin_ctzl(d) +
                      __builtin_bswap32(a) + (unsigned)((uint64)a * b >> 32) + (unsigned)__builtin_bitreverse32(b);
}

/// 128 bits: carries from word to word.
KERNEL(wide_integers) {
  typedef unsigned __int128 uint128;
  typedef __int128 int128;
  const uint128 a =
      (uint128)((uint64)in[item] << 32 | in[item + 1]) << 64 | ((uint64)in[item + 2] << 32 | in[item + 3]);
  const uint128 b = (uint128)((uint64)in[item + 4] << 32 | in[item + 5]) << 64 | ((uint64)in[item + 6] << 32 | 7);
  const uint128 sum = a + b, difference = a - b * 3, product = a * b;
  const unsigned by = in[item + 7] & 127;
  const uint128 shifted = (a >> by) ^ (b << by) ^ (uint128)((int128)a >> (by ^ 64));
  const uint128 all = sum ^ difference ^ product ^ shifted;
  const uint64 low = (uint64)all, high = (uint64)(all >> 64);
  out[item * 4] = (unsigned)low;
  out[item * 4 + 1] = (unsigned)(low >> 32);
  out[item * 4 + 2] = (unsigned)high ^ (a < b ? 1u : 0u) ^ ((int128)a < (int128)b ? 2u : 0u);
  out[item * 4 + 3] = (unsigned)(high >> 32) ^ (unsigned)(((uint128)(uint64)low * (uint64)high) >> 64);
}

/// 8 and 16 bits, which wrap, widen and saturate.
KERNEL(narrow_integers) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned a = in[item + i], b = in[item + i + 100];
    const unsigned char c = (unsigned char)a, d = (unsigned char)(b >> 8);
    const signed char e = (signed char)(a >> 16), f = (signed char)b;
    const unsigned short g = (unsigned short)(a >> 3), h = (unsigned short)(b | 1);
    const short k = (short)(a >> 9), m = (short)(b >> 16);
    sum = mixed(sum, (unsigned char)(c * d) + (unsigned)(unsigned char)(c - d) * 256u);
    sum = mixed(sum, (unsigned)((signed char)(e + f) * (signed char)(e ^ f)));
    sum = mixed(sum, (unsigned)(unsigned short)(g / h) ^ (unsigned)(unsigned short)(g % h) << 16);
    sum = mixed(sum, (unsigned)(short)(k >> (b & 7)) ^ (unsigned)(unsigned short)(g << (a & 7)));
    sum = mixed(sum, (unsigned)(k < m ? k : m) + (unsigned)(e > f ? e : f) + (unsigned)(g > h ? g : h) * 3u);
    // Saturating: compilers know these.
    const int wide = k + m, difference = e - f;
    sum = mixed(sum, (unsigned)(wide > 32767 ? 32767 : wide < -32768 ? -32768 : wide));
    sum = mixed(sum, (unsigned)(difference > 127 ? 127 : difference < -128 ? -128 : difference));
    sum = mixed(sum, (g + h > 65535 ? 65535u : (unsigned)(g + h)) + (c > d ? (unsigned)(c - d) : 0) * 65536u);
    out[item * 4 + i] = sum;
  }
}

/// Vectors of 16 and 8 bits, for which there are packed instructions.
KERNEL(packed_integers) {
  typedef short shorts __attribute__((ext_vector_type(2)));
  typedef unsigned short words __attribute__((ext_vector_type(4)));
  typedef unsigned char bytes __attribute__((ext_vector_type(4)));
  const shorts a = __builtin_bit_cast(shorts, in[item]), b = __builtin_bit_cast(shorts, in[item + 1]);
  const shorts few = (shorts)(short)(in[item + 2] & 15);
  const shorts c = (a + b) * b - (a >> few) + (b << (few & (shorts)7));
  const shorts d = __builtin_elementwise_max(a, b) ^ __builtin_elementwise_min(c, b);
  out[item * 4] = __builtin_bit_cast(unsigned, c);
  out[item * 4 + 1] =
      __builtin_bit_cast(unsigned, d) ^ __builtin_bit_cast(unsigned, __builtin_elementwise_add_sat(a, b));
  const words e = __builtin_bit_cast(words, (uint64)in[item + 3] << 32 | in[item + 4]);
  const words f = e.wzyx * (unsigned short)3 + (e >> (words)(unsigned short)2);
  out[item * 4 + 2] = mixed64(1, __builtin_bit_cast(uint64, __builtin_elementwise_max(e, f)));
  const bytes g = __builtin_bit_cast(bytes, in[item + 5]), h = __builtin_bit_cast(bytes, in[item + 6]);
  out[item * 4 + 3] = __builtin_bit_cast(unsigned, g + h.yxwz) ^ __builtin_bit_cast(unsigned, g* h) ^
                      __builtin_bit_cast(unsigned, __builtin_elementwise_sub_sat(g, h));
}

static inline uint64 deposited(uint64 bits, uint64 mask) {
  uint64 result = 0;
  for (; mask != 0; mask &= mask - 1, bits >>= 1) {
    if ((bits & 1) != 0) result |= mask & (~mask + 1);
  }
  return result;
}

/// Bits: counted, found, turned around, shifted together from two words.
KERNEL(bits) {
  const unsigned a = in[item], b = in[item + 1], by = in[item + 2];
  const uint64 c = (uint64)a << 32 | b;
  out[item * 4] = (unsigned)__builtin_popcountl(c) + (a != 0 ? (unsigned)__builtin_clz(a) * 64u : 7u) +
                  (b != 0 ? (unsigned)__builtin_ctz(b) * 4096u : 9u) +
                  (c != 0 ? (unsigned)__builtin_clzl(c) << 18 : 0) + (unsigned)__builtin_parity(a) * 0x1000000u;
  out[item * 4 + 1] = __builtin_rotateleft32(a, by) ^ __builtin_rotateright32(b, by >> 8) ^ (unsigned)(c >> (by & 31)) ^
                      __builtin_bitreverse32(a) ^ __builtin_bswap16((unsigned short)b);
  // In two halves: of 64 bits at once, clang 22 without optimization for gfx1100 takes 16 of each half's bits.
  const uint64 swapped = (uint64)__builtin_bswap32(b) << 32 | __builtin_bswap32(a);
  const uint64 d = __builtin_rotateleft64(c, by) ^ __builtin_bitreverse64(c) ^ swapped ^ (c ^ c >> 1);
  out[item * 4 + 2] = mixed64(3, d);
  const unsigned width = by % 31 + 1, from = by >> 5 & 31;
  const unsigned field = a >> from & ((1u << width) - 1);
  out[item * 4 + 3] = mixed64(field, deposited(c, d)) ^ (unsigned)((int)(a << from) >> (32 - (int)width)) ^
                      ((a & ~b) | (b & by)) ^ ~(a ^ by);
}

/// Division by constants, which compilers turn into products.
KERNEL(constant_divisors) {
  const unsigned a = in[item];
  const int b = (int)in[item + 1];
  const uint64 c = (uint64)in[item + 2] << 32 | in[item + 3];
  const int64 d = (int64)c;
  out[item * 4] = a / 3 + a % 5 + a / 7 + a % 10 + a / 641 + a % 1000000007u + a / 0x80000001u;
  out[item * 4 + 1] = (unsigned)(b / 3 + b % 5 - b / 7 + b % -10 + b / 641 - b % 1000000007 + b / 8 + b % 16);
  out[item * 4 + 2] = mixed64(0, c / 3 + c % 10 + c / 1000000007 + c % 0xFFFFFFFF);
  out[item * 4 + 3] = mixed64(0, (uint64)(d / 3 + d % 10 - d / 1000000007 + d % 4096 + d / -7));
}

/// What does not fit.
KERNEL(overflows) {
  const unsigned a = in[item], b = in[item + 1];
  const uint64 c = (uint64)a << 32 | in[item + 2], d = (uint64)b << (a & 31) | in[item + 3];
  unsigned u, flags = 0;
  int s;
  uint64 w;
  int64 t;
  unsigned sum = 0;
  flags |= __builtin_add_overflow(a, b, &u) ? 1u : 0u, sum = mixed(sum, u);
  flags |= __builtin_sub_overflow(a, b, &u) ? 2u : 0u, sum = mixed(sum, u);
  flags |= __builtin_mul_overflow(a, b & 0xFFFF, &u) ? 4u : 0u, sum = mixed(sum, u);
  flags |= __builtin_add_overflow((int)a, (int)b, &s) ? 8u : 0u, sum = mixed(sum, (unsigned)s);
  flags |= __builtin_sub_overflow((int)a, (int)b, &s) ? 16u : 0u, sum = mixed(sum, (unsigned)s);
  flags |= __builtin_mul_overflow((int)a, (int)b >> 20, &s) ? 32u : 0u, sum = mixed(sum, (unsigned)s);
  flags |= __builtin_add_overflow(c, d, &w) ? 64u : 0u, sum = mixed64(sum, w);
  flags |= __builtin_sub_overflow((int64)c, (int64)d, &t) ? 128u : 0u, sum = mixed64(sum, (uint64)t);
  flags |= __builtin_mul_overflow(c >> 20, d & 0xFFFFFF, &w) ? 256u : 0u, sum = mixed64(sum, w);
  out[item * 4] = flags;
  out[item * 4 + 1] = sum;
  out[item * 4 + 2] = __builtin_elementwise_add_sat(a, b) ^ (unsigned)__builtin_elementwise_sub_sat((int)a, (int)b);
  out[item * 4 + 3] = mixed64(0, __builtin_elementwise_sub_sat(c, d)) ^
                      mixed64(1, (uint64)__builtin_elementwise_add_sat((int64)c, (int64)d));
}
