// Matrix products by the builtins of WMMA, of GFX11 and GFX12 in each wave size: a wave makes a tile of 16 x 16 of a depth
// of 32. Elements are whole numbers from -2 to 2, so that sums are exact in every type. Where elements are in registers:
// "RDNA3" and "RDNA4" ISA guides, "Wave Matrix Multiply Accumulate"; in which order the depth's are makes no difference
// as long as it is the same for both factors.
//
// -DWIDE_WAVES: waves of 64. -DGFX12.
#ifdef WIDE_WAVES
#define WAVE 64u
#else
#define WAVE 32u
#endif
#define BLOCKS (WAVE / 16)
#define RESULTS (16 / BLOCKS)  // that a lane has
#ifdef GFX12
#define SLOTS (16 / BLOCKS)  // elements of a factor that a lane has
#define ROW(r) (BLOCKS == 2 ? (r) + 8 * block : (r) + 8 * (block % 2) + 4 * (block / 2))
#define FIRST (block * SLOTS)
#ifdef WIDE_WAVES
#define BUILTIN(name) __builtin_amdgcn_##name##_w64_gfx12
#else
#define BUILTIN(name) __builtin_amdgcn_##name##_w32_gfx12
#endif
#else
#define SLOTS 16
#define ROW(r) ((r) * BLOCKS + block)
#define FIRST 0
#ifdef WIDE_WAVES
#define BUILTIN(name) __builtin_amdgcn_##name##_w64
#else
#define BUILTIN(name) __builtin_amdgcn_##name##_w32
#endif
#endif

typedef _Float16 halves __attribute__((ext_vector_type(SLOTS)));
typedef short shorts __attribute__((ext_vector_type(SLOTS)));
typedef float floats __attribute__((ext_vector_type(RESULTS)));
typedef int ints __attribute__((ext_vector_type(RESULTS)));

#define KERNEL(name) \
  __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64))) void name(const unsigned* in, unsigned* out)

#define PLACE                                                                                                \
  const unsigned item = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();           \
  const unsigned lane = item % WAVE, tile = item / WAVE, column = lane % 16, block = lane / 16;              \
  (void)block

/// Element `k` of row `row` of A, or of column `row` of B (`of` 1).
static int element(const unsigned* in, unsigned tile, unsigned of, unsigned row, unsigned k) {
  return (int)((in[(tile * 97 + of * 301 + row * 33 + k) % 1024] >> 9) % 5) - 2;
}

#define FACTORS(Fragment, convert)                                          \
  Fragment a, b;                                                            \
  for (unsigned i = 0; i < SLOTS; ++i) {                                    \
    a[i] = convert(element(in, tile, 0, column, k + FIRST + i));            \
    b[i] = convert(element(in, tile, 1, column, k + FIRST + i));            \
  }
#define STORE(convert) \
  for (unsigned r = 0; r < RESULTS; ++r) out[tile * 256 + ROW(r) * 16 + column] = (unsigned)(int)convert(sums, r)

#define TO_HALF(number) ((_Float16)(float)(number))
#define TO_BRAIN(number) ((short)(__builtin_bit_cast(unsigned, (float)(number)) >> 16))
#define OWN(sums, r) sums[r]

KERNEL(wave_matrix_f16) {
  PLACE;
  floats sums = 0;
  for (unsigned k = 0; k < 32; k += 16) {
    FACTORS(halves, TO_HALF)
    sums = BUILTIN(wmma_f32_16x16x16_f16)(a, b, sums);
  }
  STORE(OWN);
}

KERNEL(wave_matrix_bf16) {
  PLACE;
  floats sums = 0;
  for (unsigned k = 0; k < 32; k += 16) {
    FACTORS(shorts, TO_BRAIN)
    sums = BUILTIN(wmma_f32_16x16x16_bf16)(a, b, sums);
  }
  STORE(OWN);
}

// Sums of 16 bits are packed on GFX12. On GFX11 they are in the lower half of a register each.
#ifdef GFX12
typedef _Float16 half_sums __attribute__((ext_vector_type(RESULTS)));
typedef short brain_sums __attribute__((ext_vector_type(RESULTS)));
#define SUMS_IN_HALF(a, b, sums) (a, b, sums)
#define HALF(sums, r) (float)sums[r]
#define BRAIN(sums, r) __builtin_bit_cast(float, (unsigned)(unsigned short)sums[r] << 16)
#else
typedef _Float16 half_sums __attribute__((ext_vector_type(RESULTS * 2)));
typedef short brain_sums __attribute__((ext_vector_type(RESULTS * 2)));
#define SUMS_IN_HALF(a, b, sums) (a, b, sums, 0)
#define HALF(sums, r) (float)sums[(r) * 2]
#define BRAIN(sums, r) __builtin_bit_cast(float, (unsigned)(unsigned short)sums[(r) * 2] << 16)
#endif

KERNEL(wave_matrix_f16_sums) {
  PLACE;
  half_sums sums = 0;
  for (unsigned k = 0; k < 32; k += 16) {
    FACTORS(halves, TO_HALF)
    sums = BUILTIN(wmma_f16_16x16x16_f16) SUMS_IN_HALF(a, b, sums);
  }
  STORE(HALF);
}

KERNEL(wave_matrix_bf16_sums) {
  PLACE;
  brain_sums sums = 0;
  for (unsigned k = 0; k < 32; k += 16) {
    FACTORS(shorts, TO_BRAIN)
    sums = BUILTIN(wmma_bf16_16x16x16_bf16) SUMS_IN_HALF(a, b, sums);
  }
  STORE(BRAIN);
}

/// Elements of bytes and less, packed into words as the builtins expect them.
#define WORDS(bits) (SLOTS * bits / 32)
#define PACKED(bits, convert)                                                                            \
  unsigned a_words[WORDS(bits)] = {0}, b_words[WORDS(bits)] = {0};                                       \
  for (unsigned i = 0; i < SLOTS; ++i) {                                                                 \
    const unsigned shift = i * bits % 32, mask = (1u << bits) - 1;                                       \
    a_words[i * bits / 32] |= ((unsigned)convert(element(in, tile, 0, column, k + FIRST + i)) & mask) << shift; \
    b_words[i * bits / 32] |= ((unsigned)convert(element(in, tile, 1, column, k + FIRST + i)) & mask) << shift; \
  }
#define SAME(number) (number)
#if defined(GFX12) && defined(WIDE_WAVES)
typedef int packed_bytes;
#else
typedef int packed_bytes __attribute__((ext_vector_type(WORDS(8))));
#endif

/// One factor is signed; the other has bytes that would be negative if they were.
#define SHIFTED(number) ((number) + 130)
KERNEL(wave_matrix_i8) {
  PLACE;
  ints sums = 0;
  for (unsigned k = 0; k < 32; k += 16) {
    PACKED(8, SAME)
    packed_bytes a, b;
    __builtin_memcpy(&a, a_words, sizeof a_words);
    for (unsigned i = 0; i < SLOTS; ++i) ((unsigned char*)b_words)[i] = (unsigned char)SHIFTED(element(in, tile, 1, column, k + FIRST + i));
    __builtin_memcpy(&b, b_words, sizeof b_words);
    sums = BUILTIN(wmma_i32_16x16x16_iu8)(1, a, 0, b, sums, 0);
  }
  STORE(OWN);
}

#ifndef GFX12
typedef int int2 __attribute__((ext_vector_type(2)));
KERNEL(wave_matrix_i4) {
  PLACE;
  ints sums = 0;
  for (unsigned k = 0; k < 32; k += 16) {
    PACKED(4, SAME)
    sums = BUILTIN(wmma_i32_16x16x16_iu4)(1, __builtin_bit_cast(int2, a_words), 1, __builtin_bit_cast(int2, b_words), sums, 0);
  }
  STORE(OWN);
}
#else
static int fp8_of(int number) { return (number < 0 ? 0x80 : 0) | (number == 0 ? 0 : number == 1 || number == -1 ? 0x38 : 0x40); }
static int bf8_of(int number) { return (number < 0 ? 0x80 : 0) | (number == 0 ? 0 : number == 1 || number == -1 ? 0x3C : 0x40); }
KERNEL(wave_matrix_fp8) {
  PLACE;
  floats sums = 0;
  for (unsigned k = 0; k < 32; k += 16) {
    PACKED(8, fp8_of)
    packed_bytes a, b;
    __builtin_memcpy(&a, a_words, sizeof a_words);
    __builtin_memcpy(&b, b_words, sizeof b_words);
    sums = BUILTIN(wmma_f32_16x16x16_fp8_fp8)(a, b, sums);
  }
  STORE(OWN);
}
KERNEL(wave_matrix_bf8) {
  PLACE;
  floats sums = 0;
  for (unsigned k = 0; k < 32; k += 16) {
    PACKED(8, bf8_of)
    packed_bytes a, b;
    __builtin_memcpy(&a, a_words, sizeof a_words);
    __builtin_memcpy(&b, b_words, sizeof b_words);
    sums = BUILTIN(wmma_f32_16x16x16_bf8_bf8)(a, b, sums);
  }
  STORE(OWN);
}
#endif
