// `atoll asm`: what it makes runs (atoll launch), of hand-written text and of clang's; what it says of mistakes.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// What a command used, and its exit code.
struct Use {
  int exit_code = -1;
  long peak_kib = 0;       ///< resident memory
  double cpu_seconds = 0;  ///< of user and system together: the host may be busy
};

Use measure(const std::string& command) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage used{};
  if (wait4(child, &status, 0, &used) != child) return {};
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .peak_kib = used.ru_maxrss,
          .cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime)};
}

// A few lines that stand for gigabytes: each is an error with its place before its memory is taken. The directives are
// those of the GNU assembler's manual that have a count, a size, an alignment or an address.
TEST_F(AssembleCommand, RefusesTextThatStandsForGigabytes) {
  std::string doubling = ".macro d0\n.quad 0\n.endm\n";
  for (int i = 1; i < 40; i++) doubling += fmt::format(".macro d{}\nd{}\nd{}\n.endm\n", i, i - 1, i - 1);
  test::write_file(directory_ / "sparse", "");
  std::filesystem::resize_file(directory_ / "sparse", uint64_t{4} << 30);  // takes no room on the disk
  struct Case {
    const char* name;
    std::string text;
  };
  const Case cases[] = {
      {"org", ".org 4000000000\n"},
      {"org 2^62", ".org 0x4000000000000000\ns_nop 0\n"},
      {"org by a symbol", "a: .org a + 1000000000\n"},
      {"zero", ".zero 1000000000\n"},
      {"zero 2^63 - 1", ".zero 0x7fffffffffffffff\n"},
      {"skip", ".skip 1000000000, 1\n"},
      {"space", ".space 1000000000\n"},
      {"space by a later symbol", ".space n\n.set n, 1000000000\n"},
      {"fill", ".fill 1000000000\n"},
      {"fill wraps", ".fill 0x2000000000000001, 8, 1\n"},
      {"fill 8", ".fill 134217728, 8, 1\n"},
      {"dcb", ".dcb.l 250000000, 1\n"},
      {"ds", ".ds.d 125000000\n"},
      {"p2align", "s_nop 0\n.p2align 31\n"},
      {"balign", "s_nop 0\n.balign 1073741824\ns_nop 0\n"},
      {"align in data", ".data\n.byte 1\n.p2align 30, 7\n.byte 2\n"},
      {"many alignments", ".rept 4\ns_nop 0\n.p2align 27\n.endr\n"},
      {"sections",
       [] {
         std::string text;
         for (int i = 0; i < 20; i++) text += fmt::format(".section .data.s{},\"aw\",@progbits\n.zero 100000000\n", i);
         return text;
       }()},
      {"incbin", ".incbin \"sparse\"\n"},
      {"incbin of a device", ".incbin \"/dev/zero\"\n"},
      {"incbin again", ".rept 5\n.incbin \"sparse\", 0, 100000000\n.endr\n"},
      {"rept", ".rept 1000000000\n.byte 1\n.endr\n"},
      {"nested rept", ".rept 100000\n.rept 100000\n.byte 1\n.endr\n.endr\n"},
      {"irp", ".irp x, 1, 2, 3\n.rept 1000000000\n.byte \\x\n.endr\n.endr\n"},
      {"macros", doubling + "d39\n"},
      {"recursion", ".macro r\nr\nr\n.endm\nr\n"},
      {"comm as bytes", ".section .bss,\"aw\",@progbits\n.byte 1\n.comm x, 4000000000, 8\n"},
      {"comm", ".comm x, 0x7fffffffffffffff, 8\n"},
      {"bss as bytes", ".bss\n.zero 1000000000\n.section .bss.more,\"aw\",@progbits\n.byte 1\n"},
      {"expression",
       [] {
         std::string text = "x0 = y + y\n";
         for (int i = 1; i < 60; i++) text += fmt::format("x{} = x{} + x{}\n", i, i - 1, i - 1);
         return text + ".quad x59\ny = 1 + z\n.quad z\n";
       }()},
      {"metadata",
       ".amdgpu_metadata\na: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n.end_amdgpu_metadata\n"},
  };
  constexpr long max_kib = 700 << 10;
  constexpr double max_seconds = 20;
  for (const auto& [name, text] : cases) {
    SCOPED_TRACE(name);
    test::write_file(directory_ / "bomb.s", text);
    const std::string command = fmt::format("{} asm bomb.s --gpu gfx900 -o bomb.co >bomb.txt 2>&1", ATOLL_COMMAND);
    const Use use = measure(fmt::format("sh -c 'cd {} && exec {}'", directory_.path().string(), command));
    EXPECT_EQ(use.exit_code, 1);
    EXPECT_LT(use.peak_kib, max_kib);
    EXPECT_LT(use.cpu_seconds, max_seconds);
    std::string said;
    for (const uint8_t byte : test::read_bytes(directory_ / "bomb.txt")) said += static_cast<char>(byte);
    EXPECT_THAT(said, testing::AnyOf(HasSubstr("error: "), testing::StartsWith("atoll: ")));
    EXPECT_THAT(said, Not(HasSubstr("bad_alloc")));
    EXPECT_FALSE(std::filesystem::exists(directory_ / "bomb.co"));
  }
  // What is below the limit is made.
  test::write_file(directory_ / "large.s", ".data\n.zero 200000000\n.bss\n.zero 2000000000\n");
  EXPECT_EQ(atoll("asm large.s --gpu gfx900 -o large.co").output, "");
  EXPECT_GT(std::filesystem::file_size(directory_ / "large.co"), 200'000'000u);
}

TEST_F(AssembleCommand, ListsMistakesOnly) {
  test::write_file(directory_ / "good.s", "s_endpgm\n");
  test::write_file(directory_ / "bad.s", "v_nonsense\n");
  EXPECT_EQ(atoll("asm good.s --gpu GFX900 --syntax-only").exit_code, 0);
  const auto bad = atoll("asm bad.s --gpu gfx900 --syntax-only");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.output, HasSubstr("bad.s:1:1: error: "));
  EXPECT_EQ(atoll("asm good.s --gpu gfx900").exit_code, 2);
  EXPECT_EQ(atoll("asm good.s --gpu gfx900 --syntax-only -o x.co").exit_code, 2);
}

// LLVM 23's triple, in text and metadata (llvm/llvm-project#206480).
TEST_F(AssembleCommand, TakesTriplesOfLlvm23) {
  const auto with = [&](const std::string& triple) {
    test::write_file(directory_ / "t.s", fmt::format(".amdgcn_target \"{}\"\n.amdgpu_metadata\namdhsa.version: [1, 2]\n"
                                                     "amdhsa.target: {}\n.end_amdgpu_metadata\ns_endpgm\n",
                                                     triple, triple));
    return atoll("asm t.s --gpu gfx1201 -o t.co");
  };
  for (const char* triple :
       {"amdgpu12.01-amd-amdhsa--gfx1201", "amdgpu12-amd-amdhsa--gfx1201", "amdgpu12.01-amd-amdhsa",
        "amdgcn-amd-amdhsa-unknown-gfx1201", "amdgcn-amd-amdhsa--gfx1201"}) {
    EXPECT_EQ(with(triple).output, "") << triple;
    EXPECT_EQ(
        atoll(fmt::format(
                  "bundle make {}=t.co -o t.hipfb && {} bundle extract t.hipfb --gpu gfx1201 -o u.co && cmp t.co u.co",
                  triple, ATOLL_COMMAND))
            .exit_code,
        0)
        << triple;
  }
  EXPECT_THAT(with("amdgpu9.0a-amd-amdhsa--gfx1201").output, HasSubstr("is not the architecture of gfx1201"));
  EXPECT_THAT(with("amdgcn-amd-amdpal--gfx1201").output, HasSubstr("operating system amdpal"));
}

TEST_F(AssembleCommand, BundlesOfOtherTargetsAreRefused) {
  test::write_file(directory_ / "k.s", "s_endpgm\n");
  ASSERT_EQ(atoll("asm k.s --gpu gfx90a -o k.co").output, "");
  EXPECT_EQ(atoll("bundle make gfx90a=k.co -o k.hipfb").output, "");
  EXPECT_EQ(atoll("bundle make mi250x=k.co -o k.hipfb").output, "");
  for (const char* other : {"gfx900", "gfx908", "gfx9-generic"}) {
    const auto refused = atoll(fmt::format("bundle make {}=k.co -o no.hipfb", other));
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.output, HasSubstr(fmt::format("the code object is for gfx90a, the entry for {}", other)));
  }
  EXPECT_NE(atoll("bundle make gfx90a=k.s -o no.hipfb").exit_code, 0);
  ASSERT_EQ(atoll("asm k.s --gpu gfx90a:xnack+ -o x.co").output, "");
  EXPECT_NE(atoll("bundle make gfx90a:xnack-=x.co -o no.hipfb").exit_code, 0);
  EXPECT_NE(atoll("bundle make gfx90a=x.co -o no.hipfb").exit_code, 0);
  // Code for any setting runs with each.
  EXPECT_EQ(atoll("bundle make gfx90a:xnack-=k.co -o k-.hipfb").output, "");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "no.hipfb"));
  // An entry whose ID has another triple than the one that is asked for.
  EXPECT_EQ(atoll("bundle extract k.hipfb --gpu amdgpu9.0a-amd-amdhsa--gfx90a -o l.co").exit_code, 0);
  EXPECT_THAT(atoll("bundle extract k.hipfb --gpu gfx900 -o l.co").output,
              HasSubstr("no code for gfx900; there is code for gfx90a"));
  // The system that the code is for is named, not GPUs.
  auto bytes = test::read_bytes(directory_ / "k.co");
  bytes[7] = 0;  // EI_OSABI: ELFOSABI_NONE
  test::write_file(directory_ / "none.co", std::string(bytes.begin(), bytes.end()));
  for (const char* command : {"launch none.co", "launch none.co --gpu gfx90a"}) {
    const auto refused = atoll(command);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.output, HasSubstr("the code object is for no operating system, amdhsa is required"));
  }
  // PAL runs what its own metadata describes.
  bytes[7] = 65;  // EI_OSABI: ELFOSABI_AMDGPU_PAL
  test::write_file(directory_ / "pal.co", std::string(bytes.begin(), bytes.end()));
  const auto refused = atoll("launch pal.co --kernel k --grid 64");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.output, HasSubstr("the PAL code object has no metadata"));
}

}  // namespace
}  // namespace Atoll
