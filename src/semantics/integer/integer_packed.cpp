// semantics: packed 16-bit integer arithmetic (VOP3P) and the integer dot products.
//
// A Pair is the two halves that an operation sees: op_sel and op_sel_hi have chosen them already. Byte and nibble
// operands come as the whole register, as the encoding gives them no half to choose.
#include "semantics/entries.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

namespace {

/// Applies a lane operation to both halves.
template <typename T, typename Operation>
[[gnu::always_inline]] inline Pair<T> both(Pair<T> a, Pair<T> b, Operation operation) {
  return {operation(a.lo, b.lo), operation(a.hi, b.hi)};
}

[[gnu::always_inline]] inline U16 wrap(U32 exact) { return convert<U16>(exact); }

[[gnu::always_inline]] inline U16 multiply_add(U16 a, U16 b, U16 c, Clamp clamp) {
  const U32 exact = convert<U32>(a) * convert<U32>(b) + convert<U32>(c);
  return wrap(clamp.on ? __builtin_elementwise_min(exact, U32(0xFFFFu)) : exact);
}
[[gnu::always_inline]] inline I16 multiply_add(I16 a, I16 b, I16 c, Clamp clamp) {
  const I32 exact = convert<I32>(a) * convert<I32>(b) + convert<I32>(c);
  return convert<I16>(clamp.on ? __builtin_elementwise_min(__builtin_elementwise_max(exact, I32(-32768)), I32(32767))
                               : exact);
}

}  // namespace

LANES(v_pk_add_u16, Pair<U16>, (Pair<U16> a, Pair<U16> b, Clamp clamp)) {
  return both(a, b, [=](U16 x, U16 y) { return clamp.on ? __builtin_elementwise_add_sat(x, y) : x + y; });
}
LANES(v_pk_sub_u16, Pair<U16>, (Pair<U16> a, Pair<U16> b, Clamp clamp)) {
  return both(a, b, [=](U16 x, U16 y) { return clamp.on ? __builtin_elementwise_sub_sat(x, y) : x - y; });
}
LANES(v_pk_add_i16, Pair<I16>, (Pair<I16> a, Pair<I16> b, Clamp clamp)) {
  return both(a, b, [=](I16 x, I16 y) {
    return clamp.on ? __builtin_elementwise_add_sat(x, y) : bits<I16>(bits<U16>(x) + bits<U16>(y));
  });
}
LANES(v_pk_sub_i16, Pair<I16>, (Pair<I16> a, Pair<I16> b, Clamp clamp)) {
  return both(a, b, [=](I16 x, I16 y) {
    return clamp.on ? __builtin_elementwise_sub_sat(x, y) : bits<I16>(bits<U16>(x) - bits<U16>(y));
  });
}
LANES(v_pk_mul_lo_u16, Pair<U16>, (Pair<U16> a, Pair<U16> b, Clamp clamp)) {
  return both(a, b, [=](U16 x, U16 y) { return multiply_add(x, y, U16(uint16_t{0}), clamp); });
}
LANES(v_pk_mad_u16, Pair<U16>, (Pair<U16> a, Pair<U16> b, Pair<U16> c, Clamp clamp)) {
  return {multiply_add(a.lo, b.lo, c.lo, clamp), multiply_add(a.hi, b.hi, c.hi, clamp)};
}
LANES(v_pk_mad_i16, Pair<I16>, (Pair<I16> a, Pair<I16> b, Pair<I16> c, Clamp clamp)) {
  return {multiply_add(a.lo, b.lo, c.lo, clamp), multiply_add(a.hi, b.hi, c.hi, clamp)};
}
LANES(v_pk_min_i16, Pair<I16>, (Pair<I16> a, Pair<I16> b)) {
  return both(a, b, [](I16 x, I16 y) { return __builtin_elementwise_min(x, y); });
}
LANES(v_pk_max_i16, Pair<I16>, (Pair<I16> a, Pair<I16> b)) {
  return both(a, b, [](I16 x, I16 y) { return __builtin_elementwise_max(x, y); });
}
LANES(v_pk_min_u16, Pair<U16>, (Pair<U16> a, Pair<U16> b)) {
  return both(a, b, [](U16 x, U16 y) { return __builtin_elementwise_min(x, y); });
}
LANES(v_pk_max_u16, Pair<U16>, (Pair<U16> a, Pair<U16> b)) {
  return both(a, b, [](U16 x, U16 y) { return __builtin_elementwise_max(x, y); });
}
LANES(v_pk_lshlrev_b16, Pair<U16>, (Pair<U16> a, Pair<U16> b)) {
  return both(a, b, [](U16 x, U16 y) { return y << (x & uint16_t{15}); });
}
LANES(v_pk_lshrrev_b16, Pair<U16>, (Pair<U16> a, Pair<U16> b)) {
  return both(a, b, [](U16 x, U16 y) { return y >> (x & uint16_t{15}); });
}
LANES(v_pk_ashrrev_i16, Pair<I16>, (Pair<I16> a, Pair<I16> b)) {
  return both(a, b, [](I16 x, I16 y) { return y >> (x & int16_t{15}); });
}

// GFX12.5. The clamp bit applies to the sum.
#define ADD_THEN(type, Element, then)                                                                                \
  LANES(v_pk_add_##then##_##type, Pair<Element>, (Pair<Element> a, Pair<Element> b, Pair<Element> c, Clamp clamp)) { \
    return v_pk_##then##_##type(v_pk_add_##type(a, b, clamp), c);                                                    \
  }                                                                                                                  \
  LANES(v_pk_##then##3_##type, Pair<Element>, (Pair<Element> a, Pair<Element> b, Pair<Element> c)) {                 \
    return v_pk_##then##_##type(v_pk_##then##_##type(a, b), c);                                                      \
  }
ADD_THEN(i16, I16, min)
ADD_THEN(i16, I16, max)
ADD_THEN(u16, U16, min)
ADD_THEN(u16, U16, max)
#undef ADD_THEN

// One 32-bit half of each source's register pair. op_sel alone chooses, for both sources, and what op_sel chooses
// stands in `lo`; op_sel_hi has no part in it.
LANES(v_pk_mov_b32, Pair<U32>, (Pair<U32> a, Pair<U32> b)) { return {a.lo, b.lo}; }

// --- Dot products ---------------------------------------------------------------------------------------------------
// The sum of the products and the accumulator is exact before it wraps or saturates.

namespace {

[[gnu::always_inline]] inline U32 accumulate(U64 products, U32 c, Clamp clamp) {
  const U64 exact = products + convert<U64>(c);
  return convert<U32>(clamp.on ? __builtin_elementwise_min(exact, U64(uint64_t{0xFFFF'FFFF})) : exact);
}
[[gnu::always_inline]] inline I32 accumulate(I64 products, I32 c, Clamp clamp) {
  const I64 exact = products + convert<I64>(c);
  return convert<I32>(clamp.on ? __builtin_elementwise_min(__builtin_elementwise_max(exact, I64(int64_t{INT32_MIN})),
                                                           I64(int64_t{INT32_MAX}))
                               : exact);
}

/// Field `i` of `width` bits.
[[gnu::always_inline]] inline U32 field(U32 a, unsigned i, unsigned width) {
  return a << (32 - width * (i + 1)) >> (32 - width);
}
[[gnu::always_inline]] inline I32 field(I32 a, unsigned i, unsigned width) {
  return bits<I32>(bits<U32>(a) << (32 - width * (i + 1))) >> int(32 - width);
}

/// The dot product of 8-bit or narrower fields, which 32 bits hold.
template <typename T>
[[gnu::always_inline]] inline T dot_fields(T a, T b, unsigned width) {
  T sum{};
  for (unsigned i = 0; i < 32 / width; ++i) sum += field(a, i, width) * field(b, i, width);
  return sum;
}

template <typename Wide, typename Half>
[[gnu::always_inline]] inline Wide dot_halves(Pair<Half> a, Pair<Half> b) {
  return convert<Wide>(a.lo) * convert<Wide>(b.lo) + convert<Wide>(a.hi) * convert<Wide>(b.hi);
}

}  // namespace

LANES(v_dot2_i32_i16, I32, (Pair<I16> a, Pair<I16> b, I32 c, Clamp clamp)) {
  return accumulate(dot_halves<I64>(a, b), c, clamp);
}
LANES(v_dot2_u32_u16, U32, (Pair<U16> a, Pair<U16> b, U32 c, Clamp clamp)) {
  return accumulate(dot_halves<U64>(a, b), c, clamp);
}
LANES(v_dot4_i32_i8, I32, (I32 a, I32 b, I32 c, Clamp clamp)) {
  return accumulate(convert<I64>(dot_fields(a, b, 8)), c, clamp);
}
LANES(v_dot4_u32_u8, U32, (U32 a, U32 b, U32 c, Clamp clamp)) {
  return accumulate(convert<U64>(dot_fields(a, b, 8)), c, clamp);
}
LANES(v_dot8_i32_i4, I32, (I32 a, I32 b, I32 c, Clamp clamp)) {
  return accumulate(convert<I64>(dot_fields(a, b, 4)), c, clamp);
}
LANES(v_dot8_u32_u4, U32, (U32 a, U32 b, U32 c, Clamp clamp)) {
  return accumulate(convert<U64>(dot_fields(a, b, 4)), c, clamp);
}
LANES(v_dot2c_i32_i16, I32, (Pair<I16> a, Pair<I16> b, Old<I32> c, Clamp clamp)) {
  return v_dot2_i32_i16(a, b, c.value, clamp);
}
LANES(v_dot4c_i32_i8, I32, (I32 a, I32 b, Old<I32> c, Clamp clamp)) { return v_dot4_i32_i8(a, b, c.value, clamp); }
LANES(v_dot8c_i32_i4, I32, (I32 a, I32 b, Old<I32> c, Clamp clamp)) { return v_dot8_i32_i4(a, b, c.value, clamp); }

// Each of the first two sources is signed or unsigned.
namespace {

[[gnu::always_inline]] inline I32 field(U32 a, unsigned i, unsigned width, bool is_signed) {
  return is_signed ? field(bits<I32>(a), i, width) : bits<I32>(field(a, i, width));
}
[[gnu::always_inline]] inline I32 dot_fields(U32 a, U32 b, I32 c, unsigned width, SignedSources is_signed,
                                             Clamp clamp) {
  I32 sum{};
  for (unsigned i = 0; i < 32 / width; ++i) {
    sum += field(a, i, width, (is_signed.bits & 1) != 0) * field(b, i, width, (is_signed.bits & 2) != 0);
  }
  return accumulate(convert<I64>(sum), c, clamp);
}

}  // namespace

LANES(v_dot4_i32_iu8, I32, (U32 a, U32 b, I32 c, SignedSources is_signed, Clamp clamp)) {
  return dot_fields(a, b, c, 8, is_signed, clamp);
}
LANES(v_dot8_i32_iu4, I32, (U32 a, U32 b, I32 c, SignedSources is_signed, Clamp clamp)) {
  return dot_fields(a, b, c, 4, is_signed, clamp);
}

std::span<const VectorEntry> integer_packed_entries() {
  static constexpr VectorEntry entries[] = {
      ENTRY(v_pk_add_u16),     ENTRY(v_pk_sub_u16),     ENTRY(v_pk_add_i16),     ENTRY(v_pk_sub_i16),
      ENTRY(v_pk_mul_lo_u16),  ENTRY(v_pk_mad_u16),     ENTRY(v_pk_mad_i16),     ENTRY(v_pk_min_i16),
      ENTRY(v_pk_max_i16),     ENTRY(v_pk_min_u16),     ENTRY(v_pk_max_u16),     ENTRY(v_pk_lshlrev_b16),
      ENTRY(v_pk_lshrrev_b16), ENTRY(v_pk_ashrrev_i16), ENTRY(v_pk_mov_b32),     ENTRY(v_dot2_i32_i16),
      ENTRY(v_dot2_u32_u16),   ENTRY(v_dot4_i32_i8),    ENTRY(v_dot4_u32_u8),    ENTRY(v_dot8_i32_i4),
      ENTRY(v_dot8_u32_u4),    ENTRY(v_dot2c_i32_i16),  ENTRY(v_dot4c_i32_i8),   ENTRY(v_dot8c_i32_i4),
      ENTRY(v_dot4_i32_iu8),   ENTRY(v_dot8_i32_iu4),   ENTRY(v_pk_add_min_i16), ENTRY(v_pk_add_max_i16),
      ENTRY(v_pk_add_min_u16), ENTRY(v_pk_add_max_u16), ENTRY(v_pk_min3_i16),    ENTRY(v_pk_max3_i16),
      ENTRY(v_pk_min3_u16),    ENTRY(v_pk_max3_u16),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
