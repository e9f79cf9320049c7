// GFX12.5: banks of VGPRs, arithmetic, memory, matrices, tensors and barriers, against the host's arithmetic. Where the
// elements of a matrix are is said here a second time, by the formulas of AMD's emulator (ROCm's rocjitsu).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "engine/gfx12_5_runner.h"
#include "machine/memory/memory.h"
#include "machine/wave/dispatch.h"

namespace Atoll::test {
namespace {

using machine::WaveState;

TEST(Gfx12_5, OperandsAreInTheBanksThatWereChosen) {
  Gfx1250 runner;
  runner.fill(3, 5);
  runner.fill(256 + 3, 7);
  runner.fill(256 + 4, 9);
  // Source 0 in bank 1; then the second source and the result; then none.
  ASSERT_EQ(runner.run(R"(
      s_set_vgpr_msb 0x01
      v_add_nc_u32 v1, v3, v3
      s_set_vgpr_msb 0x44
      v_add_nc_u32 v2, v3, v4
      s_set_vgpr_msb 0
      v_add_nc_u32 v5, v3, v3
      s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), 0x4000
      v_mov_b32 v6, v4
      s_getreg_b32 s0, hwreg(HW_REG_WAVE_MODE, 12, 8)
      s_set_vgpr_msb 0)"),
            WaveState::ended);
  EXPECT_EQ(runner.v(1)[9], 12u);
  EXPECT_EQ(runner.v(256 + 2)[9], 14u);
  EXPECT_EQ(runner.v(5)[9], 10u);
  EXPECT_EQ(runner.v(6)[9], 9u) << "s_setreg_imm32_b32 chooses banks by its constant";
  EXPECT_EQ(runner.s(0), 4u);
}

TEST(Gfx12_5, IntegersOf64Bits) {
  Gfx1250 runner;
  const auto a = [](unsigned lane) { return 0x9E3779B97F4A7C15u * (lane + 1); };
  const auto b = [](unsigned lane) { return 0xD1B54A32D192ED03u * (lane + 3); };
  runner.set_rows(2, a);
  runner.set_rows(4, b);
  ASSERT_EQ(runner.run(R"(
      v_add_nc_u64 v[6:7], v[2:3], v[4:5]
      v_sub_nc_u64 v[8:9], v[2:3], v[4:5]
      v_mul_u64 v[10:11], v[2:3], v[4:5]
      v_min_u64 v[12:13], v[2:3], v[4:5]
      v_max_u64 v[14:15], v[2:3], v[4:5]
      v_min_i64 v[16:17], v[2:3], v[4:5]
      v_max_i64 v[18:19], v[2:3], v[4:5]
      v_mad_nc_u64_u32 v[20:21], v2, v4, v[4:5]
      v_mad_nc_i64_i32 v[22:23], v2, v4, v[4:5]
      v_mad_u32 v24, v2, v4, v5
      v_add_max_i32 v25, v2, v4, v5
      v_add_min_u32 v26, v2, v4, v5 clamp
      v_add_nc_u64 v[28:29], 0x123456789abcdef0, v[2:3])"),
            WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const uint64_t x = a(lane), y = b(lane);
    const auto sx = static_cast<int64_t>(x), sy = static_cast<int64_t>(y);
    const auto lx = static_cast<uint32_t>(x), ly = static_cast<uint32_t>(y), hy = static_cast<uint32_t>(y >> 32);
    EXPECT_EQ(runner.v64(6, lane), x + y);
    EXPECT_EQ(runner.v64(8, lane), x - y);
    EXPECT_EQ(runner.v64(10, lane), x * y);
    EXPECT_EQ(runner.v64(12, lane), std::min(x, y));
    EXPECT_EQ(runner.v64(14, lane), std::max(x, y));
    EXPECT_EQ(runner.v64(16, lane), static_cast<uint64_t>(std::min(sx, sy)));
    EXPECT_EQ(runner.v64(18, lane), static_cast<uint64_t>(std::max(sx, sy)));
    EXPECT_EQ(runner.v64(20, lane), uint64_t{lx} * ly + y);
    EXPECT_EQ(runner.v64(22, lane),
              static_cast<uint64_t>(int64_t{static_cast<int32_t>(lx)} * static_cast<int32_t>(ly)) + y);
    EXPECT_EQ(runner.v(24)[lane], lx * ly + hy);
    EXPECT_EQ(runner.v(25)[lane],
              static_cast<uint32_t>(std::max(static_cast<int32_t>(lx + ly), static_cast<int32_t>(hy))));
    const uint64_t sum = std::min<uint64_t>(uint64_t{lx} + ly, UINT32_MAX);
    EXPECT_EQ(runner.v(26)[lane], std::min<uint64_t>(sum, hy));
    EXPECT_EQ(runner.v64(28, lane), x + 0x123456789abcdef0);
  }
}

TEST(Gfx12_5, DualInstructionsWithThreeSources) {
  Gfx1250 runner;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(1)[lane] = bits(static_cast<float>(lane));
    runner.v(2)[lane] = bits(0.5f);
    runner.v(3)[lane] = 0xFF00FF00 + lane;
    runner.v(4)[lane] = 0x0FF00FF0;
  }
  ASSERT_EQ(runner.run("v_dual_fma_f32 v10, v1, v2, v2 :: v_dual_bitop2_b32 v11, v3, v4 bitop3:0x14\n"
                       "v_dual_sub_f32 v12, v1, v2 :: v_dual_lshlrev_b32 v13, 4, v3"),
            WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    EXPECT_EQ(number(runner.v(10)[lane]), static_cast<float>(lane) * 0.5f + 0.5f);
    EXPECT_EQ(runner.v(11)[lane], (0xFF00FF00 + lane) ^ 0x0FF00FF0);
    EXPECT_EQ(number(runner.v(12)[lane]), static_cast<float>(lane) - 0.5f);
    EXPECT_EQ(runner.v(13)[lane], (0xFF00FF00 + lane) << 4);
  }
}

TEST(Gfx12_5, Bfloat16Arithmetic) {
  Gfx1250 runner;
  const auto low = [](unsigned lane) { return to_brain(0.75f + static_cast<float>(lane) * 0.125f); };
  const auto high = [](unsigned lane) { return to_brain(3.0f - static_cast<float>(lane) * 0.25f); };
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(1)[lane] = low(lane) | uint32_t{high(lane)} << 16;
    runner.v(2)[lane] = high(lane) | uint32_t{low(lane)} << 16;
    runner.v(3)[lane] = bits(static_cast<float>(lane) / 8);
  }
  ASSERT_EQ(runner.run(R"(
      v_pk_add_bf16 v4, v1, v2
      v_pk_mul_bf16 v5, v1, v2
      v_pk_fma_bf16 v6, v1, v2, v1
      v_pk_min_num_bf16 v7, v1, v2
      v_pk_max_num_bf16 v8, v1, v2
      v_rcp_bf16 v9, v1
      v_sqrt_bf16 v10, v1
      v_exp_bf16 v11, v1
      v_log_bf16 v12, v1
      v_tanh_f32 v13, v3
      v_tanh_bf16 v14, v1
      v_fma_mix_f32_bf16 v15, v1, v2, v3 op_sel:[0,1,0] op_sel_hi:[1,1,0])"),
            WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const float a = brain(low(lane)), b = brain(high(lane)), c = static_cast<float>(lane) / 8;
    const auto both = [](float x, float y) { return to_brain(x) | uint32_t{to_brain(y)} << 16; };
    EXPECT_EQ(runner.v(4)[lane], both(a + b, b + a));
    EXPECT_EQ(runner.v(5)[lane], both(a * b, b * a));
    EXPECT_EQ(runner.v(6)[lane], both(std::fma(a, b, a), std::fma(b, a, b)));
    EXPECT_EQ(runner.v(7)[lane], both(std::min(a, b), std::min(a, b)));
    EXPECT_EQ(runner.v(8)[lane], both(std::max(a, b), std::max(a, b)));
    EXPECT_EQ(runner.v(9)[lane] & 0xFFFF, to_brain(1 / a));
    EXPECT_EQ(runner.v(10)[lane] & 0xFFFF, to_brain(std::sqrt(a)));
    EXPECT_EQ(runner.v(11)[lane] & 0xFFFF, to_brain(std::exp2(a)));
    EXPECT_EQ(runner.v(12)[lane] & 0xFFFF, to_brain(std::log2(a)));
    EXPECT_NEAR(number(runner.v(13)[lane]), std::tanh(c), 1e-7f);
    EXPECT_EQ(runner.v(14)[lane] & 0xFFFF, to_brain(std::tanh(a)));
    EXPECT_EQ(number(runner.v(15)[lane]), std::fma(a, a, c));
  }
}

TEST(Gfx12_5, PackedAndSmallIntegers) {
  Gfx1250 runner;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(1)[lane] = 0x7FF0'1234 + lane;
    runner.v(2)[lane] = 0x0020'F00F - lane * 3;
    runner.v(3)[lane] = 0x0001'0002 * lane;
    runner.v(4)[lane] = 0x89ABCDEF ^ lane;  // selects entries
    runner.v(5)[lane] = 0x01234567 + lane;
    runner.v(6)[lane] = 0xFEDCBA98;  // the upper part of a table of nibbles
    runner.v(7)[lane] = 0x76543210;
  }
  ASSERT_EQ(runner.run(R"(
      v_pk_add_min_i16 v10, v1, v2, v3
      v_pk_add_max_u16 v11, v1, v2, v3 clamp
      v_pk_min3_i16 v12, v1, v2, v3
      v_pk_max3_u16 v13, v1, v2, v3
      v_sat_pk4_i4_i8 v14, v1
      v_sat_pk4_u4_u8 v15, v1
      v_perm_pk16_b4_u4 v[16:17], v6, v7, v[4:5]
      v_permlane_bcast_b32 v18, v1, 5, 8
      v_permlane_up_b32 v19, v1, 3, 16
      v_permlane_down_b32 v20, v1, 2, 32
      v_permlane_xor_b32 v21, v1, 6, 32
      v_permlane_idx_gen_b32 v22, v0, 3)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned half = 0; half < 2; ++half) {
      const auto part = [&](unsigned reg) { return static_cast<uint16_t>(runner.v(reg)[lane] >> 16 * half); };
      const auto i = [&](unsigned reg) { return static_cast<int16_t>(part(reg)); };
      EXPECT_EQ(i(10), std::min<int16_t>(static_cast<int16_t>(i(1) + i(2)), i(3)));
      EXPECT_EQ(part(11), std::max<unsigned>(std::min(part(1) + part(2), 0xFFFF), part(3)));
      EXPECT_EQ(i(12), std::min({i(1), i(2), i(3)}));
      EXPECT_EQ(part(13), std::max({part(1), part(2), part(3)}));
    }
    const uint32_t word = runner.v(1)[lane];
    for (unsigned k = 0; k < 4; ++k) {
      const int byte = static_cast<int8_t>(word >> 8 * k);
      EXPECT_EQ(runner.v(14)[lane] >> 4 * k & 15, static_cast<unsigned>(std::clamp(byte, -8, 7)) & 15);
      EXPECT_EQ(runner.v(15)[lane] >> 4 * k & 15, std::min(word >> 8 * k & 0xFF, 15u));
    }
    EXPECT_EQ(runner.v64(16, lane), runner.v64(4, lane)) << "entry n of the table is n";
    const auto of = [&](unsigned from) { return runner.v(1)[from]; };
    EXPECT_EQ(runner.v(18)[lane], of(lane / 8 * 8 + 5));
    EXPECT_EQ(runner.v(19)[lane], lane % 16 < 3 ? 0 : of(lane - 3));
    EXPECT_EQ(runner.v(20)[lane], lane + 2 < 32 ? of(lane + 2) : 0);
    EXPECT_EQ(runner.v(21)[lane], of(lane ^ 6));
    EXPECT_EQ(runner.v(22)[lane], lane ^ 3);
  }
}

/// The number of a code of E4M3, by the format's definition.
float e4m3(uint32_t code) {
  const int exponent = static_cast<int>(code >> 3 & 15), fraction = static_cast<int>(code & 7);
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                   : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  return (code & 0x80) != 0 ? -size : size;
}
float e2m1(uint32_t code) {
  constexpr float sizes[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (code & 8) != 0 ? -sizes[code & 7] : sizes[code & 7];
}

TEST(Gfx12_5, ScaledConversionsThereAndBack) {
  Gfx1250 runner;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned i = 0; i < 2; ++i) runner.v(2 + i)[lane] = 0x01234567 * (lane + 1) + 0x10203040 * i;
    runner.v(2)[lane] &= 0x7E7E7E7E;  // no NaN
    runner.v(3)[lane] &= 0x7E7E7E7E;
    runner.v(4)[lane] = 0x13579BDF ^ lane << 8;
    runner.v(5)[lane] = 0x7F80'7E81;  // 2^0, 2^1, 2^-1, 2^2
    runner.v(6)[lane] = bits(4.0f);
  }
  ASSERT_EQ(runner.run(R"(
      v_cvt_scale_pk8_f32_fp8 v[10:17], v[2:3], v5
      v_cvt_scale_pk8_f32_fp4 v[18:25], v4, v5 scale_sel:2
      v_cvt_scalef32_pk8_fp8_f32 v[26:27], v[10:17], v6
      v_cvt_scalef32_pk8_fp4_f32 v28, v[18:25], 1.0)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned i = 0; i < 8; ++i) {
      const uint32_t byte = runner.v(2 + i / 4)[lane] >> 8 * (i % 4) & 0xFF;
      EXPECT_EQ(number(runner.v(10 + i)[lane]), e4m3(byte) * 4);
      EXPECT_EQ(runner.v(26 + i / 4)[lane] >> 8 * (i % 4) & 0xFF, byte);
      const uint32_t nibble = runner.v(4)[lane] >> 4 * i & 15;
      EXPECT_EQ(number(runner.v(18 + i)[lane]), e2m1(nibble) * 2);
      const float doubled = std::clamp(e2m1(nibble) * 2, -6.0f, 6.0f);
      EXPECT_EQ(e2m1(runner.v(28)[lane] >> 4 * i & 15), doubled);
    }
  }
}

TEST(Gfx12_5, Fp8WithoutASignIsWhatTheClampBitSays) {
  Gfx1250 runner;
  for (unsigned lane = 0; lane < lanes; ++lane)
    runner.v(1)[lane] = bits(std::ldexp(1.125f, static_cast<int>(lane) - 10));
  ASSERT_EQ(runner.run("v_cvt_pk_fp8_f32 v2, v1, v1 clamp\nv_cvt_f32_fp8 v3, v2 clamp\nv_cvt_f16_fp8 v4, v5"),
            WaveState::ended);
  for (unsigned lane = 0; lane < 26; ++lane) EXPECT_EQ(runner.v(3)[lane], runner.v(1)[lane]) << lane;
}

TEST(Gfx12_5, OffsetsCountElementsAndAreSigned) {
  Gfx1250 runner;
  std::vector<uint32_t> memory(64);
  std::iota(memory.begin(), memory.end(), 100u);
  runner.set_pair(2, &memory[32]);
  for (unsigned lane = 0; lane < lanes; ++lane) runner.v(1)[lane] = lane - 16;
  runner.s(6) = 3;
  ASSERT_EQ(runner.run(R"(
      global_load_b32 v2, v1, s[2:3] offset:4 scale_offset
      flat_load_b32 v3, v1, s[2:3] scale_offset
      s_load_b32 s7, s[2:3], s6 offset:0x4 scale_offset
      s_load_b64 s[8:9], s[2:3], s6 offset:0x0 scale_offset
      scratch_store_b32 v0, v2, off scale_offset
      scratch_load_b32 v4, v0, off scale_offset)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    EXPECT_EQ(runner.v(2)[lane], 100u + 32 + lane - 16 + 1);
    EXPECT_EQ(runner.v(3)[lane], 100u + 32 + lane - 16);
    EXPECT_EQ(runner.v(4)[lane], runner.v(2)[lane]);
  }
  EXPECT_EQ(runner.s(7), 100u + 32 + 4);
  EXPECT_EQ(runner.s(8), 100u + 32 + 6);
}

TEST(Gfx12_5, FlatAddressesOfScratchSayWhoseItIs) {
  Gfx1250 runner;
  for (unsigned lane = 0; lane < lanes; ++lane) runner.scratch(lane, 8) = 1000 + lane;
  ASSERT_EQ(runner.run(R"(
      v_lshlrev_b32 v3, 20, v0
      v_mov_b32 v2, 8
      v_add_nc_u64 v[4:5], src_flat_scratch_base_lo, v[2:3]
      flat_load_b32 v6, v[4:5]
      v_xor_b32 v3, 0x700000, v3
      v_add_nc_u64 v[4:5], src_flat_scratch_base_lo, v[2:3]
      flat_load_b32 v7, v[4:5]
      s_mov_b32 s0, src_flat_scratch_base_hi)"),
            WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    EXPECT_EQ(runner.v(6)[lane], 1000 + lane);
    EXPECT_EQ(runner.v(7)[lane], 1000 + (lane ^ 7));
  }
  EXPECT_EQ(runner.s(0) >> 26, machine::lane_scratch_base >> machine::lane_scratch_tag_shift);
}

TEST(Gfx12_5, CopiesBetweenMemoryAndLds) {
  Gfx1250 runner;
  std::vector<uint32_t> memory(128), out(128);
  std::iota(memory.begin(), memory.end(), 7u);
  runner.set_pair(2, memory.data());
  runner.set_pair(4, out.data());
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(1)[lane] = lane * 16;
    runner.v(2)[lane] = 512 + (31 - lane) * 16;
    runner.v(3)[lane] = lane;
  }
  ASSERT_EQ(runner.run(R"(
      global_load_async_to_lds_b128 v2, v1, s[2:3]
      s_wait_asynccnt 0
      global_store_async_from_lds_b128 v1, v2, s[4:5]
      s_wait_asynccnt 0
      global_load_async_to_lds_b8 v3, v1, s[2:3] offset:1
      global_prefetch_b8 v1, s[2:3])"),
            WaveState::ended);
  EXPECT_EQ(memory, out);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    uint32_t word = 0;
    std::memcpy(&word, runner.lds() + 512 + (31 - lane) * 16, 4);
    EXPECT_EQ(word, memory[lane * 4]);
    EXPECT_EQ(runner.lds()[lane + 1], reinterpret_cast<const uint8_t*>(memory.data())[lane * 16 + 1]);
  }
}

TEST(Gfx12_5, TransposedLoadsHaveColumns) {
  Gfx1250 runner;
  // 16 rows of 16 elements of 16 bits, whose value is row * 16 + column. Lane s loads half a row.
  uint16_t matrix[16][16];
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 16; ++column) matrix[row][column] = static_cast<uint16_t>(row * 16 + column);
  }
  std::memcpy(runner.lds(), matrix, sizeof matrix);
  runner.set_pair(2, matrix);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(1)[lane] = (lane % 8 + lane / 16 * 8) * 32 + lane / 8 % 2 * 16;
  }
  ASSERT_EQ(runner.run("ds_load_tr16_b128 v[4:7], v1\nglobal_load_tr16_b128 v[8:11], v1, s[2:3]"), WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned column = lane % 16, first_row = lane / 16 * 8;
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(runner.v(4 + i / 2)[lane] >> 16 * (i % 2) & 0xFFFF, matrix[first_row + i][column]) << lane;
      EXPECT_EQ(runner.v(8 + i / 2)[lane], runner.v(4 + i / 2)[lane]);
    }
  }
}

TEST(Gfx12_5, TensorsAreCopiedByTheirDescriptors) {
  Gfx1250 runner;
  constexpr unsigned rows = 5, columns = 8, pitch = 13;
  std::vector<uint16_t> memory(pitch * rows), out(pitch * rows);
  std::iota(memory.begin(), memory.end(), uint16_t{100});
  // Tile of 8 x 5 where the tensor has 7 x 4 left; 2 bytes each; padded by 2 dwords after each 4.
  const auto describe = [&](unsigned first, const void* address, bool padded) {
    const auto at = reinterpret_cast<uint64_t>(address);
    const uint32_t words[12] = {1,
                                64,
                                static_cast<uint32_t>(at),
                                static_cast<uint32_t>(at >> 32) | 2u << 30,
                                1u << 16 | (padded ? 1u << 20 | 1u << 22 | 1u << 25 : 0),
                                7u << 16,
                                4u << 16,
                                columns << 16,
                                rows,
                                pitch,
                                0,
                                0};
    for (unsigned i = 0; i < 12; ++i) runner.s(first + i) = words[i];
  };
  describe(4, memory.data(), true);
  describe(20, out.data(), false);
  ASSERT_EQ(runner.run("tensor_load_to_lds s[4:7], s[8:15]\ns_wait_tensorcnt 0"), WaveState::ended);
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      const unsigned bytes = (row * columns + column) * 2;
      uint16_t value = 0;
      std::memcpy(&value, runner.lds() + 64 + bytes + bytes / 16 * 8, 2);
      EXPECT_EQ(value, row < 4 && column < 7 ? memory[row * pitch + column] : 0) << row << " " << column;
    }
  }
  for (unsigned i = 0; i < rows * columns; ++i) {
    const auto value = static_cast<uint16_t>(1000 + i);
    std::memcpy(runner.lds() + 64 + i * 2, &value, 2);
  }
  ASSERT_EQ(runner.run("tensor_store_from_lds s[20:23], s[24:31]"), WaveState::ended);
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < pitch; ++column) {
      EXPECT_EQ(out[row * pitch + column], row < 4 && column < 7 ? 1000 + row * columns + column : 0);
    }
  }
}

/// Rows of 4 words by their indices, of 16 bits or 32 (the CDNA5 ISA guide's section 10.11.3.2 as CK's ck_tile packs
/// them), and back to other rows; at the end a barrier in LDS is arrived at.
TEST(Gfx12_5, TensorsAreGatheredByRows) {
  for (const bool is_wide : {false, true}) {
    Gfx1250 runner;
    constexpr unsigned columns = 4, pitch = 6, rows = 9, tensor_rows = 8, barrier_at = 1024;
    constexpr std::array<uint32_t, 5> indices{0, 3, 3, 6, 8};  // the last is outside
    std::vector<uint32_t> memory(pitch * rows), out(pitch * rows);
    std::iota(memory.begin(), memory.end(), 100u);
    const auto describe = [&](unsigned first, const void* address) {
      const auto at = reinterpret_cast<uint64_t>(address);
      const uint32_t words[12] = {1 | 1u << 31 | (is_wide ? 1u << 30 : 0),
                                  32,
                                  static_cast<uint32_t>(at),
                                  static_cast<uint32_t>(at >> 32) | 2u << 30,
                                  2u << 16 | 1u << 18,
                                  columns << 16 | barrier_at / 8,
                                  tensor_rows << 16,
                                  columns << 16,
                                  static_cast<uint32_t>(indices.size()),
                                  pitch,
                                  0,
                                  0};
      for (unsigned i = 0; i < 12; ++i) runner.s(first + i) = words[i];
    };
    describe(4, memory.data());
    describe(20, out.data());
    for (unsigned i = 0; i < indices.size(); ++i) {
      if (is_wide) runner.s(40 + i) = indices[i];
      if (!is_wide) runner.s(40 + i / 2) |= indices[i] << 16 * (i % 2);
    }
    const uint64_t barrier = uint64_t{4} << 32 | 4;
    std::memcpy(runner.lds() + barrier_at, &barrier, sizeof barrier);
    ASSERT_EQ(runner.run("tensor_load_to_lds s[4:7], s[8:15], s[40:43], s[44:47]\ns_wait_tensorcnt 0\n"
                         "tensor_store_from_lds s[20:23], s[24:31], s[40:43], s[44:47]"),
              WaveState::ended);
    std::vector<uint32_t> expected(out.size());
    for (unsigned row = 0; row < indices.size(); ++row) {
      for (unsigned column = 0; column < columns; ++column) {
        uint32_t value = 0;
        std::memcpy(&value, runner.lds() + 32 + (row * columns + column) * 4, 4);
        const unsigned place = indices[row] * pitch + column;
        EXPECT_EQ(value, indices[row] < tensor_rows ? memory[place] : 0) << row << " " << column;
        if (indices[row] < tensor_rows) expected[place] = memory[place];
      }
    }
    EXPECT_EQ(out, expected);
    uint64_t after = 0;
    std::memcpy(&after, runner.lds() + barrier_at, sizeof after);
    EXPECT_EQ(after, uint64_t{4} << 32 | 2) << "two have arrived";
    runner.s(12) = is_wide ? 9 : 17;
    ASSERT_EQ(runner.run("tensor_load_to_lds s[4:7], s[8:15], s[40:43], s[44:47]"), WaveState::faulted);
    EXPECT_NE(runner.wave().fault->what.find("gathers more rows"), std::string::npos) << runner.wave().fault->what;
  }
}

/// Three tiles of 2 x 4 bytes, 5 rows apart in memory and with gaps in LDS (section 10.11.3.1).
TEST(Gfx12_5, TensorsAreIteratedOver) {
  Gfx1250 runner;
  constexpr unsigned columns = 4, rows = 2, pitch = 7, tiles = 3, apart = 5 * pitch, apart_in_lds = 12;
  std::vector<uint8_t> memory(apart * tiles);
  std::iota(memory.begin(), memory.end(), uint8_t{1});
  const auto at = reinterpret_cast<uint64_t>(memory.data());
  const uint32_t words[12] = {1,
                              16,
                              static_cast<uint32_t>(at),
                              static_cast<uint32_t>(at >> 32) | 2u << 30,
                              1u << 19,
                              columns << 16,
                              rows << 16,
                              columns << 16,
                              rows,
                              pitch,
                              0,
                              0};
  for (unsigned i = 0; i < 12; ++i) runner.s(4 + i) = words[i];
  runner.s(41) = apart_in_lds;
  runner.s(42) = apart;
  runner.s(43) = (tiles - 1) << 16;
  std::memset(runner.lds(), 0xEE, 128);
  ASSERT_EQ(runner.run("tensor_load_to_lds s[4:7], s[8:15], s[40:43], s[44:47]\ns_wait_tensorcnt 0"), WaveState::ended);
  for (unsigned i = 0; i < tiles * apart_in_lds; ++i) {
    const unsigned tile = i / apart_in_lds, element = i % apart_in_lds;
    const unsigned place = tile * apart + element / columns * pitch + element % columns;
    EXPECT_EQ(runner.lds()[16 + i], element < rows * columns ? memory[place] : 0xEE) << i;
  }
  runner.s(43) = 256u << 16;
  ASSERT_EQ(runner.run("tensor_load_to_lds s[4:7], s[8:15], s[40:43], s[44:47]"), WaveState::faulted);
  EXPECT_NE(runner.wave().fault->what.find("more than 256 tiles"), std::string::npos) << runner.wave().fault->what;
}

TEST(Gfx12_5, BarriersInLdsCountArrivals) {
  Gfx1250 runner;
  const uint64_t barrier = uint64_t{3} << 32 | 3;  // four arrive in a phase
  std::memcpy(runner.lds() + 128, &barrier, sizeof barrier);
  runner.fill(1, 128);
  runner.fill(2, 2);
  runner.fill(3, 0);
  ASSERT_EQ(runner.run(R"(
      s_mov_b32 exec_lo, 7
      ds_atomic_async_barrier_arrive_b64 v1
      s_mov_b32 exec_lo, 1
      ds_atomic_barrier_arrive_rtn_b64 v[4:5], v1, v[2:3])"),
            WaveState::ended);
  EXPECT_EQ(runner.v64(4, 0), uint64_t{3} << 32);  // three of four
  uint64_t after = 0;
  std::memcpy(&after, runner.lds() + 128, sizeof after);
  EXPECT_EQ(after, uint64_t{3} << 32 | 0xFFFFu << 16 | 2) << "the next phase, with one arrival";
}

TEST(Gfx12_5, BarriersWithNames) {
  Gfx1250 runner;
  // One wave is all that is expected: its own arrival lets it pass.
  ASSERT_EQ(runner.run(R"(
      s_mov_b32 m0, 0x10003
      s_barrier_init m0
      s_barrier_join 3
      s_barrier_signal_isfirst 3
      s_cselect_b32 s0, 1, 2)"),
            WaveState::ended);
  EXPECT_EQ(runner.s(0), 1u);
  EXPECT_EQ(runner.group().named_barriers[3].phase, 1u);
  // Two are expected: the wave comes back to its wait until another arrives.
  ASSERT_EQ(runner.run("s_mov_b32 m0, 0x20003\ns_barrier_init m0\ns_barrier_join 3\ns_barrier_signal 3\n"
                       "s_barrier_wait 3\ns_mov_b32 s1, 7"),
            WaveState::ready);
  const uint64_t pc = runner.wave().pc;
  EXPECT_EQ(runner.resume(), WaveState::ready);
  EXPECT_EQ(runner.wave().pc, pc);
  EXPECT_EQ(runner.s(1), 0u);
  auto& barrier = runner.group().named_barriers[3];
  EXPECT_EQ(barrier.arrived, 1u);
  ++barrier.phase;
  barrier.arrived = 0;
  WaveState state = runner.resume();
  if (state == WaveState::ready) state = runner.resume();
  EXPECT_EQ(state, WaveState::ended);
  EXPECT_EQ(runner.s(1), 7u);
  ASSERT_EQ(runner.run("s_barrier_wait -3"), WaveState::faulted);
  EXPECT_NE(runner.wave().fault->what.find("cluster"), std::string::npos) << runner.wave().fault->what;
}

/// S_BARRIER_LEAVE: SCC says whether there was one to leave. S_WAKEUP_BARRIER wakes waves, of which none sleeps here.
TEST(Gfx12_5, BarriersAreLeft) {
  Gfx1250 runner;
  ASSERT_EQ(runner.run(R"(
      s_mov_b32 m0, 0x20003
      s_barrier_init m0
      s_barrier_join 3
      s_wakeup_barrier 3
      s_barrier_leave
      s_cselect_b32 s0, 1, 2
      s_barrier_leave
      s_cselect_b32 s1, 1, 2)"),
            WaveState::ended);
  EXPECT_EQ(runner.s(0), 1u);
  EXPECT_EQ(runner.s(1), 2u);
}

/// S_ALLOC_VGPR: in blocks of 32, as many as the kernel may have; SCC says whether it got them. Kernels that are not
/// compiled for it may not.
TEST(Gfx12_5, WavesAskForRegisters) {
  Gfx1250 runner;
  ASSERT_EQ(runner.run("s_alloc_vgpr s4\ns_cselect_b32 s0, 1, 2\nv_mov_b32 v90, s4"), WaveState::faulted);
  machine::Dispatch dispatch;
  dispatch.kernel = std::make_shared<machine::Kernel>();
  dispatch.kernel->entry = runner.code_address();
  dispatch.launch.has_dynamic_vgprs = true;
  dispatch.launch.max_vgprs = 256;
  runner.group().dispatch = &dispatch;
  runner.wave().vgprs = 32;
  runner.engine().code_changed(0, ~uint64_t{0});  // as if no wave with more had come by
  for (const auto& [asked, granted, vgprs] : {std::tuple{70u, 1u, 96u}, {288u, 2u, 96u}, {1u, 1u, 32u}}) {
    runner.s(4) = asked;
    runner.wave().pc = runner.code_address();
    runner.wave().state = WaveState::ready;
    ASSERT_EQ(runner.resume(), WaveState::ended);
    EXPECT_EQ(runner.s(0), granted) << asked;
    EXPECT_EQ(runner.wave().vgprs, vgprs) << asked;
    if (vgprs > 90) EXPECT_EQ(runner.v(90)[0], asked);
  }
}

TEST(Gfx12_5, ScalarAdditions) {
  Gfx1250 runner;
  ASSERT_EQ(runner.run(R"(
      s_get_shader_cycles_u64 s[0:1]
      s_add_pc_i64 4
      s_mov_b32 s2, 1
      s_mov_b32 s3, 2
      s_monitor_sleep 1)"),
            WaveState::ready);
  EXPECT_EQ(runner.s(2), 0u) << "passed over";
  EXPECT_EQ(runner.s(3), 2u);
}

// --- Matrices -------------------------------------------------------------------------------------------------------

/// A source of 16 rows (of A, or columns of B), put into registers by the layout: runs of `run` elements of a row are
/// in lane `row` and lane `row + 16` in turn.
void put(WaveRunner& runner, unsigned reg, unsigned row, unsigned k, unsigned run, unsigned width, uint32_t code) {
  const unsigned lane = row % 16 + k / run % 2 * 16, slot = k / (2 * run) * run + k % run, first = slot * width;
  const unsigned at = reg + row / 16 * 8 + first / 32;
  runner.v(at)[lane] |= code << first % 32;
  if (first % 32 + width > 32) runner.v(at + 1)[lane] |= code >> (32 - first % 32);
}
float got(WaveRunner& runner, unsigned reg, unsigned row, unsigned column) {
  return number(runner.v(reg + row / 16 * 8 + row % 8)[row / 8 % 2 * 16 + column]);
}
/// Small whole numbers, so that sums are exact.
int a_of(unsigned row, unsigned k) { return static_cast<int>((row * 5 + k * 3) % 7) - 3; }
int b_of(unsigned column, unsigned k) { return static_cast<int>((column * 3 + k * 5) % 5) - 2; }
int product(unsigned row, unsigned column, unsigned depth) {
  int sum = 0;
  for (unsigned k = 0; k < depth; ++k) sum += a_of(row, k) * b_of(column, k);
  return sum;
}

uint32_t half_code(int value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }
/// E4M3 and E2M1 of whole numbers from -3 to 3.
uint32_t fp8_code(int value) {
  constexpr uint32_t sizes[4] = {0, 0x38, 0x40, 0x44};
  return sizes[std::abs(value)] | (value < 0 ? 0x80 : 0);
}
uint32_t fp4_code(int value) {
  constexpr uint32_t sizes[4] = {0, 2, 4, 5};
  return sizes[std::abs(value)] | (value < 0 ? 8 : 0);
}

struct Multiplication {
  const char* text;
  unsigned rows, depth, run_a, run_b, width;
  uint32_t (*code)(int value);
};

TEST(Gfx12_5, MatricesOfEachWidth) {
  const Multiplication all[] = {
      {"v_wmma_f32_16x16x4_f32 v[64:71], v[0:1], v[32:33], 1.0", 16, 4, 2, 2, 32,
       [](int value) { return bits(static_cast<float>(value)); }},
      {"v_wmma_f32_16x16x32_f16 v[64:71], v[0:7], v[32:39], 1.0", 16, 32, 8, 8, 16, half_code},
      {"v_wmma_f32_16x16x32_bf16 v[64:71], v[0:7], v[32:39], 1.0", 16, 32, 8, 8, 16,
       [](int value) { return uint32_t{to_brain(static_cast<float>(value))}; }},
      {"v_wmma_f32_16x16x64_fp8_fp8 v[64:71], v[0:7], v[32:39], 1.0", 16, 64, 16, 16, 8, fp8_code},
      {"v_wmma_f32_16x16x128_fp8_fp8 v[64:71], v[0:15], v[32:47], 1.0", 16, 128, 16, 16, 8, fp8_code},
      {"v_wmma_f32_16x16x128_f8f6f4 v[64:71], v[0:15], v[32:47], 1.0", 16, 128, 16, 16, 8, fp8_code},
      {"v_wmma_f32_16x16x128_f8f6f4 v[64:71], v[0:7], v[32:39], 1.0 matrix_a_fmt:MATRIX_FMT_FP4 "
       "matrix_b_fmt:MATRIX_FMT_FP4",
       16, 128, 32, 32, 4, fp4_code},
      {"v_wmma_f32_32x16x128_f4 v[64:79], v[0:15], v[32:39], 1.0", 32, 128, 32, 32, 4, fp4_code},
  };
  for (const Multiplication& one : all) {
    SCOPED_TRACE(one.text);
    Gfx1250 runner;
    runner.fill(0, 0);
    for (unsigned k = 0; k < one.depth; ++k) {
      for (unsigned row = 0; row < one.rows; ++row)
        put(runner, 0, row, k, one.run_a, one.width, one.code(a_of(row, k)));
      for (unsigned column = 0; column < 16; ++column) {
        put(runner, 32, column, k, one.run_b, one.width, one.code(b_of(column, k)));
      }
    }
    ASSERT_EQ(runner.run(one.text), WaveState::ended);
    for (unsigned row = 0; row < one.rows; ++row) {
      for (unsigned column = 0; column < 16; ++column) {
        EXPECT_EQ(got(runner, 64, row, column), static_cast<float>(product(row, column, one.depth) + 1))
            << row << " " << column;
      }
    }
  }
}

TEST(Gfx12_5, MatricesOfIntegersAndPackedResults) {
  Gfx1250 runner;
  runner.fill(0, 0);
  for (unsigned k = 0; k < 64; ++k) {
    for (unsigned i = 0; i < 16; ++i) {
      put(runner, 0, i, k, 16, 8, static_cast<uint8_t>(a_of(i, k)));
      put(runner, 32, i, k, 16, 8, static_cast<uint8_t>(b_of(i, k) + 2));
      if (k >= 32) continue;
      put(runner, 16, i, k, 8, 16, half_code(a_of(i, k)));
      put(runner, 48, i, k, 8, 16, half_code(b_of(i, k)));
    }
  }
  ASSERT_EQ(runner.run("v_wmma_i32_16x16x64_iu8 v[64:71], v[0:7], v[32:39], 5 neg_lo:[1,0,0]\n"
                       "v_wmma_f16_16x16x32_f16 v[72:75], v[16:23], v[48:55], 1.0"),
            WaveState::ended);
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 16; ++column) {
      int sum = 5;
      for (unsigned k = 0; k < 64; ++k) sum += a_of(row, k) * (b_of(column, k) + 2);
      const unsigned lane = row / 8 * 16 + column;
      EXPECT_EQ(static_cast<int>(runner.v(64 + row % 8)[lane]), sum);
      EXPECT_EQ(runner.v(72 + row % 8 / 2)[lane] >> 16 * (row % 2) & 0xFFFF, half_code(product(row, column, 32) + 1));
    }
  }
}

TEST(Gfx12_5, MatricesWithScales) {
  // Scales of A in the upper lanes, 2^(row % 3 + block); of B in the lower, 2^-(column % 2).
  Gfx1250 runner;
  runner.fill(0, 0);
  for (unsigned k = 0; k < 128; ++k) {
    for (unsigned i = 0; i < 16; ++i) {
      put(runner, 0, i, k, 32, 4, fp4_code(a_of(i, k)));
      put(runner, 32, i, k, 16, 8, fp8_code(b_of(i, k)));
    }
  }
  for (unsigned i = 0; i < 16; ++i) {
    for (unsigned block = 0; block < 4; ++block) {
      runner.v(100)[16 + i] |= (127 + i % 3 + block) << 8 * block;
      runner.v(101)[i] |= (127 - i % 2) << 8 * block;
    }
  }
  ASSERT_EQ(runner.run("v_wmma_scale_f32_16x16x128_f8f6f4 v[64:71], v[0:7], v[32:47], 0, v100, v101 "
                       "matrix_a_fmt:MATRIX_FMT_FP4 matrix_a_scale:MATRIX_SCALE_ROW1"),
            WaveState::ended);
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 16; ++column) {
      float sum = 0;
      for (unsigned k = 0; k < 128; ++k) {
        const int power = static_cast<int>(row % 3 + k / 32) - static_cast<int>(column % 2);
        sum += std::ldexp(static_cast<float>(a_of(row, k) * b_of(column, k)), power);
      }
      EXPECT_EQ(got(runner, 64, row, column), sum) << row << " " << column;
    }
  }
}

TEST(Gfx12_5, SparseMatrices) {
  // The matrix A stores two of every four elements: number 0 or 1, and 2 or 3.
  const auto which = [](unsigned row, unsigned k) { return k % 2 * 2 + (row + k / 2) % 2; };
  Gfx1250 runner;
  runner.fill(0, 0);
  constexpr unsigned depth = 64, stored = depth / 2;
  for (unsigned i = 0; i < 16; ++i) {
    for (unsigned k = 0; k < stored; ++k) {
      put(runner, 0, i, k, 8, 16, half_code(a_of(i, k)));
      runner.v(100)[i + k / 16 * 16] |= which(i, k) << 2 * (k % 16);
    }
    for (unsigned k = 0; k < depth; ++k) put(runner, 32, i, k, 16, 16, half_code(b_of(i, k)));
  }
  for (unsigned i = 0; i < 8; ++i) runner.fill(64 + i, bits(2.0f));
  ASSERT_EQ(runner.run("v_swmmac_f32_16x16x64_f16 v[64:71], v[0:7], v[32:47], v100"), WaveState::ended);
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 16; ++column) {
      int sum = 2;
      for (unsigned k = 0; k < stored; ++k) sum += a_of(row, k) * b_of(column, k / 2 * 4 + which(row, k));
      EXPECT_EQ(got(runner, 64, row, column), static_cast<float>(sum)) << row << " " << column;
    }
  }
}

}  // namespace
}  // namespace Atoll::test
