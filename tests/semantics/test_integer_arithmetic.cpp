// Integer arithmetic of the vector ALU against exact 128-bit arithmetic.
#include <gtest/gtest.h>

#include <algorithm>

#include "semantics/integer_check.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

/// The low 24 bits, as an unsigned or a signed number.
Int128 u24(uint32_t word) { return word % (1 << 24); }
Int128 i24(uint32_t word) { return word % (1 << 24) < (1 << 23) ? u24(word) : u24(word) - (1 << 24); }

/// A 16-bit result that leaves the destination's upper half alone.
uint64_t low_half(const Lane& lane, uint64_t value) { return (lane.old[0] & 0xFFFF0000) | (value & 0xFFFF); }

TEST(IntegerArithmetic, AdditionAndSubtractionOf32Bits) {
  check(Opcode::v_add_u32, [](const Lane& l) { return unsigned_result(l, Int128{l.u32(0)} + l.u32(1), 32); });
  check(Opcode::v_sub_u32, [](const Lane& l) { return unsigned_result(l, Int128{l.u32(0)} - l.u32(1), 32); });
  check(Opcode::v_subrev_u32, [](const Lane& l) { return unsigned_result(l, Int128{l.u32(1)} - l.u32(0), 32); });
  check(Opcode::v_add_i32, [](const Lane& l) { return signed_result(l, Int128{l.i32(0)} + l.i32(1), 32); });
  check(Opcode::v_sub_i32, [](const Lane& l) { return signed_result(l, Int128{l.i32(0)} - l.i32(1), 32); });
}

TEST(IntegerArithmetic, AdditionAndSubtractionOf16Bits) {
  check(Opcode::v_add_u16, [](const Lane& l) { return unsigned_result(l, Int128{l.u16(0)} + l.u16(1), 16); });
  check(Opcode::v_sub_u16, [](const Lane& l) { return unsigned_result(l, Int128{l.u16(0)} - l.u16(1), 16); });
  check(Opcode::v_subrev_u16, [](const Lane& l) { return unsigned_result(l, Int128{l.u16(1)} - l.u16(0), 16); });
  check(Opcode::v_add_i16,
        [](const Lane& l) { return low_half(l, signed_result(l, Int128{l.i16(0)} + l.i16(1), 16)); });
  check(Opcode::v_sub_i16,
        [](const Lane& l) { return low_half(l, signed_result(l, Int128{l.i16(0)} - l.i16(1), 16)); });
}

TEST(IntegerArithmetic, FusedAdditions) {
  check(Opcode::v_add3_u32, [](const Lane& l) { return uint32_t(Int128{l.u32(0)} + l.u32(1) + l.u32(2)); });
  check(Opcode::v_xad_u32, [](const Lane& l) { return uint32_t(Int128{l.u32(0) ^ l.u32(1)} + l.u32(2)); });
  check(Opcode::v_lshl_add_u32, [](const Lane& l) { return uint32_t((Int128{l.u32(0)} << l.u32(1) % 32) + l.u32(2)); });
  check(Opcode::v_add_lshl_u32, [](const Lane& l) { return uint32_t((Int128{l.u32(0)} + l.u32(1)) << l.u32(2) % 32); });
  check(Opcode::v_lshl_add_u64,
        [](const Lane& l) { return uint64_t((Int128{l.u64(0)} << l.u32(1) % 8) + Int128{l.u64(2)}); });
}

TEST(IntegerArithmetic, CarriesAndBorrows) {
  const auto sum = [](const Lane& l, Int128 exact) {
    return Outcome(unsigned_result(l, exact, 32), exact < 0 || exact >> 32 != 0);
  };
  check(Opcode::v_add_co_u32, [&](const Lane& l) { return sum(l, Int128{l.u32(0)} + l.u32(1)); });
  check(Opcode::v_sub_co_u32, [&](const Lane& l) { return sum(l, Int128{l.u32(0)} - l.u32(1)); });
  check(Opcode::v_subrev_co_u32, [&](const Lane& l) { return sum(l, Int128{l.u32(1)} - l.u32(0)); });
  check(Opcode::v_addc_co_u32, [&](const Lane& l) { return sum(l, Int128{l.u32(0)} + l.u32(1) + l.mask_in); });
  check(Opcode::v_subb_co_u32, [&](const Lane& l) { return sum(l, Int128{l.u32(0)} - l.u32(1) - l.mask_in); });
  check(Opcode::v_subbrev_co_u32, [&](const Lane& l) { return sum(l, Int128{l.u32(1)} - l.u32(0) - l.mask_in); });
}

TEST(IntegerArithmetic, Products) {
  check(Opcode::v_mul_lo_u32, [](const Lane& l) { return uint32_t(Int128{l.u32(0)} * l.u32(1)); });
  check(Opcode::v_mul_hi_u32, [](const Lane& l) { return uint32_t(Int128{l.u32(0)} * l.u32(1) >> 32); });
  check(Opcode::v_mul_hi_i32, [](const Lane& l) { return uint32_t(Int128{l.i32(0)} * l.i32(1) >> 32); });
  check(Opcode::v_mul_lo_u16, [](const Lane& l) { return unsigned_result(l, Int128{l.u16(0)} * l.u16(1), 16); });
}

TEST(IntegerArithmetic, ProductsOf24Bits) {
  check(Opcode::v_mul_u32_u24, [](const Lane& l) { return unsigned_result(l, u24(l.u32(0)) * u24(l.u32(1)), 32); });
  check(Opcode::v_mul_i32_i24, [](const Lane& l) { return signed_result(l, i24(l.u32(0)) * i24(l.u32(1)), 32); });
  check(Opcode::v_mul_hi_u32_u24, [](const Lane& l) { return uint32_t(u24(l.u32(0)) * u24(l.u32(1)) >> 32); });
  check(Opcode::v_mul_hi_i32_i24, [](const Lane& l) { return uint32_t(i24(l.u32(0)) * i24(l.u32(1)) >> 32); });
  check(Opcode::v_mad_u32_u24,
        [](const Lane& l) { return unsigned_result(l, u24(l.u32(0)) * u24(l.u32(1)) + l.u32(2), 32); });
  check(Opcode::v_mad_i32_i24,
        [](const Lane& l) { return signed_result(l, i24(l.u32(0)) * i24(l.u32(1)) + l.i32(2), 32); });
}

TEST(IntegerArithmetic, MultiplyAddOf16Bits) {
  const auto u16 = [](const Lane& l) { return unsigned_result(l, Int128{l.u16(0)} * l.u16(1) + l.u16(2), 16); };
  const auto i16 = [](const Lane& l) { return signed_result(l, Int128{l.i16(0)} * l.i16(1) + l.i16(2), 16); };
  check(Opcode::v_mad_legacy_u16, u16);
  check(Opcode::v_mad_legacy_i16, i16);
  check(Opcode::v_mad_u16, [&](const Lane& l) { return low_half(l, u16(l)); });
  check(Opcode::v_mad_i16, [&](const Lane& l) { return low_half(l, i16(l)); });
  check(Opcode::v_mad_u32_u16,
        [](const Lane& l) { return unsigned_result(l, Int128{l.u16(0)} * l.u16(1) + l.u32(2), 32); });
  check(Opcode::v_mad_i32_i16,
        [](const Lane& l) { return signed_result(l, Int128{l.i16(0)} * l.i16(1) + l.i32(2), 32); });
}

TEST(IntegerArithmetic, MultiplyAddOf64Bits) {
  check(Opcode::v_mad_u64_u32, [](const Lane& l) {
    const Int128 exact = Int128{l.u32(0)} * l.u32(1) + Int128{l.u64(2)};
    return Outcome(unsigned_result(l, exact, 64), exact >> 64 != 0);
  });
  check(Opcode::v_mad_i64_i32, [](const Lane& l) {
    const Int128 exact = Int128{l.i32(0)} * l.i32(1) + l.i64(2);
    return Outcome(signed_result(l, exact, 64), (exact >> 64 & 1) != 0);
  });
}

template <typename T>
void check_order(T (*value)(const Lane&, unsigned), Opcode minimum, Opcode maximum, Opcode minimum3, Opcode maximum3,
                 Opcode median) {
  using Unsigned = std::make_unsigned_t<T>;
  // The results of 16 bits: two-source ones clear the upper half, three-source ones keep it.
  const auto kept = [](const Lane& l, T result) {
    return sizeof(T) == 2 ? low_half(l, Unsigned(result)) : uint64_t{Unsigned(result)};
  };
  const auto sorted = [value](const Lane& l) {
    std::array<T, 3> values{value(l, 0), value(l, 1), value(l, 2)};
    std::sort(values.begin(), values.end());
    return values;
  };
  check(minimum, [&](const Lane& l) { return Unsigned(std::min(value(l, 0), value(l, 1))); });
  check(maximum, [&](const Lane& l) { return Unsigned(std::max(value(l, 0), value(l, 1))); });
  check(minimum3, [&](const Lane& l) { return kept(l, sorted(l)[0]); });
  check(median, [&](const Lane& l) { return kept(l, sorted(l)[1]); });
  check(maximum3, [&](const Lane& l) { return kept(l, sorted(l)[2]); });
}

TEST(IntegerArithmetic, MinimumMaximumMedian) {
  using enum Opcode;
  check_order<uint32_t>([](const Lane& l, unsigned i) { return l.u32(i); }, v_min_u32, v_max_u32, v_min3_u32,
                        v_max3_u32, v_med3_u32);
  check_order<int32_t>([](const Lane& l, unsigned i) { return l.i32(i); }, v_min_i32, v_max_i32, v_min3_i32, v_max3_i32,
                       v_med3_i32);
  check_order<uint16_t>([](const Lane& l, unsigned i) { return l.u16(i); }, v_min_u16, v_max_u16, v_min3_u16,
                        v_max3_u16, v_med3_u16);
  check_order<int16_t>([](const Lane& l, unsigned i) { return l.i16(i); }, v_min_i16, v_max_i16, v_min3_i16, v_max3_i16,
                       v_med3_i16);
}

}  // namespace
}  // namespace Atoll::semantics::test
