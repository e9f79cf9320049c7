// Memory instructions of GFX12.5 of each width: loads that transpose, that watch a line or load for a cluster, and
// copies between memory and LDS.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "engine/gfx12_5_runner.h"

namespace Atoll::test {
namespace {

using machine::WaveState;

/// A matrix of 16 rows in memory, of elements of 4, 6 or 8 bits. Each lane loads a part of a row, and has a part of a
/// column then.
struct Transposed {
  const char *of_lds, *of_memory;
  unsigned width, columns, words;  ///< of a lane
  unsigned (*row)(unsigned lane);
  unsigned (*part)(unsigned lane);  ///< of the row, that the lane loads
};
constexpr Transposed transposed[] = {
    {"ds_load_tr8_b64", "global_load_tr8_b64", 8, 16, 2,
     [](unsigned lane) { return lane / 16 * 8 + lane / 8 % 2 * 4 + lane % 4; },
     [](unsigned lane) { return lane / 4 % 2; }},
    {"ds_load_tr4_b64", "global_load_tr4_b64", 4, 32, 2, [](unsigned lane) { return lane / 16 * 8 + lane % 8; },
     [](unsigned lane) { return lane / 8 % 2; }},
    {"ds_load_tr6_b96", "global_load_tr6_b96", 6, 32, 3, [](unsigned lane) { return lane / 8 * 4 + lane % 4; },
     [](unsigned lane) { return lane / 4 % 2; }},
};

TEST(Gfx12_5Memory, TransposesSmallElements) {
  for (const Transposed& one : transposed) {
    SCOPED_TRACE(one.of_lds);
    const auto element = [&](unsigned row, unsigned column) {
      return (row * 37 + column * 11 + row * column) & ((1u << one.width) - 1);
    };
    const unsigned row_bytes = one.columns * one.width / 8;
    std::vector<uint8_t> memory(16 * row_bytes);
    for (unsigned row = 0; row < 16; ++row) {
      for (unsigned at = 0; at < row_bytes * 8; ++at) {
        const unsigned bit = element(row, at / one.width) >> at % one.width & 1;
        memory[row * row_bytes + at / 8] |= static_cast<uint8_t>(bit << at % 8);
      }
    }
    Gfx1250 runner;
    std::memcpy(runner.lds(), memory.data(), memory.size());
    runner.set_pair(2, memory.data());
    for (unsigned lane = 0; lane < lanes; ++lane) {
      runner.v(1)[lane] = one.row(lane) * row_bytes + one.part(lane) * one.words * 4;
    }
    ASSERT_EQ(runner.run(fmt::format("{} v[4:{}], v1\n{} v[8:{}], v1, s[2:3]", one.of_lds, 3 + one.words, one.of_memory,
                                     7 + one.words)),
              WaveState::ended);
    // Lane by lane, columns; where there are 16 of them, the upper lanes have the lower half of each.
    const unsigned rows = one.words * 32 / one.width;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < rows; ++i) {
        const uint32_t expected = element(i + lane / one.columns * rows, lane % one.columns);
        for (unsigned bit = 0; bit < one.width; ++bit) {
          const unsigned at = i * one.width + bit;
          ASSERT_EQ(runner.v(4 + at / 32)[lane] >> at % 32 & 1, expected >> bit & 1) << lane << ' ' << i;
        }
      }
      for (unsigned word = 0; word < one.words; ++word) EXPECT_EQ(runner.v(8 + word)[lane], runner.v(4 + word)[lane]);
    }
  }
}

TEST(Gfx12_5Memory, LoadsThatMonitorAndOfClusters) {
  std::vector<uint32_t> memory(256);
  std::iota(memory.begin(), memory.end(), 1000u);
  Gfx1250 runner;
  runner.set_pair(2, memory.data());
  for (unsigned lane = 0; lane < lanes; ++lane) runner.v(1)[lane] = lane * 16;
  runner.set_rows(2, [&](unsigned lane) { return reinterpret_cast<uint64_t>(&memory[lane * 4]); });
  struct Load {
    const char* name;
    bool flat;
  };
  for (const Load& load : {Load{"flat_load_monitor", true}, {"global_load_monitor", false}, {"cluster_load", false}}) {
    SCOPED_TRACE(load.name);
    for (unsigned reg = 4; reg < 16; ++reg) runner.fill(reg, 0);
    const char* address = load.flat ? "v[2:3]" : "v1, s[2:3]";
    ASSERT_EQ(runner.run(fmt::format("{0}_b32 v4, {1} offset:4\n{0}_b64 v[6:7], {1}\n{0}_b128 v[8:11], {1}", load.name,
                                     address)),
              WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(runner.v(4)[lane], memory[lane * 4 + 1]);
      for (unsigned i = 0; i < 2; ++i) EXPECT_EQ(runner.v(6 + i)[lane], memory[lane * 4 + i]);
      for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(runner.v(8 + i)[lane], memory[lane * 4 + i]);
    }
  }
}

TEST(Gfx12_5Memory, CopiesOfEachWidth) {
  constexpr uint64_t some_lanes = 0xF7FF'7FF9;
  for (const char* load : {"global_load_async_to_lds", "cluster_load_async_to_lds"}) {
    for (const unsigned width : {8u, 32u, 64u, 128u}) {
      SCOPED_TRACE(fmt::format("{}_b{}", load, width));
      std::vector<uint8_t> memory(1024), out(1024), expected_out(1024), expected_lds(WaveRunner::lds_bytes);
      for (unsigned i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 167 + i / 256 * 13 + 1);
      Gfx1250 runner;
      runner.wave().set_exec(some_lanes);
      runner.set_pair(2, memory.data());
      runner.set_pair(4, out.data());
      const unsigned bytes = width / 8;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        runner.v(1)[lane] = lane * 16;
        runner.v(2)[lane] = 512 + (31 - lane) * 16;
        if ((some_lanes >> lane & 1) == 0) continue;
        // The offset counts in both places.
        std::memcpy(&expected_lds[512 + (31 - lane) * 16 + 16], &memory[lane * 16 + 16], bytes);
        std::memcpy(&expected_out[lane * 16 + 16], &memory[lane * 16 + 16], bytes);
      }
      ASSERT_EQ(runner.run(fmt::format("{0}_b{1} v2, v1, s[2:3] offset:16\ns_wait_asynccnt 0\n"
                                       "global_store_async_from_lds_b{1} v1, v2, s[4:5] offset:16\ns_wait_asynccnt 0",
                                       load, width)),
                WaveState::ended);
      EXPECT_EQ(std::memcmp(runner.lds(), expected_lds.data(), WaveRunner::lds_bytes), 0);
      EXPECT_TRUE(out == expected_out);
    }
  }
}

}  // namespace
}  // namespace Atoll::test
