// What the kernels of this directory are written with. Those of the .h files are compiled twice: by clang for a GPU, as
// C or C++, and into the test for the host, which says what is right; each is a function of the work-item's number and
// two buffers. Those of the .cl and .c files use what only a GPU has; references.h computes the expected results.
//
// Nothing here is from a library: for the GPU there is none.
#pragma once

enum { work_group_size = 64, in_words = 1024, out_words_per_item = 4 };

#ifdef __AMDGCN__
#ifndef KERNEL_OPTIONS
#define KERNEL_OPTIONS
#endif
#ifdef __cplusplus
#define LINKAGE extern "C"
#else
#define LINKAGE
#endif
#define KERNEL(name)                                                                                              \
  static inline void name##_item(unsigned item, const unsigned* in, unsigned* out);                               \
  LINKAGE KERNEL_OPTIONS __attribute__((amdgpu_kernel)) void name(const unsigned* in, unsigned* out) {            \
    name##_item(__builtin_amdgcn_workgroup_id_x() * work_group_size + __builtin_amdgcn_workitem_id_x(), in, out); \
  }                                                                                                               \
  static inline void name##_item(unsigned item, const unsigned* in, unsigned* out)
#else
#define KERNEL(name) static inline void name##_item(unsigned item, const unsigned* in, unsigned* out)
#endif
#define NOINLINE __attribute__((noinline))

typedef unsigned long uint64;
typedef long int64;

static inline float float_of(unsigned bits) { return __builtin_bit_cast(float, bits); }
static inline unsigned bits_of(float value) { return __builtin_bit_cast(unsigned, value); }
static inline uint64 bits_of_double(double value) { return __builtin_bit_cast(uint64, value); }
static inline double number(unsigned bits) { return (double)(int)bits / 65536.0; }
/// Combines many results into one that differs when any of them does.
static inline unsigned mixed(unsigned sum, unsigned value) {
  return ((sum << 7 | sum >> 25) ^ value) * 0x9E3779B1u + 1;
}
static inline unsigned mixed64(unsigned sum, uint64 value) {
  return mixed(mixed(sum, (unsigned)value), (unsigned)(value >> 32));
}
