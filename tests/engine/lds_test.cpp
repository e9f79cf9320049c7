// DS instructions: the local data share and the permutations of lanes.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::WaveRunner;

class Lds : public testing::Test {
 protected:
  Lds() {
    for (unsigned i = 0; i < WaveRunner::lds_bytes; ++i) runner.lds()[i] = static_cast<uint8_t>(i * 89 + i / 256 * 7);
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = 16 * lane;
  }
  template <typename T>
  T at(size_t address) {
    T value;
    std::memcpy(&value, runner.lds() + address, sizeof value);
    return value;
  }
  WaveRunner runner{"gfx90a"};
};

/// Lanes that are the same distance from each other, but for some; all over LDS, and up to beyond its end, where loads
/// yield 0.
TEST_F(Lds, ReadsAtEachDistanceBetweenLanes) {
  const std::string code = "ds_read_b32 v3, v2\nds_read_b32 v4, v2 offset:4\nds_read_b32 v5, v2 offset:248";
  for (const unsigned distance : {0, 4, 8, 12, 16}) {
    for (const unsigned first : {0u, 4u, 1000u, WaveRunner::lds_bytes - 64 * distance, WaveRunner::lds_bytes - 256}) {
      for (const uint64_t exec : {~uint64_t{0}, uint64_t{0x8001'FFFE'7FFF'0FF0}}) {
        for (const unsigned odd_lane : {64, 0, 5, 41}) {
          for (unsigned lane = 0; lane < 64; ++lane) {
            const bool is_odd = lane == odd_lane || (exec >> lane & 1) == 0;
            runner.v(2)[lane] = is_odd ? 36 : first + lane * distance;
            for (const unsigned result : {3, 4, 5}) runner.v(result)[lane] = 0xDEADBEEF;
          }
          runner.wave().set_exec(exec);
          ASSERT_EQ(runner.run(code), WaveState::ended);
          for (unsigned lane = 0; lane < 64; ++lane) {
            const auto loaded = [&](unsigned offset) {
              if ((exec >> lane & 1) == 0) return 0xDEADBEEF;
              const unsigned address = runner.v(2)[lane] + offset;
              return address + 4 <= WaveRunner::lds_bytes ? at<uint32_t>(address) : 0;
            };
            ASSERT_EQ(runner.v(3)[lane], loaded(0)) << distance << ' ' << first << ' ' << lane;
            ASSERT_EQ(runner.v(4)[lane], loaded(4)) << distance << ' ' << first << ' ' << lane;
            ASSERT_EQ(runner.v(5)[lane], loaded(248)) << distance << ' ' << first << ' ' << lane;
          }
        }
      }
    }
  }
}

TEST_F(Lds, ReadsEveryWidth) {
  for (unsigned i = 20; i < 24; ++i) {
    for (uint32_t& lane : runner.v(i)) lane = 0xDEADBEEF;
  }
  ASSERT_EQ(runner.run(R"(
      ds_read_u8 v2, v1 offset:3
      ds_read_i8 v3, v1 offset:3
      ds_read_u16 v4, v1 offset:1
      ds_read_i16 v5, v1 offset:2
      ds_read_b32 v6, v1 offset:4
      ds_read_b64 v[8:9], v1
      ds_read_b96 v[10:12], v1
      ds_read_b128 v[14:17], v1
      ds_read_u8_d16 v20, v1
      ds_read_u8_d16_hi v21, v1
      ds_read_u16_d16 v22, v1
      ds_read_u16_d16_hi v23, v1
      ds_read2_b32 v[24:25], v1 offset0:1 offset1:3
      ds_read2st64_b32 v[26:27], v1 offset0:1 offset1:2
      ds_read2_b64 v[28:31], v1 offset0:0 offset1:1
      s_mov_b32 m0, 0x100
      ds_read_addtid_b32 v32 offset:8)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    const size_t a = 16 * lane;
    EXPECT_EQ(runner.v(2)[lane], at<uint8_t>(a + 3));
    EXPECT_EQ(runner.v(3)[lane], static_cast<uint32_t>(at<int8_t>(a + 3)));
    EXPECT_EQ(runner.v(4)[lane], at<uint16_t>(a + 1));
    EXPECT_EQ(runner.v(5)[lane], static_cast<uint32_t>(at<int16_t>(a + 2)));
    EXPECT_EQ(runner.v(6)[lane], at<uint32_t>(a + 4));
    EXPECT_EQ(runner.v64(8, lane), at<uint64_t>(a));
    for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(runner.v(10 + i)[lane], at<uint32_t>(a + 4 * i));
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(runner.v(14 + i)[lane], at<uint32_t>(a + 4 * i));
    EXPECT_EQ(runner.v(20)[lane], 0xDEAD0000u | at<uint8_t>(a));
    EXPECT_EQ(runner.v(21)[lane], 0xBEEFu | uint32_t{at<uint8_t>(a)} << 16);
    EXPECT_EQ(runner.v(22)[lane], 0xDEAD0000u | at<uint16_t>(a));
    EXPECT_EQ(runner.v(23)[lane], 0xBEEFu | uint32_t{at<uint16_t>(a)} << 16);
    EXPECT_EQ(runner.v(24)[lane], at<uint32_t>(a + 4));
    EXPECT_EQ(runner.v(25)[lane], at<uint32_t>(a + 12));
    EXPECT_EQ(runner.v(26)[lane], at<uint32_t>(a + 256));
    EXPECT_EQ(runner.v(27)[lane], at<uint32_t>(a + 512));
    EXPECT_EQ(runner.v64(28, lane), at<uint64_t>(a));
    EXPECT_EQ(runner.v64(30, lane), at<uint64_t>(a + 8));
    EXPECT_EQ(runner.v(32)[lane], at<uint32_t>(0x108 + 4 * lane));
  }
}

TEST_F(Lds, WritesEveryWidth) {
  std::memset(runner.lds(), 0, WaveRunner::lds_bytes);
  for (unsigned i = 4; i < 8; ++i) {
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(i)[lane] = 0x9E3779B9 * (lane * 4 + i);
  }
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(2)[lane] = 32 * lane;
  ASSERT_EQ(runner.run(R"(
      ds_write_b8 v2, v4
      ds_write_b8_d16_hi v2, v4 offset:1
      ds_write_b16 v2, v5 offset:2
      ds_write_b32 v2, v5 offset:4
      ds_write_b64 v2, v[6:7] offset:8
      ds_write2_b64 v2, v[4:5], v[6:7] offset0:2 offset1:3
      s_mov_b64 exec, 3
      ds_write_b32 v2, v7 offset:2048)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    const size_t a = 32 * lane;
    EXPECT_EQ(at<uint8_t>(a), static_cast<uint8_t>(runner.v(4)[lane]));
    EXPECT_EQ(at<uint8_t>(a + 1), static_cast<uint8_t>(runner.v(4)[lane] >> 16));
    EXPECT_EQ(at<uint16_t>(a + 2), static_cast<uint16_t>(runner.v(5)[lane]));
    EXPECT_EQ(at<uint32_t>(a + 4), runner.v(5)[lane]);
    EXPECT_EQ(at<uint64_t>(a + 8), runner.v64(6, lane));
    EXPECT_EQ(at<uint64_t>(a + 16), runner.v64(4, lane));
    EXPECT_EQ(at<uint64_t>(a + 24), runner.v64(6, lane));
  }
  EXPECT_EQ(at<uint32_t>(2048 + 32), runner.v(7)[1]);
  EXPECT_EQ(at<uint32_t>(2048 + 64), 0u);
}

TEST_F(Lds, PastTheEndReadsZeroAndDropsWrites) {
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(2)[lane] = lane % 2 != 0 ? WaveRunner::lds_bytes - 4 : 0xFFFFFFF0;
    runner.v(3)[lane] = runner.v(6)[lane] = 7;
  }
  ASSERT_EQ(
      runner.run("ds_write_b32 v2, v0 offset:4\nds_read_b32 v3, v2\nds_read_b64 v[4:5], v2\nds_add_rtn_u32 v6, v2, v0"),
      WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(4)[lane], 0u);
    if (lane % 2 == 0) EXPECT_EQ(runner.v(3)[lane], 0u);
    if (lane % 2 == 0) EXPECT_EQ(runner.v(6)[lane], 0u);
  }
  EXPECT_EQ(runner.v(6)[1], runner.v(3)[1]);
}

TEST_F(Lds, NegativeBasesWrapWithTheOffset) {
  for (uint32_t& lane : runner.v(2)) lane = 0xFFFFFFFC;
  ASSERT_EQ(runner.run("ds_read_b32 v3, v2 offset:20"), WaveState::ended);
  EXPECT_EQ(runner.v(3)[5], at<uint32_t>(16));
}

TEST_F(Lds, AtomicsComputeLaneAfterLaneAndReturnOldValues) {
  std::memset(runner.lds(), 0, 256);
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(2)[lane] = 0;
    runner.v(4)[lane] = lane;      // compare
    runner.v(5)[lane] = lane + 1;  // new
    runner.v(6)[lane] = std::bit_cast<uint32_t>(0.25f);
    runner.v(8)[lane] = 0;
    runner.v(9)[lane] = 1;
  }
  ASSERT_EQ(runner.run(R"(
      ds_add_rtn_u32 v10, v2, v0
      ds_cmpst_rtn_b32 v11, v2, v4, v5 offset:4
      ds_add_f32 v2, v6 offset:8
      ds_add_rtn_u64 v[12:13], v2, v[8:9] offset:16
      ds_max_u32 v2, v0 offset:24
      ds_wrxchg_rtn_b32 v14, v2, v0 offset:28
      ds_mskor_b32 v2, v5, v0 offset:32
      ds_wrxchg2_rtn_b32 v[16:17], v2, v0, v5 offset0:10 offset1:11
      ds_add_f64 v2, v[8:9] offset:64)"),
            WaveState::ended);
  unsigned sum = 0;
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(10)[lane], sum);
    sum += lane;
    EXPECT_EQ(runner.v(11)[lane], lane);
    EXPECT_EQ(runner.v64(12, lane), uint64_t{lane} << 32);
    EXPECT_EQ(runner.v(14)[lane], lane == 0 ? 0 : lane - 1);
    EXPECT_EQ(runner.v(16)[lane], lane == 0 ? 0 : lane - 1);
    EXPECT_EQ(runner.v(17)[lane], lane == 0 ? 0 : lane);
  }
  EXPECT_EQ(at<uint32_t>(0), 2016u);
  EXPECT_EQ(at<uint32_t>(4), 64u);
  EXPECT_EQ(at<float>(8), 16.0f);
  EXPECT_EQ(at<uint64_t>(16), uint64_t{64} << 32);
  EXPECT_EQ(at<uint32_t>(24), 63u);
  EXPECT_EQ(at<uint32_t>(28), 63u);
  EXPECT_EQ(at<uint32_t>(40), 63u);
  EXPECT_EQ(at<uint32_t>(44), 64u);
}

TEST_F(Lds, AppendAndConsumeCountTheActiveLanes) {
  std::memset(runner.lds(), 0, 256);
  ASSERT_EQ(runner.run(R"(
      s_mov_b32 m0, 16
      ds_append v2 offset:4
      s_mov_b64 exec, 0xff
      ds_append v3 offset:4
      ds_consume v4 offset:4)"),
            WaveState::ended);
  EXPECT_EQ(runner.v(2)[60], 0u);
  EXPECT_EQ(runner.v(3)[1], 64u);
  EXPECT_EQ(runner.v(3)[20], 0u);
  EXPECT_EQ(runner.v(4)[1], 72u);
  EXPECT_EQ(at<uint32_t>(20), 64u);
}

TEST(LdsOfVega, OperationsWithTwoPlacesInLds) {
  WaveRunner runner("gfx900");
  const auto at = [&](size_t address) {
    uint32_t value;
    std::memcpy(&value, runner.lds() + address, sizeof value);
    return value;
  };
  const uint32_t words[] = {5, 7, 0x11, 0x22};
  std::memcpy(runner.lds(), words, sizeof words);
  for (uint32_t& lane : runner.v(2)) lane = 0;
  for (uint32_t& lane : runner.v(4)) lane = 0x80000033;
  for (uint32_t& lane : runner.v(5)) lane = 0x44;
  // Offsets of a src2 instruction: 15 bits of a distance in words.
  ASSERT_EQ(runner.run(R"(
      s_mov_b64 exec, 1
      ds_add_src2_u32 v2 offset:1
      ds_condxchg32_rtn_b64 v[6:7], v2, v[4:5] offset:8)"),
            WaveState::ended);
  EXPECT_EQ(at(0), 12u);
  EXPECT_EQ(at(8), 0x33u);
  EXPECT_EQ(at(12), 0x22u);
  EXPECT_EQ(runner.v(6)[0], 0x11u);
  EXPECT_EQ(runner.v(7)[0], 0x22u);
}

TEST_F(Lds, PermutationsMoveLanes) {
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(2)[lane] = 4 * ((lane * 5 + 3) % 64);
    runner.v(3)[lane] = 100 + lane;
  }
  ASSERT_EQ(runner.run(R"(
      ds_bpermute_b32 v4, v2, v3
      ds_permute_b32 v5, v2, v3
      ds_swizzle_b32 v6, v3 offset:swizzle(SWAP,1)
      ds_swizzle_b32 v7, v3 offset:swizzle(QUAD_PERM,0,0,3,3)
      s_mov_b64 exec, 0xffff
      ds_bpermute_b32 v8, v2, v3)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(runner.v(4)[lane], 100 + (lane * 5 + 3) % 64);
    EXPECT_EQ(runner.v(5)[(lane * 5 + 3) % 64], 100 + lane);
    EXPECT_EQ(runner.v(6)[lane], 100 + (lane ^ 1));
    EXPECT_EQ(runner.v(7)[lane], 100 + lane / 4 * 4 + (lane % 4 < 2 ? 0 : 3));
    const unsigned from = (lane * 5 + 3) % 64;
    EXPECT_EQ(runner.v(8)[lane], lane < 16 && from < 16 ? 100 + from : 0) << lane;
  }
}

TEST_F(Lds, LoadsFromMemoryGoStraightToLds) {
  std::vector<uint32_t> memory(64);
  for (unsigned lane = 0; lane < 64; ++lane) memory[lane] = 5000 + lane;
  WaveRunner direct("gfx942");
  direct.set_pair(4, memory.data());
  ASSERT_EQ(direct.run("v_lshlrev_b32 v1, 2, v0\ns_movk_i32 m0, 0x40\nglobal_load_lds_dword v1, s[4:5]"),
            WaveState::ended);
  EXPECT_EQ(std::memcmp(direct.lds() + 0x40, memory.data(), 256), 0);

  WaveRunner buffer("gfx900");
  buffer.set_pair(4, memory.data());
  buffer.s(6) = 256;
  ASSERT_EQ(buffer.run("v_lshlrev_b32 v1, 2, v0\ns_movk_i32 m0, 0x40\nbuffer_load_dword v1, s[4:7], 0 offen lds"),
            WaveState::ended);
  EXPECT_EQ(std::memcmp(buffer.lds() + 0x40, memory.data(), 256), 0);
}

/// The offset counts for both addresses, and may lead to before LDS.
TEST_F(Lds, LoadsFromMemoryLeaveWhatIsBeforeLds) {
  std::vector<uint32_t> memory(64);
  for (unsigned lane = 0; lane < 64; ++lane) memory[lane] = 5000 + lane;
  WaveRunner runner("gfx942");
  std::memset(runner.lds(), 0xAB, WaveRunner::lds_bytes);
  constexpr unsigned before = 64;
  runner.group().lds = runner.lds() + before;
  runner.group().lds_bytes = WaveRunner::lds_bytes - before;
  runner.set_pair(4, reinterpret_cast<const uint8_t*>(memory.data()) + 6);
  ASSERT_EQ(runner.run("v_lshlrev_b32 v1, 2, v0\ns_mov_b32 m0, 0\nglobal_load_lds_dword v1, s[4:5] offset:-6"),
            WaveState::ended);
  for (unsigned i = 0; i < before + 2; ++i) EXPECT_EQ(runner.lds()[i], 0xAB) << i;
  EXPECT_EQ(std::memcmp(runner.lds() + before + 2, &memory[2], 62 * 4), 0);
}

}  // namespace
}  // namespace Atoll
