// Translated code in every floating-point mode: what waves begin in, and what code changes.
#include "comparison.h"

#include <bit>

#include <fmt/format.h>

namespace Atoll::test {
namespace {

constexpr uint32_t usual_mode = 0x3F0;  // round to nearest, all denormals, DX10_CLAMP, IEEE

/// Values for which the modes differ: zeros, denormals, the smallest normal numbers, and operands of results near
/// these, in both signs; ordinary numbers, infinities and NaNs.
const std::vector<uint32_t> singles = {0x0000'0000, 0x0000'0001, 0x0040'0000, 0x007F'FFFF, 0x0080'0000, 0x0080'0001,
                                       0x00FF'FFFF, 0x0100'0000, 0x3380'0000, 0x3F00'0000, 0x3F7F'FFFF, 0x3F80'0000,
                                       0x3F80'0001, 0x3FC0'0000, 0x4B00'0001, 0x7F7F'FFFF, 0x7F80'0000, 0x7F80'0001,
                                       0x7FC0'1234, 0x1FFF'FFFF, 0x2000'0001, 0x5F00'0000, 0x4F00'0000, 0x4EFF'FFFF,
                                       0x3EAA'AAAB, 0x0C00'0000, 0x7280'0001};
const std::vector<uint16_t> halves = {0x0000, 0x0001, 0x0200, 0x03FF, 0x0400, 0x0401, 0x07FF, 0x0800, 0x1000, 0x3555,
                                      0x3BFF, 0x3C00, 0x3C01, 0x3E00, 0x6401, 0x7BFF, 0x7C00, 0x7C01, 0x7E12, 0x1FFF};
const std::vector<uint64_t> doubles = {
    0x0000'0000'0000'0000, 0x0000'0000'0000'0001, 0x0008'0000'0000'0000, 0x000F'FFFF'FFFF'FFFF, 0x0010'0000'0000'0000,
    0x0010'0000'0000'0001, 0x001F'FFFF'FFFF'FFFF, 0x3FE0'0000'0000'0000, 0x3FF0'0000'0000'0001, 0x3FF8'0000'0000'0000,
    0x4330'0000'0000'0001, 0x7FEF'FFFF'FFFF'FFFF, 0x7FF0'0000'0000'0000, 0x7FF0'0000'0000'0001, 0x7FF8'1234'0000'5678,
    0x1FFF'FFFF'FFFF'FFFF, 0x380F'FFFF'F000'0000, 0x36A0'0000'0000'0001, 0x3FD5'5555'5555'5555};

/// A choice of values with a sign bit at random.
template <typename T>
T pick(const std::vector<T>& values, std::mt19937& random) {
  const T sign = static_cast<T>(uint64_t{random() & 1} << (8 * sizeof(T) - 1));
  return static_cast<T>(values[random() % values.size()] ^ sign);
}

/// Singles in v1 to v4 and s1 to s3, halves in v5 to v8, doubles in v[10:11] to v[14:15], where the modes show.
void set_special_values(WaveRunner& runner) {
  std::mt19937 random(7);
  for (unsigned lane = 0; lane < 64; ++lane) {
    for (unsigned i = 1; i <= 4; ++i) runner.v(i)[lane] = pick(singles, random);
    for (unsigned i = 5; i <= 8; ++i) runner.v(i)[lane] = pick(halves, random) | uint32_t{pick(halves, random)} << 16;
  }
  for (const unsigned i : {10u, 12u, 14u}) {
    runner.set_rows(i, [&](unsigned) { return pick(doubles, random); });
  }
  runner.s(1) = 0x0000'1234;
  runner.s(2) = 0x807F'FFFF;
  runner.s(3) = 0x3FC0'0000;
}

auto in_mode(uint32_t mode) {
  return [mode](WaveRunner& runner) {
    set_special_values(runner);
    runner.wave().mode = mode;
    runner.wave().float_mode = machine::float_mode_of(mode, runner.wave().float_mode);
  };
}

/// Single precision and the others in every way to treat denormals and in every rounding, and not in the same; IEEE and
/// DX10_CLAMP off in some.
constexpr uint32_t modes[] = {0x300, 0x390, 0x360, 0x3C0, 0x330, 0x3F9, 0x3F6, 0x3F3, 0x0FC, 0x1C7, 0x20E, 0x0D0};

void compare_in_modes(const std::string& source, std::string_view processor = "gfx90a") {
  for (const uint32_t mode : modes) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, fmt::format("in mode {:03x}", mode));
    Comparison comparison(source, processor);
    comparison.with(in_mode(mode)).run();
    EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
    if (testing::Test::HasFailure()) return;
  }
}

/// What one instruction writes another one reads, straight, changed in its sign, in some lanes only, and around a loop:
/// flushed once, it need not be again (compiler/llvm/double_flushes.h), but what is loaded or computed as an integer
/// need.
TEST(Modes, ChainsOfSinglePrecision) {
  compare_in_modes(R"(
    v_mul_f32 v16, v1, v2
    v_add_f32 v17, v16, -v16
    v_mul_f32 v18, |v16|, -v3
    v_xor_b32 v19, 0x80000000, v18
    v_mul_f32 v20, v19, v1
    v_and_b32 v21, 0x7fffffff, v20
    v_mul_f32 v22, 1.0, v21
    v_or_b32 v23, 1, v20
    v_mul_f32 v24, 1.0, v23
    s_mov_b64 s[10:11], exec
    s_mov_b32 exec_lo, 0x5a5a5a5a
    v_mul_f32 v20, v20, v2
    v_mov_b32 v22, v3
    s_mov_b64 exec, s[10:11]
    v_mul_f32 v25, 1.0, v20
    v_mul_f32 v26, 1.0, v22
    v_cndmask_b32 v27, v20, v18, vcc
    v_mul_f32 v27, 1.0, v27
    v_mov_b32 v28, v1
    v_mov_b32 v29, 0
    s_mov_b32 s12, 3
  again:
    v_mul_f32 v28, 0.5, v28
    v_add_f32 v29, v29, v28
    v_fma_f32 v4, v28, v29, v4
    s_sub_u32 s12, s12, 1
    s_cmp_lg_u32 s12, 0
    s_cbranch_scc1 again
    v_mul_f32 v30, 1.0, v29
    v_mul_f32 v31, 1.0, v4
  )");
}

TEST(Modes, SinglePrecision) {
  compare_in_modes(R"(
    v_add_f32 v16, v1, v2
    v_sub_f32 v17, v1, s1
    v_mul_f32 v18, v1, v2
    v_mul_f32 v19, 0.5, -v1
    v_fma_f32 v20, v1, v2, v3
    v_mac_f32 v4, v1, v2
    v_fmac_f32 v21, v2, v3
    v_mad_f32 v22, v1, |v2|, -v3
    v_min_f32 v23, v1, v2
    v_max_f32 v24, v1, v1
    v_med3_f32 v25, v1, v2, s2
    v_min3_f32 v26, v1, v2, v3
    v_cmp_lt_f32 vcc, v1, v2
    v_cmp_eq_f32 s[6:7], 0, v1
    v_cmp_class_f32 s[8:9], v1, v0
    v_cndmask_b32 v27, v1, v2, vcc
    v_rcp_f32 v28, v1
    v_rsq_f32 v29, v2
    v_sqrt_f32 v30, |v1|
    v_exp_f32 v31, v1
    v_log_f32 v32, v1
    v_sin_f32 v33, v1
    v_floor_f32 v34, v1
    v_fract_f32 v35, v1
    v_frexp_mant_f32 v36, v1
    v_frexp_exp_i32_f32 v37, v1
    v_ldexp_f32 v38, v1, v0
    v_pk_fma_f32 v[40:41], v[2:3], v[4:5], v[2:3] op_sel:[1,0,0]
    v_pk_mul_f32 v[42:43], v[2:3], v[4:5]
    v_mul_f32 v44, v1, v2 mul:2
    v_add_f32 v45, v1, v2 clamp div:2)");
}

TEST(Modes, HalfPrecision) {
  compare_in_modes(R"(
    v_add_f16 v16, v5, v6
    v_mul_f16 v17, v5, v6
    v_fma_f16 v18, v5, v6, v7
    v_mac_f16 v8, v5, v6
    v_mad_f16 v19, v5, v6, v7 op_sel:[1,0,1,1]
    v_max_f16 v20, v5, v6
    v_med3_f16 v21, v5, v6, v7
    v_pk_add_f16 v22, v5, v6 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0]
    v_pk_mul_f16 v23, v5, v6
    v_pk_fma_f16 v24, v5, v6, v7
    v_pk_min_f16 v25, v5, v6
    v_fma_mix_f32 v26, v5, v1, v6 op_sel_hi:[1,0,1]
    v_fma_mixlo_f16 v27, v1, v2, v5 op_sel_hi:[0,0,1]
    v_fma_mixhi_f16 v27, v1, v2, v3 clamp
    v_cmp_lt_f16 vcc, v5, v6
    v_rcp_f16 v28, v5
    v_sqrt_f16 v29, v6
    v_exp_f16 v30, v5
    v_rndne_f16 v31, v5
    v_ldexp_f16 v32, v5, v6
    v_pack_b32_f16 v33, v5, v6
    v_dot2_f32_f16 v34, v5, v6, v1)");
}

TEST(Modes, DoublePrecision) {
  compare_in_modes(R"(
    v_add_f64 v[16:17], v[10:11], v[12:13]
    v_mul_f64 v[18:19], v[10:11], v[12:13]
    v_fma_f64 v[20:21], v[10:11], -v[12:13], v[14:15]
    v_min_f64 v[22:23], v[10:11], v[12:13]
    v_max_f64 v[24:25], v[10:11], v[10:11] clamp
    v_cmp_gt_f64 vcc, v[10:11], v[12:13]
    v_rcp_f64 v[26:27], v[10:11]
    v_sqrt_f64 v[28:29], |v[12:13]|
    v_fract_f64 v[30:31], v[10:11]
    v_ldexp_f64 v[32:33], v[10:11], v0
    v_frexp_mant_f64 v[34:35], v[10:11]
    v_trunc_f64 v[36:37], v[10:11])");
}

TEST(Modes, Conversions) {
  compare_in_modes(R"(
    v_cvt_f32_f64 v16, v[10:11]
    v_cvt_f64_f32 v[18:19], v1
    v_cvt_f16_f32 v20, v1
    v_cvt_f32_f16 v21, v5
    v_cvt_i32_f32 v22, v1
    v_cvt_u32_f64 v23, v[10:11]
    v_cvt_f32_i32 v24, v1
    v_cvt_f32_u32 v25, v2
    v_cvt_f64_u32 v[26:27], v1
    v_cvt_pkrtz_f16_f32 v28, v1, v2
    v_cvt_pknorm_i16_f32 v29, v1, v2
    v_cvt_pk_u8_f32 v30, v1, v0, v2
    v_cvt_flr_i32_f32 v31, v1
    v_cvt_f16_u16 v32, v5
    v_cvt_i16_f16 v33, v5
    v_cvt_norm_u16_f16 v34, v5)");
}

TEST(Modes, PartsAndOtherLanes) {
  compare_in_modes(R"(
    v_add_f32_sdwa v16, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:DWORD
    v_mul_f16_sdwa v17, -v5, v6 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0
    v_max_f16_sdwa v18, v5, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_1
    v_add_f32_dpp v19, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf
    v_mul_f32_dpp v20, -v1, |v2| quad_perm:[1,0,3,2] row_mask:0xa bank_mask:0x5 bound_ctrl:0
    v_mac_f32_dpp v21, v1, v2 row_ror:3 row_mask:0xf bank_mask:0xf
    v_cmp_lt_f32_sdwa vcc, v1, v2 src0_sel:DWORD src1_sel:WORD_0)");
}

/// As compilers divide single precision in code that flushes denormals: denormals are on for some of it.
constexpr const char* division = R"(
    v_div_scale_f32 v16, s[6:7], v2, v2, v1
    v_div_scale_f32 v17, vcc, v1, v2, v1
    v_rcp_f32 v18, v16
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
    v_fma_f32 v19, -v16, v18, 1.0
    v_fma_f32 v18, v19, v18, v18
    v_mul_f32 v19, v17, v18
    v_fma_f32 v20, -v16, v19, v17
    v_fma_f32 v19, v20, v18, v19
    v_fma_f32 v16, -v16, v19, v17
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    v_div_fmas_f32 v16, v16, v18, v19
    v_div_fixup_f32 v21, v16, v2, v1)";

TEST(Modes, DivisionInFlushingCode) {
  compare_in_modes(division);
  compare_in_modes(R"(
    v_div_scale_f64 v[16:17], s[6:7], v[12:13], v[12:13], v[10:11]
    v_div_scale_f64 v[18:19], vcc, v[10:11], v[12:13], v[10:11]
    v_div_fmas_f64 v[20:21], v[16:17], v[18:19], v[14:15]
    v_div_fixup_f64 v[22:23], v[20:21], v[12:13], v[10:11])");
}

TEST(Modes, ChangeWithinALoop) {
  Comparison comparison(R"(
    s_mov_b32 s4, 0
    v_mov_b32 v22, 1.0
    again:
    )" + std::string(division) +
                        R"(
    v_add_f32 v22, v22, v21
    v_mul_f32 v1, 0.5, v1
    v_cmp_gt_u32 vcc, 64, v0
    s_add_i32 s4, s4, 1
    s_cmp_lt_u32 s4, 9
    s_cbranch_scc1 again
    s_getreg_b32 s5, hwreg(HW_REG_MODE))");
  comparison.with(in_mode(0x3C0)).run();
  EXPECT_THAT(comparison.plan(), HasPlan("loop region"));
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
}

TEST(Modes, StayAsALoopLeavesThem) {
  Comparison comparison(R"(
    s_mov_b32 s4, 0
    again:
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    v_mul_f32 v1, 0.5, v1
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 5
    v_mul_f32 v2, 0.5, v2
    s_add_i32 s4, s4, 1
    s_cmp_lt_u32 s4, 9
    s_cbranch_scc0 done
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15
    s_branch again
    done:
    s_getreg_b32 s5, hwreg(HW_REG_MODE)
    v_mul_f32 v3, 0.5, v3)");
  comparison.with(in_mode(usual_mode)).run();
  EXPECT_THAT(comparison.plan(), HasPlan("loop region"));
  EXPECT_EQ(comparison.expected().s(5) >> 4 & 0xF, 5u);
}

/// PhiBuilder that come in different modes to the same code.
TEST(Modes, MeetInDifferentOnes) {
  for (const uint32_t word : {0u, 1u}) {
    Comparison comparison(R"(
      s_cmp_eq_u32 s1, 0
      s_cbranch_scc1 flush
      v_add_f32 v16, v1, v2
      s_branch meet
      flush:
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
      v_add_f32 v17, v1, v2
      meet:
      v_add_f32 v18, v1, v2
      v_mul_f32 v19, v1, v2)");
    comparison
        .with([&](WaveRunner& runner) {
          in_mode(usual_mode)(runner);
          runner.s(1) = word;
        })
        .run();
  }
}

TEST(Modes, ComeFromRegisters) {
  for (const uint32_t mode : {usual_mode, 0x3C0u, 0x300u, 0x3FFu}) {  // the first is what is guessed
    Comparison comparison(R"(
      v_add_f32 v16, v1, v2
      s_setreg_b32 hwreg(HW_REG_MODE, 0, 10), s1
      v_add_f32 v17, v1, v2
      v_mul_f32 v18, v1, v2
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 1
      v_mul_f32 v19, v1, v2)");
    comparison
        .with([&](WaveRunner& runner) {
          in_mode(usual_mode)(runner);
          runner.s(1) = mode;
        })
        .run();
    EXPECT_THAT(comparison.plan(), HasPlan(R"(
      interpreter fallback
      NEXT: region
      NOT: interpreter fallback)"));
  }
}

/// Atomics on LDS and interpreter fallbacks read the mode from the wave.
TEST(Modes, AreSeenByTheInterpreter) {
  Comparison comparison(R"(
    v_lshlrev_b32 v16, 2, v0
    ds_write_b32 v16, v1
    v_add_f32 v17, v1, v2
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    s_getreg_b32 s4, hwreg(HW_REG_MODE)
    v_add_f32 v18, v1, v2
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
    ds_add_f32 v16, v2
    v_add_f32 v19, v1, v2
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    ds_add_rtn_f32 v20, v16, v3
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v21, v16)");
  comparison.with(in_mode(usual_mode)).run();
  EXPECT_EQ(comparison.expected().s(4), 0x3C0u);
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
}

/// Where not all lanes are active, atomics are done by functions that several of them share.
TEST(Modes, AtomicsOfSomeLanes) {
  Comparison comparison(R"(
    v_lshlrev_b32 v16, 2, v0
    ds_write_b32 v16, v1
    v_cmp_gt_u32 vcc, 37, v0
    s_and_saveexec_b64 s[6:7], vcc
    ds_add_f32 v16, v2
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    ds_add_f32 v16, v3
    s_mov_b64 exec, s[6:7]
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v21, v16)");
  comparison.with(in_mode(usual_mode)).run();
  EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
}

}  // namespace
}  // namespace Atoll::test
