// Loads of 8 and 16 bits into half a register (D16 loads) of every family. On GPUs without SRAM ECC the other half
// stays as it was, on those with it becomes 0: LLVM's d16PreservesUnusedBits(), and what rocBLAS' kernels for such GPUs
// rely on. The expected values are read from memory by the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "engine/wave_runner.h"

namespace Atoll::test {

namespace {

using machine::WaveState;

struct HalfLoad {
  const char *memory_name, *lds_name;  ///< after "global_load_" and its like, after "ds_read_"
  unsigned bytes;
  bool sign;
};
constexpr HalfLoad loads[] = {
    {"ubyte_d16", "u8_d16", 1, false}, {"sbyte_d16", "i8_d16", 1, true}, {"short_d16", "u16_d16", 2, false}};

/// How the lanes' elements lie: neighbours, at one place, apart.
struct Pattern {
  const char* name;
  uint32_t (*place)(unsigned lane, unsigned bytes);
};
constexpr Pattern patterns[] = {{"neighbours", [](unsigned lane, unsigned bytes) { return 16 + lane * bytes; }},
                                {"equal", [](unsigned, unsigned) { return 20u; }},
                                {"apart", [](unsigned lane, unsigned) { return 8 + lane * 29 % 64 * 2; }}};

/// Where the data are, and how an instruction of the family names an address (v[2:3], s[8:9] or s[8:11]).
struct Family {
  const char *name, *load, *address;
  enum class In : uint8_t { memory, lds, scratch } in = In::memory;
};
void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }
constexpr Family families[] = {
    {"global", "global_load_", "v[2:3], off"},
    {"base", "global_load_", "v2, s[8:9]"},
    {"flat", "flat_load_", "v[2:3]"},
    {"flat_lds", "flat_load_", "v[2:3]", Family::In::lds},
    {"flat_scratch", "flat_load_", "v[2:3]", Family::In::scratch},
    {"lds", "ds_read_", "v2", Family::In::lds},
    {"scratch", "scratch_load_", "v2, off", Family::In::scratch},
    {"buffer", "buffer_load_", "v2, s[8:11], 0 offen"},
    {"records", "buffer_load_", "v2, s[8:11], 0 idxen"},
};

constexpr uint32_t before = 0xDEADBEEF;
constexpr uint64_t masks[] = {~uint64_t{0}, 0x8000'00FF'0F0F'0001};

class HalfLoads : public testing::TestWithParam<Family> {
 protected:
  /// A wave whose memories have a pattern in them, with the family's address of `place`.
  void set_up(WaveRunner& runner, const std::function<uint32_t(unsigned lane)>& place) {
    const Family& family = GetParam();
    std::iota(data.begin(), data.end(), uint8_t{0x71});
    std::memcpy(runner.lds(), data.data(), data.size());
    for (unsigned lane = 0; lane < 64; ++lane) {
      for (uint32_t at = 0; at < WaveRunner::scratch_bytes_per_lane; at += 4) {
        std::memcpy(&runner.scratch(lane, at), data.data() + at, 4);
      }
    }
    const auto memory = reinterpret_cast<uint64_t>(data.data());
    const bool aperture = family.in != Family::In::memory;
    const bool is_records = std::string_view(family.name) == "records";
    runner.set_pair(8, data.data());
    if (std::string_view(family.load) == "buffer_load_") {
      runner.s(9) |= is_records ? 1u << 16 : 0;  // the stride
      runner.s(10) = static_cast<uint32_t>(data.size());
      runner.s(11) = 0x27000;
    }
    const bool offset_only = !std::string_view(family.address).starts_with("v[2:3]");
    runner.set_rows(2, [&](unsigned lane) { return place(lane) + (aperture || offset_only ? 0 : memory); });
    if (aperture && !offset_only) {
      const char* base = family.in == Family::In::lds ? "src_shared_base" : "src_private_base";
      prologue = fmt::format("s_mov_b64 s[12:13], {}\nv_mov_b32 v3, s13\n", base);
    }
    for (unsigned i = 10; i < 12; ++i) std::ranges::fill(runner.v(i), before);
  }

  std::array<uint8_t, 1024> data{};
  std::string prologue;
};

TEST_P(HalfLoads, KeepTheOtherHalfOrClearIt) {
  const Family& family = GetParam();
  for (const bool clears : {false, true}) {
    for (const char* processor : {"gfx906", "gfx90a"}) {
      for (const HalfLoad& load : loads) {
        for (const Pattern& pattern : patterns) {
          for (const uint64_t exec : masks) {
            const auto place = [&](unsigned lane) { return pattern.place(lane, load.bytes); };
            WaveRunner runner(fmt::format("{}:sramecc{}", processor, clears ? "+" : "-"));
            set_up(runner, place);
            runner.wave().set_exec(exec);
            const char* name = std::string_view(family.load) == "ds_read_" ? load.lds_name : load.memory_name;
            const std::string source = prologue + fmt::format("{0}{1} v10, {2}\n{0}{1}_hi v11, {2}\ns_waitcnt 0",
                                                              family.load, name, family.address);
            ASSERT_EQ(runner.run(source), WaveState::ended);
            for (unsigned lane = 0; lane < 64; ++lane) {
              int16_t value = 0;
              if (load.bytes == 2) std::memcpy(&value, data.data() + place(lane), 2);
              if (load.bytes == 1) value = data[place(lane)];
              if (load.sign) value = static_cast<int8_t>(value);
              const uint32_t kept = clears ? 0 : before;
              uint32_t low = (kept & 0xFFFF'0000) | static_cast<uint16_t>(value);
              uint32_t high = (kept & 0xFFFF) | uint32_t{static_cast<uint16_t>(value)} << 16;
              if ((exec >> lane & 1) == 0) low = high = before;
              ASSERT_EQ(runner.v(10)[lane], low) << source << ", " << processor << ", " << pattern.name << ", " << lane;
              ASSERT_EQ(runner.v(11)[lane], high)
                  << source << ", " << processor << ", " << pattern.name << ", " << lane;
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfAllFamilies, HalfLoads, testing::ValuesIn(families),
                         [](const auto& info) { return std::string(info.param.name); });

// Reads outside of LDS or a buffer return 0, which is loaded as any other value.
TEST(HalfLoadsOutside, KeepTheOtherHalfOrClearIt) {
  for (const bool clears : {false, true}) {
    WaveRunner runner(clears ? "gfx90a:sramecc+" : "gfx90a:sramecc-");
    std::array<uint32_t, 64> memory{};
    runner.set_pair(8, memory.data());
    runner.s(10) = 4;
    runner.s(11) = 0x27000;
    for (uint32_t& lane : runner.v(2)) lane = 0x8000;
    for (unsigned i = 10; i < 14; ++i) std::ranges::fill(runner.v(i), before);
    ASSERT_EQ(runner.run("ds_read_u16_d16 v10, v2\nds_read_u16_d16_hi v11, v2\n"
                         "buffer_load_short_d16 v12, v2, s[8:11], 0 offen\n"
                         "buffer_load_short_d16_hi v13, v2, s[8:11], 0 offen\ns_waitcnt 0"),
              WaveState::ended);
    for (unsigned lane = 0; lane < 64; ++lane) {
      for (unsigned i = 10; i < 14; ++i) {
        EXPECT_EQ(runner.v(i)[lane], clears ? 0 : before & (i % 2 == 0 ? 0xFFFF'0000 : 0xFFFF)) << i;
      }
    }
  }
}

// 16-bit unsigned integers, which need no conversion, in formats that the instruction and the resource name.
TEST(HalfLoadsWithFormats, KeepTheOtherHalfOrClearIt) {
  for (const bool clears : {false, true}) {
    for (const char* processor : {"gfx906", "gfx90a"}) {
      WaveRunner runner(fmt::format("{}:sramecc{}", processor, clears ? "+" : "-"));
      std::array<uint16_t, 4> memory{0x1234, 0x5678, 0x9ABC, 0xDEF0};
      runner.set_pair(8, memory.data());
      runner.s(10) = sizeof memory;
      runner.s(11) = 4u | 4u << 12 | 2u << 15;  // the x component alone, uint, 16
      for (unsigned i = 10; i < 16; ++i) std::ranges::fill(runner.v(i), before);
      ASSERT_EQ(
          runner.run("buffer_load_format_d16_x v10, off, s[8:11], 0 offset:2\n"
                     "buffer_load_format_d16_hi_x v11, off, s[8:11], 0 offset:2\n"
                     "tbuffer_load_format_d16_x v12, off, s[8:11], 0 format:[BUF_DATA_FORMAT_16, BUF_NUM_FORMAT_UINT]\n"
                     "tbuffer_load_format_d16_xy v13, off, s[8:11], 0 "
                     "format:[BUF_DATA_FORMAT_16_16, BUF_NUM_FORMAT_UINT] offset:4\n"
                     "s_waitcnt 0"),
          WaveState::ended);
      const uint32_t kept = clears ? 0 : before;
      for (unsigned lane = 0; lane < 64; ++lane) {
        EXPECT_EQ(runner.v(10)[lane], (kept & 0xFFFF'0000) | 0x5678);
        EXPECT_EQ(runner.v(11)[lane], (kept & 0xFFFF) | 0x5678'0000);
        EXPECT_EQ(runner.v(12)[lane], (kept & 0xFFFF'0000) | 0x1234);
        EXPECT_EQ(runner.v(13)[lane], 0xDEF0'9ABC);
      }
    }
  }
}

// The pattern of rocBLAS: two loads, joined by an OR, in a loop that is compiled as hot code.
TEST(HalfLoadsInALoop, AreJoinedByAnOr) {
  for (const char* target : {"gfx906:sramecc+", "gfx90a:sramecc+"}) {
    WaveRunner runner(target);
    std::vector<uint16_t> memory(64 * 9);
    std::iota(memory.begin(), memory.end(), uint16_t{0x8001});
    runner.set_rows(2, [&](unsigned lane) { return reinterpret_cast<uint64_t>(memory.data() + lane * 8); });
    for (unsigned i = 10; i < 13; ++i) std::ranges::fill(runner.v(i), before);
    ASSERT_EQ(runner.run(R"(
      s_mov_b32 s4, 8
      v_mov_b32 v12, 0
    again:
      global_load_short_d16 v10, v[2:3], off
      global_load_short_d16_hi v11, v[2:3], off offset:2
      s_waitcnt vmcnt(0)
      v_or_b32 v10, v10, v11
      v_xor_b32 v12, v12, v10
      v_lshl_or_b32 v12, v12, 3, v10
      v_add_co_u32 v2, vcc, 2, v2
      v_addc_co_u32 v3, vcc, 0, v3, vcc
      s_sub_u32 s4, s4, 1
      s_cmp_lg_u32 s4, 0
      s_cbranch_scc1 again)"),
              WaveState::ended);
    for (unsigned lane = 0; lane < 64; ++lane) {
      uint32_t expected = 0;
      for (unsigned i = 0; i < 8; ++i) {
        const uint32_t both = memory[lane * 8 + i] | uint32_t{memory[lane * 8 + i + 1]} << 16;
        expected = (expected ^ both) << 3 | both;
      }
      ASSERT_EQ(runner.v(12)[lane], expected) << target << ", " << lane;
    }
  }
}

}  // namespace

}  // namespace Atoll::test
