// Kernels that are compiled twice: by clang for a GPU, and into the test for the host, which says what is right. Each
// is a function of the work-item's number and two buffers.
//
// C, and nothing from a library: for the GPU there is none.
#pragma once

#ifdef __AMDGCN__
#define KERNEL(name)                                                                                  \
  static inline void name##_item(unsigned item, const unsigned* in, unsigned* out);                   \
  __attribute__((amdgpu_kernel)) void name(const unsigned* in, unsigned* out) {                       \
    name##_item(__builtin_amdgcn_workgroup_id_x() * 64u + __builtin_amdgcn_workitem_id_x(), in, out); \
  }                                                                                                   \
  static inline void name##_item(unsigned item, const unsigned* in, unsigned* out)
#define NOINLINE __attribute__((noinline))
typedef unsigned long uint64;
typedef long int64;
#else
#define KERNEL(name) static inline void name##_item(unsigned item, const unsigned* in, unsigned* out)
#define NOINLINE __attribute__((noinline))
typedef unsigned long uint64;
typedef long int64;
#endif

enum { item_count = 64 * 3, in_words = 1024, out_words_per_item = 4 };

static inline float float_of(unsigned bits) { return __builtin_bit_cast(float, bits); }
static inline unsigned bits_of(float value) { return __builtin_bit_cast(unsigned, value); }
static inline double number(unsigned bits) { return (double)(int)bits / 65536.0; }

/// Integer arithmetic of all widths, division among it.
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

/// Single and double precision: what IEEE 754 says exactly.
KERNEL(floats) {
  const float a = (float)(int)in[item] / 1000.0f, b = float_of((in[item + 7] & 0x807FFFFF) | 0x3F000000);
  const float quotient = a / b;
  const float sum = __builtin_fmaf(a, b, quotient) - a * 0.1f + (float)in[item + 9];
  const double c = number(in[item + 1]), d = number(in[item + 2]) + 0.5, e = c / d;
  const double f = __builtin_fma(c, d, e) + (double)sum + (double)(int64)((uint64)in[item] * in[item + 1]);
  out[item * 4] = bits_of(quotient);
  out[item * 4 + 1] = bits_of(sum) ^ (unsigned)(int)(a * 3) ^ (a < b ? 0x55u : 0xAAu);
  const uint64 g = __builtin_bit_cast(uint64, f) ^ (uint64)(int64)(c * 12345.678);
  out[item * 4 + 2] = (unsigned)g;
  out[item * 4 + 3] = (unsigned)(g >> 32);
}

/// A private array that no register can be: scratch, indexed at run time.
KERNEL(sorting) {
  unsigned values[24];
  unsigned char order[24];
  for (unsigned i = 0; i < 24; ++i) {
    values[i] = in[(item * 7 + i * 13) % in_words];
    order[i] = (unsigned char)i;
  }
  for (unsigned i = 1; i < 24; ++i) {
    for (unsigned j = i; j > 0 && values[j - 1] > values[j]; --j) {
      const unsigned value = values[j];
      values[j] = values[j - 1];
      values[j - 1] = value;
      const unsigned char place = order[j];
      order[j] = order[j - 1];
      order[j - 1] = place;
    }
  }
  unsigned sum = 0;
  for (unsigned i = 0; i < 24; ++i) sum = sum * 31 + order[i];
  out[item * 4] = values[0];
  out[item * 4 + 1] = values[in[item] % 24];
  out[item * 4 + 2] = values[23];
  out[item * 4 + 3] = sum;
}

/// Divergent loops, early exits and a switch.
KERNEL(branches) {
  unsigned n = in[item] % 1000 + 1, steps = 0, kinds = 0;
  while (n != 1) {
    n = n % 2 != 0 ? 3 * n + 1 : n / 2;
    ++steps;
    switch (n % 7) {
      case 0:
        kinds += 1;
        break;
      case 1:
        kinds ^= 0x10;
        continue;
      case 2:
        kinds = kinds * 3;
        break;
      case 5:
        kinds -= n;
        break;
      default:
        kinds = kinds << 1 | kinds >> 31;
    }
    if (steps > 300) break;
  }
  out[item * 4] = steps;
  out[item * 4 + 1] = kinds;
  out[item * 4 + 2] = n;
  out[item * 4 + 3] = item;
}

static NOINLINE unsigned add_up(const unsigned* in, unsigned from, unsigned depth) {
  if (depth == 0) return in[from % in_words];
  return add_up(in, from * 5 + 1, depth - 1) * 3 + add_up(in, from + depth, depth / 2);
}
static NOINLINE unsigned twice(unsigned value) { return value * 2; }
static NOINLINE unsigned inverted(unsigned value) { return ~value; }

/// Calls: recursion with a stack frame, and through pointers that differ from lane to lane.
KERNEL(calls) {
  out[item * 4] = add_up(in, item, item % 6);
  unsigned (*function)(unsigned) = in[item] % 3 != 0 ? twice : inverted;
  out[item * 4 + 1] = function(in[item + 1]);
  out[item * 4 + 2] = function(item);
  out[item * 4 + 3] = 0;
}

/// Bytes, shorts and unaligned structures in memory.
KERNEL(memory) {
  const unsigned char* bytes = (const unsigned char*)in + item * 5;
  struct __attribute__((packed)) Record {
    unsigned char tag;
    unsigned short half;
    unsigned word;
    uint64 wide;
  };
  const struct Record record = *(const struct Record*)bytes;
  out[item * 4] = record.tag + record.half * 3u + record.word;
  out[item * 4 + 1] = (unsigned)(record.wide >> 7);
  unsigned char* to = (unsigned char*)(out + item * 4 + 2);
  for (unsigned i = 0; i < 8; ++i) to[i] = (unsigned char)(bytes[i * 3 % 11] ^ i);
}
