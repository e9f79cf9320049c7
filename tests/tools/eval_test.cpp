// `atoll eval`: what instructions do on every GPU, against arithmetic of the host; every form of value and destination;
// how changes are shown; faults and mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "support/command.h"
#include "target/product.h"

namespace Atoll {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// `arguments` as in a shell.
test::CommandResult eval(const std::string& arguments) {
  return test::run_command(fmt::format("{} eval {} 2>&1", ATOLL_COMMAND, arguments));
}

json eval_json(const std::string& arguments) {
  const auto run = test::run_command(fmt::format("{} eval --json {}", ATOLL_COMMAND, arguments));
  EXPECT_EQ(run.exit_code, 0) << arguments;
  auto parsed = json::parse(run.output, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << run.output;
  return parsed;
}

/// The bits of a register afterwards, in a lane.
uint64_t lane_of(const json& result, const std::string& name, unsigned lane) {
  for (const auto& each : result["registers"]) {
    if (each["name"] == name && each["lanes"].contains(std::to_string(lane))) {
      return std::stoull(each["lanes"][std::to_string(lane)]["after"].get<std::string>(), nullptr, 16);
    }
  }
  ADD_FAILURE() << name << "[" << lane << "] is not among the changes: " << result.dump();
  return 0;
}

uint64_t scalar_of(const json& result, const std::string& name) {
  for (const auto& each : result["registers"]) {
    if (each["name"] == name) return std::stoull(each["after"].get<std::string>(), nullptr, 16);
  }
  ADD_FAILURE() << name << " is not among the changes: " << result.dump();
  return 0;
}

std::set<std::string> processors() {
  std::set<std::string> names;
  for (const target::Product& product : target::products()) names.insert(std::string(product.processor));
  return names;
}

TEST(EvalCommand, ComputesOnEveryProcessor) {
  for (const std::string& gpu : processors()) {
    const auto sums = eval_json("'v_add_f32 v0, v1, v2' 'v_mul_lo_u32 v3, v4, v4' 's_mul_i32 s0, s1, s2' --gpu " + gpu +
                                " 'v1=f32:lane*0.1' v2=1.5,-2.25 'v4=lane*77777' s1=-7 s2=6");
    EXPECT_EQ(sums["processor"], gpu);
    EXPECT_EQ(sums["instructions"], 3);
    for (const unsigned lane : {0u, 1u, 30u, 31u}) {
      const float sum = static_cast<float>(lane * 0.1) + (lane % 2 == 0 ? 1.5f : -2.25f);
      EXPECT_EQ(lane_of(sums, "v0", lane), std::bit_cast<uint32_t>(sum)) << gpu;
      if (lane != 0) EXPECT_EQ(lane_of(sums, "v3", lane), lane * 77777u * (lane * 77777u)) << gpu;
    }
    EXPECT_EQ(scalar_of(sums, "s0"), static_cast<uint32_t>(-42)) << gpu;
  }
}

TEST(EvalCommand, ComputesInBothEnginesAndWaveSizes) {
  for (const char* engine : {"interpreter", "compiled"}) {
    for (const char* where : {"gfx90a --wave-size 64", "gfx1100 --wave-size 32", "gfx1100 --wave-size 64"}) {
      const auto result =
          eval_json(fmt::format("'v_mul_f32 v0, v1, v2' s_endpgm 'v_mov_b32 v5, 1' --engine {} --gpu {} "
                                "v1=f32:lane v2=0.5",
                                engine, where));
      for (const unsigned lane : {1u, 31u}) {
        EXPECT_EQ(lane_of(result, "v0", lane), std::bit_cast<uint32_t>(static_cast<float>(lane) * 0.5f)) << where;
      }
      for (const auto& each : result["registers"]) EXPECT_NE(each["name"], "v5");
    }
  }
}

/// What lane 0 of v0 is afterwards, in either engine.
void expect_v0(const std::string& arguments, uint64_t expected) {
  for (const char* engine : {"interpreter", "compiled"}) {
    SCOPED_TRACE(fmt::format("{} --engine {}", arguments, engine));
    EXPECT_EQ(lane_of(eval_json(fmt::format("{} --engine {}", arguments, engine)), "v0", 0), expected);
  }
}

TEST(EvalCommand, ReadsInlineConstantsAsTheGpuDoes) {
  // v_pk_fmac_f16 v0, 1.0, v2: measured on Navi 31 and Raphael (llvm-project issue 94116).
  expect_v0("'.long 0x780004f2' --gpu gfx1030 v0=0 v2=0x44004200", 0x4200);
  for (const char* gpu : {"gfx1100", "gfx1201", "gfx1250"}) {
    expect_v0(fmt::format("'.long 0x780004f2' --gpu {} v0=0 v2=0x44004200", gpu), 0x44004200);
    expect_v0(fmt::format("'v_pk_fmac_f16 v0, 0x3c003c00, v2' --gpu {} v0=0 v2=0x44004200", gpu), 0x44004200);
    expect_v0(fmt::format("'v_pk_fmac_f16 v0, 1.0, v2' --gpu {} v0=0 v2=0x44004200", gpu), 0x4200);
  }
  // The bits of bfloat16 constants are in the upper half (llvm-project pull requests 183487, 209861 and 223035).
  const std::string brain = " --gpu gfx1250 v0=0x12345678 v1=0x40404040";
  expect_v0("'v_pk_fma_bf16 v0, v1, 2.0, 1.0 op_sel:[0,1,1] op_sel_hi:[1,1,1]'" + brain, 0x40E0'40E0);
  expect_v0("'v_pk_mul_bf16 v0, v1, 2.0'" + brain, 0x40C0'0000);
  expect_v0("'v_fma_mix_f32_bf16 v0, v1, 2.0, 1.0 op_sel:[0,1,1] op_sel_hi:[1,1,1]'" + brain,
            std::bit_cast<uint32_t>(7.0f));
  expect_v0("'v_fma_mix_f32_bf16 v0, v1, 2.0, 1.0 op_sel_hi:[1,0,0]'" + brain, std::bit_cast<uint32_t>(7.0f));
  expect_v0("'v_cvt_f32_bf16_e64 v0, 1.0 op_sel:[1,0]'" + brain, 0x3F80'0000);
  expect_v0("'v_cvt_f32_bf16 v0, 1.0'" + brain, 0);
  expect_v0("'v_cvt_f32_bf16 v0, 0x3f81'" + brain, 0x3F81'0000);
  expect_v0("'v_rcp_bf16_e64 v0.l, 4.0 op_sel:[1,0]'" + brain, 0x1234'3E80);
  // A 16-bit integer reads the lower half of a single float (llvm-project issue 58167).
  expect_v0("'.long 0x4c0002f2' --gpu gfx900 v1=7 v0=1", 7);  // v_add_u16_e32 v0, 1.0, v1
  expect_v0("'.long 0xd7030000' '.long 0x000202f2' --gpu gfx1100 v1=7 v0=0x50001", 0x50007);  // v_add_nc_u16
  expect_v0("'v_ldexp_f16 v0, v1, 0.5' --gpu gfx1030 v1=0x3c00 v0=1", 0x7C00);                // by 0x3800
}

TEST(EvalCommand, HasAllBanksOfRegisters) {
  for (const char* gpu : {"gfx1250", "gfx1251"}) {
    const std::string on = std::string(" --gpu ") + gpu;
    expect_v0("'s_set_vgpr_msb 1' 'v_mov_b32 v0, v1' v257=22" + on, 22);
    expect_v0("'s_set_vgpr_msb 3' 'v_mov_b32 v0, v255' v1023=23" + on, 23);
    for (const char* engine : {"interpreter", "compiled"}) {
      const auto result = eval_json(
          "'s_set_vgpr_msb 0xc0' 'v_mov_b32 v255, 21' 's_set_vgpr_msb 0x40' 'v_add_f32 v1, 1.0, "
          "v2' v2=0.5 --engine " +
          std::string(engine) + on);
      EXPECT_EQ(lane_of(result, "v1023", 0), 21u) << engine;
      EXPECT_EQ(lane_of(result, "v257", 5), std::bit_cast<uint32_t>(1.5f)) << engine;
    }
  }
  EXPECT_THAT(eval("'s_nop 0' --gpu gfx1201 v256=1").output, HasSubstr("gfx1201 has v0 to v255"));
  EXPECT_THAT(eval("'s_nop 0' --gpu gfx1250 v1024=1").output, HasSubstr("v1024"));
}

TEST(EvalCommand, DropsBanksRightAfterTheModeIsSet) {
  const std::string before = "'s_set_vgpr_msb 0x40' 'v_mov_b32 v1, 22' 's_set_vgpr_msb 0' 'v_mov_b32 v1, 11' ";
  const std::string after = " 's_set_vgpr_msb 1' 'v_mov_b32 v0, v1' --gpu gfx1250";
  for (const char* mode :
       {"'s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0'", "'s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0'"}) {
    expect_v0(before + mode + after, 11);
    expect_v0(before + mode + " 's_nop 0'" + after, 22);
  }
}

TEST(EvalCommand, TakesTheInlineConstantZeroForTheScaleOne) {
  // Of 128 products of ones.
  const std::string ones = [] {
    std::string text = " --gpu gfx1250";
    for (unsigned reg = 8; reg < 40; ++reg) text += fmt::format(" v{}=0x38383838", reg);
    return text;
  }();
  const uint32_t sum = std::bit_cast<uint32_t>(128.0f), half = std::bit_cast<uint32_t>(64.0f);
  for (const char* name : {"v_wmma_scale_f32_16x16x128_f8f6f4", "v_wmma_scale16_f32_16x16x128_f8f6f4"}) {
    const std::string product = fmt::format("'{} v[0:7], v[8:23], v[24:39], v[0:7], ", name);
    expect_v0(product + "0, 0'" + ones, sum);
    const bool wide = std::string(name).contains("16_f32");
    expect_v0(product + (wide ? "0, s[0:1]' s0=0x7e7e7e7e s1=0x7e7e7e7e" : "0, s0' s0=0x7e7e7e7e") + ones, half);
  }
}

TEST(EvalCommand, EndsCompiledCodeOnOldProcessors) {
  for (const char* gpu : {"gfx600", "gfx701", "gfx803", "gfx900", "gfx1250"}) {
    const auto result = eval_json(fmt::format("'v_mov_b32 v0, 5' 's_mov_b32 s0, 6' --engine compiled --gpu {}", gpu));
    EXPECT_EQ(lane_of(result, "v0", 3), 5u) << gpu;
    EXPECT_EQ(scalar_of(result, "s0"), 6u) << gpu;
  }
}

TEST(EvalCommand, TakesTheExampleOfItsDocument) {
  const auto result =
      eval_json("'v_perm_b32 v0, v1, v2, v3' --gpu gfx1100 v1=0x11223344 v2=0xaabbccdd v3=0x07060100 exec=0xff");
  EXPECT_EQ(lane_of(result, "v0", 0), 0x1122ccddu);
  EXPECT_EQ(result["registers"][0]["lanes"].size(), 8u);
  const auto run =
      eval("'v_perm_b32 v0, v1, v2, v3' --gpu gfx1100 v1=0x11223344 v2=0xaabbccdd v3=0x07060100 exec=0xff");
  EXPECT_EQ(run.output, "v0[0-7] = 0x1122ccdd  u32 287493341\n");
}

TEST(EvalCommand, ReadsEveryKindOfValue) {
  // Each is moved to v0, so that what it is can be seen in lane 0 or in others.
  const auto value = [](const std::string& text, unsigned lane = 0) {
    return lane_of(eval_json(fmt::format("'v_mov_b32 v0, v1' --gpu gfx900 'v1={}'", text)), "v0", lane);
  };
  EXPECT_EQ(value("42"), 42u);
  EXPECT_EQ(value("-1"), 0xFFFFFFFFu);
  EXPECT_EQ(value("0xdeadbeef"), 0xDEADBEEFu);
  EXPECT_EQ(value("0b101"), 5u);
  EXPECT_EQ(value("1.5"), std::bit_cast<uint32_t>(1.5f));
  EXPECT_EQ(value("-1e-3"), std::bit_cast<uint32_t>(-1e-3f));
  EXPECT_EQ(value("inf"), 0x7F800000u);
  EXPECT_EQ(value("-inf"), 0xFF800000u);
  EXPECT_EQ(value("nan") & 0x7FC00000, 0x7FC00000u);
  EXPECT_EQ(value("f16:1.5"), 0x3E00u);
  EXPECT_EQ(value("f16:1.5:-2"), 0xC0003E00u);
  EXPECT_EQ(value("1.5:-2.0"), 0xC0003E00u);
  EXPECT_EQ(value("bf16:1.5:3.0"), 0x40403FC0u);
  EXPECT_EQ(value("bf16:1.00390625"), 0x3F80u) << "half way, to even";
  EXPECT_EQ(value("bf16:1.01171875"), 0x3F82u) << "half way, to even";
  EXPECT_EQ(value("u8:1:2:3:4"), 0x04030201u);
  EXPECT_EQ(value("i8:-1"), 0xFFFFFFFFu) << "extended by its sign";
  EXPECT_EQ(value("u8:255"), 0xFFu);
  EXPECT_EQ(value("1,2,3", 4), 2u) << "repeated";
  EXPECT_EQ(value("lane*4+0x1000", 9), 0x1024u);
  EXPECT_EQ(value("(lane^3)<<8|0x80", 5), (5u ^ 3) << 8 | 0x80);
  EXPECT_EQ(value("lane%7-3", 5), 2u);
  EXPECT_EQ(value("~lane", 5), ~5u);
  EXPECT_EQ(value("f32:lane/4", 5), std::bit_cast<uint32_t>(1.25f));
  EXPECT_EQ(value("s:42", 3), value("seed:42", 3));
  EXPECT_NE(value("s:42", 3), value("s:42", 4));
  EXPECT_NE(value("s:42", 3), value("s:43", 3));
  const auto random = std::bit_cast<float>(static_cast<uint32_t>(value("f32:s:1", 6)));
  EXPECT_GE(random, 0.0f);
  EXPECT_LT(random, 1.0f);
}

TEST(EvalCommand, SetsEveryKindOfRegister) {
  const auto pair =
      eval_json("'v_add_f64 v[0:1], v[2:3], v[4:5]' --gpu gfx90a 'v[2:3]=1.5,2.5' 'v[4:5]=f64:lane*0.25'");
  EXPECT_EQ(lane_of(pair, "v[0:1]", 3), std::bit_cast<uint64_t>(2.5 + 0.75));
  const auto some = eval_json("'v_mov_b32 v0, v1' --gpu gfx1030 'v1[2-3,5]=7,8,9'");
  EXPECT_EQ(some["registers"][0]["lanes"].size(), 3u);
  EXPECT_EQ(lane_of(some, "v0", 5), 9u);
  const auto half = eval_json("'v_mov_b32 v0, v1' --gpu gfx1100 v1=0x11112222 v1.h=0x3333 v1.l=f16:2");
  EXPECT_EQ(lane_of(half, "v0", 0), 0x33334000u);
  const auto accumulator = eval_json("'v_accvgpr_read_b32 v0, a3' --gpu gfx908 a3=5");
  EXPECT_EQ(lane_of(accumulator, "v0", 63), 5u);
  const auto scalars = eval_json(
      "'s_and_b64 s[0:1], s[2:3], vcc' 's_addc_u32 s4, m0, 0' 's_mov_b32 s5, exec_lo' 's_getreg_b32 s6, "
      "hwreg(HW_REG_MODE, 0, 8)'"
      " --gpu gfx906 's[2:3]=0xff00ff00ff00ff00' vcc=-1 scc=1 m0=9 exec=0x55 mode=0xc5");
  EXPECT_EQ(scalar_of(scalars, "s[0:1]"), 0xFF00FF00FF00FF00u);
  EXPECT_EQ(scalar_of(scalars, "s4"), 10u) << "s_and_b64 has set SCC";
  EXPECT_EQ(scalar_of(scalars, "s5"), 0x55u);
  EXPECT_EQ(scalar_of(scalars, "s6"), 0xC5u);
  const auto wide = eval_json("'s_mov_b64 s[8:9], s[6:7]' --gpu gfx1201 's[4:7]=1:2:3:4'");
  EXPECT_EQ(scalar_of(wide, "s[8:9]"), 0x0000000400000003u);
  // Rounding: 1 + 2^-24 is 1 to nearest, the next number upwards.
  const auto upwards = eval_json("'v_add_f32 v0, v1, v2' --gpu gfx1200 v1=1.0 v2=0x33800000 mode=0xf1");
  EXPECT_EQ(lane_of(upwards, "v0", 0), std::bit_cast<uint32_t>(std::nextafter(1.0f, 2.0f)));
}

TEST(EvalCommand, ShowsChangesAsTheirTypesAre) {
  const auto shown = [](const std::string& arguments) { return eval(arguments).output; };
  EXPECT_EQ(shown("'v_pk_add_f16 v0, v1, v2' --gpu gfx90a v1=1.5:2.5 v2=f16:0.25:lane exec=3"),
            "v0[0] = 0x41003f00  f16 1.75, 2.5\nv0[1] = 0x43003f00  f16 1.75, 3.5\n");
  EXPECT_EQ(shown("'v_cmp_lt_u32 vcc, v0, v1' --gpu gfx900 v0=lane v1=5"), "vcc = 0x000000000000001f  lanes 0-4\n");
  EXPECT_EQ(shown("'v_cmp_gt_u32 s0, v0, v1' --gpu gfx1100 v0=lane v1=29"), "s0 = 0xc0000000  lanes 30-31\n");
  EXPECT_EQ(shown("'v_mul_f32 v0, v1, v1' --gpu gfx1030 v1=1.5,2.0 exec=0xf"),
            "v0[0,2] = 0x40100000  f32 2.25\nv0[1,3] = 0x40800000  f32 4\n");
  EXPECT_EQ(shown("'v_sub_nc_i32 v0, v1, v2' --gpu gfx1030 v1=1 v2=3 exec=1"), "v0[0] = 0xfffffffe  i32 -2\n");
  EXPECT_EQ(shown("'s_add_u32 s0, s1, s2' --gpu gfx1030 s1=-1 s2=1"), "scc = 1\nunchanged: s0\n");
  EXPECT_EQ(shown("'v_lshlrev_b64 v[0:1], v2, v[4:5]' --gpu gfx900 v2=4 'v[4:5]=0x123456789' exec=1"),
            "v[0:1][0] = 0x0000001234567890  u64 78187493520\n");
  EXPECT_EQ(shown("s_nop\\ 0 --gpu gfx900"), "nothing changed\n");
  // A matrix product's result has elements, whatever the operand's size.
  EXPECT_THAT(shown("'v_mfma_f32_4x4x1f32 a[0:3], v4, v5, a[0:3]' --gpu gfx908 v4=2.0 v5=3.0"),
              AllOf(HasSubstr("a0[0-63] = 0x40c00000  f32 6\n"), HasSubstr("a3[0-63] = 0x40c00000  f32 6\n")));
}

TEST(EvalCommand, HasMemoryAndLds) {
  EXPECT_EQ(eval("'global_load_dword v0, v1, s[2:3]' --gpu gfx90a 'v1=lane*4' 's[2:3]=0x10000000' "
                 "'mem[0x10000000:256]=i*i' exec=0xe")
                .output,
            "v0[1] = 0x00000001  u32 1\nv0[2] = 0x00000004  u32 4\nv0[3] = 0x00000009  u32 9\n");
  EXPECT_EQ(eval("'global_store_b32 v1, v2, s[2:3]' --gpu gfx1201 'v1=lane*4' v2=f32:lane+1 's[2:3]=0x10000ffc' "
                 "'mem[0x10000ffc:16]=0' exec=7")
                .output,
            "mem[0x10000ffc] = 0x3f800000  f32 1\nmem[0x10001000] = 0x40000000 0x40400000  f32 2 3\n");
  EXPECT_EQ(eval("'ds_read_b32 v0, v1' 'ds_write_b32 v1, v0 offset:64' --gpu gfx900 'v1=lane*4' 'lds[0]=10,20' "
                 "lds[8]=30 exec=7")
                .output,
            "v0[0] = 0x0000000a  u32 10\nv0[1] = 0x00000014  u32 20\nv0[2] = 0x0000001e  u32 30\n"
            "lds[0x40] = 0x0000000a 0x00000014 0x0000001e  u32 10 20 30\n");
  EXPECT_EQ(eval("'s_load_dwordx2 s[0:1], s[2:3], 0x8' --gpu gfx1030 's[2:3]=0x10000000' "
                 "'mem[0x10000008]=u64:0x1122334455667788'")
                .output,
            "s[0:1] = 0x1122334455667788  u64 1234605616436508552\n");
  EXPECT_EQ(eval("'scratch_store_dword off, v0, off offset:16' --gpu gfx1030 v0=7 exec=3").output,
            "scratch[0x10][0-1] = 0x00000007  u32 7\n");
}

TEST(EvalCommand, TracesInstructions) {
  const test::TemporaryDirectory directory;
  test::write_file(
      directory / "loop.s",
      "s_mov_b32 s0, 2\nL:\nv_add_u32 v0, v0, v1\ns_sub_u32 s0, s0, 1\ns_cmp_lg_u32 s0, 0\ns_cbranch_scc1 L\n");
  const auto run = eval("--file " + directory / "loop.s" + " --gpu gfx900 v1=3 exec=1 --trace");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output,
            "0x0000  s_mov_b32 s0, 2\n"
            "            s0 = 0x00000002  u32 2\n"
            "0x0004  v_add_u32_e32 v0, v0, v1\n"
            "            v0[0] = 0x00000003  u32 3\n"
            "0x0008  s_sub_u32 s0, s0, 1\n"
            "            s0 = 0x00000001  u32 1\n"
            "            unchanged: scc\n"
            "0x000c  s_cmp_lg_u32 s0, 0\n"
            "            scc = 1\n"
            "0x0010  s_cbranch_scc1 65532  -> 0x0004\n"
            "0x0004  v_add_u32_e32 v0, v0, v1\n"
            "            v0[0] = 0x00000006  u32 6\n"
            "0x0008  s_sub_u32 s0, s0, 1\n"
            "            s0 = 0x00000000  u32 0\n"
            "            scc = 0\n"
            "0x000c  s_cmp_lg_u32 s0, 0\n"
            "            unchanged: scc\n"
            "0x0010  s_cbranch_scc1 65532\n");
  // The same on every processor, and in the end the same as without --trace.
  for (const std::string& gpu : processors()) {
    const std::string code =
        "'v_mov_b32 v0, 3' 's_getpc_b64 s[0:1]' 's_add_u32 s0, s0, 16' 's_addc_u32 s1, s1, 0' "
        "'s_setpc_b64 s[0:1]' 'v_mov_b32 v1, 4' 'v_mov_b32 v2, 5' s_barrier s_sleep\\ 1 --gpu " +
        gpu;
    const bool split_barriers = gpu.starts_with("gfx12");
    std::string text = code;
    if (split_barriers) text.replace(text.find("s_barrier"), 9, "'s_barrier_signal -1' 's_barrier_wait -1'");
    const auto whole = eval_json(text), traced = eval_json(text + " --trace");
    EXPECT_EQ(whole["instructions"], split_barriers ? 9 : 8) << gpu;
    EXPECT_EQ(traced["trace"].size(), whole["instructions"]) << gpu;
    EXPECT_EQ(lane_of(traced, "v2", 0), 5u) << gpu;
    for (const auto& each : traced["registers"]) EXPECT_NE(each["name"], "v1") << gpu;
  }
}

TEST(EvalCommand, ReportsFaultsByName) {
  const auto wild =
      eval("'v_mov_b32 v5, 1' 'global_load_dword v0, v1, s[2:3]' --gpu gfx90a 'v1=lane*4' 's[2:3]=0x20000000'");
  EXPECT_EQ(wild.exit_code, 1);
  EXPECT_THAT(wild.output,
              AllOf(HasSubstr("v5[0-63]"), HasSubstr("read from 0x20000000, which is not mapped"),
                    HasSubstr("global_load_dword v0, v1, s[2:3]"), HasSubstr("lane 0"), Not(HasSubstr("unchanged"))));
  const auto global = eval("'ds_ordered_count v0, v1 gds' --gpu gfx1100");
  EXPECT_EQ(global.exit_code, 1);
  EXPECT_THAT(global.output, HasSubstr("ds_ordered_count is not implemented"));
  const auto image = eval("'image_load v0, v1, s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_1D' --gpu gfx1100");
  EXPECT_EQ(image.exit_code, 1);
  EXPECT_THAT(image.output, HasSubstr("image_load: the resource is of type 0, which is no image"));
  const auto jump = eval("'s_setpc_b64 s[0:1]' --gpu gfx1200 's[0:1]=0x1000'");
  EXPECT_EQ(jump.exit_code, 1);
  EXPECT_THAT(jump.output, HasSubstr("jumped to 0x1000, where there is no code"));
  const auto stuck = eval("'s_barrier_wait -1' --gpu gfx1200");
  EXPECT_EQ(stuck.exit_code, 1);
  EXPECT_THAT(stuck.output, HasSubstr("waits at a barrier"));
  const auto trap = eval("'s_trap 2' --gpu gfx906 --trace");
  EXPECT_EQ(trap.exit_code, 1);
  EXPECT_THAT(trap.output, HasSubstr("s_trap 2"));
  const auto endless =
      test::run_command(fmt::format("printf 'L: s_branch L\\n' | {} eval --file - --gpu gfx1100 2>&1", ATOLL_COMMAND));
  EXPECT_EQ(endless.exit_code, 1);
  EXPECT_THAT(endless.output, HasSubstr("stopped after 1000000 instructions (--limit)"));
  const auto fault =
      test::run_command(fmt::format("{} eval 's_trap 2' --gpu gfx906 --json 2>/dev/null", ATOLL_COMMAND));
  EXPECT_EQ(fault.exit_code, 1);
  EXPECT_EQ(json::parse(fault.output)["outcome"], "fault");
}

TEST(EvalCommand, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"", "--gpu is required"},
      {"--gpu gfx900", "eval requires an instruction"},
      {"s_nop\\ 0 --gpu radeon9000", "unknown GPU 'radeon9000'"},
      {"s_nop\\ 0 --gpu gfx900 --wave-size 32", "no waves of 32 lanes"},
      {"s_nop\\ 0 --gpu gfx900 --engine warp", "unknown engine 'warp'"},
      {"s_nop\\ 0 --gpu gfx900 --engine compiled --trace", "--trace is the interpreter's"},
      {"s_nop\\ 0 --gpu gfx900 v256=1", "v256=1: gfx900 has v0 to v255"},
      {"s_nop\\ 0 --gpu gfx900 'v[3:2]=1'", "cannot be set"},
      {"s_nop\\ 0 --gpu gfx900 'v3[64]=1'", "cannot be set"},
      {"s_nop\\ 0 --gpu gfx1100 'v3[32]=1'", "the wave has 32 lanes"},
      {"s_nop\\ 0 --gpu gfx900 s102=1", "gfx900 has s0 to s101"},
      {"s_nop\\ 0 --gpu gfx900 a0=1", "gfx900 has no AGPRs"},
      {"s_nop\\ 0 --gpu gfx900 s0=1,2", "one value"},
      {"s_nop\\ 0 --gpu gfx900 v0=", "'' is not a value"},
      {"s_nop\\ 0 --gpu gfx900 v0=lane+", "is not a value"},
      {"s_nop\\ 0 --gpu gfx900 v0=1/0", "division by zero"},
      {"s_nop\\ 0 --gpu gfx900 'v0=((((1'", "is not a value"},
      {"s_nop\\ 0 --gpu gfx900 v0=0x1ffffffff", "does not fit into 32 bits"},
      {"s_nop\\ 0 --gpu gfx900 v0=f64:1", "do not fit into 32"},
      {"s_nop\\ 0 --gpu gfx900 v0=u8:256", "does not fit into 8 bits"},
      {"s_nop\\ 0 --gpu gfx900 v0=i32:1.5", "is not an integer"},
      {"s_nop\\ 0 --gpu gfx900 v0=f32:0x10", "0x10 are bits"},
      {"s_nop\\ 0 --gpu gfx900 v0=s:x", "the seed must be a number"},
      {"s_nop\\ 0 --gpu gfx900 scc=2", "scc is 0 or 1"},
      {"s_nop\\ 0 --gpu gfx900 'lds[0x10000]=1'", "65536 bytes of LDS"},
      {"s_nop\\ 0 --gpu gfx900 'mem[0xffffffffffffff00]=1'", "there is no such memory"},
      {"s_nop\\ 0 --gpu gfx900 'mem[0x10000000:99999999999]=1'", "there is no such memory"},
      {"s_nop\\ 0 --gpu gfx900 'mem[0x10000000:0]=1'", "cannot be set"},
  };
  for (const auto& [arguments, message] : mistakes) {
    const auto run = eval(arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments << "\n" << run.output;
    EXPECT_THAT(run.output, HasSubstr(message)) << arguments;
  }
  // Mistakes in the code are the assembler's to tell.
  const auto missing = eval("'v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v2' --gpu gfx900");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.output, HasSubstr("<command line>:1:1: error: gfx900 does not have v_dual_mov_b32"));
  EXPECT_THAT(eval("'v_mov_b32 v300, v1' --gpu gfx900").output, HasSubstr("error:"));
  EXPECT_EQ(eval("'s_mov_b32 s0, sym' --gpu gfx900").exit_code, 1) << "of no use without a value";
  EXPECT_EQ(eval("'.if 1' --gpu gfx900").exit_code, 1);
  EXPECT_EQ(eval("--file /nowhere --gpu gfx900").exit_code, 1);
}

}  // namespace
}  // namespace Atoll
