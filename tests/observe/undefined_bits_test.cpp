// Which bits of a result are undefined, against what becomes of it when the undefined bits of the sources are tried out
// one by one, by the host's own arithmetic: a bit that varies must be undefined, and for operations bit by bit no
// other.
#include "observe/shadow/undefined_bits.h"

#include <array>
#include <bit>
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

namespace {

using Atoll::isa::Opcode;
using Atoll::observe::Bits;
using Atoll::observe::ShadowTransfer;
using Function = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;

struct Case {
  const char* name;
  Opcode opcode;
  unsigned sources, bits;
  bool is_exact;
  Function function;
};

uint32_t word(uint64_t value) { return static_cast<uint32_t>(value); }

const Case cases[] = {
    {"and", Opcode::v_and_b32, 2, 32, true, [](uint64_t a, uint64_t b, uint64_t) { return a & b; }},
    {"or", Opcode::s_or_b64, 2, 64, true, [](uint64_t a, uint64_t b, uint64_t) { return a | b; }},
    {"andn2", Opcode::s_andn2_b32, 2, 32, true, [](uint64_t a, uint64_t b, uint64_t) { return a & ~b; }},
    {"nor", Opcode::s_nor_b32, 2, 32, true, [](uint64_t a, uint64_t b, uint64_t) { return ~(a | b); }},
    {"xor", Opcode::v_xor_b32, 2, 32, true, [](uint64_t a, uint64_t b, uint64_t) { return a ^ b; }},
    {"and_or", Opcode::v_and_or_b32, 3, 32, true, [](uint64_t a, uint64_t b, uint64_t c) { return (a & b) | c; }},
    {"bfi", Opcode::v_bfi_b32, 3, 32, false, [](uint64_t a, uint64_t b, uint64_t c) { return (a & b) | (~a & c); }},
    {"shift left", Opcode::v_lshlrev_b32, 2, 32, false, [](uint64_t a, uint64_t b, uint64_t) { return b << (a & 31); }},
    {"shift right", Opcode::s_lshr_b64, 2, 64, false, [](uint64_t a, uint64_t b, uint64_t) { return a >> (b & 63); }},
    {"arithmetic shift", Opcode::v_ashrrev_i32, 2, 32, false,
     [](uint64_t a, uint64_t b, uint64_t) {
       return uint64_t{word(static_cast<uint64_t>(static_cast<int32_t>(word(b)) >> (a & 31)))};
     }},
    {"sum", Opcode::v_add_u32, 2, 32, false, [](uint64_t a, uint64_t b, uint64_t) { return a + b; }},
    {"difference", Opcode::s_sub_u32, 2, 32, false, [](uint64_t a, uint64_t b, uint64_t) { return a - b; }},
    {"reversed difference", Opcode::v_subrev_u32, 2, 32, false, [](uint64_t a, uint64_t b, uint64_t) { return b - a; }},
    {"three", Opcode::v_add3_u32, 3, 32, false, [](uint64_t a, uint64_t b, uint64_t c) { return a + b + c; }},
    {"product", Opcode::v_mul_lo_u32, 2, 32, false, [](uint64_t a, uint64_t b, uint64_t) { return a * b; }},
    {"24 bits", Opcode::v_mul_u32_u24, 2, 32, false,
     [](uint64_t a, uint64_t b, uint64_t) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }},
    {"shift and add", Opcode::v_lshl_add_u32, 3, 32, false,
     [](uint64_t a, uint64_t b, uint64_t c) { return (a << (b & 31)) + c; }},
    {"field", Opcode::v_bfe_u32, 3, 32, false,
     [](uint64_t a, uint64_t b, uint64_t c) { return word(a) >> (b & 31) & ((uint64_t{1} << (c & 31)) - 1); }},
    {"bits in reverse", Opcode::s_brev_b64, 1, 64, true,
     [](uint64_t a, uint64_t, uint64_t) {
       uint64_t reversed = 0;
       for (unsigned bit = 0; bit < 64; ++bit) reversed |= (a >> bit & 1) << (63 - bit);
       return reversed;
     }},
    {"16 bits", Opcode::v_mad_legacy_u16, 3, 16, false,
     [](uint64_t a, uint64_t b, uint64_t c) { return (a * b + c) & 0xFFFF; }},
    {"align", Opcode::v_alignbit_b32, 3, 32, false,
     [](uint64_t a, uint64_t b, uint64_t c) { return (a << 32 | word(b)) >> (c & 31); }},
};

/// Numbers in some order, the same each time.
struct Numbers {
  uint64_t state = 88172645463325252;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
};

TEST(UndefinedBits, VaryingBitsOfAResultAreUndefined) {
  Numbers numbers;
  for (const Case& each : cases) {
    const uint64_t mask = each.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << each.bits) - 1;
    for (int turn = 0; turn < 2000; ++turn) {
      std::array<Bits, 3> sources{};
      for (unsigned i = 0; i < each.sources; ++i) {
        // Small numbers, too, as those that shifts have; few undefined bits, all of whose values are tried.
        sources[i].value = numbers.next() & mask;
        if (numbers.next() % 2 == 0) sources[i].value &= 31;
        for (uint64_t count = numbers.next() % 4; count != 0; --count) {
          sources[i].undefined |= uint64_t{1} << (numbers.next() % each.bits);
        }
      }
      uint64_t varying = 0;
      uint64_t first = 0;
      bool has_first = false;
      const auto spread = [](uint64_t bits, uint64_t into) {  // puts bits into the places that a mask has
        uint64_t result = 0;
        for (; into != 0; into &= into - 1, bits >>= 1) result |= (bits & 1) != 0 ? into & (uint64_t{0} - into) : 0;
        return result;
      };
      std::array<uint64_t, 3> counts{};
      for (unsigned i = 0; i < 3; ++i) counts[i] = uint64_t{1} << std::popcount(sources[i].undefined);
      for (uint64_t a = 0; a < counts[0]; ++a) {
        for (uint64_t b = 0; b < counts[1]; ++b) {
          for (uint64_t c = 0; c < counts[2]; ++c) {
            const auto value = [&](unsigned i, uint64_t bits) {
              return (sources[i].value & ~sources[i].undefined) | spread(bits, sources[i].undefined);
            };
            const uint64_t result = each.function(value(0, a), value(1, b), value(2, c)) & mask;
            if (!has_first) first = result;
            has_first = true;
            varying |= result ^ first;
          }
        }
      }
      const ShadowTransfer follows = Atoll::observe::transfer_function(
          Atoll::isa::row(each.opcode), std::span<const Bits>(sources.data(), each.sources), each.bits, {});
      ASSERT_EQ(varying & ~follows.undefined, 0u) << each.name << " in turn " << turn;
      if (each.is_exact) ASSERT_EQ(follows.undefined & mask, varying) << each.name << " in turn " << turn;
    }
  }
}

TEST(UndefinedBits, ComparisonsThatDefinedBitsDecideAreDefined) {
  const auto compare = [](Opcode opcode, Bits a, Bits b) {
    const std::array<Bits, 2> sources{a, b};
    return Atoll::observe::transfer_function(Atoll::isa::row(opcode), sources, 1, {}).flag_undefined;
  };
  EXPECT_FALSE(compare(Opcode::v_cmp_eq_u32, {0x100, 0xFF}, {0x200, 0}));
  EXPECT_TRUE(compare(Opcode::v_cmp_eq_u32, {0x100, 0xFF}, {0x123, 0}));
  EXPECT_FALSE(compare(Opcode::v_cmp_lt_u32, {0x100, 0xFF}, {0x200, 0}));
  EXPECT_TRUE(compare(Opcode::v_cmp_lt_u32, {0x100, 0xFF}, {0x180, 0}));
  EXPECT_FALSE(compare(Opcode::v_cmp_lt_i32, {0xFFFF'FF00, 0xFF}, {0, 0}));
  EXPECT_TRUE(compare(Opcode::v_cmp_lt_i32, {0, 0x8000'0000}, {0, 0}));
  EXPECT_FALSE(compare(Opcode::v_cmp_t_i32, {0, 0xFFFF}, {0, 0}));
}

}  // namespace
