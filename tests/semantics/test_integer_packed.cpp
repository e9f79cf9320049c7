// Packed 16-bit integers, dot products and byte sums against exact arithmetic on each part.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "semantics/integer_check.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

/// A packed instruction: `part` computes one half from the sources' halves.
Reference packed(uint64_t (*part)(const Lane& half)) {
  return [part](const Lane& l) {
    Lane low = l, high = l;
    for (auto& source : low.src) source[0] &= 0xFFFF;
    for (auto& source : high.src) source[0] >>= 16;
    return Outcome((part(low) & 0xFFFF) | part(high) << 16);
  };
}

TEST(PackedInteger, Arithmetic) {
  check(Opcode::v_pk_add_u16,
        packed([](const Lane& h) { return unsigned_result(h, Int128{h.u16(0)} + h.u16(1), 16); }));
  check(Opcode::v_pk_sub_u16,
        packed([](const Lane& h) { return unsigned_result(h, Int128{h.u16(0)} - h.u16(1), 16); }));
  check(Opcode::v_pk_add_i16, packed([](const Lane& h) { return signed_result(h, Int128{h.i16(0)} + h.i16(1), 16); }));
  check(Opcode::v_pk_sub_i16, packed([](const Lane& h) { return signed_result(h, Int128{h.i16(0)} - h.i16(1), 16); }));
  check(Opcode::v_pk_mul_lo_u16,
        packed([](const Lane& h) { return unsigned_result(h, Int128{h.u16(0)} * h.u16(1), 16); }));
  check(Opcode::v_pk_mad_u16,
        packed([](const Lane& h) { return unsigned_result(h, Int128{h.u16(0)} * h.u16(1) + h.u16(2), 16); }));
  check(Opcode::v_pk_mad_i16,
        packed([](const Lane& h) { return signed_result(h, Int128{h.i16(0)} * h.i16(1) + h.i16(2), 16); }));
}

TEST(PackedInteger, MinimumAndMaximum) {
  check(Opcode::v_pk_min_u16, packed([](const Lane& h) { return uint64_t{std::min(h.u16(0), h.u16(1))}; }));
  check(Opcode::v_pk_max_u16, packed([](const Lane& h) { return uint64_t{std::max(h.u16(0), h.u16(1))}; }));
  check(Opcode::v_pk_min_i16, packed([](const Lane& h) { return uint64_t{uint16_t(std::min(h.i16(0), h.i16(1)))}; }));
  check(Opcode::v_pk_max_i16, packed([](const Lane& h) { return uint64_t{uint16_t(std::max(h.i16(0), h.i16(1)))}; }));
}

TEST(PackedInteger, Shifts) {
  check(Opcode::v_pk_lshlrev_b16, packed([](const Lane& h) { return uint64_t{h.u16(1)} << h.u16(0) % 16; }));
  check(Opcode::v_pk_lshrrev_b16, packed([](const Lane& h) { return uint64_t{h.u16(1)} >> h.u16(0) % 16; }));
  check(Opcode::v_pk_ashrrev_i16, packed([](const Lane& h) { return uint64_t{uint16_t(h.i16(1) >> h.u16(0) % 16)}; }));
}

TEST(PackedInteger, MoveTakesTheChosenWordOfEachSource) {
  // The engine has put the words that op_sel chooses first.
  check(Opcode::v_pk_mov_b32, [](const Lane& l) { return l.u32(0) | uint64_t{l.u32(1)} << 32; });
}

/// Field `which` of `width` bits of source i.
Int128 field(const Lane& l, unsigned i, unsigned which, unsigned width, bool is_signed) {
  const Int128 value = l.u32(i) >> (width * which) & ((1U << width) - 1);
  return is_signed && value >> (width - 1) != 0 ? value - (Int128{1} << width) : value;
}
Int128 dot(const Lane& l, unsigned width, bool is_signed) {
  Int128 sum = 0;
  for (unsigned i = 0; i < 32 / width; ++i) sum += field(l, 0, i, width, is_signed) * field(l, 1, i, width, is_signed);
  return sum;
}

TEST(DotProduct, AddsToTheThirdSource) {
  check(Opcode::v_dot2_i32_i16, [](const Lane& l) { return signed_result(l, dot(l, 16, true) + l.i32(2), 32); });
  check(Opcode::v_dot2_u32_u16, [](const Lane& l) { return unsigned_result(l, dot(l, 16, false) + l.u32(2), 32); });
  check(Opcode::v_dot4_i32_i8, [](const Lane& l) { return signed_result(l, dot(l, 8, true) + l.i32(2), 32); });
  check(Opcode::v_dot4_u32_u8, [](const Lane& l) { return unsigned_result(l, dot(l, 8, false) + l.u32(2), 32); });
  check(Opcode::v_dot8_i32_i4, [](const Lane& l) { return signed_result(l, dot(l, 4, true) + l.i32(2), 32); });
  check(Opcode::v_dot8_u32_u4, [](const Lane& l) { return unsigned_result(l, dot(l, 4, false) + l.u32(2), 32); });
}

TEST(DotProduct, AccumulatesInTheDestination) {
  const auto old = [](const Lane& l) { return Int128{static_cast<int32_t>(l.old[0])}; };
  check(Opcode::v_dot2c_i32_i16, [&](const Lane& l) { return signed_result(l, dot(l, 16, true) + old(l), 32); });
  check(Opcode::v_dot4c_i32_i8, [&](const Lane& l) { return signed_result(l, dot(l, 8, true) + old(l), 32); });
  check(Opcode::v_dot8c_i32_i4, [&](const Lane& l) { return signed_result(l, dot(l, 4, true) + old(l), 32); });
}

/// The sum over four bytes of |a - b|, a's bytes from `first` on; masked: bytes of b that are 0 do not count.
Int128 byte_differences(const Lane& l, unsigned first, bool masked) {
  Int128 sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    if (masked && l.byte(1, i) == 0) continue;
    sum += std::abs(l.byte(0, first + i) - l.byte(1, i));
  }
  return sum;
}

TEST(ByteSums, OfAbsoluteDifferences) {
  check(Opcode::v_sad_u8,
        [](const Lane& l) { return unsigned_result(l, byte_differences(l, 0, false) + l.u32(2), 32); });
  check(Opcode::v_msad_u8,
        [](const Lane& l) { return unsigned_result(l, byte_differences(l, 0, true) + l.u32(2), 32); });
  check(Opcode::v_sad_hi_u8,
        [](const Lane& l) { return unsigned_result(l, byte_differences(l, 0, false) * 0x10000 + l.u32(2), 32); });
  check(Opcode::v_sad_u16, [](const Lane& l) {
    const Int128 sum = std::abs(l.half(0, 0) - l.half(1, 0)) + std::abs(l.half(0, 1) - l.half(1, 1));
    return unsigned_result(l, sum + l.u32(2), 32);
  });
  check(Opcode::v_sad_u32, [](const Lane& l) {
    return unsigned_result(l, std::max(l.u32(0), l.u32(1)) - Int128{std::min(l.u32(0), l.u32(1))} + l.u32(2), 32);
  });
}

TEST(ByteSums, OfFourWindows) {
  const auto four_halves = [](const Lane& l, bool masked) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const Int128 sum = byte_differences(l, i, masked) + (l.u64(2) >> (16 * i) & 0xFFFF);
      result |= unsigned_result(l, sum, 16) << (16 * i);
    }
    return result;
  };
  check(Opcode::v_qsad_pk_u16_u8, [&](const Lane& l) { return four_halves(l, false); });
  check(Opcode::v_mqsad_pk_u16_u8, [&](const Lane& l) { return four_halves(l, true); });
  check(Opcode::v_mqsad_u32_u8, [](const Lane& l) {
    Outcome result;
    for (unsigned i = 0; i < 4; ++i) {
      result.words[i] = uint32_t(unsigned_result(l, byte_differences(l, i, true) + l.src[2][i], 32));
    }
    return result;
  });
}

TEST(ByteSums, LinearInterpolation) {
  check(Opcode::v_lerp_u8, [](const Lane& l) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      result |= static_cast<uint32_t>((l.byte(0, i) + l.byte(1, i) + l.byte(2, i) % 2) / 2) << (8 * i);
    }
    return result;
  });
}

}  // namespace
}  // namespace Atoll::semantics::test
