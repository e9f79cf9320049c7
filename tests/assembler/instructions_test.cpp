// Instructions in the ways that people and compilers write them, beyond the canonical texts of the sweep: other
// spellings, expressions, symbols known later, relocations, branches, and the symbols that count registers. Whole
// objects are compared with llvm-mc-22's; of what it refuses, the places.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assembler/llvm_assembler.h"

namespace Atoll::test {
namespace {

TEST(Instructions, OperandsCanBeSpelledInSeveralWays) {
  expect_same_object(R"(
v_add_f32 v0, v[1], v[2:2]
v_add_f32 v[4/2], v1, v[1+1]
v_add_f64 v[2*2:2*2+1], [v0,v1], v[6:7]
v_add_f32 v0 v2 v1
v_add_f32 v0, neg(v1), abs(v2)
v_add_f32 v0, -|v1|, neg(abs(v2))
v_add_f32 v0, |v1|, -v2
v_add_f32 v0, -abs(v1), v2
v_add_f32 v0, neg(0x12345678), v1
v_add_f32 v0, |1.0|, v1
v_add_f32_e64 v0, neg(1.0), v1
v_add_f32_e64 v0, -1, |-2|
v_mov_b32_sdwa v0, sext(v1) dst_sel:BYTE_0 src0_sel:WORD_1
v_add_f32_sdwa v0, -v1, |v2|
s_mov_b64 s[0:1], [s2,s3]
s_load_dwordx4 [s4,s5,s6,s7], [s2,s3], 4*4
s_mov_b32 ttmp[3], 1
s_mov_b32 s0, shared_base
s_mov_b32 vcc_lo, src_scc
s_mov_b64 exec, vcc
s_and_b64 s[2:3], exec, vcc
v_cndmask_b32 v0, v1, v2, vcc
v_cndmask_b32 v0, v1, v2, s[4:5]
v_cmp_lt_f32 vcc, v0, v1
v_cmp_lt_f32 s[4:5], v0, v1
buffer_load_dword v0, v[1:2], s[4:7], 0 idxen offen offset:8 glc slc
buffer_load_dword v0 off s[4:7] s1 offset:4095
tbuffer_load_format_x v0, off, s[4:7], s1 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]
tbuffer_load_format_x v0, off, s[4:7], dfmt:4, nfmt:7, s1
tbuffer_load_format_x v0, off, s[4:7], s1 format:0x74
ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM, "01pip")
ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM, 3, 2, 1, 0)
ds_read2_b32 v[0:1], v2 offset0:1 offset1:2
)",
                     "gfx900");
}

TEST(Instructions, ConstantsAreInlineOrLiteral) {
  expect_same_object(R"(
v_add_f32 v0, 1.5, v1
v_add_f32 v0, 1.0, v1
v_add_f32 v0, 1, v1
v_add_f32 v0, -16, v1
v_add_f32 v0, -17, v1
v_add_f32 v0, 0x3f800000, v1
v_add_f32 v0, 0x1p-3, v1
v_add_f32 v0, 3.4028235e38, v1
v_add_f32 v0, 0.15915494309189532, v1
v_add_f32 v0, -0.0, v1
v_add_f16 v0, 1.5, v1
v_add_f16 v0, 0xfff0, v1
v_add_f16 v0, 65504.0, v1
v_add_u16 v0, -5, v1
v_add_u16 v0, 0xfffb, v1
v_add_u16 v0, -17, v1
v_add_u32 v0, 0xfffffff0, v1
v_add_u32 v0, 2.0, v1
v_trunc_f64 v[0:1], 1.5
v_trunc_f64 v[0:1], 0x3ff80000
v_trunc_f64 v[0:1], 0.5
v_pk_add_f16 v0, 1.0, v1
s_mov_b32 s0, 1.0
s_mov_b64 s[0:1], 1.0
s_mov_b64 s[0:1], 0x12345678
s_mov_b64 s[0:1], 0xfffffffff2345678
s_mov_b32 s0, lit(5)
s_mov_b32 s0, lit(1.0)
s_movk_i32 s0, -2
s_movk_i32 s0, 0xfffe
s_add_u32 s0, 0x12345, 0x12345
v_madak_f32 v0, v1, v2, 1.0
v_madmk_f16 v0, v1, 0x1234, v2
)",
                     "gfx900");
  expect_same_object(R"(
v_fma_f32 v0, v1, s2, 0x1234
v_fma_f64 v[0:1], v[2:3], 0x3ff80000, v[4:5]
v_fmaak_f32 v0, 0x1234, v1, 0x1234
v_fmaak_f32 v0, 1.0, v1, 1.0
v_fma_mix_f32 v0, 1.0, v1, v2
v_fma_mix_f32 v0, 1.5, v1, v2
v_pk_add_f16 v0, 0x3c003c00, v1
v_pk_add_u16 v0, 0x3f800000, v1
v_mul_lo_u16 v0.l, 0xfff0, v1.h
v_add_f16 v0.l, 0xfff0, v1.l
v_add_f16 v0, 1.0, v1
v_add_f16_e64 v0.l, v1.h, v2.l op_sel:[1,0,0]
v_cndmask_b32 v0, v1, v2
v_dual_mov_b32 v0, 0x1234 :: v_dual_add_f32 v1, 0x1234, v2
v_dual_cndmask_b32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5
)",
                     "gfx1100");
}

// LLVM knows a register by the names of other generations, too.
TEST(Instructions, HardwareRegistersHaveOtherNames) {
  std::string text;
  for (const char* name : {"MODE", "STATUS", "STATE_PRIV", "GPR_ALLOC", "LDS_ALLOC", "HW_ID1", "HW_ID2",
                           "DVGPR_ALLOC_LO", "DVGPR_ALLOC_HI", "EXCP_FLAG_PRIV", "EXCP_FLAG_USER", "TRAP_CTRL",
                           "SCRATCH_BASE_LO", "SCRATCH_BASE_HI", "WAVE_DVGPR_ALLOC_HI"})
    text += fmt::format("s_getreg_b32 s0, hwreg(HW_REG_{})\n", name);
  for (const char* processor : {"gfx1200", "gfx1201", "gfx1250"}) expect_same_object(text, processor);
  for (const char* processor : {"gfx1010", "gfx1030"})
    expect_same_object("s_getreg_b32 s0, hwreg(HW_REG_HW_ID)\n", processor);
}

TEST(Instructions, ImmediatesHaveNames) {
  expect_same_object(R"(
s_waitcnt vmcnt(0)&lgkmcnt(0)
s_waitcnt vmcnt(0), lgkmcnt(0)
s_waitcnt vmcnt(0) lgkmcnt(0)
s_waitcnt lgkmcnt_sat(33)
s_waitcnt 0
.set value, 7
s_waitcnt value + 1
s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 1)
s_sendmsg sendmsg(3, 2)
s_sendmsg sendmsg(MSG_SYSMSG, SYSMSG_OP_REG_RD)
s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s0
s_setreg_imm32_b32 hwreg(1), 0x55
s_getreg_b32 s0, hwreg(HW_REG_HW_ID)
s_set_gpr_idx_on s0, gpr_idx(SRC0,DST)
s_endpgm
)",
                     "gfx900");
  expect_same_object(R"(
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
s_delay_alu 0
s_waitcnt_depctr depctr_va_vdst(0)
s_waitcnt_vscnt null, 0x0
s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_DOORBELL)
s_version UC_VERSION_GFX11|UC_VERSION_W32_BIT
exp pos0 v0, off, v1, off done
)",
                     "gfx1100");
}

TEST(Instructions, SymbolsBecomeLiteralsAndRelocations) {
  expect_same_object(R"(
s_getpc_b64 s[0:1]
s_add_u32 s0, s0, callee@rel32@lo+4
s_addc_u32 s1, s1, callee@rel32@hi+12
s_getpc_b64 s[2:3]
s_add_u32 s2, s2, variable@gotpcrel32@lo+4
s_addc_u32 s3, s3, variable@gotpcrel32@hi+12
s_mov_b32 s4, variable@abs32@lo
s_mov_b32 s5, variable@abs32@hi
v_mov_b32 v0, later
v_add_f32 v0, later, v1
s_mov_b32 s6, end-begin
s_mov_b32 s7, (end-begin)*2
s_mov_b32 s8, .Llocal-begin
begin:
s_nop 0
.Llocal:
s_nop 0
end:
s_mov_b32 s9, end-begin
.set later, 0x777
v_mov_b32 v0, later
)",
                     "gfx900");
}

TEST(Instructions, BranchesGoToLabelsAndNumbers) {
  const std::string text = R"(
begin:
s_branch begin
s_cbranch_scc0 .Lend
s_cbranch_vccz begin
s_branch 5
s_branch -1
1:
s_cbranch_execz 1b
s_cbranch_execz 1f
1:
.rept 63
s_nop 0
.endr
.Lend:
s_branch .Lfar
.rept 63
v_nop
.endr
.Lfar:
.p2align 8
s_endpgm
.size begin, .-begin
)";
  for (const char* processor : {"gfx803", "gfx900", "gfx1010", "gfx1030", "gfx1100"}) {
    expect_same_object(text, processor);
  }
  expect_same_object("s_call_b64 s[2:3], f\nf:\ns_setpc_b64 s[2:3]\n", "gfx90a");
}

TEST(Instructions, RegistersAreCounted) {
  expect_same_object(R"(
.long .amdgcn.next_free_vgpr, .amdgcn.next_free_sgpr
v_mov_b32 v7, s9
v_mov_b32 v1, vcc_lo
.long .amdgcn.next_free_vgpr, .amdgcn.next_free_sgpr
.set .amdgcn.next_free_vgpr, 0
.set .amdgcn.next_free_sgpr, 0
s_mov_b64 s[2:3], s[4:5]
.long .amdgcn.next_free_vgpr, .amdgcn.next_free_sgpr
v_accvgpr_read_b32 v3, a50
.long .amdgcn.next_free_vgpr, .amdgcn.next_free_sgpr
.long .amdgcn.gfx_generation_number, .amdgcn.gfx_generation_minor, .amdgcn.gfx_generation_stepping
)",
                     "gfx90a");
}

TEST(Instructions, EarlierNamesAreKnownFromGfx11On) {
  for (const char* processor : {"gfx1100", "gfx1200"}) {
    expect_same_object(R"(
s_load_dwordx4 s[0:3], s[4:5], 0x0
s_buffer_load_dword s0, s[4:7], 0x0
s_andn2_b64 s[0:1], s[2:3], s[4:5]
s_ff1_i32_b32 s0, s1
ds_read2_b32 v[0:1], v2
ds_write2st64_b32 v0, v1, v2
global_load_dword v0, v[2:3], off
global_atomic_swap_x2 v[2:3], v[4:5], off
flat_atomic_smax v[2:3], v0
buffer_store_short v0, off, s[4:7], s0
scratch_store_dwordx4 off, v[0:3], s0
v_add_u32 v0, v1, v2
v_add_u32_e64 v0, v1, s2
v_ffbh_u32 v0, v1
v_cvt_pkrtz_f16_f32 v0, v1, v2
)",
                       processor);
    for (const char* other : {"v_addc_co_u32 v0, vcc_lo, v1, v2, vcc_lo\n", "v_add_u16 v0, v1, v2\n"}) {
      EXPECT_TRUE(llvm_assemble(other, processor).object.empty()) << other;
      EXPECT_TRUE(atoll_assemble(other, processor).object.empty()) << other;
    }
  }
  EXPECT_TRUE(atoll_assemble("s_andn2_b32 s0, s1, s2\n", "gfx1030").messages.empty());
}

TEST(Instructions, Gfx12HasHintsAndScopesAndItsOwnDualMoves) {
  expect_same_object(R"(
global_load_b32 v0, v[2:3], off th:TH_LOAD_NT scope:SCOPE_DEV
global_load_b32 v0, v[2:3], off scope:SCOPE_SYS th:TH_LOAD_BYPASS
global_atomic_add_u32 v0, v[2:3], v4, off th:TH_ATOMIC_RETURN
global_atomic_add_u32 v[2:3], v4, off th:TH_ATOMIC_NT
buffer_store_b32 v0, v1, s[4:7], null offen th:TH_STORE_NT_WB
s_load_b32 s0, s[2:3], 0x10 scope:SCOPE_SE
s_prefetch_data s[2:3], 0x10, s5, 3
v_dual_mov_b32 v45, v0 :: v_dual_mov_b32 v0, v44
v_mov_b32 v0, callee@rel32@lo
)",
                     "gfx1200");
}

TEST(Instructions, Gfx12_5HasLiteralsOf64Bits) {
  std::string texts;
  for (const char* form :
       {"s_mov_b64 s[2:3], ", "s_cmp_eq_u64 s[2:3], ", "v_mov_b64 v[2:3], ", "v_trunc_f64 v[2:3], ",
        "v_trunc_f64_e64 v[2:3], ", "v_fmaak_f64 v[0:1], v[2:3], v[4:5], ", "s_mov_b32 s2, ", "v_mov_b32 v2, "}) {
    for (const char* value : {"0x7fffffff", "0x80000000", "-100", "lit(1)", "lit64(5)", "64"}) {
      texts += std::string(form) + value + '\n';
    }
  }
  expect_same_object(texts, "gfx1250");
  expect_same_object(R"(
s_mov_b64 s[2:3], 0x123456789
s_mov_b64 s[2:3], lit(0x123456789)
s_mov_b64 s[2:3], lit64(-1)
s_mov_b64 s[2:3], 1.0
s_and_b64 s[2:3], 0x7ff0000000000001, 0x7ff0000000000001
s_lshl_b64 s[2:3], lit64(0x155), 0x155
s_mov_b64 s[2:3], callee
s_mov_b64 s[2:3], callee@abs64
s_add_nc_u64 s[2:3], s[2:3], callee@rel64+4
v_trunc_f64 v[2:3], 0.1
v_trunc_f64_e64 v[2:3], 0.1
v_trunc_f64 v[2:3], 1.5
v_trunc_f64 v[2:3], lit(1.5)
v_trunc_f64_e64 v[2:3], lit64(1.5)
v_trunc_f64 v[2:3], 0x7ff0000000000000
v_trunc_f64 v[2:3], 0x7ff0000000000001
v_lshl_add_u64 v[2:3], -100, 1, v[4:5]
v_lshl_add_u64 v[2:3], lit(1), 1, v[4:5]
v_fmaak_f64 v[0:1], v[2:3], v[4:5], 0.1
v_fmaak_f64 v[0:1], v[2:3], v[4:5], 0x123456789abcdef
v_fmamk_f64 v[0:1], 0x123, 0x123, v[4:5]
v_fmamk_f64 v[0:1], 0x123456789a, 0x123456789a, v[4:5]
)",
                     "gfx1250");
  for (const char* line :
       {"s_and_b64 s[2:3], 0x7ff0000000000001, 0x7ff0000000000002\n", "s_lshl_b64 s[2:3], 0x10000000155, 0x155\n",
        "v_add_f64_e64 v[2:3], sym, v[4:5]\n", "v_lshl_add_u64 v[2:3], 0x123456789, 1, v[4:5]\n",
        "s_mov_b64 s[2:3], lit64(sym)\n", "s_mov_b32 s2, lit64(0x123456789)\n"}) {
    EXPECT_TRUE(llvm_assemble(line, "gfx1250").object.empty()) << line;
    EXPECT_TRUE(atoll_assemble(line, "gfx1250").object.empty()) << line;
  }
}

TEST(Instructions, DualsAreVopdWhereTheyCanBe) {
  expect_same_object(R"(
v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v2
v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v3, v4
v_dual_mov_b32 v1, 0x155 :: v_dual_mov_b32 v2, 0x155
v_dual_mov_b32 v1, src_flat_scratch_base_lo :: v_dual_mov_b32 v2, 0x155
v_dual_sub_f32 v0, neg(64), v0 :: v_dual_mov_b32 v1, v2
v_dual_sub_f32 v0, -64.0, v0 :: v_dual_mov_b32 v1, v2
v_dual_sub_f32 v0, -s1, v0 :: v_dual_mov_b32 v1, v2
v_dual_cndmask_b32 v2, v2, v4 :: v_dual_mov_b32 v1, v3
v_dual_cndmask_b32 v2, v2, v4, vcc_lo :: v_dual_bitop2_b32 v3, v44, v45 bitop3:0x14
v_dual_cndmask_b32 v129, s31, v147 :: v_dual_mul_f32 v250, v19, v226
v_dual_cndmask_b32 v129, s31, v147, vcc_lo :: v_dual_mul_f32 v250, v19, v226
v_dual_cndmask_b32 v2, v2, v4, s5 :: v_dual_cndmask_b32 v4, v3, v5, s6
v_dual_sub_nc_u32 v0, 0, v45 :: v_dual_sub_nc_u32 v3, 0, v44
v_dual_fma_f32 v1, v2, v3, v4 :: v_dual_fma_f32 v5, v3, v4, v9
v_dual_add_f64 v[34:35], -s[0:1], -v[12:13] :: v_dual_mov_b32 v0, s0
v_dual_fmaak_f32 v1, v2, v3, 0x155 :: v_dual_mov_b32 v2, v4
)",
                     "gfx1250");
  for (const char* line :
       {"v_dual_fma_f32 v1, v2, v3, v4 :: v_dual_fma_f32 v5, v3, v4, v8\n",
        "v_dual_mov_b32 v1, 0x155 :: v_dual_mov_b32 v3, 0x155\n", "v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v1, v3\n",
        "v_dual_add_f64 v[34:35], s[0:1], v[12:13] :: v_dual_mov_b32 v35, s0\n",
        "v_dual_cndmask_b32 v129, s31, v147, vcc :: v_dual_mul_f32 v250, v19, v226\n"}) {
    EXPECT_TRUE(llvm_assemble(line, "gfx1250").object.empty()) << line;
    EXPECT_TRUE(atoll_assemble(line, "gfx1250").object.empty()) << line;
  }
  const char* named = "v_dual_cndmask_b32 v129, s31, v147, vcc_lo :: v_dual_mul_f32 v250, v19, v226\n";
  EXPECT_TRUE(llvm_assemble(named, "gfx1100").object.empty());
  EXPECT_TRUE(atoll_assemble(named, "gfx1100").object.empty());
}

TEST(Instructions, ExponentsOfHalvesAreHalves) {
  for (const char* gpu : {"gfx1010", "gfx1200"}) {
    expect_same_object(R"(
v_ldexp_f16_e64 v0, s0, 1.5
v_ldexp_f16_e64 v0, s0, 1.0
v_ldexp_f16_e64 v0, s0, 100
)",
                       gpu);
  }
}

TEST(Instructions, ScalarsAreNotReadByRelativeMovesOfParts) {
  for (const char* source : {"s0", "null", "1"}) {
    const std::string text = fmt::format("v_movrelsd_2_b32_sdwa v2, {} dst_sel:BYTE_0 src0_sel:BYTE_0\n", source);
    EXPECT_TRUE(llvm_assemble(text, "gfx1010").object.empty()) << text;
    EXPECT_TRUE(atoll_assemble(text, "gfx1010").object.empty()) << text;
  }
}

TEST(Instructions, Gfx12_5HasFlatBasesTensorsAndAsynchronousLoads) {
  expect_same_object(R"(
global_prefetch_b8 v0, exec
flat_load_i8 v0, v2, vcc scale_offset
flat_atomic_sub_u64 v0, v[0:1], exec
v_s_exp_f16 m0, s0
flat_atomic_add_u32 v0, v1, v2, s[0:1] th:TH_ATOMIC_RETURN
flat_atomic_add_u32 v1, v2, s[0:1]
flat_atomic_add_u32 v[2:3], v2
flat_prefetch_b8 v0, s[0:1]
tensor_save s[0:1] offset:32
tensor_save null
tensor_stop
tensor_load_to_lds s[0:3], s[4:11]
tensor_load_to_lds s[0:3], s[4:11], s[12:15], s[16:19]
tensor_store_from_lds s[0:3], s[4:11] th:TH_STORE_NT scope:SCOPE_SE
global_load_async_to_lds_b8 v0, v0, exec
global_load_async_to_lds_b8 v0, v[2:3], off
global_store_async_from_lds_b8 v0, v1, s[0:1]
v_lshrrev_b64 v[0:1], s0, s[2:3]
)",
                     "gfx1250");
  for (const char* line :
       {"flat_load_i8 v0, v[2:3], off\n", "flat_load_i8 v0, v2, null\n", "flat_load_i8 v0, v2, exec\n",
        "flat_load_i8 v0, v[2:3], s[0:1]\n", "flat_load_i8 v0, v2\n", "tensor_save off\n",
        "tensor_load_to_lds s[0:3], s[4:11], s[12:15]\n", "tensor_load_to_lds s[0:3], s[4:11], null, null\n",
        "tensor_load_to_lds s[0:3], null\n", "v_lshlrev_b64 v[0:1], s0, s[2:3]\n"}) {
    EXPECT_TRUE(llvm_assemble(line, "gfx1250").object.empty()) << line;
    EXPECT_TRUE(atoll_assemble(line, "gfx1250").object.empty()) << line;
  }
}

TEST(Instructions, AccumulatorsOfFormattedMatricesMayOverlap) {
  expect_same_object("v_mfma_f32_32x32x64_f8f6f4 v[70:85], v[0:7], v[40:47], v[62:77]\n", "gfx950");
}

TEST(Instructions, MacrosMakeThem) {
  expect_same_object(R"(
.macro triple op:req, d, a, b
  \op v\d, v\a, v\b
  \op\()_e64 v\d, s\a, v\b
.endm
.irp op,v_add_f32,v_mul_f32,v_max_f32
triple \op, 1, 2, 3
.endr
.set i, 0
.rept 4
v_mov_b32 v[i], s[i+4]
.set i, i+1
.endr
)",
                     "gfx906");
}

/// Texts that both assemblers refuse, each line at the same place.
TEST(Instructions, MistakesAreFoundWhereLlvmFindsThem) {
  const std::string text = R"(v_add_f64 v[0:1], 1.5, v[2:3]
v_add_u16 v0, 0xfff0fff0, v1
s_mov_b64 s[0:1], 1.5
s_mov_b64 s[0:1], -5000000000
s_mov_b32 s0, 5000000000
s_mov_b64 s[1:2], 0
s_mov_b32 s0, v1
s_mov_b32 s0
s_mov_b32 s0, s1, s2
v_mov_b32 v256, 0
s_mov_b32 s104, 0
s_nosuch_b32 s0, s1
s_waitcnt nocnt(0)
s_waitcnt vmcnt(64)
v_mov_b32 v0, v1 row_share:1
v_mov_b32 v0, v1 quad_perm:[0,1,2,4] row_mask:0xf bank_mask:0xf
s_branch nowhere_local+
)";
  const LlvmAssembled theirs = llvm_assemble(text, "gfx900"), ours = atoll_assemble(text, "gfx900");
  EXPECT_TRUE(theirs.object.empty() && ours.object.empty());
  EXPECT_EQ(error_places(ours.messages), error_places(theirs.messages)) << ours.messages << theirs.messages;
}

/// Which addresses of images can be tuples of registers.
TEST(Instructions, AddressesOfImagesAreRegistersOrEndInATuple) {
  const auto compare = [](const std::string& text, const std::string& processor) {
    const LlvmAssembled theirs = llvm_assemble(text, processor), ours = atoll_assemble(text, processor);
    EXPECT_EQ(theirs.object.empty(), ours.object.empty()) << text << theirs.messages << ours.messages;
  };
  for (const char* address : {"v[6:7]", "[v6, v7]", "[v[6:7]]"}) {
    for (const char* processor : {"gfx1030", "gfx1100", "gfx1200"}) {
      compare(fmt::format("image_load v0, {}, s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D\n", address), processor);
    }
  }
  for (const char* address :
       {"[v6, v7, v8, v9, v[10:11]]", "[v6, v7, v8, v[9:11]]", "[v6, v7, v[8:11]]", "[v6, v[7:11]]", "v[6:11]"}) {
    for (const char* processor : {"gfx1100", "gfx1200"}) {
      compare(fmt::format("image_sample_d v0, {}, s[8:15], s[0:3] dmask:0x1 dim:SQ_RSRC_IMG_2D\n", address), processor);
    }
  }
}

TEST(Instructions, MistakesAreSaidInWords) {
  using testing::HasSubstr;
  const auto said = [](const std::string& line, const std::string& processor = "gfx900") {
    return atoll_assemble(line + "\n", processor).messages;
  };
  EXPECT_THAT(said("v_add_f32 v0, v1, s2, v3"), HasSubstr("test.s:1:23: error: too many operands"));
  EXPECT_THAT(said("v_add_f32_e32 v0, v1, s2"), HasSubstr("operand 3 must be a VGPR"));
  EXPECT_THAT(said("s_load_dwordx2 s[0:1], s2, 0"),
              HasSubstr("test.s:1:24: error: operand 2 must be 2 SGPRs, as s[0:1]"));
  EXPECT_THAT(said("v_add_f32 v0, v1"), HasSubstr("operand 3 is missing"));
  EXPECT_THAT(said("v_mov_b32 v256, v1"),
              HasSubstr("test.s:1:11: error: there is no such register: the last one is v255"));
  EXPECT_THAT(said("s_mov_b32 s103, 0"), HasSubstr("gfx900 has no such register: its last SGPR is s101"));
  EXPECT_THAT(said("v_fma_f32 v0, s1, s2, s3"), HasSubstr("can read one SGPR or literal only"));
  EXPECT_THAT(said("v_fma_f32 v0, s1, s2, s3", "gfx1030"), HasSubstr("can read two SGPRs or literals only"));
  EXPECT_THAT(said("v_fma_f32 v0, v1, v2, 0x12345"), HasSubstr("test.s:1:23: error: there is no place for a literal"));
  // The form of VOP3 is what is meant where the short one fits no better.
  EXPECT_THAT(said("v_cmp_lt_f32 s0, v1, v2"), HasSubstr("operand 1 must be 2 SGPRs, as s[0:1]"));
  EXPECT_THAT(said("v_mul_lo_u32_e32 v0, v1, v2"), HasSubstr("gfx900 has no _e32 form of v_mul_lo_u32"));
  // Names of other generations, and misspelt ones.
  EXPECT_THAT(said("v_dot8_i32_iu4 v0, v1, v2, v3"),
              HasSubstr("gfx900 does not have v_dot8_i32_iu4; gfx1100 and later do"));
  EXPECT_THAT(said("v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]"),
              HasSubstr("gfx900 does not have v_mfma_f32_4x4x1f32; gfx908, gfx90a, gfx942 and gfx950 do"));
  EXPECT_THAT(said("v_add_nc_u32 v0, v1, v2"), HasSubstr("'v_add_nc_u32' is called v_add_u32 on gfx900"));
  EXPECT_THAT(said("v_add_u32 v0, v1, v2", "gfx1030"), HasSubstr("'v_add_u32' is called v_add_nc_u32 on gfx1030"));
  EXPECT_THAT(said("v_addf32 v0, v1, v2"), HasSubstr("there is no instruction 'v_addf32': v_add_f32 is one"));
  EXPECT_THAT(said("V_ADDF32_E64 v0, v1, v2"), HasSubstr("'v_addf32_e64': v_add_f32_e64 is one"));
  EXPECT_THAT(said("v_nothing_at_all v0"), HasSubstr("error: there is no instruction 'v_nothing_at_all'\n"));
  EXPECT_THAT(said("v_add_f32 v0, v1, v2 clmp"),
              HasSubstr("test.s:1:22: error: there is no modifier 'clmp': clamp is"));
  EXPECT_THAT(said("v_mov_b32 v0, v1 row_shl:1 row_msk:1"),
              HasSubstr("there is no modifier 'row_msk': row_mask is one"));
  EXPECT_THAT(said("v_add_f32 v0, v1, v2 glc"), HasSubstr("test.s:1:22: error: the instruction has no such modifier"));
}

}  // namespace
}  // namespace Atoll::test
