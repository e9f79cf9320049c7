// Regression tests: pieces of machine code for which the engines once disagreed or failed, found by random code.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "engine/wave_runner.h"

namespace Atoll::test {
namespace {

/// Runs the code in both engines, from the same random registers and with s[20:21] the address of 16 words of memory,
/// and compares what is left in registers and there.
void expect_same(std::string_view processor, const std::string& source, unsigned wave_size = 64) {
  setenv("ATOLL_COMPILE", "wait", 1);
  setenv("ATOLL_CACHE", "off", 1);
  WaveRunner interpreted(processor, "interpreter", wave_size), compiled(processor, "compiled", wave_size);
  uint32_t memory[16], left[2][16];
  for (WaveRunner* runner : {&interpreted, &compiled}) {
    for (uint32_t& word : memory) word = 0x12345678;
    std::mt19937 random(1);
    for (unsigned i = 0; i < 32; ++i) {
      for (uint32_t& lane : runner->v(i)) lane = static_cast<uint32_t>(random());
      runner->s(i) = static_cast<uint32_t>(random());
    }
    runner->wave().set_vcc(random() | uint64_t{random()} << 32);
    runner->set_pair(20, memory);
    EXPECT_EQ(runner->run(source), machine::WaveState::ended);
    std::memcpy(left[runner == &compiled], memory, sizeof memory);
  }
  for (unsigned i = 0; i < 32; ++i) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      EXPECT_EQ(interpreted.v(i)[lane], compiled.v(i)[lane]) << "v" << i << ", lane " << lane;
    }
  }
  for (unsigned i = 0; i < isa::scalar::count; ++i) {
    if (i == 100 || i == 101) continue;  // where each has the end of its code
    EXPECT_EQ(interpreted.s(i), compiled.s(i)) << "scalar " << i;
  }
  EXPECT_EQ(std::memcmp(left[0], left[1], sizeof memory), 0);
  EXPECT_EQ(interpreted.wave().scc, compiled.wave().scc);
  EXPECT_EQ(interpreted.wave().instructions, compiled.wave().instructions);
  for (const auto& [reason, times] : compiled.engine().report().failures) ADD_FAILURE() << "not compiled: " << reason;
}

// LLVM 19 did not come to an end over this for AVX-512 (compiler/llvm/mask_scalarization.h).
TEST(FoundCode, LogicOfLaneMasksIsCompiled) {
  expect_same("gfx906", R"(
    v_min3_i32 v26, v29, v19, s3
    s_andn2_saveexec_b64 s[64:65], vcc
    v_min_i32_e64 v16, v26, v26
    s_or_b64 exec, exec, s[64:65]
    v_cmp_lt_f64_e32 vcc, 0x80000000, v[20:21])");
}

// The atomic's result overwrites its data, which were once treated as dead values.
TEST(FoundCode, DataOfScalarAtomicsAreRead) {
  expect_same("gfx900", R"(
    s_movk_i32 s32, 2
  again:
    v_cmp_lt_u16_e64 s[26:27], v18, v26
    s_max_u32 s24, s25, 4.0
    s_sub_u32 s32, s32, 1
    s_cmp_lg_u32 s32, 0
    s_cbranch_scc1 again
    s_atomic_umax s24, s[20:21], 0x0 glc)");
}

// LLVM 19 and 22 choose the wrong bits for AVX-512 where lanes that EXEC leaves out keep one of the values chosen from
// (compiler/llvm/bit_select.h).
TEST(FoundCode, BitsChosenByAConstantAreBlended) {
  expect_same("gfx90a", R"(
    s_brev_b32 s2, -2
    s_and_saveexec_b64 s[30:31], vcc
    v_bfi_b32 v2, s2, v3, v2
    v_bfi_b32 v4, s2, v4, v5
    v_bfi_b32 v6, s2, v7, v8
    s_or_b64 exec, exec, s[30:31]
    v_add_u32_e32 v9, v2, v4
    v_add_u32_e32 v9, v9, v6)");
}

// As above with a constant among the values, as in tanh(infinity).
TEST(FoundCode, BitsChosenFromAConstantAreBlended) {
  expect_same("gfx1030", R"(
    s_brev_b32 s2, -2
    s_and_saveexec_b64 s[30:31], vcc
    v_bfi_b32 v2, s2, 1.0, v2
    v_bfi_b32 v4, s2, 1.0, v5
    s_or_b64 exec, exec, s[30:31]
    v_add_nc_u32_e32 v9, v2, v4)");
}

// The interpreter executes the store, as translated code has no buffers that add the lane to the index; the
// instructions of the block before it were not counted once. CDNA does not range-check such a buffer, so its stride is
// 0.
TEST(FoundCode, InstructionsBeforeAnotherBufferAreCounted) {
  expect_same("gfx90a", R"(
    s_mov_b32 s12, s20
    s_and_b32 s13, s21, 0xffff
    s_mov_b32 s14, 64
    s_mov_b32 s15, 0x807000
    v_and_b32_e32 v1, 60, v1
    s_nop 0
    buffer_store_dword v2, v1, s[12:15], 0 offen)");
}

// The lanes that go round the inner loop most are others each time: the wave goes round more often than any of them.
TEST(FoundCode, RoundsOfLoopsWithinLoopsAreCounted) {
  expect_same("gfx900", R"(
    v_mbcnt_lo_u32_b32 v10, -1, 0
    v_mbcnt_hi_u32_b32 v10, -1, v10
    v_lshrrev_b32_e32 v10, 4, v10
    s_movk_i32 s32, 2
  outer:
    s_mov_b64 s[12:13], 0
    v_mov_b32_e32 v11, 0
  inner:
    v_add_u32_e32 v11, 1, v11
    v_cmp_gt_u32_e32 vcc, v11, v10
    s_or_b64 s[12:13], vcc, s[12:13]
    s_andn2_b64 exec, exec, s[12:13]
    s_cbranch_execnz inner
    s_or_b64 exec, exec, s[12:13]
    v_sub_co_u32_e32 v10, vcc, 3, v10
    s_sub_u32 s32, s32, 1
    s_cmp_lg_u32 s32, 0
    s_cbranch_scc1 outer)");
}

// LLVM makes -a * 4 a * -4, which has another sign where a is a NaN.
TEST(FoundCode, NaNsThatAreNegatedKeepTheirSign) {
  for (const char* const line :
       {"v_ldexp_f32 v10, -v12, 34", "v_ldexp_f16 v10, -v12, 3", "v_ldexp_f64 v[10:11], -v[12:13], 4",
        "v_mul_f32 v10, -v12, 4.0", "v_fma_f32 v10, -v12, 4.0, 0", "v_mul_f64 v[10:11], -v[12:13], 4.0",
        "v_div_scale_f32 v10, vcc, -v12, -1, v3", "v_div_scale_f64 v[10:11], vcc, -v[12:13], -1, v[3:4]"}) {
    SCOPED_TRACE(line);
    // NaNs in some lanes.
    expect_same("gfx908", std::string(R"(
      v_or_b32_e32 v12, 0x7fffff00, v1
      v_cndmask_b32_e32 v12, v2, v12, vcc
      v_or_b32_e32 v13, 0x7fffff00, v2
      v_cndmask_b32_e32 v13, v1, v13, vcc
      )") + line);
  }
}

// SCC comes from the lanes at the end of the region. s_bitreplicate leaves it alone and is done before that: it wrote
// back what SCC had been at the region's beginning.
TEST(FoundCode, SccOfLaneMasksStaysWhatItIs) {
  expect_same("gfx90a", R"(
    v_mov_b32 v9, 0
    s_or_b32 s22, s22, 1
    s_cselect_b64 s[24:25], 4.0, s[26:27]
    v_cmp_neq_f64_e32 vcc, 0x7fc00000, v[8:9]
    s_andn1_wrexec_b64 vcc, vcc
    s_bitreplicate_b64_b32 s[48:49], s24)");
}

// They are no chain of products, and no call of several has them all. Of integers, as random floats become NaNs.
TEST(MatrixCode, MatricesThatAreMadeAreMultiplied) {
  expect_same("gfx90a", R"(
    v_mfma_i32_4x4x4i8 v[0:3], v4, v5, v[0:3]
    v_mfma_i32_4x4x4i8 v[0:3], v1, v5, v[0:3]
    v_mfma_i32_4x4x4i8 v[8:11], v0, v6, v[8:11])");
  expect_same("gfx1100", R"(
    v_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[16:19], v[0:7]
    v_wmma_i32_16x16x16_iu8 v[24:31], v[8:11], v[16:19], v[24:31] neg_lo:[0,1,0]
    v_wmma_i32_16x16x16_iu8 v[24:31], v[0:3], v[16:19], v[24:31]
    v_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[24:27], v[0:7]
    v_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[4:7], v[0:7]
    v_wmma_i32_16x16x16_iu8 v[0:7], v[1:4], v[4:7], v[0:7] neg_lo:[1,0,0])",
              32);
  expect_same("gfx1201", R"(
    v_swmmac_i32_16x16x32_iu8 v[0:7], v[8:9], v[16:19], v12
    v_swmmac_i32_16x16x32_iu8 v[24:31], v[8:9], v[16:19], v0
    v_wmma_i32_16x16x16_iu8 v[24:31], v[24:25], v[16:17], v[24:31]
    v_wmma_i32_16x16x16_iu8 v[12:19], v[24:25], v[28:29], 1)",
              32);
}

}  // namespace
}  // namespace Atoll::test
