// Matrix products by the builtins of WMMA of GFX12.5, as wave_matrices.c has them for its predecessors: a wave makes two
// tiles of 16 x 16 that have the columns in common, of a depth of 128. In which order a lane's elements are taken from the
// depth makes no difference as long as it is the same for both factors.
typedef _Float16 halves __attribute__((ext_vector_type(16)));
typedef __bf16 brains __attribute__((ext_vector_type(16)));
typedef float floats __attribute__((ext_vector_type(8)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef int int8s __attribute__((ext_vector_type(8)));
typedef int int16s __attribute__((ext_vector_type(16)));

#define DEPTH 128

#define KERNEL(name) \
  __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64))) void name(const unsigned* in, unsigned* out)

#define PLACE                                                                                      \
  const unsigned item = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x(); \
  const unsigned lane = item % 32, tile = item / 32 * 2, column = lane % 16, block = lane / 16

/// Element `k` of row `row` of A in a tile, or of column `row` of B (`of` 1).
static int element(const unsigned* in, unsigned tile, unsigned of, unsigned row, unsigned k) {
  return (int)((in[(tile * 97 + of * 301 + row * 33 + k) % 1024] >> 9) % 5) - 2;
}

#define STORE(sums, t, convert)                                                                                     \
  for (unsigned r = 0; r < 8; ++r)                                                                                  \
  out[(tile + t) * 256 + (r + 8 * block) * 16 + column] = (unsigned)(int)convert(sums[r])

#define TO_HALF(number) ((_Float16)(float)(number))
#define TO_BRAIN(number) ((__bf16)(float)(number))
#define SAME(number) (number)

/// `slots`: elements that a lane has of one instruction.
#define FACTORS(Fragment, slots, convert)                                              \
  Fragment a0, a1, b;                                                                  \
  for (unsigned i = 0; i < slots; ++i) {                                               \
    a0[i] = convert(element(in, tile, 0, column, k + block * slots + i));              \
    a1[i] = convert(element(in, tile + 1, 0, column, k + block * slots + i));          \
    b[i] = convert(element(in, tile, 1, column, k + block * slots + i));               \
  }

#define FLOAT_KERNEL(name, Fragment, depth, convert, builtin) \
  KERNEL(name) {                                              \
    PLACE;                                                    \
    floats sums0 = 0, sums1 = 0;                              \
    for (unsigned k = 0; k < DEPTH; k += depth) {             \
      FACTORS(Fragment, depth / 2, convert)                   \
      sums0 = builtin(0, a0, 0, b, 0, sums0, 0, 0);           \
      sums1 = builtin(0, a1, 0, b, 0, sums1, 0, 0);           \
    }                                                         \
    STORE(sums0, 0, SAME);                                    \
    STORE(sums1, 1, SAME);                                    \
  }

FLOAT_KERNEL(deep_matrix_f32, float2, 4, (float), __builtin_amdgcn_wmma_f32_16x16x4_f32)
FLOAT_KERNEL(deep_matrix_f16, halves, 32, TO_HALF, __builtin_amdgcn_wmma_f32_16x16x32_f16)
FLOAT_KERNEL(deep_matrix_bf16, brains, 32, TO_BRAIN, __builtin_amdgcn_wmma_f32_16x16x32_bf16)

/// Bytes, as words that the builtins take.
#define BYTES(Words, slots, convert_a, convert_b)                                                            \
  union {                                                                                                    \
    Words words;                                                                                             \
    unsigned char bytes[slots];                                                                              \
  } a0, a1, b;                                                                                               \
  for (unsigned i = 0; i < slots; ++i) {                                                                     \
    a0.bytes[i] = (unsigned char)convert_a(element(in, tile, 0, column, k + block * slots + i));             \
    a1.bytes[i] = (unsigned char)convert_a(element(in, tile + 1, 0, column, k + block * slots + i));         \
    b.bytes[i] = (unsigned char)convert_b(element(in, tile, 1, column, k + block * slots + i));              \
  }

/// One factor is signed; the other has bytes that would be negative if they were.
#define SHIFTED(number) ((number) + 130)
KERNEL(deep_matrix_i8) {
  PLACE;
  int8s sums0 = 0, sums1 = 0;
  for (unsigned k = 0; k < DEPTH; k += 64) {
    BYTES(int8s, 32, SAME, SHIFTED)
    sums0 = __builtin_amdgcn_wmma_i32_16x16x64_iu8(1, a0.words, 0, b.words, sums0, 0, 0);
    sums1 = __builtin_amdgcn_wmma_i32_16x16x64_iu8(1, a1.words, 0, b.words, sums1, 0, 0);
  }
  STORE(sums0, 0, SAME);
  STORE(sums1, 1, SAME);
}

static int fp8_of(int number) {
  return (number < 0 ? 0x80 : 0) | (number == 0 ? 0 : number == 1 || number == -1 ? 0x38 : 0x40);
}
KERNEL(deep_matrix_fp8) {
  PLACE;
  floats sums0 = 0, sums1 = 0;
  for (unsigned k = 0; k < DEPTH; k += 64) {
    BYTES(int8s, 32, fp8_of, fp8_of)
    sums0 = __builtin_amdgcn_wmma_f32_16x16x64_fp8_fp8(a0.words, b.words, 0, sums0, 0, 0);
    sums1 = __builtin_amdgcn_wmma_f32_16x16x64_fp8_fp8(a1.words, b.words, 0, sums1, 0, 0);
  }
  STORE(sums0, 0, SAME);
  STORE(sums1, 1, SAME);
}

/// With scales of 2 and 4 (E8M0) for all elements, taken back from the sums.
KERNEL(deep_matrix_scaled) {
  PLACE;
  floats sums0 = 0, sums1 = 0;
  const int two = 0x80808080, four = 0x81818181;
  for (unsigned k = 0; k < DEPTH; k += 128) {
    BYTES(int16s, 64, fp8_of, fp8_of)
    sums0 = __builtin_amdgcn_wmma_scale_f32_16x16x128_f8f6f4(0, a0.words, 0, b.words, 0, sums0, 0, 0, two, 0, 0, four, 0, 0);
    sums1 = __builtin_amdgcn_wmma_scale_f32_16x16x128_f8f6f4(0, a1.words, 0, b.words, 0, sums1, 0, 0, two, 0, 0, four, 0, 0);
  }
#define EIGHTH(number) ((number) * 0.125f)
  STORE(sums0, 0, EIGHTH);
  STORE(sums1, 1, EIGHTH);
}
