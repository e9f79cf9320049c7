// Matrix products as kernels with the compiler's builtins for matrix instructions: c = a * transposed b, `rows` x
// `rows` results of a depth of `depth`. A wave makes a tile of 32 x 32 (doubles: 16 x 16), four of them all of c.
//
// C, and nothing from a library.
#pragma once

enum { rows = 64, depth = 64 };

#ifdef __AMDGCN__

typedef float floats __attribute__((ext_vector_type(16)));
typedef int ints __attribute__((ext_vector_type(16)));
typedef double doubles __attribute__((ext_vector_type(4)));
typedef _Float16 halves4 __attribute__((ext_vector_type(4)));
typedef _Float16 halves8 __attribute__((ext_vector_type(8)));
typedef _Float16 halves16 __attribute__((ext_vector_type(16)));
typedef short shorts2 __attribute__((ext_vector_type(2)));
typedef short shorts4 __attribute__((ext_vector_type(4)));
typedef __bf16 brains8 __attribute__((ext_vector_type(8)));
typedef float floats2 __attribute__((ext_vector_type(2)));
typedef int ints2 __attribute__((ext_vector_type(2)));
typedef int ints4 __attribute__((ext_vector_type(4)));
typedef int ints8 __attribute__((ext_vector_type(8)));

#define KERNEL(name, Sum)                                                        \
  __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64))) void name( \
      const char* a, const char* b, Sum* c, const unsigned char* a_extra, const unsigned char* b_extra)

// Where a lane is in its tile, and the tile in c.
#define PLACE(size)                                                                                 \
  const unsigned lane = __builtin_amdgcn_workitem_id_x(), tile = __builtin_amdgcn_workgroup_id_x(); \
  const unsigned row0 = tile / (rows / size) * size, column0 = tile % (rows / size) * size;         \
  const unsigned in_tile = lane % size, group = lane / size

#define STORE_32                                                                    \
  for (unsigned r = 0; r < 16; ++r) {                                               \
    c[(row0 + r / 4 * 8 + group * 4 + r % 4) * rows + column0 + in_tile] = sums[r]; \
  }

/// `step`: the depth of one instruction, of which a lane has half.
#define PRODUCT(name, bytes, Fragment, Sums, Sum, step, multiply)                                         \
  KERNEL(name, Sum) {                                                                                     \
    PLACE(32);                                                                                            \
    Sums sums = 0;                                                                                        \
    for (unsigned k = 0; k < depth; k += step) {                                                          \
      Fragment x, y;                                                                                      \
      __builtin_memcpy(&x, a + ((row0 + in_tile) * depth + k + group * (step / 2)) * bytes, sizeof x);    \
      __builtin_memcpy(&y, b + ((column0 + in_tile) * depth + k + group * (step / 2)) * bytes, sizeof y); \
      sums = multiply(x, y, sums);                                                                        \
    }                                                                                                     \
    STORE_32                                                                                              \
  }

/// Of a, half of the elements are there; a_extra has a byte for two pairs of them, which says what they are.
#define SPARSE_PRODUCT(name, bytes, AFragment, BFragment, Sums, Sum, step, multiply)                   \
  KERNEL(name, Sum) {                                                                                  \
    PLACE(32);                                                                                         \
    Sums sums = 0;                                                                                     \
    for (unsigned k = 0; k < depth; k += step) {                                                       \
      AFragment x;                                                                                     \
      BFragment y;                                                                                     \
      int index = 0;                                                                                   \
      const unsigned first = (row0 + in_tile) * depth + k + group * (step / 2);                        \
      __builtin_memcpy(&x, a + first / 2 * bytes, sizeof x);                                           \
      for (unsigned run = 0; run < sizeof y / 16; ++run) {                                             \
        const unsigned begin = k + run * (step * 16 / sizeof y) + group * (16 / bytes);                \
        __builtin_memcpy((char*)&y + run * 16, b + ((column0 + in_tile) * depth + begin) * bytes, 16); \
      }                                                                                                \
      __builtin_memcpy(&index, a_extra + first / 8, step / 16);                                        \
      sums = multiply(x, y, sums, index, 0, 0);                                                        \
    }                                                                                                  \
    STORE_32                                                                                           \
  }

#define F32(x, y, sums) __builtin_amdgcn_mfma_f32_32x32x2f32(x, y, sums, 0, 0, 0)
PRODUCT(product_f32, 4, float, floats, float, 2, F32)
#define F16(x, y, sums) __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sums, 0, 0, 0)
PRODUCT(product_f16, 2, halves4, floats, float, 8, F16)

#if defined(__gfx908__) || defined(__gfx90a__)
#define BF16(x, y, sums) __builtin_amdgcn_mfma_f32_32x32x4bf16(x, y, sums, 0, 0, 0)
PRODUCT(product_bf16, 2, shorts2, floats, float, 4, BF16)
#define I8(x, y, sums) __builtin_amdgcn_mfma_i32_32x32x8i8(x, y, sums, 0, 0, 0)
PRODUCT(product_i8, 1, int, ints, int, 8, I8)
#endif

#ifndef __gfx908__
#define BF16_1K(x, y, sums) __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(x, y, sums, 0, 0, 0)
PRODUCT(product_bf16_1k, 2, shorts4, floats, float, 8, BF16_1K)
KERNEL(product_f64, double) {
  PLACE(16);
  doubles sums = 0;
  for (unsigned k = 0; k < depth; k += 4) {
    double x, y;
    __builtin_memcpy(&x, a + ((row0 + in_tile) * depth + k + group) * 8, 8);
    __builtin_memcpy(&y, b + ((column0 + in_tile) * depth + k + group) * 8, 8);
    sums = __builtin_amdgcn_mfma_f64_16x16x4f64(x, y, sums, 0, 0, 0);
  }
  for (unsigned r = 0; r < 4; ++r) c[(row0 + r * 4 + group) * rows + column0 + in_tile] = sums[r];
}
#endif

#if defined(__gfx942__) || defined(__gfx950__)
#define I8_WIDE(x, y, sums) __builtin_amdgcn_mfma_i32_32x32x16_i8(x, y, sums, 0, 0, 0)
PRODUCT(product_i8, 1, long, ints, int, 16, I8_WIDE)
#define FP8(x, y, sums) __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(x, y, sums, 0, 0, 0)
PRODUCT(product_fp8, 1, long, floats, float, 16, FP8)
#define BF8_FP8(x, y, sums) __builtin_amdgcn_mfma_f32_32x32x16_bf8_fp8(x, y, sums, 0, 0, 0)
PRODUCT(product_bf8_fp8, 1, long, floats, float, 16, BF8_FP8)
SPARSE_PRODUCT(sparse_f16, 2, halves4, halves8, floats, float, 16, __builtin_amdgcn_smfmac_f32_32x32x16_f16)
SPARSE_PRODUCT(sparse_i8, 1, ints2, ints4, ints, int, 32, __builtin_amdgcn_smfmac_i32_32x32x32_i8)
SPARSE_PRODUCT(sparse_fp8, 1, ints2, ints4, floats, float, 32, __builtin_amdgcn_smfmac_f32_32x32x32_fp8_fp8)
#endif

#ifdef __gfx942__
#define XF32(x, y, sums) __builtin_amdgcn_mfma_f32_32x32x4_xf32(x, y, sums, 0, 0, 0)
PRODUCT(product_xf32, 4, floats2, floats, float, 4, XF32)
#endif

#ifdef __gfx950__
#define F16_WIDE(x, y, sums) __builtin_amdgcn_mfma_f32_32x32x16_f16(x, y, sums, 0, 0, 0)
PRODUCT(product_f16_wide, 2, halves8, floats, float, 16, F16_WIDE)
#define BF16_WIDE(x, y, sums) __builtin_amdgcn_mfma_f32_32x32x16_bf16(x, y, sums, 0, 0, 0)
PRODUCT(product_bf16_wide, 2, brains8, floats, float, 16, BF16_WIDE)
#define I8_WIDEST(x, y, sums) __builtin_amdgcn_mfma_i32_32x32x32_i8(x, y, sums, 0, 0, 0)
PRODUCT(product_i8_wide, 1, ints4, ints, int, 32, I8_WIDEST)
SPARSE_PRODUCT(sparse_f16_wide, 2, halves8, halves16, floats, float, 32, __builtin_amdgcn_smfmac_f32_32x32x32_f16)
SPARSE_PRODUCT(sparse_i8_wide, 1, ints4, ints8, ints, int, 64, __builtin_amdgcn_smfmac_i32_32x32x64_i8)

/// With scales of a and b, which a_extra and b_extra have for each 32 elements of a row. Of 8 bits a lane has 16
/// elements from each of the two halves of the depth, of 4 bits the 32 of one half.
#define SCALED_PRODUCT(name, format, other, load_a, load_b)                                                      \
  KERNEL(name, float) {                                                                                          \
    PLACE(32);                                                                                                   \
    ints8 x = 0, y = 0;                                                                                          \
    load_a(&x, a + (row0 + in_tile) * depth, a + (row0 + in_tile) * (depth / 2));                                \
    load_b(&y, b + (column0 + in_tile) * depth, b + (column0 + in_tile) * (depth / 2));                          \
    const int a_scale = a_extra[(row0 + in_tile) * 2 + group];                                                   \
    const int b_scale = b_extra[(column0 + in_tile) * 2 + group] << 16 | 0x11;                                   \
    const floats sums =                                                                                          \
        __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(x, y, (floats)0, format, other, 0, a_scale, 2, b_scale); \
    STORE_32                                                                                                     \
  }
#define LOAD_BYTES(to, bytes, nibbles)          \
  __builtin_memcpy(to, bytes + group * 16, 16); \
  __builtin_memcpy((char*)(to) + 16, bytes + 32 + group * 16, 16)
#define LOAD_NIBBLES(to, bytes, nibbles) __builtin_memcpy(to, nibbles + group * 16, 16)
SCALED_PRODUCT(scaled_fp8, 0, 0, LOAD_BYTES, LOAD_BYTES)
SCALED_PRODUCT(scaled_fp4, 4, 4, LOAD_NIBBLES, LOAD_NIBBLES)
SCALED_PRODUCT(scaled_bf8_fp4, 1, 4, LOAD_BYTES, LOAD_NIBBLES)
#endif

#endif
