// Translated code of GFX12.5 that chooses banks of VGPRs (s_set_vgpr_msb), and matrices, buffers and addresses of
// scratch there: nothing of it is left to the interpreter.
#include "comparison.h"

#include <array>

namespace Atoll::test {
namespace {

/// Both waves have two banks. (s_set_vgpr_msb has two bits for the first, second and third source and the destination.)
Comparison& with_banks(Comparison& comparison) {
  return comparison.with([](WaveRunner& runner) {
    runner.wave().vgprs = 512;
    std::mt19937 random(3);
    for (unsigned reg = 256; reg < 288; ++reg) {
      for (uint32_t& lane : runner.v(reg)) lane = static_cast<uint32_t>(random());
    }
  });
}

TEST(VgprBanks, ChangeWithinARegion) {
  Comparison comparison(R"(
    v_add_nc_u32 v16, v1, v2
    s_set_vgpr_msb 0x40
    v_add_nc_u32 v17, v16, v2
    s_set_vgpr_msb 0x01
    v_xor_b32 v18, v17, v3
    s_set_vgpr_msb 0x54
    v_fma_f32 v19, v4, v5, v6
    s_set_vgpr_msb 0x10
    v_fmac_f32 v20, v4, v5
    s_set_vgpr_msb 0x55
    v_fmamk_f32 v21, v4, 0x40490fdb, v5
    s_set_vgpr_msb 0)",
                        "gfx1250");
  with_banks(comparison).run();
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
  EXPECT_EQ(comparison.times_given_back(), 0u);
  EXPECT_EQ(comparison.expected().v(256 + 17)[5], comparison.expected().v(16)[5] + comparison.expected().v(2)[5]);
}

/// A loop whose rounds end in the banks that they begin in.
TEST(VgprBanks, ChangeWithinALoop) {
  Comparison comparison(R"(
    s_mov_b32 s4, 5
    again:
    s_set_vgpr_msb 0x44
    v_add_nc_u32 v16, v1, v2
    s_set_vgpr_msb 0x41
    v_add_nc_u32 v17, v16, v17
    s_set_vgpr_msb 0
    v_add_nc_u32 v18, v17, v18
    s_sub_co_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 again)",
                        "gfx1250");
  with_banks(comparison).run();
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
  EXPECT_THAT(comparison.plan(), HasPlan("loop region"));
}

/// Code that is come to in two banks belongs to one of them.
TEST(VgprBanks, MeetInOthers) {
  for (const uint32_t word : {0u, 1u}) {
    Comparison comparison(R"(
      s_cmp_eq_u32 s1, 0
      s_cbranch_scc1 other
      s_set_vgpr_msb 0x41
      v_add_nc_u32 v16, v1, v2
      other:
      v_add_nc_u32 v17, v1, v2
      s_set_vgpr_msb 0
      v_add_nc_u32 v18, v1, v2)",
                          "gfx1250");
    with_banks(comparison).with([&](WaveRunner& runner) { runner.s(1) = word; }).run();
    const unsigned bank = word == 0 ? 0 : 256;
    EXPECT_EQ(comparison.expected().v(bank + 17)[3],
              comparison.expected().v(bank + 1)[3] + comparison.expected().v(2)[3]);
  }
}

/// MODE as instructions read and write it: constants to it have the banks, whatever field they are for.
TEST(VgprBanks, AreAPartOfMode) {
  Comparison comparison(R"(
    s_set_vgpr_msb 0x41
    v_add_nc_u32 v16, v1, v2
    s_getreg_b32 s4, hwreg(HW_REG_WAVE_MODE)
    s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 4, 2), 0x4000
    v_add_nc_u32 v17, v1, v2
    s_getreg_b32 s5, hwreg(HW_REG_WAVE_MODE)
    s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 1
    v_add_nc_u32 v18, v1, v2
    s_getreg_b32 s6, hwreg(HW_REG_WAVE_MODE))",
                        "gfx1250");
  with_banks(comparison).run();
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
  EXPECT_EQ(comparison.expected().s(4) >> 12 & 0xFF, 0x05u);  // the destination's first
  EXPECT_EQ(comparison.expected().s(5) >> 12 & 0xFF, 0x04u);
  EXPECT_EQ(comparison.expected().s(6) >> 12 & 0xFF, 0u);
}

TEST(VgprBanks, MatricesHaveThemToo) {
  Comparison comparison(R"(
    v_wmma_f32_16x16x32_f16 v[32:39], v[2:9], v[10:17], 0
    v_wmma_f32_16x16x32_f16 v[40:47], v[2:9], v[18:25], 0
    s_set_vgpr_msb 0x41
    v_wmma_f32_16x16x32_f16 v[32:39], v[0:7], v[10:17], 1.0
    s_set_vgpr_msb 0
    v_add_nc_u32 v50, v1, v2
    v_wmma_f32_16x16x32_f16 v[32:39], v[2:9], v[18:25], v[32:39]
    v_wmma_scale_f32_16x16x128_f8f6f4 v[64:71], v[2:17], v[10:25], v[32:39], s4, v3 matrix_a_fmt:MATRIX_FMT_BF8
    s_mov_b32 s4, 0x7f7e7d80
    v_wmma_scale_f32_16x16x128_f8f6f4 v[72:79], v[2:17], v[10:25], v[32:39], s4, v3
    v_swmmac_i32_16x16x128_iu8 v[80:87], v[2:9], v[10:25], v[26:27] neg_lo:[1,0,0])",
                        "gfx1250");
  with_banks(comparison).run();
  EXPECT_THAT(comparison.plan(), HasPlan(R"(
    v_wmma_f32_16x16x32_f16 matrix, after the loop
    v_wmma_f32_16x16x32_f16 matrix, after the loop
    v_swmmac_i32_16x16x128_iu8 matrix, after the loop)"));
}

TEST(VgprBanks, BuffersAndScratch) {
  std::array<uint32_t, 64> in, out{};
  for (unsigned i = 0; i < in.size(); ++i) in[i] = 1000 + i;
  Comparison comparison(R"(
    v_lshlrev_b32 v16, 2, v0
    buffer_load_b32 v17, v16, s[4:7], null offen
    buffer_load_b64 v[18:19], v16, s[4:7], s9 offen offset:8
    buffer_load_b32 v20, v0, s[12:15], null idxen offset:4
    s_set_vgpr_msb 0x40
    buffer_load_u8 v21, v16, s[4:7], null offen
    s_set_vgpr_msb 0
    v_add_nc_u32 v22, v17, v20
    s_wait_loadcnt 0
    buffer_store_b32 v22, v16, s[24:27], null offen offset:64
    s_mov_b64 s[20:21], src_flat_scratch_base_lo
    v_add_nc_u64 v[24:25], v[16:17], src_flat_scratch_base_lo)",
                        "gfx1250");
  with_banks(comparison)
      .with([&](WaveRunner& runner) {
        // 57 bits of address, 45 of size, and the stride from bit 108 on (LLVM, lowerPointerAsRsrcIntrin).
        const auto describe = [&](unsigned reg, const auto& memory, uint64_t size, uint32_t stride) {
          runner.wave().set_scalar64(reg, reinterpret_cast<uint64_t>(memory.data()) | size << 57);
          runner.s(reg + 2) = static_cast<uint32_t>(size >> 7);
          runner.s(reg + 3) = stride << 12;
        };
        describe(4, in, 100, 0);
        describe(12, in, 20, 8);
        describe(24, out, 160, 0);
        runner.s(9) = 4;
        runner.wave().scratch = nullptr;
      })
      .run();
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
  for (unsigned lane = 0; lane < 32; ++lane) {
    const uint32_t raw = lane < 25 ? 1000 + lane : 0, record = lane < 20 ? 1001 + 2 * lane : 0;
    EXPECT_EQ(comparison.expected().v(17)[lane], raw);
    EXPECT_EQ(comparison.expected().v(18)[lane], lane < 22 ? 1003 + lane : 0);
    EXPECT_EQ(comparison.expected().v(20)[lane], record);
    EXPECT_EQ(out[16 + lane], lane < 24 ? raw + record : 0);
  }
}

}  // namespace
}  // namespace Atoll::test
