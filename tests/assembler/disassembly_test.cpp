// Disassembly of whole files against llvm-objdump-22: kernels with calls, loops and tables, compiled for GPUs of each
// generation, linked and not; and assembly text with what compilers don't write.
#include "assembler/disassembly/disassembly.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "support/command.h"
#include "support/llvm_processors.h"

namespace Atoll::assembler {
namespace {

using testing::HasSubstr;

/// The lines of a listing that both programs print, without what Atoll puts after the bytes.
std::vector<std::string> lines_of(const std::string& text) {
  static const std::regex remark("(// [0-9A-F]{12}:( [0-9A-F]+)+) [<R].*$");
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const bool same = !line.empty() && !line.starts_with(";") && !line.starts_with("Disassembly of") &&
                      line.find("file format") == std::string::npos;
    if (same) lines.push_back(std::regex_replace(line, remark, "$1"));
  }
  return lines;
}

std::string listing(const std::string& path) {
  const auto bytes = test::read_bytes(path);
  const auto sections = disassemble(bytes);
  if (!sections) return sections.error().message;
  std::string text;
  for (const DisassembledSection& section : *sections) append_text(text, section, true);
  return text;
}

void expect_same_as_objdump(const std::string& path, const std::string& options = {}) {
  const auto oracle = test::run_command(fmt::format("llvm-objdump-22 -d --symbolize-operands {} {}", options, path));
  ASSERT_EQ(oracle.exit_code, 0);
  const auto expected = lines_of(oracle.output), actual = lines_of(listing(path));
  EXPECT_GT(expected.size(), 20u);
  EXPECT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) ASSERT_EQ(expected[i], actual[i]);
}

constexpr const char* kernels = R"(
__attribute__((noinline)) static int twice(int a, int n) { for (int i = 0; i < n; i++) a = a * 3 + (a >> 2); return a; }
constant int table[] = {3, 1, 4, 1, 5, 9, 2, 6};
kernel void calls(global int* p, int n) { if (n < 7) p[n] = twice(p[n], n) + table[n]; }
kernel void loops(global float* p, int n) {
  local float s[64];
  for (int i = 0; i < n; i++) { s[i & 63] = p[i]; __builtin_amdgcn_s_barrier(); p[i] = s[(i + 1) & 63] * p[n]; }
}
)";

class Disassembly : public testing::Test {
 protected:
  /// Compiles the kernels; "gfx1030 -mwavefrontsize64" is a parameter too. The relocatable or what is linked of it.
  std::string compile(const std::string& parameter, bool linked) {
    test::write_file(directory_ / "kernels.cl", kernels);
    const std::string file = directory_ / (linked ? "kernels.co" : "kernels.o");
    const auto run = test::run_command(fmt::format(
        "clang-22 --target=amdgcn-amd-amdhsa -mcpu={} -nogpulib -x cl -cl-std=CL2.0 -Xclang -finclude-default-header "
        "-w -O1 {} {} -o {} 2>&1",
        parameter, linked ? "" : "-c", directory_ / "kernels.cl", file));
    EXPECT_EQ(run.exit_code, 0) << run.output;
    return file;
  }
  test::TemporaryDirectory directory_;
};

class DisassemblyFor : public Disassembly, public testing::WithParamInterface<const char*> {};

TEST_P(DisassemblyFor, OfCodeObjectsAndRelocatablesIsObjdumps) {
  const std::string parameter = GetParam();
  const bool is_wave64 = parameter.find("-mwavefrontsize64") != std::string::npos;
  const std::string options =
      fmt::format("--mattr={}", is_wave64 ? "+wavefrontsize64" : test::halves_feature(parameter));
  expect_same_as_objdump(compile(parameter, false), options);
  expect_same_as_objdump(compile(parameter, true), options);
}

INSTANTIATE_TEST_SUITE_P(Some, DisassemblyFor,
                         testing::Values("gfx803", "gfx900", "gfx90a", "gfx942", "gfx1010", "gfx1030 -mwavefrontsize64",
                                         "gfx1100", "gfx1200", "gfx1250"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace_if(name, [](char c) { return c == ' ' || c == '-'; }, '_');
                           return name;
                         });

/// The remark that Atoll puts after the line on which that text is, of the section's lines one after the other.
std::vector<std::string> remarks_on(const std::string& text, const std::string& instruction) {
  std::vector<std::string> remarks;
  std::istringstream stream(text);
  const std::regex line_expression(instruction + ".*// [0-9A-F]{12}:(?: [0-9A-F]+)+ (.*)$");
  for (std::string line; std::getline(stream, line);) {
    if (std::smatch match; std::regex_search(line, match, line_expression)) remarks.push_back(match[1]);
  }
  return remarks;
}

TEST_F(Disassembly, NamesWhatIsCalledAndAddressed) {
  using testing::Contains;
  for (const char* gpu : {"gfx900", "gfx90a", "gfx1030", "gfx1100"}) {
    SCOPED_TRACE(gpu);
    const std::string linked = listing(compile(gpu, true)), relocatable = listing(compile(gpu, false));
    EXPECT_THAT(remarks_on(linked, "s_swappc_b64"), Contains("<twice>"));
    EXPECT_THAT(remarks_on(linked, "s_addc_u32"), Contains("<table>"));
    EXPECT_THAT(remarks_on(relocatable, "s_swappc_b64"), Contains("<twice>"));
    EXPECT_THAT(remarks_on(relocatable, "s_add_u32"), Contains("R_AMDGPU_REL32_LO .text+0x4"));
    EXPECT_THAT(remarks_on(relocatable, "s_addc_u32"), Contains(HasSubstr("<table>")));
  }
}

/// GFX12.5 adds the distance at once.
TEST_F(Disassembly, NamesWhatIsCalledAndAddressedByWholeSums) {
  using testing::Contains;
  const std::string linked = listing(compile("gfx1250", true)), relocatable = listing(compile("gfx1250", false));
  EXPECT_THAT(remarks_on(linked, "s_swap_pc_i64"), Contains("<twice>"));
  EXPECT_THAT(remarks_on(linked, "s_add_nc_u64"), Contains("<table>"));
  EXPECT_THAT(remarks_on(relocatable, "s_swap_pc_i64"), Contains("<twice>"));
  EXPECT_THAT(remarks_on(relocatable, "s_add_nc_u64"), Contains("R_AMDGPU_REL64 .text+0x4 <twice>"));
}

/// A kernel that needs more than 256 VGPRs, so that it sets their bank; two loops, into which it branches.
TEST_F(Disassembly, OfManyRegistersIsObjdumps) {
  test::write_file(directory_ / "many.cpp", R"(
extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64), amdgpu_waves_per_eu(1, 1)))
void many(float* p, float* q, int n) {
  float sums[300];
#pragma unroll
  for (int i = 0; i < 300; i++) sums[i] = p[i * n + __builtin_amdgcn_workitem_id_x()];
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int i = 0; i < 300; i++) sums[i] = sums[i] * sums[(i + 7) % 300] + q[k];
  }
#pragma unroll
  for (int i = 0; i < 300; i++) p[i] = sums[i];
})");
  const std::string object = directory_ / "many.o";
  const auto run =
      test::run_command(fmt::format("clang-22 --target=amdgcn-amd-amdhsa -mcpu=gfx1250 -nogpulib -O1 -c {} -o {} 2>&1",
                                    directory_ / "many.cpp", object));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  expect_same_as_objdump(object);
  EXPECT_NE(listing(object).find(" /*v256*/"), std::string::npos);
}

/// Each kind of operand in each bank; instructions after which the bank is forgotten, and others.
TEST_F(Disassembly, OfRegistersInOtherBanksIsObjdumps) {
  constexpr const char* forms[] = {
      "v_wmma_f32_16x16x4_f32 v[16:23], v[0:1], v[2:3], v[16:23]",
      "v_wmma_f32_16x16x4_f32 v[16:23], v[0:1], v[2:3], 1.0",
      "v_swmmac_f32_16x16x64_f16 v[24:31], v[0:7], v[8:23], v32 index_key:1",
      "v_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[40:47], v1, v2",
      "v_fmamk_f32 v1, v2, 0x12345678, v3",
      "v_fmaak_f32 v1, v2, v3, 0x12345678",
      "v_dual_fmamk_f32 v1, v2, 0x12345678, v4 :: v_dual_mov_b32 v6, v9",
      "v_dual_fma_f32 v10, v2, v3, v4 :: v_dual_fma_f32 v15, v7, v8, v9",
      "v_cndmask_b32_e64 v1, -v2, |v3|, s4",
      "v_swap_b32 v1, v2",
      "v_readlane_b32 s0, v1, s2",
      "v_writelane_b32 v1, s2, 3",
      "v_cmp_lt_f32_e32 vcc_lo, v1, v2",
      "v_div_scale_f32 v1, vcc_lo, v2, v3, v4",
      "v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9]",
      "v_mov_b32_dpp v1, v2 row_share:1",
      "ds_store_2addr_b32 v1, v2, v3 offset0:1 offset1:2",
      "ds_add_rtn_u32 v1, v2, v3",
      "global_atomic_cmpswap_b32 v0, v[2:3], v[4:5], off th:TH_ATOMIC_RETURN",
      "global_load_async_to_lds_b32 v1, v[2:3], off",
      "global_store_async_from_lds_b32 v[2:3], v4, off",
      "scratch_store_b32 v1, v2, s3",
      "buffer_load_b32 v1, v2, s[4:7], s8 offen",
      "buffer_store_b32 v1, v2, s[4:7], s8 offen",
      "s_endpgm",
      "s_code_end",
      "s_setpc_b64 s[0:1]",
      "s_swappc_b64 s[2:3], s[0:1]",
      "s_rfe_b64 s[0:1]",
      "s_call_b64 s[0:1], after",
      "s_cbranch_scc0 after",
      "s_branch after",
      "s_trap 1",
      ".long 0xffffffff",
  };
  std::string text;
  for (const char* form : forms)
    for (const unsigned banks : {0x1b, 0xe4, 0xaaff})
      text += fmt::format("s_set_vgpr_msb {:#x}\n{}\nv_mov_b32 v1, v2\n", banks, form);
  text +=
      "s_set_vgpr_msb 0x55\n.Lloop:\nv_mov_b32 v1, v2\ns_set_vgpr_msb 0x55\nv_mov_b32 v1, v2\n"
      "s_cbranch_scc1 .Lloop\ns_set_vgpr_msb 0x55\nafter:\nv_mov_b32 v1, v2\ns_endpgm\n";
  test::write_file(directory_ / "banks.s", text);
  const std::string object = directory_ / "banks.o";
  const auto run =
      test::run_command(fmt::format("llvm-mc-22 -triple amdgcn-amd-amdhsa -mcpu=gfx1250 -filetype=obj -o {} {} 2>&1",
                                    object, directory_ / "banks.s"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  expect_same_as_objdump(object, fmt::format("--mattr={}", test::halves_feature("gfx1250")));
}

/// Where an address is known on one of two ways only, it is not known.
TEST_F(Disassembly, NamesNothingWhereWaysMeet) {
  test::write_file(directory_ / "joined.s", R"(
  f:
    s_getpc_b64 s[4:5]
    s_add_u32 s4, s4, f-.+4
    s_addc_u32 s5, s5, -1
    s_cbranch_scc0 .Ljoin
    s_mov_b64 s[4:5], s[6:7]
    s_getpc_b64 s[4:5]
    s_add_u32 s4, s4, 0x100
    s_addc_u32 s5, s5, 0
  .Ljoin:
    s_swappc_b64 s[30:31], s[4:5]
    s_getpc_b64 s[4:5]
    s_add_u32 s4, s4, 12
    s_addc_u32 s5, s5, 0
    s_nop 0
  g:
    s_swappc_b64 s[30:31], s[4:5]
  h:
    s_endpgm
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
  )");
  const std::string object = directory_ / "joined.o";
  const auto run =
      test::run_command(fmt::format("llvm-mc-22 -triple amdgcn-amd-amdhsa -mcpu=gfx900 -filetype=obj -o {} {} 2>&1",
                                    object, directory_ / "joined.s"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  expect_same_as_objdump(object);
  const std::string text = listing(object);
  EXPECT_THAT(remarks_on(text, "s_addc_u32 s5, s5, 0"), testing::ElementsAre("<g>"));
  EXPECT_THAT(remarks_on(text, "s_swappc_b64"), testing::ElementsAre());
}

TEST_F(Disassembly, OfDataZerosAndBrokenWordsIsObjdumps) {
  test::write_file(directory_ / "odd.s", R"(
    .type f,@function
  f:
    s_nop 0
    .long 0xffffffff, 0xffffffff, 0x12345678
    s_branch .Lback
    s_cbranch_scc0 g
    s_call_b64 s[0:1], g
    .long 0,0,0,0,0
    s_nop 1
    .fill 100,4,0
    s_nop 2
  h:
    s_branch .Lback
  .Lback:
    s_branch .Lback
    s_endpgm
    .size f, .-f
  g:
    s_endpgm
    .fill 3, 4, 0xffff0000
    .byte 1, 2, 3
  )");
  const std::string object = directory_ / "odd.o";
  const auto run = test::run_command(fmt::format(
      "llvm-mc-22 -triple amdgcn-amd-amdhsa -mcpu=gfx90a -filetype=obj -o {} {} 2>&1", object, directory_ / "odd.s"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  expect_same_as_objdump(object);
}

TEST_F(Disassembly, OfOneKernelIsItsPartOfTheWhole) {
  const std::string path = compile("gfx90a", true);
  const auto bytes = test::read_bytes(path);
  const auto whole = disassemble(bytes), one = disassemble(bytes, "loops");
  ASSERT_TRUE(whole && one);
  ASSERT_EQ(one->size(), 1u);
  std::string text, all;
  append_text(text, one->front(), true);
  append_text(all, whole->front(), true);
  EXPECT_THAT(text, HasSubstr(" <loops>:\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("<calls>:")));
  EXPECT_LT(one->front().lines.size(), whole->front().lines.size());
  for (const Line& line : one->front().lines)
    EXPECT_EQ(std::ranges::count(whole->front().lines, line.address, &Line::address), 1);
  EXPECT_FALSE(disassemble(bytes, "nothing"));
}

TEST_F(Disassembly, RefusesWhatIsNoCode) {
  const std::vector<uint8_t> text{'n', 'o'};
  EXPECT_FALSE(disassemble(text));
  const auto host = test::read_bytes("/proc/self/exe");
  const auto refused = disassemble(host);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("not code of an AMD GPU"));
}

}  // namespace
}  // namespace Atoll::assembler
