// What GFX6, GFX7 and GFX8 do otherwise than GFX9 and later: the limit that M0 is for LDS, scalar offsets in dwords,
// 64-bit offsets of buffers (addr64), halves that formatted accesses spread over registers, denormals in minimum and
// maximum, and instructions that only they have. The rules are those of the ISA guides of Southern Islands, Sea Islands
// and Volcanic Islands, and of LLVM, whose code relies on them; what is expected is computed here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/wave_runner.h"
#include "target/processor.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::WaveRunner;

TEST(OlderGenerations, LdsEndsWhereM0Says) {
  for (const char* processor : {"gfx600", "gfx701", "gfx803", "gfx900"}) {
    SCOPED_TRACE(processor);
    const bool is_limited = std::string_view(processor) != "gfx900";
    for (const uint32_t m0 : {0u, 64u, 130u, 0xFFFF'FFFFu, 0x2'0040u}) {
      SCOPED_TRACE(m0);
      WaveRunner runner(processor);
      const uint32_t end = is_limited ? std::min(m0 & 0x1'FFFF, WaveRunner::lds_bytes) : WaveRunner::lds_bytes;
      for (unsigned i = 0; i < 64; ++i) {
        const uint32_t word = 1000 + i;
        std::memcpy(runner.lds() + i * 4, &word, 4);
        runner.v(1)[i] = i * 4;
        runner.v(2)[i] = 2000 + i;
      }
      runner.s(20) = m0;
      ASSERT_EQ(runner.run("s_mov_b32 m0, s20\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)\n"
                           "ds_add_rtn_u32 v4, v1, v2 offset:4\nds_write_b8 v1, v2 offset:3072\ns_waitcnt lgkmcnt(0)"),
                WaveState::ended);
      for (unsigned i = 0; i < 64; ++i) {
        EXPECT_EQ(runner.v(3)[i], i * 4 + 4 <= end ? 1000 + i : 0) << i;
        const uint32_t next = i == 63 ? 0 : 1000 + i + 1;
        EXPECT_EQ(runner.v(4)[i], i * 4 + 8 <= end ? next : 0) << i;
        EXPECT_EQ(runner.lds()[3072 + i * 4], 3072 + i * 4 < end ? static_cast<uint8_t>(2000 + i) : 0) << i;
      }
    }
  }
}

TEST(OlderGenerations, ScalarOffsetsCountDwordsUntilGfx7) {
  std::vector<uint32_t> memory(4096);
  for (uint32_t i = 0; i < memory.size(); ++i) memory[i] = i * 7 + 1;
  const auto loaded = [&](const char* processor, const std::string& load) {
    WaveRunner runner(processor);
    runner.set_pair(4, memory.data());
    runner.s(6) = static_cast<uint32_t>(memory.size() * 4);
    runner.s(7) = 0x0002'0000;
    runner.s(8) = 40;
    EXPECT_EQ(runner.run(load + "\ns_waitcnt lgkmcnt(0)"), WaveState::ended);
    return runner.s(12);
  };
  for (const char* processor : {"gfx600", "gfx701"}) {
    SCOPED_TRACE(processor);
    EXPECT_EQ(loaded(processor, "s_load_dword s12, s[4:5], 0xff"), memory[255]);
    EXPECT_EQ(loaded(processor, "s_load_dword s12, s[4:5], s8"), memory[10]);
    EXPECT_EQ(loaded(processor, "s_load_dwordx2 s[12:13], s[4:5], 3"), memory[3]);
    EXPECT_EQ(loaded(processor, "s_buffer_load_dword s12, s[4:7], 17"), memory[17]);
  }
  EXPECT_EQ(loaded("gfx701", "s_load_dword s12, s[4:5], 0x800"), memory[0x800]) << "a literal";
  EXPECT_EQ(loaded("gfx803", "s_load_dword s12, s[4:5], 0x84"), memory[33]);
}

TEST(OlderGenerations, BuffersWithWideOffsetsHaveNoEnd) {
  for (const char* processor : {"gfx600", "gfx701"}) {
    SCOPED_TRACE(processor);
    std::vector<uint32_t> memory(1024), expected;
    for (uint32_t i = 0; i < memory.size(); ++i) memory[i] = i * 3;
    expected = memory;
    WaveRunner runner(processor);
    // The base is far below, so that offsets have upper halves; as LLVM writes the resource, it has no records.
    const uint64_t distance = uint64_t{5} << 32 | 0x1234'5670;
    runner.wave().set_scalar64(4, reinterpret_cast<uint64_t>(memory.data()) - distance);
    runner.s(6) = 0;
    runner.s(7) = 0xF000;
    runner.s(8) = 16;
    runner.set_rows(2, [&](unsigned lane) { return distance + lane * 12; });
    for (unsigned lane = 0; lane < 64; ++lane) {
      runner.v(10)[lane] = 7000 + lane;
      runner.v(11)[lane] = 8000 + lane;
    }
    ASSERT_EQ(runner.run("buffer_load_dwordx2 v[4:5], v[2:3], s[4:7], s8 addr64 offset:8\n"
                         "buffer_load_ubyte v6, v[2:3], s[4:7], 0 addr64\ns_waitcnt vmcnt(0)\n"
                         "buffer_store_dword v10, v[2:3], s[4:7], 0 addr64 offset:1024\n"
                         "buffer_atomic_add v11, v[2:3], s[4:7], 0 addr64 offset:2048 glc\ns_waitcnt vmcnt(0)"),
              WaveState::ended);
    for (unsigned lane = 0; lane < 64; ++lane) {
      EXPECT_EQ(runner.v(4)[lane], expected[lane * 3 + 6]);
      EXPECT_EQ(runner.v(5)[lane], expected[lane * 3 + 7]);
      EXPECT_EQ(runner.v(6)[lane], expected[lane * 3] & 0xFF);
      EXPECT_EQ(runner.v(11)[lane], expected[512 + lane * 3]);
      EXPECT_EQ(memory[256 + lane * 3], 7000 + lane);
      EXPECT_EQ(memory[512 + lane * 3], expected[512 + lane * 3] + 8000 + lane);
    }
  }
}

TEST(OlderGenerations, HalvesOfFormattedAccessesHaveRegistersOfTheirOwn) {
  // Loads as many components as are named; as singles, on processors without the format of halves.
  struct Format {
    const char *components, *data;
    unsigned count, number, bytes;
  };
  constexpr Format formats[] = {
      {"x", "16", 1, 2, 2}, {"xy", "16_16", 2, 5, 2}, {"xyz", "32_32_32", 3, 13, 4}, {"xyzw", "16_16_16_16", 4, 12, 2}};
  // gfx810 packs them, as GFX9 does.
  for (const char* processor : {"gfx803", "gfx810"}) {
    for (const Format& format : formats) {
      for (const bool typed : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", processor, format.components, typed));
        const bool is_packed = std::string_view(processor) == "gfx810";
        const unsigned stride = format.count * format.bytes;
        std::vector<uint8_t> memory(128 * stride);
        const auto half_of = [](unsigned lane, unsigned i) { return static_cast<uint16_t>(0x3C00 + lane * 4 + i); };
        const auto element_of = [&](unsigned lane, unsigned i) {
          const auto single = static_cast<float>(std::bit_cast<_Float16>(half_of(lane, i)));
          return format.bytes == 2 ? half_of(lane, i) : std::bit_cast<uint32_t>(single);
        };
        for (unsigned lane = 0; lane < 64; ++lane) {
          for (unsigned i = 0; i < format.count; ++i) {
            const uint32_t element = element_of(lane, i);
            std::memcpy(&memory[lane * stride + i * format.bytes], &element, format.bytes);
          }
        }
        WaveRunner runner(processor);
        runner.set_pair(4, memory.data());
        runner.s(5) |= stride << 16;
        runner.s(6) = static_cast<uint32_t>(memory.size());
        runner.s(7) = 4 | 5 << 3 | 6 << 6 | 7 << 9 | 7 << 12 | format.number << 15;  // x, y, z, w; float
        for (unsigned i = 4; i < 8; ++i) {
          for (unsigned lane = 0; lane < 64; ++lane) runner.v(i)[lane] = 0xAAAA'AAAA;
        }
        const unsigned words = is_packed ? (format.count + 1) / 2 : format.count;
        const std::string data = words == 1 ? "v4" : fmt::format("v[4:{}]", 3 + words);
        const std::string kind =
            typed ? fmt::format(" format:[BUF_DATA_FORMAT_{},BUF_NUM_FORMAT_FLOAT]", format.data) : "";
        ASSERT_EQ(runner.run(fmt::format("{0}buffer_load_format_d16_{1} {2}, v0, s[4:7], 0{3} idxen\n"
                                         "s_waitcnt vmcnt(0)\nv_add_u32 v1, vcc, 64, v0\n"
                                         "{0}buffer_store_format_d16_{1} {2}, v1, s[4:7], 0{3} idxen\n"
                                         "s_waitcnt vmcnt(0)",
                                         typed ? "t" : "", format.components, data, kind)),
                  WaveState::ended);
        for (unsigned lane = 0; lane < 64; ++lane) {
          for (unsigned i = 0; i < format.count; ++i) {
            if (is_packed) {
              EXPECT_EQ(runner.v(4 + i / 2)[lane] >> (i % 2 * 16) & 0xFFFF, half_of(lane, i));
            } else {
              EXPECT_EQ(runner.v(4 + i)[lane], half_of(lane, i));
            }
            uint32_t stored = 0;
            std::memcpy(&stored, &memory[(64 + lane) * stride + i * format.bytes], format.bytes);
            EXPECT_EQ(stored, element_of(lane, i));
          }
        }
      }
    }
  }
}

TEST(OlderGenerations, MinimumAndMaximumKeepDenormals) {
  for (const char* processor : {"gfx600", "gfx701", "gfx803", "gfx900"}) {
    SCOPED_TRACE(processor);
    const bool is_flushed = std::string_view(processor) == "gfx900";
    WaveRunner runner(processor);
    for (unsigned lane = 0; lane < 64; ++lane) {
      runner.v(1)[lane] = 0x0000'1234 + lane;  // denormals
      runner.v(2)[lane] = 0x8000'4321 + lane;
    }
    ASSERT_EQ(runner.run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\nv_min_f32 v3, v1, v2\nv_max_f32 v4, v1, v2\n"
                         "v_med3_f32 v5, v1, v2, v2\nv_add_f32 v6, v1, v1"),
              WaveState::ended);
    for (unsigned lane = 0; lane < 64; ++lane) {
      EXPECT_EQ(runner.v(3)[lane], is_flushed ? 0x8000'0000 : 0x8000'4321 + lane);
      EXPECT_EQ(runner.v(4)[lane], is_flushed ? 0 : 0x0000'1234 + lane);
      EXPECT_EQ(runner.v(5)[lane], is_flushed ? 0x8000'0000 : 0x8000'4321 + lane);
      EXPECT_EQ(runner.v(6)[lane], 0u) << "a sum is flushed everywhere";
    }
  }
}

TEST(OlderGenerations, FunctionsThatOnlyTheyHave) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const float operands[] = {1.0f, -2.0f, 0.25f, 0.0f, -0.0f, infinity, -infinity, nan, 0x1p-130f, 16.0f};
  for (const char* processor : {"gfx600", "gfx701"}) {
    SCOPED_TRACE(processor);
    WaveRunner runner(processor);
    const auto a_of = [&](unsigned lane) { return operands[lane % std::size(operands)]; };
    const auto b_of = [&](unsigned lane) { return operands[lane * 7 / 3 % std::size(operands)]; };
    for (unsigned lane = 0; lane < 64; ++lane) {
      runner.v(1)[lane] = std::bit_cast<uint32_t>(a_of(lane));
      runner.v(2)[lane] = std::bit_cast<uint32_t>(b_of(lane));
      runner.v(3)[lane] = 0x9234'5678 + lane * 0x0101'0101;
      runner.v(30)[lane] = 0xFEDC'BA98 - lane;
      runner.v(31)[lane] = lane * 3 + 32;
    }
    ASSERT_EQ(runner.run("v_rcp_clamp_f32 v4, v1\nv_rcp_legacy_f32 v5, v1\nv_rsq_clamp_f32 v6, v1\n"
                         "v_rsq_legacy_f32 v7, v1\nv_log_clamp_f32 v8, v1\nv_min_legacy_f32 v9, v1, v2\n"
                         "v_max_legacy_f32 v10, v1, v2\nv_lshl_b32 v11, v3, v0\nv_lshr_b32 v12, v3, v0\n"
                         "v_ashr_i32 v13, v3, v0\nv_mov_b32 v32, v3\nv_mov_b32 v33, v30\n"
                         "v_lshl_b64 v[14:15], v[32:33], v0\nv_lshr_b64 v[16:17], v[32:33], v0\n"
                         "v_ashr_i64 v[18:19], v[32:33], v31\nv_cmps_lt_f32 vcc, v1, v2\nv_cndmask_b32 v20, 0, 1, vcc\n"
                         "v_cmps_nge_f32 vcc, v1, v2\nv_cndmask_b32 v21, 0, 1, vcc\nv_mul_lo_i32 v22, v3, v30"),
              WaveState::ended);
    const auto got = [&](unsigned reg, unsigned lane) { return std::bit_cast<float>(runner.v(reg)[lane]); };
    const auto same = [](float a, float b) {
      return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
    };
    for (unsigned lane = 0; lane < 64; ++lane) {
      const float a = a_of(lane), b = b_of(lane);
      const float flushed = std::fabs(a) < 0x1p-126f ? std::copysign(0.0f, a) : a;
      const auto clamped = [&](float x) { return std::isinf(x) ? std::copysign(largest, x) : x; };
      const auto legacy = [&](float x) { return std::isinf(x) ? std::copysign(0.0f, x) : x; };
      SCOPED_TRACE(fmt::format("lane {}: {} {}", lane, a, b));
      const float reciprocal = 1.0f / flushed, root = flushed == 0 ? reciprocal : 1.0f / std::sqrt(flushed);
      EXPECT_TRUE(same(clamped(reciprocal), got(4, lane)));
      EXPECT_TRUE(same(legacy(reciprocal), got(5, lane)));
      EXPECT_TRUE(same(clamped(root), got(6, lane)));
      EXPECT_TRUE(same(legacy(root), got(7, lane)));
      EXPECT_TRUE(same(flushed == 0 ? -largest : std::log2(flushed), got(8, lane)));
      EXPECT_TRUE(same(a < b ? a : b, got(9, lane)));
      EXPECT_TRUE(same(a >= b ? a : b, got(10, lane)));
      const uint32_t word = 0x9234'5678 + lane * 0x0101'0101;
      EXPECT_EQ(runner.v(11)[lane], word << lane % 32);
      EXPECT_EQ(runner.v(12)[lane], word >> lane % 32);
      EXPECT_EQ(runner.v(13)[lane], static_cast<uint32_t>(static_cast<int32_t>(word) >> lane % 32));
      const uint64_t wide = word | uint64_t{0xFEDC'BA98 - lane} << 32;
      EXPECT_EQ(runner.v64(14, lane), wide << lane);
      EXPECT_EQ(runner.v64(16, lane), wide >> lane);
      EXPECT_EQ(runner.v64(18, lane), static_cast<uint64_t>(static_cast<int64_t>(wide) >> (lane * 3 + 32) % 64));
      EXPECT_EQ(runner.v(20)[lane], a < b ? 1u : 0u);
      EXPECT_EQ(runner.v(21)[lane], a >= b ? 0u : 1u);
      EXPECT_EQ(runner.v(22)[lane], word * (0xFEDC'BA98 - lane));
    }
  }
}

/// V_RCP_CLAMP_F64 and V_RSQ_CLAMP_F64: within 2^-20 of the quotient, as those without the clamp are; the largest
/// number in the place of infinity.
TEST(OlderGenerations, ClampedFunctionsOfDoubles) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), largest = std::numeric_limits<double>::max();
  constexpr double operands[] = {1.0, 0.25, -2.0, 3.0, 1e10, 0.0, -0.0, infinity, -infinity, 0x1p-1000, 7e200};
  for (const char* processor : {"gfx600", "gfx701"}) {
    SCOPED_TRACE(processor);
    WaveRunner runner(processor);
    const auto operand = [&](unsigned lane) { return operands[lane % std::size(operands)]; };
    runner.set_rows(2, [&](unsigned lane) { return std::bit_cast<uint64_t>(operand(lane)); });
    ASSERT_EQ(runner.run("v_rcp_clamp_f64 v[4:5], v[2:3]\nv_rsq_clamp_f64 v[6:7], v[2:3]"), WaveState::ended);
    const auto expect = [&](double got, double wanted) {
      if (std::isinf(wanted)) wanted = std::copysign(largest, wanted);
      if (std::isnan(wanted)) {
        EXPECT_TRUE(std::isnan(got)) << got;
      } else if (wanted == 0 || std::fabs(wanted) == largest) {
        EXPECT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(wanted)) << got;
      } else {
        EXPECT_LE(std::fabs(got / wanted - 1), 0x1p-20) << got;
      }
    };
    for (unsigned lane = 0; lane < std::size(operands); ++lane) {
      SCOPED_TRACE(operand(lane));
      expect(std::bit_cast<double>(runner.v64(4, lane)), 1 / operand(lane));
      const double root = std::sqrt(operand(lane));
      expect(std::bit_cast<double>(runner.v64(6, lane)), 1 / root);
    }
  }
}

/// V_CMPS* and V_CMPSX*: the comparisons of V_CMP* and V_CMPX*, which signal also quiet NaNs. The latter write EXEC
/// too.
TEST(OlderGenerations, ComparisonsThatSignal) {
  struct Comparison {
    const char* name;
    bool (*holds)(double a, double b);
  };
  constexpr Comparison comparisons[] = {
      {"f", [](double, double) { return false; }},
      {"lt", [](double a, double b) { return a < b; }},
      {"eq", [](double a, double b) { return a == b; }},
      {"le", [](double a, double b) { return a <= b; }},
      {"gt", [](double a, double b) { return a > b; }},
      {"lg", [](double a, double b) { return a < b || a > b; }},
      {"ge", [](double a, double b) { return a >= b; }},
      {"o", [](double a, double b) { return !std::isnan(a) && !std::isnan(b); }},
      {"u", [](double a, double b) { return std::isnan(a) || std::isnan(b); }},
      {"nge", [](double a, double b) { return !(a >= b); }},
      {"nlg", [](double a, double b) { return !(a < b || a > b); }},
      {"ngt", [](double a, double b) { return !(a > b); }},
      {"nle", [](double a, double b) { return !(a <= b); }},
      {"neq", [](double a, double b) { return !(a == b); }},
      {"nlt", [](double a, double b) { return !(a < b); }},
      {"tru", [](double, double) { return true; }},
  };
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double operands[] = {1.0, -2.0, 0.0, -0.0, infinity, -infinity, nan, 1.5};
  constexpr uint64_t some_lanes = 0x7FF7'FFEE'DFFF'7FF9;
  for (const char* processor : {"gfx600", "gfx701"}) {
    for (const bool is_double : {false, true}) {
      for (const bool writes_exec : {false, true}) {
        for (const Comparison& comparison : comparisons) {
          const std::string name =
              fmt::format("v_cmps{}_{}_{}", writes_exec ? "x" : "", comparison.name, is_double ? "f64" : "f32");
          SCOPED_TRACE(fmt::format("{} {}", processor, name));
          WaveRunner runner(processor);
          runner.wave().set_exec(some_lanes);
          runner.wave().set_scalar64(14, ~some_lanes);
          const auto a_of = [&](unsigned lane) { return operands[lane / 8]; };
          const auto b_of = [&](unsigned lane) { return operands[lane % 8]; };
          const auto bits_of = [&](double number) {
            return is_double ? std::bit_cast<uint64_t>(number) : std::bit_cast<uint32_t>(static_cast<float>(number));
          };
          runner.set_rows(2, [&](unsigned lane) { return bits_of(a_of(lane)); });
          runner.set_rows(4, [&](unsigned lane) { return bits_of(b_of(lane)); });
          const char* sources = is_double ? "v[2:3], v[4:5]" : "v2, v4";
          ASSERT_EQ(runner.run(fmt::format("{0}_e64 s[10:11], {1}\ns_mov_b64 s[12:13], exec\ns_mov_b64 exec, s[14:15]\n"
                                           "{0}_e32 vcc, {1}",
                                           name, sources)),
                    WaveState::ended);
          uint64_t all = 0;
          for (unsigned lane = 0; lane < 64; ++lane) {
            all |= uint64_t{comparison.holds(a_of(lane), b_of(lane))} << lane;
          }
          EXPECT_EQ(runner.wave().scalar64(10), all & some_lanes);
          EXPECT_EQ(runner.wave().scalar64(12), writes_exec ? all & some_lanes : some_lanes);
          EXPECT_EQ(runner.wave().vcc(), all & ~some_lanes);
          EXPECT_EQ(runner.wave().exec(), writes_exec ? all & ~some_lanes : ~some_lanes);
        }
      }
    }
  }
}

}  // namespace
}  // namespace Atoll
