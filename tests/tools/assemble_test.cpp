// `atoll asm`: what it makes runs (atoll launch), of hand-written text and of clang's; what it says of mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "support/command.h"

namespace Atoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class AssembleCommand : public testing::Test {
 protected:
  test::CommandResult atoll(const std::string& arguments) const {
    return test::run_command(fmt::format("cd {} && {} {} 2>&1", directory_.path().string(), ATOLL_COMMAND, arguments));
  }

  const test::TemporaryDirectory directory_;
};

/// Adds a number to each element of a buffer: the arguments are the buffer and the number.
constexpr const char* add_kernel = R"(
.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
.include "offset.inc"
.text
.globl add
.p2align 8
.type add,@function
add:
  s_load_dwordx2 s[0:1], s[4:5], 0x0
  s_load_dword s2, s[4:5], 0x8
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[0:1]
  s_add_u32 s2, s2, extra
  s_waitcnt vmcnt(0)
  v_add_u32 v1, s2, v1
  global_store_dword v0, v1, s[0:1]
  s_endpgm
.Lend:
.size add, .Lend-add
.rodata
.p2align 6
.amdhsa_kernel add
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 12
  .amdhsa_next_free_vgpr .amdgcn.next_free_vgpr
  .amdhsa_next_free_sgpr .amdgcn.next_free_sgpr
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: add
    .symbol: add.kd
    .kernarg_segment_size: 12
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 12
    .vgpr_count: 2
    .max_flat_workgroup_size: 256
    .args:
      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
      - {.size: 4, .offset: 8, .value_kind: by_value}
.end_amdgpu_metadata
)";

TEST_F(AssembleCommand, HandWrittenCodeRuns) {
  test::write_file(directory_ / "add.s", add_kernel);
  ASSERT_EQ(atoll("asm --help").exit_code, 0);
  std::filesystem::create_directory(directory_.path() / "include");
  test::write_file(directory_ / "include/offset.inc", ".set extra, base+1\n");
  const auto assembled = atoll("asm add.s --gpu gfx900 -I include --defsym base=0x63 -o add.co");
  EXPECT_EQ(assembled.exit_code, 0) << assembled.output;
  EXPECT_EQ(assembled.output, "");
  EXPECT_EQ(atoll("launch add.co --kernel add --grid 4 --block 4 --arg buf:4:i32=ramp --arg i32:5 --print 1").output,
            "1: 4 x i32\n       0: 105 106 107 108\n");
}

TEST_F(AssembleCommand, CompiledCodeRunsOnEveryExecutedGeneration) {
  test::write_file(directory_ / "mix.cl",
                   "__attribute__((noinline)) int call(int x, int n) { return n == 0 ? x : x * x - 7 + n; }\n"
                   "kernel void mix(global int* p, float f, int n) {\n"
                   "  local int shared[64];\n"
                   "  int i = __builtin_amdgcn_workitem_id_x();\n"
                   "  shared[i] = p[i];\n"
                   "  __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");\n"
                   "  __builtin_amdgcn_s_barrier();\n"
                   "  p[i] = call(shared[63 - i], n) + (int)(f * i);\n"
                   "}\n");
  for (const char* processor : {"gfx900", "gfx906", "gfx90a", "gfx942"}) {
    for (const char* level : {"-O0", "-O2"}) {
      const auto compiled =
          test::run_command(fmt::format("cd {} && clang-22 --target=amdgcn-amd-amdhsa -mcpu={} -x cl -cl-std=CL2.0 {} "
                                        "-nogpulib -S mix.cl -o mix.s 2>&1",
                                        directory_.path().string(), processor, level));
      ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
      const auto assembled = atoll(fmt::format("asm mix.s --gpu {} -c -o mix.o", processor));
      EXPECT_EQ(assembled.output, "") << processor << level;
      ASSERT_EQ(atoll("link mix.o -o mix.co").exit_code, 0) << processor << level;
      const auto run =
          atoll(fmt::format("launch mix.co --gpu {} --kernel mix --grid 64 --block 64 --arg buf:64:i32=ramp --arg 1.5 "
                            "--arg 3 --print 1:4",
                            processor));
      // Of item i: (63 - i)^2 - 7 + 3 + 3 i / 2.
      EXPECT_THAT(run.output, HasSubstr("0: 3965 3841 3720 3600")) << processor << level;
    }
  }
}

TEST_F(AssembleCommand, MistakesAreListed) {
  test::write_file(directory_ / "bad.s", "s_mov_b32 s0, v1\n  v_nosuch_b32 v0\ns_endpgm\n");
  const auto result = atoll("asm bad.s --gpu gfx900 -o bad.co");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, AllOf(HasSubstr("bad.s:1:15: error: operand 2 must be an SGPR or a constant\n"
                                             "s_mov_b32 s0, v1\n              ^\n"),
                                   HasSubstr("bad.s:2:3: error: there is no instruction 'v_nosuch_b32'\n")));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "bad.co"));
}

TEST_F(AssembleCommand, CommandLinesThatMakeNoSenseAreRefused) {
  test::write_file(directory_ / "a.s", "s_endpgm\n");
  EXPECT_EQ(atoll("asm a.s --gpu gfx9999 -o a.co").exit_code, 2);
  EXPECT_EQ(atoll("asm a.s --gpu gfx900 --wave32 -o a.co").exit_code, 2);
  EXPECT_EQ(atoll("asm a.s --gpu gfx900 --defsym a=b -o a.co").exit_code, 2);
  EXPECT_EQ(atoll("asm missing.s --gpu gfx900 -o a.co").exit_code, 1);
}

}  // namespace
}  // namespace Atoll
