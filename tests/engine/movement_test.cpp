// What gfx950 adds for moving and combining bits: transposed reads from LDS, exchanges between rows of lanes,
// operations by truth table, shifts to bytes, random numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::WaveRunner;

uint32_t bits_at(const uint8_t* bytes, unsigned first, unsigned count) {
  uint32_t bits = 0;
  for (unsigned i = 0; i < count; ++i) bits |= (uint32_t{bytes[(first + i) / 8]} >> (first + i) % 8 & 1) << i;
  return bits;
}

TEST(Movement, TransposedReadsGiveEachLaneAColumn) {
  const struct {
    const char* code;
    unsigned element_bits, lane_bits;
  } cases[] = {{"ds_read_b64_tr_b16 v[2:3], v1", 16, 64},
               {"ds_read_b64_tr_b8 v[2:3], v1", 8, 64},
               {"ds_read_b64_tr_b4 v[2:3], v1", 4, 64},
               {"ds_read_b96_tr_b6 v[2:4], v1", 6, 96}};
  std::mt19937 random(3);
  for (const auto& read : cases) {
    WaveRunner runner("gfx950");
    for (unsigned i = 0; i < WaveRunner::lds_bytes; ++i) runner.lds()[i] = static_cast<uint8_t>(random());
    // Each row of a tile of 16 columns is read by neighbouring lanes; the rows are where they like to be.
    const unsigned row_bits = 16 * read.element_bits, rows = 16 * read.lane_bits / row_bits;
    const unsigned lanes_of_row = row_bits / read.lane_bits;
    std::vector<unsigned> row_offset(4 * rows);
    for (unsigned row = 0; row < row_offset.size(); ++row) row_offset[row] = 16 + (row * 37 % 64) * 48;
    for (unsigned lane = 0; lane < 64; ++lane) {
      runner.v(1)[lane] = row_offset[lane / lanes_of_row] + lane % lanes_of_row * read.lane_bits / 8 - 16;
    }
    ASSERT_EQ(runner.run(std::string(read.code) + " offset:16\ns_waitcnt lgkmcnt(0)"), WaveState::ended);
    for (unsigned lane = 0; lane < 64; ++lane) {
      uint8_t got[12];
      for (unsigned word = 0; word < read.lane_bits / 32; ++word)
        std::memcpy(got + 4 * word, &runner.v(2 + word)[lane], 4);
      for (unsigned row = 0; row < rows; ++row) {
        const uint8_t* memory = runner.lds() + row_offset[lane / 16 * rows + row];
        ASSERT_EQ(bits_at(got, row * read.element_bits, read.element_bits),
                  bits_at(memory, lane % 16 * read.element_bits, read.element_bits))
            << read.code << " lane " << lane << " row " << row;
      }
    }
  }
}

TEST(Movement, TransposedReadsWriteTheLanesOfExec) {
  WaveRunner runner("gfx950");
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(1)[lane] = lane * 8;
    runner.v(2)[lane] = runner.v(3)[lane] = 7;
  }
  std::memset(runner.lds(), 1, 512);
  runner.wave().set_exec(0xFFFF0000FFFF);
  ASSERT_EQ(runner.run("ds_read_b64_tr_b16 v[2:3], v1\ns_waitcnt lgkmcnt(0)"), WaveState::ended);
  EXPECT_EQ(runner.v(2)[15], 0x01010101u);
  EXPECT_EQ(runner.v(3)[16], 7u);
  EXPECT_EQ(runner.v(3)[32], 0x01010101u);
}

TEST(Movement, RowsChangePlaces) {
  for (const unsigned width : {16u, 32u}) {
    WaveRunner runner("gfx950");
    for (unsigned lane = 0; lane < 64; ++lane) {
      runner.v(1)[lane] = 100 + lane;
      runner.v(2)[lane] = 200 + lane;
    }
    const std::string swap = "v_permlane" + std::to_string(width) + "_swap_b32 v1, v2";
    ASSERT_EQ(runner.run(swap), WaveState::ended);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const bool second = lane / width % 2 != 0;
      EXPECT_EQ(runner.v(1)[lane], second ? 200 + lane - width : 100 + lane) << swap << lane;
      EXPECT_EQ(runner.v(2)[lane], second ? 200 + lane : 100 + lane + width) << swap << lane;
    }
  }
}

TEST(Movement, RowsOfLanesThatAreOff) {
  const struct {
    const char* modifiers;
    uint32_t expected;  ///< of an active lane whose partner is off
  } cases[] = {{"", 111}, {" bound_ctrl:1", 0}, {" fi:1", 222}};
  for (const auto& [modifiers, expected] : cases) {
    WaveRunner runner("gfx950");
    std::ranges::fill(runner.v(1), 111u);
    std::ranges::fill(runner.v(2), 222u);
    runner.wave().set_exec(~uint64_t{1});  // lane 0 is off: what lane 16 of v1 would get
    ASSERT_EQ(runner.run(std::string("v_permlane16_swap_b32 v1, v2") + modifiers), WaveState::ended);
    EXPECT_EQ(runner.v(1)[16], expected) << modifiers;
    EXPECT_EQ(runner.v(2)[0], 222u) << modifiers;
    EXPECT_EQ(runner.v(1)[17], 222u) << modifiers;
    EXPECT_EQ(runner.v(2)[1], 111u) << modifiers;
  }
}

TEST(Movement, TruthTables) {
  WaveRunner runner("gfx950");
  std::mt19937 random(5);
  for (unsigned table = 0; table < 256; table += 17) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      for (unsigned i = 1; i < 4; ++i) runner.v(i)[lane] = static_cast<uint32_t>(random());
      runner.v(5)[lane] = 0xABCD1234;
    }
    const std::string operation = " bitop3:" + std::to_string(table);
    ASSERT_EQ(runner.run("v_bitop3_b32 v4, v1, v2, v3" + operation + "\nv_bitop3_b16 v5, v1, v2, v3" + operation +
                         " op_sel:[0,1,0,1]\nv_bitop3_b32 v6, v1, s0, 7" + operation),
              WaveState::ended);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const auto combined = [&](uint32_t a, uint32_t b, uint32_t c) {
        uint32_t result = 0;
        for (unsigned bit = 0; bit < 32; ++bit) {
          result |= (table >> ((a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1)) & 1) << bit;
        }
        return result;
      };
      const uint32_t a = runner.v(1)[lane], b = runner.v(2)[lane], c = runner.v(3)[lane];
      EXPECT_EQ(runner.v(4)[lane], combined(a, b, c)) << table;
      EXPECT_EQ(runner.v(5)[lane], combined(a, b >> 16, c) << 16 | 0x1234) << table;
      EXPECT_EQ(runner.v(6)[lane], combined(a, runner.s(0), 7)) << table;
    }
  }
}

TEST(Movement, ShiftsToBytes) {
  WaveRunner runner("gfx950");
  std::mt19937 random(6);
  for (unsigned lane = 0; lane < 64; ++lane) {
    runner.v(1)[lane] = static_cast<uint32_t>(random());
    runner.v(2)[lane] = static_cast<uint32_t>(random()) >> lane % 32;
    runner.v(3)[lane] = 32 * lane + 16 + lane % 16;
    runner.v(4)[lane] = runner.v(5)[lane] = 0xABCD1234;
  }
  ASSERT_EQ(runner.run("v_ashr_pk_i8_i32 v4, v1, v2, v3\nv_ashr_pk_u8_i32 v5, v1, v2, v3 op_sel:[0,0,0,1]"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    const auto shifted = [&](unsigned reg) {
      return static_cast<int64_t>(static_cast<int32_t>(runner.v(reg)[lane])) >> (runner.v(3)[lane] % 32);
    };
    const auto bytes = [&](int64_t least, int64_t greatest) {
      return static_cast<uint32_t>(std::clamp(shifted(1), least, greatest) & 0xFF) |
             static_cast<uint32_t>(std::clamp(shifted(2), least, greatest) & 0xFF) << 8;
    };
    EXPECT_EQ(runner.v(4)[lane], 0xABCD0000 | bytes(-128, 127)) << lane;
    EXPECT_EQ(runner.v(5)[lane], 0x1234 | bytes(0, 255) << 16) << lane;
  }
}

/// x -> 2x in the field of 2^32 elements that the polynomial x^32 + x^7 + x^6 + x^2 + 1 makes.
TEST(Movement, RandomNumbers) {
  WaveRunner runner("gfx950");
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = 0x9E3779B9u * (lane + 1);
  ASSERT_EQ(runner.run("v_prng_b32 v2, v1"), WaveState::ended);
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint64_t product = uint64_t{runner.v(1)[lane]} * 2;
    if (product >> 32 != 0) product ^= 1ull << 32 | 1 << 7 | 1 << 6 | 1 << 2 | 1;
    EXPECT_EQ(runner.v(2)[lane], product);
  }
}

}  // namespace
}  // namespace Atoll
