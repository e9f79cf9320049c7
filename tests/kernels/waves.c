// What the lanes of a wave do together, and instructions that have no name in a language: by clang's builtins. Work-groups
// are of 64 work-items, which all are there: one wave or two.
#ifdef __AMDGCN_WAVEFRONT_SIZE__
#define WAVE __AMDGCN_WAVEFRONT_SIZE__
#else
#define WAVE __builtin_amdgcn_wavefrontsize()
#endif

typedef unsigned long uint64;

#define KERNEL(name)                                                                         \
  __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64))) void name(const unsigned* in, unsigned* out)
#define ITEM                                                                                         \
  const unsigned item = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x(), \
                 lane = __builtin_amdgcn_workitem_id_x() % WAVE

#ifdef WIDE_WAVES
#define BALLOT(condition) __builtin_amdgcn_ballot_w64(condition)
#else
#define BALLOT(condition) ((uint64)__builtin_amdgcn_ballot_w32(condition))
#endif

static unsigned lanes_below(uint64 mask) {
#ifdef WIDE_WAVES
  return __builtin_amdgcn_mbcnt_hi((unsigned)(mask >> 32), __builtin_amdgcn_mbcnt_lo((unsigned)mask, 0));
#else
  return __builtin_amdgcn_mbcnt_lo((unsigned)mask, 0);
#endif
}

/// Masks of lanes, in divergent code too.
KERNEL(ballots) {
  ITEM;
  const uint64 odd = BALLOT((in[item] & 1) != 0);
  uint64 inner = 0;
  if (in[item + 1] % 3 == 0) {
    inner = BALLOT((in[item] & 2) != 0);
    if (lane % 2 != 0) inner ^= BALLOT(1) << 1;
  }
  out[item * 4] = (unsigned)odd;
  out[item * 4 + 1] = (unsigned)(odd >> 32) ^ (unsigned)__builtin_popcountl(odd);
  out[item * 4 + 2] = (unsigned)inner;
  out[item * 4 + 3] = (unsigned)(inner >> 32);
}

/// The number of a lane among those that are chosen.
KERNEL(compaction) {
  ITEM;
  const int chosen = in[item] % 5 < 2;
  const uint64 mask = BALLOT(chosen);
  if (chosen) out[(item - lane + lanes_below(mask)) * 4] = in[item];
  out[item * 4 + 1] = lanes_below(mask);
}

/// Any lane's word.
KERNEL(shuffles_of_lanes) {
  ITEM;
  out[item * 4] = (unsigned)__builtin_amdgcn_ds_bpermute((int)((in[item] % WAVE) * 4), (int)in[item + 1]);
  out[item * 4 + 1] = (unsigned)__builtin_amdgcn_ds_permute((int)((lane ^ 21) * 4), (int)in[item]);
  unsigned sum = in[item + 2];
  for (unsigned distance = 1; distance < WAVE; distance *= 2) {
    const unsigned other = (unsigned)__builtin_amdgcn_ds_bpermute((int)(lane - distance) * 4, (int)sum);
    if (lane >= distance) sum += other;
  }
  out[item * 4 + 2] = sum;
}

/// Patterns that are part of the instruction.
KERNEL(swizzles) {
  ITEM;
  const int word = (int)in[item];
  out[item * 4] = (unsigned)__builtin_amdgcn_ds_swizzle(word, 0x041F);             // lanes 1 apart exchanged
  out[item * 4 + 1] = (unsigned)__builtin_amdgcn_ds_swizzle(word, 0x401F);         // 16 apart
  out[item * 4 + 2] = (unsigned)__builtin_amdgcn_ds_swizzle(word, 0x0018);         // the first of 8
  out[item * 4 + 3] = (unsigned)__builtin_amdgcn_ds_swizzle(word, 0x8000 | 0x1B);  // four turned around
}

/// Within a row of 16 lanes, with sums in the same instruction.
KERNEL(data_parallel_primitives) {
  ITEM;
  const int word = (int)in[item];
  out[item * 4] = (unsigned)__builtin_amdgcn_update_dpp(7, word, 0xE4 ^ 0xFF, 0xF, 0xF, 0) +  // quad_perm:[3,2,1,0]
                  (unsigned)__builtin_amdgcn_mov_dpp(word, 0x140, 0xF, 0xF, 1);               // row_mirror
  out[item * 4 + 1] = (unsigned)__builtin_amdgcn_update_dpp(9, word, 0x113, 0xF, 0xF, 0);     // row_shr:3
  out[item * 4 + 2] = (unsigned)__builtin_amdgcn_update_dpp(9, word, 0x105, 0x5, 0xF, 1) ^    // row_shl:5, rows 0 and 2
                      (unsigned)__builtin_amdgcn_update_dpp(0, word, 0x12A, 0xF, 0x3, 0);     // row_ror:10, two banks
  unsigned sum = in[item + 1];
  sum += (unsigned)__builtin_amdgcn_update_dpp(0, (int)sum, 0x111, 0xF, 0xF, 1);
  sum += (unsigned)__builtin_amdgcn_update_dpp(0, (int)sum, 0x112, 0xF, 0xF, 1);
  sum += (unsigned)__builtin_amdgcn_update_dpp(0, (int)sum, 0x114, 0xF, 0xF, 1);
  sum += (unsigned)__builtin_amdgcn_update_dpp(0, (int)sum, 0x118, 0xF, 0xF, 1);
  out[item * 4 + 3] = sum;
}

/// One lane's word for all, again and again until each lane's has been: a waterfall.
KERNEL(waterfall) {
  ITEM;
  const unsigned own = in[item] % 6;
  unsigned rounds = 0, sum = 0;
  for (;;) {
    const unsigned chosen = (unsigned)__builtin_amdgcn_readfirstlane((int)own);
    ++rounds;
    if (chosen == own) {
      sum = in[chosen] + rounds;
      break;
    }
  }
  out[item * 4] = sum;
  out[item * 4 + 1] = (unsigned)__builtin_amdgcn_readlane((int)in[item + 1], 13);
  out[item * 4 + 2] = (unsigned)__builtin_amdgcn_readlane((int)in[item], (int)(in[7] % WAVE));
}

#ifdef PERMLANES
/// Of GFX10 and later.
KERNEL(permlanes) {
  ITEM;
  const unsigned word = in[item];
  out[item * 4] = __builtin_amdgcn_permlane16(word, word, 0x76543210, 0x01234567, 0, 1);
  out[item * 4 + 1] = __builtin_amdgcn_permlanex16(word, word, 0xFEDCBA98, 0x76543210, 0, 1);
  out[item * 4 + 2] = __builtin_amdgcn_mov_dpp8(word, 0xFAC688);  // 0 to 7 turned around: [0,1,2,...] read backwards
}
#endif
#ifdef PERMLANE64
KERNEL(permlane64) {
  ITEM;
  out[item * 4] = __builtin_amdgcn_permlane64(in[item]);
}
#endif

/// Bytes, fields and three operands.
KERNEL(words) {
  ITEM;
  const unsigned a = in[item], b = in[item + 1], c = in[item + 2];
  out[item * 4] = __builtin_amdgcn_perm(a, b, c & 0x07070707) ^ __builtin_amdgcn_alignbyte(a, b, c) ^
                  __builtin_amdgcn_alignbit(b, a, c >> 3);
  out[item * 4 + 1] = __builtin_amdgcn_ubfe(a, b, c) + (unsigned)__builtin_amdgcn_sbfe((int)b, c & 31, a & 31) * 3u;
  out[item * 4 + 2] = __builtin_amdgcn_sad_u8(a, b, c) ^ __builtin_amdgcn_lerp(a, b, c) ^ __builtin_amdgcn_sad_u16(b, a, 7);
  out[item * 4 + 3] = __builtin_amdgcn_msad_u8(a, b & 0xFF00FFFF, c) + __builtin_amdgcn_sad_hi_u8(a, c, b) +
                      (unsigned)(((int)(a << 8) >> 8) * ((int)(b << 8) >> 8)) + (a & 0xFFFFFF) * (c & 0xFFFFFF);
}

/// The median of three numbers, mantissa and exponent, fractions.
KERNEL(float_builtins) {
  ITEM;
  const float a = (float)(int)in[item] / 4096.0f, b = (float)(int)in[item + 1] / 3.0f, c = (float)(in[item + 2] >> 8);
  const double d = (double)(int)in[item + 3] * 1e-5;
  out[item * 4] = __builtin_bit_cast(unsigned, __builtin_amdgcn_fmed3f(a, b, c)) ^
                  __builtin_bit_cast(unsigned, __builtin_amdgcn_frexp_mantf(a));
  out[item * 4 + 1] = (unsigned)__builtin_amdgcn_frexp_expf(b) + (unsigned)__builtin_amdgcn_frexp_exp(d) * 1000u;
  out[item * 4 + 2] = __builtin_bit_cast(unsigned, __builtin_amdgcn_fractf(a)) ^
                      (__builtin_amdgcn_classf(a, 0x188) ? 1u : 0u) ^ (__builtin_amdgcn_class(d, 0x8) ? 2u : 0u);
  typedef _Float16 half2 __attribute__((ext_vector_type(2)));
  typedef __fp16 packed __attribute__((ext_vector_type(2)));
  const packed halves = __builtin_amdgcn_cvt_pkrtz(a * 0.001f, c * 0.001f);
  out[item * 4 + 3] = __builtin_bit_cast(unsigned, halves) ^ __builtin_amdgcn_cvt_pk_u8_f32((float)(in[item] % 300), 2, 0);
}

#ifdef DOTS
/// Sums of products of four bytes and eight halves of bytes, and of two halves, whole numbers.
KERNEL(dots) {
  ITEM;
  typedef _Float16 half2 __attribute__((ext_vector_type(2)));
  const unsigned a = in[item], b = in[item + 1], c = in[item + 2];
  out[item * 4] = __builtin_amdgcn_udot4(a, b, c, 0);
  out[item * 4 + 1] = __builtin_amdgcn_udot8(a, b, c >> 4, 0);
#ifdef HALF_DOTS
  const half2 x = {(_Float16)(float)(a % 30), (_Float16)(float)(b % 20)}, y = {(_Float16)3.0f, (_Float16)-2.0f};
  out[item * 4 + 2] = __builtin_bit_cast(unsigned, __builtin_amdgcn_fdot2(x, y, 0.5f, 0));
#else  // GFX12.5 has none of halves with a result in single precision
  out[item * 4 + 2] = __builtin_bit_cast(unsigned, (float)(a % 30) * 3.0f - (float)(b % 20) * 2.0f + 0.5f);
#endif
#ifdef SIGNED_DOTS
  out[item * 4 + 3] = (unsigned)__builtin_amdgcn_sdot4((int)a, (int)b, (int)c, 0);
#else
  out[item * 4 + 3] = (unsigned)__builtin_amdgcn_sudot4(1, (int)a, 1, (int)b, (int)c, 0);
#endif
}
#endif
