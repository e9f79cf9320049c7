// Movement between lanes against a plain model of each, lane by lane, after the ISA guides' text.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "semantics/lanes/lane_movement.h"

namespace Atoll::semantics::test {
namespace {

struct alignas(64) Register {
  Row row;
};

/// A register in which every lane's value is another.
Register numbered(uint32_t base) {
  Register result;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) result.row[lane] = base + lane;
  return result;
}

constexpr uint64_t all = ~uint64_t{0};
constexpr uint64_t some_masks[] = {
    all, 0, 1, 0x8000'0000'0000'0000, 0x5555'5555'5555'5555, 0x0123'4567'89AB'CDEF, 0xFFFF'0000'FFFF'0000};

// --- DPP ------------------------------------------------------------------------------------------------------------

/// The lane that `lane` reads, or -1. A wave's lanes are written as row and column of a 4 x 16 table.
using Model = std::function<int(int row, int column)>;

void check_dpp(uint32_t control, const Model& model) {
  SCOPED_TRACE("control " + std::to_string(control));
  for (const uint64_t exec : some_masks) {
    for (const bool bound_ctrl : {false, true}) {
      for (const auto& [row_mask, bank_mask] :
           {std::pair<uint8_t, uint8_t>{0xF, 0xF}, {0xA, 0xF}, {0xF, 0x6}, {5, 9}}) {
        const auto move =
            dpp_move(isa::Extension::dpp16,
                     {.control = control, .row_mask = row_mask, .bank_mask = bank_mask, .bound_ctrl = bound_ctrl});
        ASSERT_TRUE(move.has_value());
        const Register source = numbered(1000);
        Register result = numbered(5000);
        const uint64_t written = apply_dpp(*move, exec, source.row, result.row);
        for (int lane = 0; lane < 64; ++lane) {
          const int from = model(lane / 16, lane % 16);
          const bool valid = from >= 0 && (exec >> from & 1) != 0;
          const bool enabled = (row_mask >> lane / 16 & 1) != 0 && (bank_mask >> lane % 16 / 4 & 1) != 0;
          const bool expected = (exec >> lane & 1) != 0 && enabled && (valid || bound_ctrl);
          ASSERT_EQ((written >> lane & 1) != 0, expected) << "lane " << lane << ", EXEC " << std::hex << exec;
          if (expected) {
            ASSERT_EQ(result.row[lane], valid ? static_cast<uint32_t>(1000 + from) : 0) << "lane " << lane;
          }
        }
      }
    }
  }
}

TEST(Dpp, EveryQuadPermutation) {
  for (uint32_t control = 0; control < 0x100; ++control) {
    const auto move = dpp_move(isa::Extension::dpp16, {.control = control});
    ASSERT_TRUE(move.has_value());
    const Register source = numbered(0);
    Register result;
    ASSERT_EQ(apply_dpp(*move, all, source.row, result.row), all);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const unsigned digits[] = {control % 4, control / 4 % 4, control / 16 % 4, control / 64};
      ASSERT_EQ(result.row[lane], lane / 4 * 4 + digits[lane % 4]) << "control " << control << ", lane " << lane;
    }
  }
}

TEST(Dpp, RowShiftsAndRotations) {
  for (int amount = 1; amount < 16; ++amount) {
    const auto n = static_cast<uint32_t>(amount);
    check_dpp(0x100 + n, [=](int row, int column) { return column + amount < 16 ? row * 16 + column + amount : -1; });
    check_dpp(0x110 + n, [=](int row, int column) { return column - amount >= 0 ? row * 16 + column - amount : -1; });
    check_dpp(0x120 + n, [=](int row, int column) { return row * 16 + (column + 16 - amount) % 16; });
  }
}

TEST(Dpp, WaveShiftsAndRotations) {
  check_dpp(0x130, [](int row, int column) { return row * 16 + column == 63 ? -1 : row * 16 + column + 1; });
  check_dpp(0x134, [](int row, int column) { return (row * 16 + column + 1) % 64; });
  check_dpp(0x138, [](int row, int column) { return row * 16 + column - 1; });
  check_dpp(0x13C, [](int row, int column) { return (row * 16 + column + 63) % 64; });
}

TEST(Dpp, Mirrors) {
  check_dpp(0x140, [](int row, int column) { return row * 16 + 15 - column; });
  check_dpp(0x141, [](int row, int column) { return row * 16 + (column < 8 ? 7 - column : 23 - column); });
}

TEST(Dpp, Broadcasts) {
  check_dpp(0x142, [](int row, int lane) { return row == 0 ? lane : row * 16 - 1; });
  check_dpp(0x143, [](int row, int lane) { return row < 2 ? row * 16 + lane : 31; });
  for (int lane = 0; lane < 16; ++lane) {
    check_dpp(0x150 + static_cast<uint32_t>(lane), [=](int row, int) { return row * 16 + lane; });
  }
}

TEST(Dpp, RowXmask) {
  for (int mask = 0; mask < 16; ++mask) {
    check_dpp(0x160 + static_cast<uint32_t>(mask), [=](int row, int column) { return row * 16 + (column ^ mask); });
  }
}

TEST(Dpp, FetchInactiveReadsLanesThatExecSwitchesOff) {
  const auto move = dpp_move(isa::Extension::dpp16, {.control = 0x111, .fetch_inactive = true});  // row_shr:1
  const Register source = numbered(100);
  Register result;
  const uint64_t exec = 0xAAAA'AAAA'AAAA'AAAA;
  EXPECT_EQ(apply_dpp(*move, exec, source.row, result.row), exec);
  for (unsigned lane = 1; lane < 64; lane += 2) EXPECT_EQ(result.row[lane], 100 + lane - 1);
}

TEST(Dpp, EightLaneSelects) {
  const uint32_t selects[] = {3, 1, 4, 1, 5, 7, 2, 6};
  uint32_t control = 0;
  for (unsigned i = 0; i < 8; ++i) control |= selects[i] << (3 * i);
  const auto move = dpp_move(isa::Extension::dpp8, {.control = control});
  ASSERT_TRUE(move.has_value());
  const Register source = numbered(0);
  Register result;
  EXPECT_EQ(apply_dpp(*move, all, source.row, result.row), all);
  for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(result.row[lane], lane / 8 * 8 + selects[lane % 8]);
}

TEST(Dpp, UnknownControlsAreRefused) {
  for (const uint32_t control : {0x100U, 0x110U, 0x120U, 0x131U, 0x13FU, 0x144U, 0x14FU, 0x170U, 0x1FFU}) {
    EXPECT_FALSE(dpp_move(isa::Extension::dpp16, {.control = control}).has_value()) << control;
  }
  EXPECT_FALSE(dpp_move(isa::Extension::sdwa, {}).has_value());
}

// --- ds_swizzle -----------------------------------------------------------------------------------------------------

std::array<unsigned, 64> swizzled(uint16_t offset) {
  const Register source = numbered(0);
  Register result;
  swizzle(swizzle_map(offset), all, source.row, result.row);
  std::array<unsigned, 64> lanes;
  std::copy(std::begin(result.row), std::end(result.row), lanes.begin());
  return lanes;
}

TEST(Swizzle, BitMasksWorkWithin32Lanes) {
  // The three masks' meaning for each bit of the lane's number: kept or cleared, set, inverted.
  for (unsigned offset = 0; offset < 0x8000; offset += 97) {
    const auto lanes = swizzled(static_cast<uint16_t>(offset));
    for (unsigned lane = 0; lane < 64; ++lane) {
      unsigned expected = lane & 32;
      for (unsigned bit = 0; bit < 5; ++bit) {
        bool value = (lane >> bit & 1) != 0;
        if ((offset >> bit & 1) == 0) value = false;
        if ((offset >> (bit + 5) & 1) != 0) value = true;
        if ((offset >> (bit + 10) & 1) != 0) value = !value;
        expected |= static_cast<unsigned>(value) << bit;
      }
      ASSERT_EQ(lanes[lane], expected) << "offset " << offset << ", lane " << lane;
    }
  }
}

TEST(Swizzle, QuadPermutation) {
  for (unsigned pattern = 0; pattern < 256; ++pattern) {
    const auto lanes = swizzled(static_cast<uint16_t>(0x8000 | pattern));
    for (unsigned lane = 0; lane < 64; ++lane) {
      ASSERT_EQ(lanes[lane], lane / 4 * 4 + (pattern >> 2 * (lane % 4)) % 4) << "pattern " << pattern;
    }
  }
}

TEST(Swizzle, RotationWithin32Lanes) {
  for (unsigned amount = 0; amount < 32; ++amount) {
    const auto left = swizzled(static_cast<uint16_t>(0xC000 | amount << 5));
    const auto right = swizzled(static_cast<uint16_t>(0xC400 | amount << 5));
    for (unsigned lane = 0; lane < 64; ++lane) {
      ASSERT_EQ(left[lane], lane / 32 * 32 + (lane % 32 + amount) % 32) << "amount " << amount;
      ASSERT_EQ(right[lane], lane / 32 * 32 + (lane % 32 + 32 - amount) % 32) << "amount " << amount;
    }
  }
}

TEST(Swizzle, RotationLeavesTheMaskedBits) {
  // Mask 24: rotation within eights.
  const auto lanes = swizzled(0xC000 | 3 << 5 | 24);
  for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(lanes[lane], lane / 8 * 8 + (lane % 8 + 3) % 8);
}

TEST(Swizzle, FftOrder) {
  // The orders that the ISA guide prints for masks 0, 16 and 31, counted from 0 and in the lower half.
  constexpr unsigned mask_0[32] = {0x00, 0x10, 0x08, 0x18, 0x04, 0x14, 0x0C, 0x1C, 0x02, 0x12, 0x0A,
                                   0x1A, 0x06, 0x16, 0x0E, 0x1E, 0x01, 0x11, 0x09, 0x19, 0x05, 0x15,
                                   0x0D, 0x1D, 0x03, 0x13, 0x0B, 0x1B, 0x07, 0x17, 0x0F, 0x1F};
  constexpr unsigned mask_16[16] = {0x0, 0x8, 0x4, 0xC, 0x2, 0xA, 0x6, 0xE, 0x1, 0x9, 0x5, 0xD, 0x3, 0xB, 0x7, 0xF};
  const auto plain = swizzled(0xE000), half = swizzled(0xE010), none = swizzled(0xE01F);
  for (unsigned lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(plain[lane], lane / 32 * 32 + mask_0[lane % 32]);
    EXPECT_EQ(half[lane], lane / 16 * 16 + mask_16[lane % 16]);
    EXPECT_EQ(none[lane], lane);
  }
}

TEST(Swizzle, InactiveSourcesRead0) {
  const Register source = numbered(100);
  Register result;
  swizzle(swizzle_map(0x041F), 0x0000'0000'FFFF'0003, source.row, result.row);  // neighbours change places
  EXPECT_EQ(result.row[0], 101);
  EXPECT_EQ(result.row[1], 100);
  EXPECT_EQ(result.row[2], 0);
  EXPECT_EQ(result.row[17], 116);
  EXPECT_EQ(result.row[40], 0);
}

// --- Permutes -------------------------------------------------------------------------------------------------------

TEST(Permute, PushesAndTheHighestSenderWins) {
  std::mt19937 random(1);
  for (const uint64_t exec : some_masks) {
    for (const unsigned reach : {64u, 32u}) {
      const Register source = numbered(1000);
      Register address, result;
      for (uint32_t& word : address.row) word = static_cast<uint32_t>(random());
      const uint16_t offset = static_cast<uint16_t>(random());
      permute(exec, address.row, offset, source.row, result.row, reach);
      for (unsigned lane = 0; lane < 64; ++lane) {
        uint32_t expected = 0;
        for (unsigned sender = 0; sender < 64; ++sender) {
          const uint32_t target = (address.row[sender] + offset) / 4 % reach + sender / reach * reach;
          if ((exec >> sender & 1) != 0 && target == lane) expected = 1000 + sender;
        }
        ASSERT_EQ(result.row[lane], expected) << "lane " << lane;
      }
    }
  }
}

TEST(Permute, PullsFromActiveLanes) {
  std::mt19937 random(2);
  for (const uint64_t exec : some_masks) {
    for (const unsigned reach : {64u, 32u}) {
      const Register source = numbered(1000);
      Register address, result;
      for (uint32_t& word : address.row) word = static_cast<uint32_t>(random());
      backward_permute(exec, address.row, 12, source.row, result.row, reach);
      for (unsigned lane = 0; lane < 64; ++lane) {
        const uint32_t from = (address.row[lane] + 12) / 4 % reach + lane / reach * reach;
        ASSERT_EQ(result.row[lane], (exec >> from & 1) != 0 ? 1000 + from : 0) << "lane " << lane;
      }
    }
  }
}

/// The lanes that a move of v_permlane writes, and what; `from` is the model.
void check_permlane(const DppMove& move, bool fetch_inactive, bool zero_invalid,
                    const std::function<unsigned(unsigned lane)>& from) {
  for (const uint64_t exec : some_masks) {
    const Register source = numbered(1000);
    Register result = numbered(5000);
    const uint64_t written = apply_dpp(move, exec, source.row, result.row);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const bool valid = fetch_inactive || (exec >> from(lane) & 1) != 0;
      ASSERT_EQ((written >> lane & 1) != 0, (exec >> lane & 1) != 0 && (valid || zero_invalid)) << "lane " << lane;
      if ((written >> lane & 1) != 0) ASSERT_EQ(result.row[lane], valid ? 1000 + from(lane) : 0) << "lane " << lane;
    }
  }
}

TEST(Permute, PermlaneSelectsWithinItsRowOrTheOther) {
  const uint64_t selects = 0x0F1E'2D3C'4B5A'6978;
  Register of_lanes;
  std::mt19937 random(3);
  for (uint32_t& word : of_lanes.row) word = static_cast<uint32_t>(random());
  for (const bool crossed : {false, true}) {
    for (const bool fetch_inactive : {false, true}) {
      for (const bool zero_invalid : {false, true}) {
        const unsigned other = crossed ? 1 : 0;
        check_permlane(permlane16_move(selects, crossed, fetch_inactive, zero_invalid), fetch_inactive, zero_invalid,
                       [&](unsigned lane) {
                         return (lane / 16 ^ other) * 16 + static_cast<unsigned>(selects >> 4 * (lane % 16) & 15);
                       });
        check_permlane(permlane16_var_move(of_lanes.row, crossed, fetch_inactive, zero_invalid), fetch_inactive,
                       zero_invalid, [&](unsigned lane) { return (lane / 16 ^ other) * 16 + of_lanes.row[lane] % 16; });
      }
    }
  }
  check_permlane(permlane64_move(), true, false, [](unsigned lane) { return (lane + 32) % 64; });
}

// --- One lane -------------------------------------------------------------------------------------------------------

TEST(OneLane, ReadAndWrite) {
  Register reg = numbered(10);
  EXPECT_EQ(read_lane(reg.row, 5), 15);
  EXPECT_EQ(read_lane(reg.row, 64 + 7), 17) << "only six bits of the lane's number count";
  write_lane(reg.row, 64 + 63, 4);
  EXPECT_EQ(reg.row[63], 4);
  EXPECT_EQ(read_first_lane(reg.row, 0xFF00), 18);
  EXPECT_EQ(read_first_lane(reg.row, 0x8000'0000'0000'0000), 4);
  EXPECT_EQ(read_first_lane(reg.row, 0), 10);
}

}  // namespace
}  // namespace Atoll::semantics::test
