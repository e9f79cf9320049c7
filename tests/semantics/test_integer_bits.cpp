// Bit operations and compares of the vector ALU against bit-by-bit references.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "semantics/integer_check.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

TEST(IntegerBits, MovesAndSelection) {
  check(Opcode::v_mov_b32, [](const Lane& l) { return l.u32(0); });
  check(Opcode::v_mov_b64, [](const Lane& l) { return l.u64(0); });
  check(Opcode::v_cndmask_b32, [](const Lane& l) { return l.u32(l.mask_in ? 1 : 0); });
  check(Opcode::v_pack_b32_f16, [](const Lane& l) { return l.half(0, 0) + (uint32_t{l.half(1, 0)} << 16); });
}

/// A result whose bit i is `bit` of the sources' bits i.
Reference bitwise(bool (*bit)(bool, bool, bool)) {
  return [bit](const Lane& l) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 32; ++i) {
      if (bit(l.u32(0) >> i & 1, l.u32(1) >> i & 1, l.u32(2) >> i & 1)) result |= 1U << i;
    }
    return Outcome(result);
  };
}

TEST(IntegerBits, Logic) {
  check(Opcode::v_not_b32, bitwise([](bool a, bool, bool) { return !a; }));
  check(Opcode::v_and_b32, bitwise([](bool a, bool b, bool) { return a && b; }));
  check(Opcode::v_or_b32, bitwise([](bool a, bool b, bool) { return a || b; }));
  check(Opcode::v_xor_b32, bitwise([](bool a, bool b, bool) { return a != b; }));
  check(Opcode::v_xnor_b32, bitwise([](bool a, bool b, bool) { return a == b; }));
  check(Opcode::v_and_or_b32, bitwise([](bool a, bool b, bool c) { return (a && b) || c; }));
  check(Opcode::v_or3_b32, bitwise([](bool a, bool b, bool c) { return a || b || c; }));
  check(Opcode::v_bfi_b32, bitwise([](bool a, bool b, bool c) { return a ? b : c; }));
}

TEST(IntegerBits, ShiftsUseOnlyAsManyBitsOfTheAmountAsTheWidthNeeds) {
  check(Opcode::v_lshlrev_b32, [](const Lane& l) { return uint32_t(Int128{l.u32(1)} << l.u32(0) % 32); });
  check(Opcode::v_lshrrev_b32, [](const Lane& l) { return uint32_t(Int128{l.u32(1)} >> l.u32(0) % 32); });
  check(Opcode::v_ashrrev_i32, [](const Lane& l) { return uint32_t(Int128{l.i32(1)} >> l.u32(0) % 32); });
  check(Opcode::v_lshlrev_b16, [](const Lane& l) { return uint16_t(Int128{l.u16(1)} << l.u32(0) % 16); });
  check(Opcode::v_lshrrev_b16, [](const Lane& l) { return uint16_t(Int128{l.u16(1)} >> l.u32(0) % 16); });
  check(Opcode::v_ashrrev_i16, [](const Lane& l) { return uint16_t(Int128{l.i16(1)} >> l.u32(0) % 16); });
  check(Opcode::v_lshlrev_b64, [](const Lane& l) { return uint64_t(Int128{l.u64(1)} << l.u32(0) % 64); });
  check(Opcode::v_lshrrev_b64, [](const Lane& l) { return uint64_t(Int128{l.u64(1)} >> l.u32(0) % 64); });
  check(Opcode::v_ashrrev_i64, [](const Lane& l) { return uint64_t(Int128{l.i64(1)} >> l.u32(0) % 64); });
  check(Opcode::v_lshl_or_b32, [](const Lane& l) { return uint32_t(Int128{l.u32(0)} << l.u32(1) % 32) | l.u32(2); });
}

TEST(IntegerBits, Alignment) {
  const auto both = [](const Lane& l) { return uint64_t{l.u32(0)} << 32 | l.u32(1); };
  check(Opcode::v_alignbit_b32, [&](const Lane& l) { return uint32_t(both(l) >> l.u32(2) % 32); });
  check(Opcode::v_alignbyte_b32, [&](const Lane& l) { return uint32_t(both(l) >> 8 * (l.u32(2) % 4)); });
}

TEST(IntegerBits, BitFields) {
  check(Opcode::v_bfe_u32, [](const Lane& l) {
    const unsigned offset = l.u32(1) % 32, width = l.u32(2) % 32;
    uint32_t result = 0;
    for (unsigned i = 0; i < width && offset + i < 32; ++i) result |= (l.u32(0) >> (offset + i) & 1) << i;
    return result;
  });
  check(Opcode::v_bfe_i32, [](const Lane& l) {
    const unsigned offset = l.u32(1) % 32, width = l.u32(2) % 32;
    uint32_t result = 0;
    // Bits past the field repeat its last one; bits past the register repeat its sign.
    for (unsigned i = 0; i < 32 && width != 0; ++i) {
      const unsigned from = std::min(offset + std::min(i, width - 1), 31U);
      result |= (l.u32(0) >> from & 1) << i;
    }
    return result;
  });
  check(Opcode::v_bfm_b32, [](const Lane& l) {
    uint64_t result = 0;
    for (unsigned i = 0; i < l.u32(0) % 32; ++i) result |= uint64_t{1} << (l.u32(1) % 32 + i);
    return static_cast<uint32_t>(result);
  });
  check(Opcode::v_bfrev_b32, [](const Lane& l) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 32; ++i) result |= (l.u32(0) >> i & 1) << (31 - i);
    return result;
  });
}

TEST(IntegerBits, BytePermutationWithEverySelector) {
  const VectorShape& shape = vector_function(Opcode::v_perm_b32);
  alignas(64) Row a[1], b[1], selector[1], result[1];
  VectorCall call{};
  call.exec = ~uint64_t{0};
  call.dst[0] = result;
  call.src[0] = a;
  call.src[1] = b;
  call.src[2] = selector;
  // Two choices of bytes, so that each byte's sign is seen both clear and set.
  for (const uint32_t flip : {0U, 0x80808080U}) {
    for (unsigned block = 0; block < 256; block += wave_lanes) {
      for (unsigned lane = 0; lane < wave_lanes; ++lane) {
        a[0][lane] = 0x77E65584 ^ flip;
        b[0][lane] = 0x13A231C0 ^ flip;
        selector[0][lane] = (block + lane) * 0x01010101U;
      }
      shape.call(call);
      for (unsigned lane = 0; lane < wave_lanes; ++lane) {
        const unsigned which = block + lane;
        const uint64_t bytes = uint64_t{a[0][lane]} << 32 | b[0][lane];
        const auto byte = [&](unsigned i) { return static_cast<uint8_t>(bytes >> (8 * i)); };
        const auto sign = [&](unsigned i) { return static_cast<uint8_t>(byte(i) >= 0x80 ? 0xFF : 0); };
        uint8_t expected = 0xFF;
        if (which < 8) expected = byte(which);
        if (which == 8) expected = sign(1);
        if (which == 9) expected = sign(3);
        if (which == 10) expected = sign(5);
        if (which == 11) expected = sign(7);
        if (which == 12) expected = 0;
        ASSERT_EQ(result[0][lane], expected * 0x01010101U) << "selector " << which;
      }
    }
  }
}

TEST(IntegerBits, BytePermutationChoosesEachByteByItself) {
  check(Opcode::v_perm_b32, [](const Lane& l) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned which = l.byte(2, i);
      uint32_t byte = which == 12 ? 0 : 0xFF;
      if (which < 8) byte = l.byte(which < 4 ? 1 : 0, which % 4);
      if (which >= 8 && which < 12) byte = l.byte(which < 10 ? 1 : 0, which % 2 * 2 + 1) >= 0x80 ? 0xFF : 0;
      result |= byte << (8 * i);
    }
    return result;
  });
}

TEST(IntegerBits, SaturatingPack) {
  check(Opcode::v_sat_pk_u8_i16, [](const Lane& l) {
    const auto saturated = [](uint16_t half) { return std::clamp<int>(static_cast<int16_t>(half), 0, 255); };
    return static_cast<uint32_t>(saturated(l.half(0, 0)) + 256 * saturated(l.half(0, 1)));
  });
}

TEST(IntegerBits, SaturatingPackOfWords) {
  check(Opcode::v_cvt_pk_u16_u32, [](const Lane& l) {
    return std::min<uint64_t>(l.u32(0), 65535) + 65536 * std::min<uint64_t>(l.u32(1), 65535);
  });
  check(Opcode::v_cvt_pk_i16_i32, [](const Lane& l) {
    const auto saturated = [](int32_t value) { return static_cast<uint16_t>(std::clamp(value, -32768, 32767)); };
    return saturated(l.i32(0)) + 65536 * uint64_t{saturated(l.i32(1))};
  });
}

TEST(IntegerBits, ScreenPartition) {
  // The Vega ISA guide's table, a hexadecimal digit for each value of the source.
  constexpr std::string_view table =
      "137f5fff7ffffffff26efafffbffffffdf4cff5fffdfffff9bf8fffafffeffff"
      "ffff4cdf6fffeffffffff89bf99ffdffffff7f13ff9fffbfffff6ef26ff6fff7"
      "bfffffff23bfaffff7fffffff19df5ffffefffffef8cffaffffdffff67f4fff5"
      "9fffdfffffff8ceff66ffefffffff467ff6fff7fffffbf239ff9fffbffff9df1";
  check(Opcode::v_screen_partition_4se_b32, [&](const Lane& l) {
    const char digit = table[l.u32(0) % 256];
    return uint64_t(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  });
}

TEST(IntegerBits, Counting) {
  check(Opcode::v_bcnt_u32_b32, [](const Lane& l) { return uint32_t(std::popcount(l.u32(0))) + l.u32(1); });
  const auto below = [](const Lane& l, unsigned first_lane) {
    uint32_t count = l.u32(1);
    for (unsigned i = 0; i < 32; ++i) {
      if (first_lane + i < l.number) count += l.u32(0) >> i & 1;
    }
    return count;
  };
  check(Opcode::v_mbcnt_lo_u32_b32, [&](const Lane& l) { return below(l, 0); });
  check(Opcode::v_mbcnt_hi_u32_b32, [&](const Lane& l) { return below(l, 32); });
  check(Opcode::v_ffbh_u32, [](const Lane& l) {
    for (unsigned i = 0; i < 32; ++i) {
      if (l.u32(0) >> (31 - i) & 1) return i;
    }
    return ~0U;
  });
  check(Opcode::v_ffbl_b32, [](const Lane& l) {
    for (unsigned i = 0; i < 32; ++i) {
      if (l.u32(0) >> i & 1) return i;
    }
    return ~0U;
  });
  check(Opcode::v_ffbh_i32, [](const Lane& l) {
    for (unsigned i = 1; i < 32; ++i) {
      if ((l.u32(0) >> (31 - i) & 1) != l.u32(0) >> 31) return i;
    }
    return ~0U;
  });
}

// --- Compares -------------------------------------------------------------------------------------------------------

#define CHECK_COMPARES(type, value)                                                    \
  for (const Opcode opcode : {Opcode::v_cmp_f_##type, Opcode::v_cmpx_f_##type})        \
    check(opcode, [](const Lane&) { return Outcome(0, false); });                      \
  for (const Opcode opcode : {Opcode::v_cmp_lt_##type, Opcode::v_cmpx_lt_##type})      \
    check(opcode, [](const Lane& l) { return Outcome(0, l.value(0) < l.value(1)); });  \
  for (const Opcode opcode : {Opcode::v_cmp_eq_##type, Opcode::v_cmpx_eq_##type})      \
    check(opcode, [](const Lane& l) { return Outcome(0, l.value(0) == l.value(1)); }); \
  for (const Opcode opcode : {Opcode::v_cmp_le_##type, Opcode::v_cmpx_le_##type})      \
    check(opcode, [](const Lane& l) { return Outcome(0, l.value(0) <= l.value(1)); }); \
  for (const Opcode opcode : {Opcode::v_cmp_gt_##type, Opcode::v_cmpx_gt_##type})      \
    check(opcode, [](const Lane& l) { return Outcome(0, l.value(0) > l.value(1)); });  \
  for (const Opcode opcode : {Opcode::v_cmp_ne_##type, Opcode::v_cmpx_ne_##type})      \
    check(opcode, [](const Lane& l) { return Outcome(0, l.value(0) != l.value(1)); }); \
  for (const Opcode opcode : {Opcode::v_cmp_ge_##type, Opcode::v_cmpx_ge_##type})      \
    check(opcode, [](const Lane& l) { return Outcome(0, l.value(0) >= l.value(1)); }); \
  for (const Opcode opcode : {Opcode::v_cmp_t_##type, Opcode::v_cmpx_t_##type})        \
    check(opcode, [](const Lane&) { return Outcome(0, true); });

TEST(IntegerCompare, Of16Bits){CHECK_COMPARES(i16, i16) CHECK_COMPARES(u16, u16)} TEST(IntegerCompare, Of32Bits){
    CHECK_COMPARES(i32, i32) CHECK_COMPARES(u32, u32)} TEST(IntegerCompare, Of64Bits) {
  CHECK_COMPARES(i64, i64)
  CHECK_COMPARES(u64, u64)
}

}  // namespace
}  // namespace Atoll::semantics::test
