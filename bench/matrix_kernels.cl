// Matrix products with matrix instructions: c = a * transposed b, of 1024 x 1024 elements each, row after row.
// A work-group is one wave and makes a tile of 64 x 64 of c: on Instincts as 2 x 2 tiles of 32 x 32, on Radeons, whose
// waves have 32 lanes here, as 4 x 4 tiles of 16 x 16. Each lane reads 16 or 32 bytes
// of a row of a and of b at a time; which of a row's elements a lane holds does not matter as long as it is the same in
// a and b. The widest instruction of the processor for each type is used. Work-items are asked for by the compiler's
// own functions: OpenCL's are in a device library that may be older than the processors.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

enum { size = 1024 };

#if defined(__GFX11__) || defined(__GFX12__)

typedef float floats __attribute__((ext_vector_type(8)));
typedef int ints __attribute__((ext_vector_type(8)));
typedef half halves8 __attribute__((ext_vector_type(8)));
typedef half halves16 __attribute__((ext_vector_type(16)));
typedef short shorts8 __attribute__((ext_vector_type(8)));
typedef short shorts16 __attribute__((ext_vector_type(16)));
typedef int ints2 __attribute__((ext_vector_type(2)));
typedef int ints4 __attribute__((ext_vector_type(4)));

// GFX11: lanes 16 to 31 have the rows of lanes 0 to 15 once more, and the odd rows of the result. GFX12: they have the
// other half of what is read, and the lower half of the result.
#ifdef __GFX11__
enum { parts = 1, row_step = 2, group_step = 1 };
#else
enum { parts = 2, row_step = 1, group_step = 8 };
#endif

// `Fragment`: what one instruction takes from a lane, and what a lane reads at a time; `bytes`: of an element.
#define MATRIX_PRODUCT(name, bytes, Fragment, Sums, Sum, multiply)                                              \
  __attribute__((reqd_work_group_size(32, 1, 1))) kernel void name(                                             \
      global const char* restrict a, global const char* restrict b, global Sum* restrict c) {                   \
    const uint lane = __builtin_amdgcn_workitem_id_x(), in_tile = lane % 16, group = lane / 16;                 \
    const uint row0 = __builtin_amdgcn_workgroup_id_y() * 64, column0 = __builtin_amdgcn_workgroup_id_x() * 64; \
    const uint offset = group % parts * sizeof(Fragment);                                                       \
    Sums sums[4][4] = {};                                                                                       \
    for (uint k = 0; k < size * bytes; k += parts * sizeof(Fragment)) {                                         \
      Fragment rows[4], columns[4];                                                                             \
      for (uint i = 0; i < 4; ++i) {                                                                            \
        const uint row = row0 + i * 16 + in_tile, column = column0 + i * 16 + in_tile;                          \
        rows[i] = *(global const Fragment*)(a + row * size * bytes + offset + k);                               \
        columns[i] = *(global const Fragment*)(b + column * size * bytes + offset + k);                         \
      }                                                                                                         \
      for (uint i = 0; i < 4; ++i) {                                                                            \
        for (uint j = 0; j < 4; ++j) sums[i][j] = multiply(rows[i], columns[j], sums[i][j]);                    \
      }                                                                                                         \
    }                                                                                                           \
    for (uint i = 0; i < 4; ++i) {                                                                              \
      for (uint j = 0; j < 4; ++j) {                                                                            \
        for (uint r = 0; r < 8; ++r) {                                                                          \
          const uint row = row0 + i * 16 + r * row_step + group * group_step, column = column0 + j * 16 + in_tile; \
          c[row * size + column] = sums[i][j][r];                                                               \
        }                                                                                                       \
      }                                                                                                         \
    }                                                                                                           \
  }

#ifdef __GFX11__
#define F16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c)
MATRIX_PRODUCT(product_f16, 2, halves16, floats, float, F16)
#define BF16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, c)
MATRIX_PRODUCT(product_bf16, 2, shorts16, floats, float, BF16)
#define I8(a, b, c) __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, a, true, b, c, false)
MATRIX_PRODUCT(product_i8, 1, ints4, ints, int, I8)
#elif defined(__gfx1250__)
typedef float floats2 __attribute__((ext_vector_type(2)));
typedef int ints8 __attribute__((ext_vector_type(8)));
typedef __bf16 brains16 __attribute__((ext_vector_type(16)));
#define F32(a, b, c) __builtin_amdgcn_wmma_f32_16x16x4_f32(false, a, false, b, 0, c, false, false)
MATRIX_PRODUCT(product_f32, 4, floats2, floats, float, F32)
#define F16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x32_f16(false, a, false, b, 0, c, false, false)
MATRIX_PRODUCT(product_f16, 2, halves16, floats, float, F16)
#define BF16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x32_bf16(false, a, false, b, 0, c, false, false)
MATRIX_PRODUCT(product_bf16, 2, brains16, floats, float, BF16)
#define I8(a, b, c) __builtin_amdgcn_wmma_i32_16x16x64_iu8(true, a, true, b, c, false, false)
MATRIX_PRODUCT(product_i8, 1, ints8, ints, int, I8)
#define FP8(a, b, c) __builtin_amdgcn_wmma_f32_16x16x64_fp8_fp8(a, b, 0, c, false, false)
MATRIX_PRODUCT(product_fp8, 1, ints8, floats, float, FP8)
#else
#define F16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c)
MATRIX_PRODUCT(product_f16, 2, halves8, floats, float, F16)
#define BF16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a, b, c)
MATRIX_PRODUCT(product_bf16, 2, shorts8, floats, float, BF16)
#define I8(a, b, c) __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, a, true, b, c, false)
MATRIX_PRODUCT(product_i8, 1, ints2, ints, int, I8)
#define FP8(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(a, b, c)
MATRIX_PRODUCT(product_fp8, 1, ints2, floats, float, FP8)
#endif

#else

typedef float floats __attribute__((ext_vector_type(16)));
typedef int ints __attribute__((ext_vector_type(16)));
typedef short shorts4 __attribute__((ext_vector_type(4)));
typedef half halves4 __attribute__((ext_vector_type(4)));
typedef half halves8 __attribute__((ext_vector_type(8)));
typedef int ints4 __attribute__((ext_vector_type(4)));
typedef int ints8 __attribute__((ext_vector_type(8)));

// `Fragment`: what one instruction takes from a lane; `Load`: what a lane reads at a time.
#define MATRIX_PRODUCT(name, bytes, Load, Fragment, Sums, Sum, multiply)                                        \
  __attribute__((reqd_work_group_size(64, 1, 1))) kernel void name(                                             \
      global const char* restrict a, global const char* restrict b, global Sum* restrict c) {                   \
    const uint lane = __builtin_amdgcn_workitem_id_x();                                                         \
    const uint row0 = __builtin_amdgcn_workgroup_id_y() * 64, column0 = __builtin_amdgcn_workgroup_id_x() * 64; \
    const uint in_tile = lane % 32, group = lane / 32;                                                          \
    Sums sums[2][2] = {{0, 0}, {0, 0}};                                                                         \
    for (uint k = 0; k < size * bytes; k += 2 * sizeof(Load)) {                                                 \
      union {                                                                                                   \
        Load load;                                                                                              \
        Fragment fragment[sizeof(Load) / sizeof(Fragment)];                                                     \
      } rows[2], columns[2];                                                                                    \
      for (uint i = 0; i < 2; ++i) {                                                                            \
        const uint row = row0 + i * 32 + in_tile, column = column0 + i * 32 + in_tile;                          \
        rows[i].load = *(global const Load*)(a + row * size * bytes + group * sizeof(Load) + k);                \
        columns[i].load = *(global const Load*)(b + column * size * bytes + group * sizeof(Load) + k);          \
      }                                                                                                         \
      for (uint part = 0; part < sizeof(Load) / sizeof(Fragment); ++part) {                                     \
        for (uint i = 0; i < 2; ++i) {                                                                          \
          for (uint j = 0; j < 2; ++j) {                                                                        \
            sums[i][j] = multiply(rows[i].fragment[part], columns[j].fragment[part], sums[i][j]);               \
          }                                                                                                     \
        }                                                                                                       \
      }                                                                                                         \
    }                                                                                                           \
    for (uint i = 0; i < 2; ++i) {                                                                              \
      for (uint j = 0; j < 2; ++j) {                                                                            \
        for (uint r = 0; r < 16; ++r) {                                                                         \
          const uint row = row0 + i * 32 + r / 4 * 8 + group * 4 + r % 4, column = column0 + j * 32 + in_tile;  \
          c[row * size + column] = sums[i][j][r];                                                               \
        }                                                                                                       \
      }                                                                                                         \
    }                                                                                                           \
  }

#define F32(a, b, c) __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0)
MATRIX_PRODUCT(product_f32, 4, ints4, float, floats, float, F32)

#ifdef __gfx950__

#define F16(a, b, c) __builtin_amdgcn_mfma_f32_32x32x16_f16(a, b, c, 0, 0, 0)
MATRIX_PRODUCT(product_f16, 2, ints4, halves8, floats, float, F16)
typedef __bf16 brains8 __attribute__((ext_vector_type(8)));
#define BF16(a, b, c) __builtin_amdgcn_mfma_f32_32x32x16_bf16(a, b, c, 0, 0, 0)
MATRIX_PRODUCT(product_bf16, 2, ints4, brains8, floats, float, BF16)
#define I8(a, b, c) __builtin_amdgcn_mfma_i32_32x32x32_i8(a, b, c, 0, 0, 0)
MATRIX_PRODUCT(product_i8, 1, ints4, ints4, ints, int, I8)
// Without scales.
#define FP8(a, b, c) __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a, b, c, 0, 0, 0, 0, 0, 0)
MATRIX_PRODUCT(product_fp8, 1, ints8, ints8, floats, float, FP8)

#else

#define F16(a, b, c) __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0)
MATRIX_PRODUCT(product_f16, 2, ints4, halves4, floats, float, F16)
#define BF16(a, b, c) __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, c, 0, 0, 0)
MATRIX_PRODUCT(product_bf16, 2, ints4, shorts4, floats, float, BF16)
#ifdef __gfx942__
#define I8(a, b, c) __builtin_amdgcn_mfma_i32_32x32x16_i8(a, b, c, 0, 0, 0)
MATRIX_PRODUCT(product_i8, 1, ints4, long, ints, int, I8)
#define FP8(a, b, c) __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a, b, c, 0, 0, 0)
MATRIX_PRODUCT(product_fp8, 1, ints4, long, floats, float, FP8)
#else
#define I8(a, b, c) __builtin_amdgcn_mfma_i32_32x32x8i8(a, b, c, 0, 0, 0)
MATRIX_PRODUCT(product_i8, 1, ints4, int, ints, int, I8)
#endif

#endif

#endif
