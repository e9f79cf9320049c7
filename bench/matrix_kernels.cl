// Matrix products with matrix instructions: c = a * transposed b, of 1024 x 1024 elements each, row after row.
// A work-group is one wave and makes a tile of 64 x 64 of c, as 2 x 2 tiles of 32 x 32. Each lane reads 16 or 32 bytes
// of a row of a and of b at a time; which of a row's elements a lane holds does not matter as long as it is the same in
// a and b. The widest instruction of the processor for each type is used. Work-items are asked for by the compiler's
// own functions: OpenCL's are in a device library that may be older than the processors.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

enum { size = 1024 };

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
