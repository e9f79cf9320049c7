// The scalar ALU against exact arithmetic and bit-by-bit references, SCC and EXEC included.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "semantics/note_function.h"
#include "semantics/registry.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;
using Int128 = __int128;

/// What an instruction finds, and what it should leave: a reference changes dst, scc and exec of its copy.
struct State {
  uint64_t a, b, dst, exec;
  bool scc;

  uint32_t a32() const { return static_cast<uint32_t>(a); }
  uint32_t b32() const { return static_cast<uint32_t>(b); }
  int32_t sa() const { return static_cast<int32_t>(a); }
  int32_t sb() const { return static_cast<int32_t>(b); }
  int64_t sa64() const { return static_cast<int64_t>(a); }
};
using Reference = std::function<void(State&)>;

constexpr uint64_t edges[] = {0,
                              1,
                              2,
                              3,
                              4,
                              15,
                              31,
                              32,
                              33,
                              63,
                              64,
                              0x7F,
                              0x80,
                              0x7FFF,
                              0x8000,
                              0xFFFF,
                              0x10000,
                              0x00100004,
                              0x00200000,
                              0x001F001F,
                              0x00400000,
                              0x00080038,
                              0x007F0003,
                              0x7FFFFFFF,
                              0x80000000,
                              0xFFFFFFFE,
                              0xFFFFFFFF,
                              0x55555555,
                              0x10000000F,
                              0x8000'0000'0000'0000,
                              0x7FFF'FFFF'FFFF'FFFF,
                              0xFFFF'FFFF'FFFF'FFFF,
                              0xF0F0'0000'00F0'0001};

/// Runs the instruction on pairs of edge values and on random ones. `width` is the sources' (32 or 64 bits), whose
/// upper part the engine clears.
void check(Opcode opcode, unsigned width_a, unsigned width_b, unsigned width_dst, const Reference& reference) {
  SCOPED_TRACE("opcode " + std::to_string(static_cast<unsigned>(opcode)));
  const ScalarFunction function = scalar_function(opcode);
  ASSERT_NE(function, nullptr) << "no semantics";
  note_function(Atoll::test::TestedBy::arithmetic, opcode, target::Generation::gfx9);
  std::mt19937_64 random(static_cast<unsigned>(opcode));
  const auto narrowed = [](uint64_t value, unsigned width) { return width == 64 ? value : value & 0xFFFFFFFF; };
  const auto compare = [&](uint64_t a, uint64_t b) {
    const State before{narrowed(a, width_a), narrowed(b, width_b), narrowed(random(), width_dst), random(),
                       random() % 2 != 0};
    ScalarCall call{.src = {before.a, before.b, 0}, .dst = before.dst, .exec = before.exec, .scc = before.scc};
    function(call);
    State after = before;
    reference(after);
    ASSERT_EQ(call.dst, narrowed(after.dst, width_dst))
        << std::hex << "sources " << before.a << " " << before.b << ", old " << before.dst << ", scc " << before.scc;
    ASSERT_EQ(call.scc, after.scc) << std::hex << "SCC, sources " << before.a << " " << before.b;
    ASSERT_EQ(call.exec, after.exec) << std::hex << "EXEC, sources " << before.a << " " << before.b;
  };
  for (const uint64_t a : edges) {
    for (const uint64_t b : edges) compare(a, b);
    if (testing::Test::HasFatalFailure()) return;
  }
  for (unsigned i = 0; i < 500; ++i) {
    compare(random() >> random() % 64, random() >> random() % 64);
    if (testing::Test::HasFatalFailure()) return;
  }
}
void check32(Opcode opcode, const Reference& reference) { check(opcode, 32, 32, 32, reference); }
void check64(Opcode opcode, const Reference& reference) { check(opcode, 64, 64, 64, reference); }

/// A reference whose SCC is "the result is not zero".
template <typename Value>
Reference nonzero(unsigned width, Value value) {
  return [=](State& s) {
    s.dst = width == 64 ? uint64_t(value(s)) : uint32_t(value(s));
    s.scc = s.dst != 0;
  };
}

TEST(ScalarFunction, Moves) {
  check32(Opcode::s_mov_b32, [](State& s) { s.dst = s.a; });
  check64(Opcode::s_mov_b64, [](State& s) { s.dst = s.a; });
  for (const auto& [opcode, width] : {std::pair{Opcode::s_cmov_b32, 32U}, {Opcode::s_cmov_b64, 64U}}) {
    check(opcode, width, width, width, [](State& s) { s.dst = s.scc ? s.a : s.dst; });
  }
  for (const auto& [opcode, width] : {std::pair{Opcode::s_cselect_b32, 32U}, {Opcode::s_cselect_b64, 64U}}) {
    check(opcode, width, width, width, [](State& s) { s.dst = s.scc ? s.a : s.b; });
  }
  check32(Opcode::s_sext_i32_i8, [](State& s) { s.dst = (s.a & 0xFF) < 0x80 ? s.a & 0x7F : s.a | ~0x7FULL; });
  check32(Opcode::s_sext_i32_i16, [](State& s) { s.dst = (s.a & 0xFFFF) < 0x8000 ? s.a & 0x7FFF : s.a | ~0x7FFFULL; });
  check32(Opcode::s_pack_ll_b32_b16, [](State& s) { s.dst = s.a % 65536 + s.b % 65536 * 65536; });
  check32(Opcode::s_pack_lh_b32_b16, [](State& s) { s.dst = s.a % 65536 + s.b / 65536 * 65536; });
  check32(Opcode::s_pack_hh_b32_b16, [](State& s) { s.dst = s.a / 65536 + s.b / 65536 * 65536; });
}

/// Both widths of a logic operation, given its truth table: bit 2a + b of `table` is the result for bits a and b.
void check_logic(Opcode opcode32, Opcode opcode64, unsigned table) {
  for (const unsigned width : {32U, 64U}) {
    check(width == 32 ? opcode32 : opcode64, width, width, width, nonzero(width, [=](const State& s) {
            uint64_t result = 0;
            for (unsigned i = 0; i < width; ++i) {
              result |= uint64_t{table >> (2 * (s.a >> i & 1) + (s.b >> i & 1)) & 1} << i;
            }
            return result;
          }));
  }
}

TEST(ScalarFunction, Logic) {
  using enum Opcode;
  check_logic(s_not_b32, s_not_b64, 0b0011);
  check_logic(s_and_b32, s_and_b64, 0b1000);
  check_logic(s_or_b32, s_or_b64, 0b1110);
  check_logic(s_xor_b32, s_xor_b64, 0b0110);
  check_logic(s_andn2_b32, s_andn2_b64, 0b0100);
  check_logic(s_orn2_b32, s_orn2_b64, 0b1101);
  check_logic(s_nand_b32, s_nand_b64, 0b0111);
  check_logic(s_nor_b32, s_nor_b64, 0b0001);
  check_logic(s_xnor_b32, s_xnor_b64, 0b1001);
}

/// EXEC becomes the operation (truth table as above, a the source and b the old EXEC).
void check_exec(Opcode opcode, unsigned table, bool saves) {
  check64(opcode, [=](State& s) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 64; ++i) {
      result |= uint64_t{table >> (2 * (s.a >> i & 1) + (s.exec >> i & 1)) & 1} << i;
    }
    s.dst = saves ? s.exec : result;
    s.exec = result;
    s.scc = result != 0;
  });
}

TEST(ScalarFunction, ExecMasks) {
  using enum Opcode;
  check_exec(s_and_saveexec_b64, 0b1000, true);
  check_exec(s_or_saveexec_b64, 0b1110, true);
  check_exec(s_xor_saveexec_b64, 0b0110, true);
  check_exec(s_andn2_saveexec_b64, 0b0100, true);
  check_exec(s_orn2_saveexec_b64, 0b1101, true);
  check_exec(s_nand_saveexec_b64, 0b0111, true);
  check_exec(s_nor_saveexec_b64, 0b0001, true);
  check_exec(s_xnor_saveexec_b64, 0b1001, true);
  check_exec(s_andn1_saveexec_b64, 0b0010, true);
  check_exec(s_orn1_saveexec_b64, 0b1011, true);
  check_exec(s_andn1_wrexec_b64, 0b0010, false);
  check_exec(s_andn2_wrexec_b64, 0b0100, false);
}

TEST(ScalarFunction, Sums) {
  const auto carry = [](State& s, Int128 exact) {
    s.dst = static_cast<uint64_t>(exact) & 0xFFFFFFFF;
    s.scc = exact < 0 || exact > 0xFFFFFFFF;
  };
  const auto overflow = [](State& s, Int128 exact) {
    s.dst = static_cast<uint64_t>(exact) & 0xFFFFFFFF;
    s.scc = exact < std::numeric_limits<int32_t>::min() || exact > std::numeric_limits<int32_t>::max();
  };
  check32(Opcode::s_add_u32, [&](State& s) { carry(s, Int128{s.a} + s.b); });
  check32(Opcode::s_sub_u32, [&](State& s) { carry(s, Int128{s.a} - s.b); });
  check32(Opcode::s_addc_u32, [&](State& s) { carry(s, Int128{s.a} + s.b + s.scc); });
  check32(Opcode::s_subb_u32, [&](State& s) { carry(s, Int128{s.a} - s.b - s.scc); });
  check32(Opcode::s_add_i32, [&](State& s) { overflow(s, Int128{s.sa()} + s.sb()); });
  check32(Opcode::s_sub_i32, [&](State& s) { overflow(s, Int128{s.sa()} - s.sb()); });
  check32(Opcode::s_lshl1_add_u32, [&](State& s) { carry(s, Int128{s.a} * 2 + s.b); });
  check32(Opcode::s_lshl2_add_u32, [&](State& s) { carry(s, Int128{s.a} * 4 + s.b); });
  check32(Opcode::s_lshl3_add_u32, [&](State& s) { carry(s, Int128{s.a} * 8 + s.b); });
  check32(Opcode::s_lshl4_add_u32, [&](State& s) { carry(s, Int128{s.a} * 16 + s.b); });
  check32(Opcode::s_addk_i32,
          [&](State& s) { overflow(s, Int128{static_cast<int32_t>(s.dst)} + static_cast<int16_t>(s.a)); });
  check32(Opcode::s_abs_i32, nonzero(32, [](const State& s) { return s.sa() < 0 ? -Int128{s.sa()} : Int128{s.sa()}; }));
  check32(Opcode::s_absdiff_i32, nonzero(32, [](const State& s) {
            const auto wrapped = static_cast<int32_t>(s.a - s.b);
            return wrapped < 0 ? -Int128{wrapped} : Int128{wrapped};
          }));
}

TEST(ScalarFunction, Products) {
  check32(Opcode::s_mul_i32, [](State& s) { s.dst = uint32_t(Int128{s.sa()} * s.sb()); });
  check32(Opcode::s_mul_hi_u32, [](State& s) { s.dst = uint32_t(Int128{s.a32()} * s.b32() >> 32); });
  check32(Opcode::s_mul_hi_i32, [](State& s) { s.dst = uint32_t(Int128{s.sa()} * s.sb() >> 32); });
  check32(Opcode::s_mulk_i32,
          [](State& s) { s.dst = uint32_t(Int128{static_cast<int32_t>(s.dst)} * static_cast<int16_t>(s.a)); });
}

TEST(ScalarFunction, MinimumAndMaximumTellInSccWhichWasTaken) {
  check32(Opcode::s_min_i32, [](State& s) { s.dst = (s.scc = s.sa() < s.sb()) ? s.a : s.b; });
  check32(Opcode::s_min_u32, [](State& s) { s.dst = (s.scc = s.a < s.b) ? s.a : s.b; });
  check32(Opcode::s_max_i32, [](State& s) { s.dst = (s.scc = s.sa() >= s.sb()) ? s.a : s.b; });
  check32(Opcode::s_max_u32, [](State& s) { s.dst = (s.scc = s.a >= s.b) ? s.a : s.b; });
}

TEST(ScalarFunction, Shifts) {
  check(Opcode::s_lshl_b32, 32, 32, 32, nonzero(32, [](const State& s) { return Int128{s.a} << s.b % 32; }));
  check(Opcode::s_lshl_b64, 64, 32, 64, nonzero(64, [](const State& s) { return Int128{s.a} << s.b % 64; }));
  check(Opcode::s_lshr_b32, 32, 32, 32, nonzero(32, [](const State& s) { return Int128{s.a} >> s.b % 32; }));
  check(Opcode::s_lshr_b64, 64, 32, 64, nonzero(64, [](const State& s) { return Int128{s.a} >> s.b % 64; }));
  check(Opcode::s_ashr_i32, 32, 32, 32, nonzero(32, [](const State& s) { return Int128{s.sa()} >> s.b % 32; }));
  check(Opcode::s_ashr_i64, 64, 32, 64, nonzero(64, [](const State& s) { return Int128{s.sa64()} >> s.b % 64; }));
}

/// The bits of `value`, `width` wide, from `offset` on: at most `count` of them; those above are zero, or, if signed,
/// repeat the last bit taken. Bits past the top repeat the sign (or are zero).
Int128 extracted(Int128 value, unsigned width, unsigned offset, unsigned count, bool is_signed) {
  Int128 result = 0;
  bool last = false;
  for (unsigned i = 0; i < width; ++i) {
    const unsigned from = offset + i;
    const bool past_top = is_signed && value < 0;
    if (i < count) last = from < width ? (value >> from & 1) != 0 : past_top;
    if (i >= count && !is_signed) last = false;
    if (last) result |= Int128{1} << i;
  }
  return result;
}

TEST(ScalarFunction, BitFields) {
  const auto offset = [](const State& s, unsigned width) { return static_cast<unsigned>(s.b % width); };
  const auto count = [](const State& s) { return static_cast<unsigned>(s.b >> 16 & 0x7F); };
  check(Opcode::s_bfe_u32, 32, 32, 32,
        nonzero(32, [&](const State& s) { return extracted(s.a, 32, offset(s, 32), count(s), false); }));
  check(Opcode::s_bfe_i32, 32, 32, 32,
        nonzero(32, [&](const State& s) { return extracted(s.sa(), 32, offset(s, 32), count(s), true); }));
  check(Opcode::s_bfe_u64, 64, 32, 64,
        nonzero(64, [&](const State& s) { return extracted(s.a, 64, offset(s, 64), count(s), false); }));
  check(Opcode::s_bfe_i64, 64, 32, 64,
        nonzero(64, [&](const State& s) { return extracted(s.sa64(), 64, offset(s, 64), count(s), true); }));
  const auto mask = [](const State& s, unsigned width) {
    Int128 result = 0;
    for (unsigned i = 0; i < s.a % width; ++i) result |= Int128{1} << (s.b % width + i);
    return result;
  };
  check(Opcode::s_bfm_b32, 32, 32, 32, [&](State& s) { s.dst = uint32_t(mask(s, 32)); });
  check(Opcode::s_bfm_b64, 32, 32, 64, [&](State& s) { s.dst = uint64_t(mask(s, 64)); });
}

TEST(ScalarFunction, CountingAndSearching) {
  const auto bit = [](const State& s, unsigned i) { return (s.a >> i & 1) != 0; };
  /// The first i below `width` whose bit, counted from either end, satisfies the condition; else -1.
  const auto first = [&](unsigned width, auto condition) {
    return [=](State& s) {
      s.dst = 0xFFFFFFFF;
      for (unsigned i = width; i-- > 0;) {
        if (condition(s, i)) s.dst = i;
      }
    };
  };
  for (const unsigned width : {32U, 64U}) {
    const bool wide = width == 64;
    const auto ones = [=](const State& s) {
      unsigned count = 0;
      for (unsigned i = 0; i < width; ++i) count += bit(s, i);
      return count;
    };
    using enum Opcode;
    check(wide ? s_bcnt1_i32_b64 : s_bcnt1_i32_b32, width, width, 32, nonzero(32, ones));
    check(wide ? s_bcnt0_i32_b64 : s_bcnt0_i32_b32, width, width, 32,
          nonzero(32, [=](const State& s) { return width - ones(s); }));
    check(wide ? s_ff1_i32_b64 : s_ff1_i32_b32, width, width, 32,
          first(width, [=](const State& s, unsigned i) { return bit(s, i); }));
    check(wide ? s_ff0_i32_b64 : s_ff0_i32_b32, width, width, 32,
          first(width, [=](const State& s, unsigned i) { return !bit(s, i); }));
    check(wide ? s_flbit_i32_b64 : s_flbit_i32_b32, width, width, 32,
          first(width, [=](const State& s, unsigned i) { return bit(s, width - 1 - i); }));
    check(wide ? s_flbit_i32_i64 : s_flbit_i32, width, width, 32,
          first(width, [=](const State& s, unsigned i) { return bit(s, width - 1 - i) != bit(s, width - 1); }));
    check(wide ? s_brev_b64 : s_brev_b32, width, width, width, [=](State& s) {
      s.dst = 0;
      for (unsigned i = 0; i < width; ++i) s.dst |= uint64_t{bit(s, i)} << (width - 1 - i);
    });
    check(wide ? s_bitset0_b64 : s_bitset0_b32, 32, 32, width, [=](State& s) { s.dst &= ~(1ULL << s.a % width); });
    check(wide ? s_bitset1_b64 : s_bitset1_b32, 32, 32, width, [=](State& s) { s.dst |= 1ULL << s.a % width; });
    check(wide ? s_bitcmp0_b64 : s_bitcmp0_b32, width, 32, width,
          [=](State& s) { s.scc = !bit(s, static_cast<unsigned>(s.b % width)); });
    check(wide ? s_bitcmp1_b64 : s_bitcmp1_b32, width, 32, width,
          [=](State& s) { s.scc = bit(s, static_cast<unsigned>(s.b % width)); });
    const auto quad = [=](const State& s, unsigned i) {
      return bit(s, i & ~3U) || bit(s, i | 1) || bit(s, (i & ~3U) | 2) || bit(s, i | 3);
    };
    check(wide ? s_quadmask_b64 : s_quadmask_b32, width, width, width, nonzero(width, [=](const State& s) {
            uint64_t result = 0;
            for (unsigned i = 0; i < width; i += 4) result |= uint64_t{quad(s, i)} << (i / 4);
            return result;
          }));
    check(wide ? s_wqm_b64 : s_wqm_b32, width, width, width, nonzero(width, [=](const State& s) {
            uint64_t result = 0;
            for (unsigned i = 0; i < width; ++i) result |= uint64_t{quad(s, i & ~3U)} << i;
            return result;
          }));
  }
  check(Opcode::s_bitreplicate_b64_b32, 32, 32, 64, [=](State& s) {
    s.dst = 0;
    for (unsigned i = 0; i < 64; ++i) s.dst |= uint64_t{bit(s, i / 2)} << i;
  });
}

TEST(ScalarFunction, Compares) {
  using enum Opcode;
  check32(s_cmp_eq_i32, [](State& s) { s.scc = s.sa() == s.sb(); });
  check32(s_cmp_lg_i32, [](State& s) { s.scc = s.sa() != s.sb(); });
  check32(s_cmp_gt_i32, [](State& s) { s.scc = s.sa() > s.sb(); });
  check32(s_cmp_ge_i32, [](State& s) { s.scc = s.sa() >= s.sb(); });
  check32(s_cmp_lt_i32, [](State& s) { s.scc = s.sa() < s.sb(); });
  check32(s_cmp_le_i32, [](State& s) { s.scc = s.sa() <= s.sb(); });
  check32(s_cmp_eq_u32, [](State& s) { s.scc = s.a32() == s.b32(); });
  check32(s_cmp_lg_u32, [](State& s) { s.scc = s.a32() != s.b32(); });
  check32(s_cmp_gt_u32, [](State& s) { s.scc = s.a32() > s.b32(); });
  check32(s_cmp_ge_u32, [](State& s) { s.scc = s.a32() >= s.b32(); });
  check32(s_cmp_lt_u32, [](State& s) { s.scc = s.a32() < s.b32(); });
  check32(s_cmp_le_u32, [](State& s) { s.scc = s.a32() <= s.b32(); });
  check64(s_cmp_eq_u64, [](State& s) { s.scc = s.a == s.b; });
  check64(s_cmp_lg_u64, [](State& s) { s.scc = s.a != s.b; });
}

TEST(ScalarFunction, ImmediatesAreExtendedAsTheOperationWants) {
  using enum Opcode;
  const auto k = [](const State& s) { return int32_t{static_cast<int16_t>(s.b)}; };
  const auto u = [](const State& s) { return uint32_t{static_cast<uint16_t>(s.b)}; };
  check32(s_cmpk_eq_i32, [&](State& s) { s.scc = s.sa() == k(s); });
  check32(s_cmpk_lg_i32, [&](State& s) { s.scc = s.sa() != k(s); });
  check32(s_cmpk_gt_i32, [&](State& s) { s.scc = s.sa() > k(s); });
  check32(s_cmpk_ge_i32, [&](State& s) { s.scc = s.sa() >= k(s); });
  check32(s_cmpk_lt_i32, [&](State& s) { s.scc = s.sa() < k(s); });
  check32(s_cmpk_le_i32, [&](State& s) { s.scc = s.sa() <= k(s); });
  check32(s_cmpk_eq_u32, [&](State& s) { s.scc = s.a32() == u(s); });
  check32(s_cmpk_lg_u32, [&](State& s) { s.scc = s.a32() != u(s); });
  check32(s_cmpk_gt_u32, [&](State& s) { s.scc = s.a32() > u(s); });
  check32(s_cmpk_ge_u32, [&](State& s) { s.scc = s.a32() >= u(s); });
  check32(s_cmpk_lt_u32, [&](State& s) { s.scc = s.a32() < u(s); });
  check32(s_cmpk_le_u32, [&](State& s) { s.scc = s.a32() <= u(s); });
  const auto extended = [](uint64_t a) { return a % 65536 < 32768 ? a % 65536 : a % 65536 + 0xFFFF0000; };
  check32(s_movk_i32, [&](State& s) { s.dst = extended(s.a); });
  check32(s_cmovk_i32, [&](State& s) { s.dst = s.scc ? extended(s.a) : s.dst; });
}

TEST(ScalarFunction, NothingForWhatTheEngineDoes) {
  EXPECT_EQ(scalar_function(Opcode::invalid), nullptr);
  EXPECT_EQ(scalar_function(Opcode::s_branch), nullptr);
  EXPECT_EQ(scalar_function(Opcode::s_getpc_b64), nullptr);
  EXPECT_EQ(scalar_function(Opcode::v_add_f32), nullptr);
}

}  // namespace
}  // namespace Atoll::semantics::test
