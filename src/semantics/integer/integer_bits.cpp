// semantics: the vector ALU's operations on bits: moves and selection, logic, shifts, bit fields, byte permutation,
// and counting.
//
// A shift takes only as many bits of its amount as the operand's width needs: 4, 5 or 6. The "rev" forms, which
// hold the amount in the first source, are the only ones that GFX9 encodes.
#include <type_traits>

#include "semantics/entries.h"
#include "semantics/integer/integer_words.h"
#include "semantics/lanes/lane_words.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

// --- Moves and selection --------------------------------------------------------------------------------------------

LANES(v_mov_b32, U32, (U32 a)) { return a; }
LANES(v_mov_b64, Words, (Words a)) { return a; }
LANES(v_mov_b16, U16, (U16 a)) { return a; }
LANES(v_cvt_i32_i16, I32, (I16 a)) { return convert<I32>(a); }
LANES(v_cvt_u32_u16, U32, (U16 a)) { return convert<U32>(a); }
LANES(v_cndmask_b32, U32, (U32 a, U32 b, Mask choose_b)) { return select(lanes_of(choose_b), b, a); }
LANES(v_cndmask_b16, U16, (U16 a, U16 b, Mask choose_b)) { return select(convert<I16>(lanes_of(choose_b)), b, a); }
LANES(v_pack_b32_f16, U32, (U16 a, U16 b)) { return convert<U32>(a) | convert<U32>(b) << 16u; }

// --- Logic ----------------------------------------------------------------------------------------------------------

LANES(v_not_b32, U32, (U32 a)) { return ~a; }
LANES(v_and_b32, U32, (U32 a, U32 b)) { return a & b; }
LANES(v_or_b32, U32, (U32 a, U32 b)) { return a | b; }
LANES(v_xor_b32, U32, (U32 a, U32 b)) { return a ^ b; }
LANES(v_xnor_b32, U32, (U32 a, U32 b)) { return ~(a ^ b); }
LANES(v_not_b16, U16, (U16 a)) { return ~a; }
LANES(v_and_b16, U16, (U16 a, U16 b)) { return a & b; }
LANES(v_or_b16, U16, (U16 a, U16 b)) { return a | b; }
LANES(v_xor_b16, U16, (U16 a, U16 b)) { return a ^ b; }
LANES(v_xor3_b32, U32, (U32 a, U32 b, U32 c)) { return a ^ b ^ c; }
LANES(v_and_or_b32, U32, (U32 a, U32 b, U32 c)) { return (a & b) | c; }
LANES(v_or3_b32, U32, (U32 a, U32 b, U32 c)) { return a | b | c; }
/// Bit 4a + 2b + c of the table is the result for the bits a, b, c. Written as the polynomial over GF(2) that the table
/// stands for, of which few terms are left where the table is a constant: of 0x96 that is a ^ b ^ c.
template <typename T>
[[gnu::always_inline]] inline T look_up(T a, T b, T c, TruthTable table) {
  // The coefficients, by the Moebius transform: bit 4a + 2b + c is that of the product of the variables that are 1.
  unsigned terms = table.bits;
  terms ^= (terms & 0x55u) << 1;
  terms ^= (terms & 0x33u) << 2;
  terms ^= (terms & 0x0Fu) << 4;
  const auto term = [&](unsigned i) { return T{} - static_cast<std::remove_cvref_t<decltype(a[0])>>(terms >> i & 1); };
  const auto of_b_and_c = [&](unsigned i) {
    return (term(i) ^ (c & term(i + 1))) ^ (b & (term(i + 2) ^ (c & term(i + 3))));
  };
  return of_b_and_c(0) ^ (a & of_b_and_c(4));
}
LANES(v_bitop3_b32, U32, (U32 a, U32 b, U32 c, TruthTable table)) { return look_up(a, b, c, table); }
LANES(v_bitop3_b16, LowHalf<U16>, (U16 a, U16 b, U16 c, TruthTable table)) { return {look_up(a, b, c, table)}; }
LANES(v_lshl_or_b32, U32, (U32 a, U32 b, U32 c)) { return a << (b & 31u) | c; }
LANES(v_bfi_b32, U32, (U32 a, U32 b, U32 c)) { return (a & b) | (~a & c); }

// --- Shifts ---------------------------------------------------------------------------------------------------------

LANES(v_lshlrev_b32, U32, (U32 a, U32 b)) { return b << (a & 31u); }
LANES(v_lshrrev_b32, U32, (U32 a, U32 b)) { return b >> (a & 31u); }
LANES(v_ashrrev_i32, I32, (U32 a, I32 b)) { return b >> bits<I32>(a & 31u); }
LANES(v_lshl_b32, U32, (U32 a, U32 b)) { return a << (b & 31u); }
LANES(v_lshr_b32, U32, (U32 a, U32 b)) { return a >> (b & 31u); }
LANES(v_ashr_i32, I32, (I32 a, U32 b)) { return a >> bits<I32>(b & 31u); }
LANES(v_lshl_b64, Words, (Words a, U32 b)) { return shift_left(a, b); }
LANES(v_lshr_b64, Words, (Words a, U32 b)) { return shift_right(a, b); }
LANES(v_ashr_i64, Words, (Words a, U32 b)) { return shift_right_signed(a, b); }
LANES(v_lshlrev_b16, U16, (U16 a, U16 b)) { return b << (a & uint16_t{15}); }
LANES(v_lshrrev_b16, U16, (U16 a, U16 b)) { return b >> (a & uint16_t{15}); }
LANES(v_ashrrev_i16, I16, (U16 a, I16 b)) { return b >> bits<I16>(a & uint16_t{15}); }
LANES(v_lshlrev_b64, Words, (U32 a, Words b)) { return shift_left(b, a); }
LANES(v_lshrrev_b64, Words, (U32 a, Words b)) { return shift_right(b, a); }
LANES(v_ashrrev_i64, Words, (U32 a, Words b)) { return shift_right_signed(b, a); }

// The 64-bit value {a, b} shifted right, its low word. Shifting a in two steps keeps each amount below 32.
LANES(v_alignbit_b32, U32, (U32 a, U32 b, U32 c)) {
  const U32 amount = c & 31u;
  return b >> amount | a << 1u << (31u - amount);
}
LANES(v_alignbyte_b32, U32, (U32 a, U32 b, U32 c)) { return v_alignbit_b32(a, b, (c & 3u) * 8u); }

// --- Bit fields -----------------------------------------------------------------------------------------------------

LANES(v_bfe_u32, U32, (U32 a, U32 offset, U32 width)) {
  return (a >> (offset & 31u)) & ((U32(1u) << (width & 31u)) - 1u);
}
LANES(v_bfe_i32, I32, (I32 a, U32 offset, U32 width)) {
  // Up against the sign bit and back; a field of no bits is 0.
  const U32 unused = (32u - width) & 31u;
  const U32 field = bits<U32>(a >> bits<I32>(offset & 31u));
  const I32 extended = bits<I32>(field << unused) >> bits<I32>(unused);
  return select((width & 31u) == 0u, I32(0), extended);
}
LANES(v_bfm_b32, U32, (U32 width, U32 offset)) { return ((U32(1u) << (width & 31u)) - 1u) << (offset & 31u); }
LANES(v_bfrev_b32, U32, (U32 a)) { return __builtin_elementwise_bitreverse(a); }

// --- Byte permutation -----------------------------------------------------------------------------------------------

// Each byte of `selector` names a byte of {a, b}: 0-3 of b, 4-7 of a; 8-11 the sign of byte 1, 3, 5 or 7 spread
// over the byte; 12 all zeros; above, all ones.
LANES(v_perm_b32, U32, (U32 a, U32 b, U32 selector)) {
  U32 result{};
  for (unsigned i = 0; i < 32; i += 8) {
    const U32 which = selector >> i;
    const U32 byte = select((which & 4u) != 0u, a, b) >> (which << 3u & 24u);
    const U32 constant = select((which & 0xFFu) == 12u, U32(0u), U32(0xFFu));
    result |= (select((which & 0xF8u) == 0u, byte, constant) & 0xFFu) << i;
  }
  // Signs are rare: look whether any is wanted before taking them.
  const U32 not_sign = (selector & 0xFCFCFCFCu) ^ 0x08080808u;
  if (__builtin_reduce_or((not_sign - 0x01010101u) & ~not_sign & 0x80808080u) == 0) return result;
  for (unsigned i = 0; i < 32; i += 8) {
    const U32 which = selector >> i & 0xFFu;
    const U32 sign = select((which & 2u) != 0u, a, b) >> (((which << 4u) & 16u) + 15u) & 1u;
    const U32 wanted = select((which & 0xFCu) == 8u, U32(0xFFu << i), U32(0u));
    result = (result & ~wanted) | (wanted & (0u - sign));
  }
  return result;
}

// Two signed 16-bit values clamped to 0..255, as two bytes; the rest of the register becomes 0.
/// Both sources shifted right and saturated to a byte's range, side by side.
[[gnu::always_inline]] inline U16 shifted_bytes(I32 a, I32 b, U32 amount, int least, int greatest) {
  const I32 shift = bits<I32>(amount & 31u);
  const auto byte = [&](I32 value) __attribute__((always_inline)) {
    const I32 saturated =
        __builtin_elementwise_min(__builtin_elementwise_max(value >> shift, I32(least)), I32(greatest));
    return bits<U32>(saturated) & 0xFFu;
  };
  return convert<U16>(byte(a) | byte(b) << 8u);
}
LANES(v_ashr_pk_i8_i32, LowHalf<U16>, (I32 a, I32 b, U32 amount)) { return {shifted_bytes(a, b, amount, -128, 127)}; }
LANES(v_ashr_pk_u8_i32, LowHalf<U16>, (I32 a, I32 b, U32 amount)) { return {shifted_bytes(a, b, amount, 0, 255)}; }
LANES(v_sat_pk_u8_i16, U16, (Pair<I16> a)) {
  const auto clamped = [](I16 value) {
    return bits<U16>(__builtin_elementwise_min(__builtin_elementwise_max(value, I16(int16_t{0})), I16(int16_t{255})));
  };
  return clamped(a.lo) | clamped(a.hi) << uint16_t{8};
}

// Two 32-bit values clamped to 16 bits, as two halves.
LANES(v_cvt_pk_u16_u32, Pair<U16>, (U32 a, U32 b)) {
  const auto clamped = [](U32 value) { return convert<U16>(__builtin_elementwise_min(value, U32(0xFFFFu))); };
  return {clamped(a), clamped(b)};
}
LANES(v_cvt_pk_i16_i32, Pair<I16>, (I32 a, I32 b)) {
  const auto clamped = [](I32 value) {
    return convert<I16>(__builtin_elementwise_min(__builtin_elementwise_max(value, I32(-0x8000)), I32(0x7FFF)));
  };
  return {clamped(a), clamped(b)};
}

// Which of four shader engines a rectangle of the screen touches. Tiles of 32 x 32 pixels belong to them by the last
// two bits of the tile's coordinates: engine {x0 ^ y1, y0 ^ x1}. The source holds those bits of the rectangle's
// corners, {x_min, y_min, x_max, y_max}; ranges go round the end. (The Vega ISA guide prints this as a table.)
LANES(v_screen_partition_4se_b32, U32, (U32 corners)) {
  const U32 x_min = corners >> 6u & 3u, y_min = corners >> 4u & 3u;
  const U32 width = ((corners >> 2u) - x_min) & 3u, height = (corners - y_min) & 3u;
  U32 engines{};
  for (unsigned i = 0; i < 16; ++i) {
    const U32 x = x_min + i % 4, y = y_min + i / 4;
    const U32 engine = ((x ^ y >> 1u) & 1u) << 1u | ((y ^ x >> 1u) & 1u);
    engines |= select((width >= i % 4) & (height >= i / 4), U32(1u) << engine, U32(0u));
  }
  return engines;
}

// --- Counting -------------------------------------------------------------------------------------------------------

namespace {

/// How many bits are set, by adding neighbours: pairs, nibbles, bytes, then all bytes at once.
[[gnu::always_inline]] inline U32 count_ones(U32 a) {
  a -= a >> 1u & 0x55555555u;
  a = (a & 0x33333333u) + (a >> 2u & 0x33333333u);
  a = (a + (a >> 4u)) & 0x0F0F0F0Fu;
  return a * 0x01010101u >> 24u;
}

/// Counts the zero bits above the highest one; all ones (-1) if no bit is set.
[[gnu::always_inline]] inline U32 leading_zeros(U32 a) {
  U32 below = a;  // every bit from the highest one down
  below |= below >> 1u;
  below |= below >> 2u;
  below |= below >> 4u;
  below |= below >> 8u;
  below |= below >> 16u;
  return select(a == 0u, U32(~0u), 32u - count_ones(below));
}

}  // namespace

LANES(v_bcnt_u32_b32, U32, (U32 a, U32 b)) { return count_ones(a) + b; }

// Count the mask's bits below this lane, in the lower or the upper 32 lanes. Code mostly has all bits set there, to
// number the lanes.
LANES(v_mbcnt_lo_u32_b32, U32, (U32 a, U32 b, LaneIndex lane)) {
  const U32 below = select(lane.value < 32u, (U32(1u) << (lane.value & 31u)) - 1u, U32(~0u));
  const U32 lanes = select(lane.value < 32u, lane.value, U32(32u));
  return select(a == ~0u, lanes, count_ones(a & below)) + b;
}
LANES(v_mbcnt_hi_u32_b32, U32, (U32 a, U32 b, LaneIndex lane)) {
  const U32 lanes = select(lane.value < 32u, U32(0u), lane.value & 31u);
  const U32 below = a << 1u << (31u - lanes);  // moved to the top: of what ends in zeros, LLVM sees that it is counted
  return select(a == ~0u, lanes, count_ones(below)) + b;
}

LANES(v_ffbh_u32, U32, (U32 a)) { return leading_zeros(a); }
LANES(v_ffbl_b32, U32, (U32 a)) { return select(a == 0u, U32(~0u), count_ones(~a & (a - 1u))); }
// The highest bit that differs from the sign: the sign taken away, it is the highest one.
LANES(v_ffbh_i32, U32, (I32 a)) { return leading_zeros(bits<U32>(a ^ (a >> 31))); }

// --- Of GFX12.5 -----------------------------------------------------------------------------------------------------

/// The four bytes, each the nearest number of 4 bits.
template <typename T>
[[gnu::always_inline]] inline U16 four_nibbles(U32 bytes, int least, int greatest) {
  U32 nibbles = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const U32 moved = bytes << (24 - 8 * i);
    const I32 byte = std::is_signed_v<T> ? bits<I32>(moved) >> 24 : bits<I32>(moved >> 24);
    const I32 nearest = __builtin_elementwise_min(__builtin_elementwise_max(byte, I32(least)), I32(greatest));
    nibbles |= (bits<U32>(nearest) & 15) << 4 * i;
  }
  return convert<U16>(nibbles);
}
LANES(v_sat_pk4_i4_i8, U16, (U32 a)) { return four_nibbles<int8_t>(a, -8, 7); }
LANES(v_sat_pk4_u4_u8, U16, (U32 a)) { return four_nibbles<uint8_t>(a, 0, 15); }

/// v_perm_pk16: a table of 16 fields, looked up by the 16 nibbles of the last source. The first source is the upper
/// part of the table.
template <unsigned width, unsigned words>
[[gnu::always_inline]] inline LaneWords<words> looked_up(const LaneWords<words>& table, Pair<U32> which) {
  LaneWords<words> result{};
  constexpr uint32_t mask = (1u << width) - 1;
  for (unsigned i = 0; i < 16; ++i) {
    const U32 index = (i < 8 ? which.lo >> 4 * i : which.hi >> 4 * (i - 8)) & 15;
    U32 field = 0;
    for (unsigned entry = 0; entry < 16; ++entry) {
      field = select(index == entry, get_field<width>(table, entry) & mask, field);
    }
    put_field<width>(result, i, field);
  }
  return result;
}
LANES(v_perm_pk16_b4_u4, LaneWords<2>, (U32 high, U32 low, Pair<U32> which)) {
  return looked_up<4>(LaneWords<2>{{low, high}}, which);
}
LANES(v_perm_pk16_b6_u4, LaneWords<3>, (U32 high, Pair<U32> low, Pair<U32> which)) {
  return looked_up<6>(LaneWords<3>{{low.lo, low.hi, high}}, which);
}
LANES(v_perm_pk16_b8_u4, LaneWords<4>, (Pair<U32> high, Pair<U32> low, Pair<U32> which)) {
  return looked_up<8>(LaneWords<4>{{low.lo, low.hi, high.lo, high.hi}}, which);
}

std::span<const VectorEntry> integer_bits_entries() {
  static constexpr VectorEntry entries[] = {
      ENTRY(v_mov_b32),          ENTRY(v_mov_b64),
      ENTRY(v_cndmask_b32),      ENTRY(v_pack_b32_f16),
      ENTRY(v_not_b32),          ENTRY(v_and_b32),
      ENTRY(v_or_b32),           ENTRY(v_xor_b32),
      ENTRY(v_xnor_b32),         ENTRY(v_and_or_b32),
      ENTRY(v_or3_b32),          ENTRY(v_lshl_or_b32),
      ENTRY(v_bfi_b32),          ENTRY(v_lshlrev_b32),
      ENTRY(v_lshrrev_b32),      ENTRY(v_ashrrev_i32),
      ENTRY(v_lshlrev_b16),      ENTRY(v_lshrrev_b16),
      ENTRY(v_ashrrev_i16),      ENTRY(v_lshlrev_b64),
      ENTRY(v_lshrrev_b64),      ENTRY(v_ashrrev_i64),
      ENTRY(v_alignbit_b32),     ENTRY(v_alignbyte_b32),
      ENTRY(v_bfe_u32),          ENTRY(v_bfe_i32),
      ENTRY(v_bfm_b32),          ENTRY(v_sat_pk4_i4_i8),
      ENTRY(v_sat_pk4_u4_u8),    ENTRY(v_perm_pk16_b4_u4),
      ENTRY(v_perm_pk16_b6_u4),  ENTRY(v_perm_pk16_b8_u4),
      ENTRY(v_bfrev_b32),        ENTRY(v_perm_b32),
      ENTRY(v_sat_pk_u8_i16),    ENTRY(v_cvt_pk_u16_u32),
      ENTRY(v_cvt_pk_i16_i32),   ENTRY(v_screen_partition_4se_b32),
      ENTRY(v_bcnt_u32_b32),     ENTRY(v_mbcnt_lo_u32_b32),
      ENTRY(v_mbcnt_hi_u32_b32), ENTRY(v_bitop3_b32),
      ENTRY(v_bitop3_b16),       ENTRY(v_ashr_pk_i8_i32),
      ENTRY(v_ashr_pk_u8_i32),   ENTRY(v_ffbh_u32),
      ENTRY(v_ffbl_b32),         ENTRY(v_ffbh_i32),
      ENTRY(v_mov_b16),          ENTRY(v_cvt_i32_i16),
      ENTRY(v_cvt_u32_u16),      ENTRY(v_cndmask_b16),
      ENTRY(v_not_b16),          ENTRY(v_and_b16),
      ENTRY(v_or_b16),           ENTRY(v_xor_b16),
      ENTRY(v_xor3_b32),         ENTRY(v_lshl_b32),
      ENTRY(v_lshr_b32),         ENTRY(v_ashr_i32),
      ENTRY(v_lshl_b64),         ENTRY(v_lshr_b64),
      ENTRY(v_ashr_i64),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
