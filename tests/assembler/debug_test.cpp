// Debug information: the line tables of .file and .loc and the frames of .cfi_* are, byte for byte, those of
// llvm-mc-22, for texts that have every part of them and for what clang-22 -S -g writes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "assembler/llvm_assembler.h"
#include "support/command.h"

namespace Atoll::test {
namespace {

TEST(LineTables, AreThoseOfDwarf5) {
  expect_same_object(R"(
.text
.file 0 "/made" "x/a.cl" md5 0x51280e69f035b71d30b31f0cc1a6dc6d
.file 1 "/usr/inc" "b.h" md5 0xbe11a690c37450a0034f006875ffc62b
.file 2 "sub/c.h" md5 0x01
.file 3 "/usr/inc" "d.h" md5 0x2
.file 4 "/made" "e.h" md5 0x3
.globl k
.p2align 8
.type k,@function
k:
.loc 0 5 0
.cfi_sections .debug_frame
.cfi_startproc
.long 1
.loc 0 6 20 prologue_end
.long 2, 3
.Ltmp0:
.loc 0 0 20 is_stmt 0
.long 4
.loc 1 60 3 is_stmt 1
.long 4
.loc 1 6000 3 discriminator 300
.long 5
.loc 2 5999
.loc 3 5998 1 basic_block isa 3
.quad 6
.skip 68
.loc 3 5998 2
.long 7
.skip 400
.loc 4 6010
.long 8
.skip 4000
.loc 0 6011
.p2align 6
.long 9
.loc 0 7 2 epilogue_begin
.long 10
.Lend:
.size k, .Lend-k
.cfi_endproc
.section .text.other,"ax",@progbits
.cfi_startproc
.loc 0 70 1
.loc 0 71 1
.long 1
.skip 64
.cfi_endproc
.section .data
.loc 0 99
.byte 1
.loc 0 100
)",
                     "gfx900");
}

TEST(LineTables, KeepSources) {
  expect_same_object(
      ".file 0 \"/made\" \"a.cl\" source \"int a;\\nint b;\"\n.file 1 \"b.h\"\n.loc 1 1\n.long 1\n.loc 0 2\n.long 2\n",
      "gfx1030");
}

TEST(LineTables, AreThoseOfDwarf4) {
  expect_same_object(
      ".file 1 \"/made\" \"a.cl\"\n.file 2 \"sub/b.h\"\n.loc 1 3 4\n.long 1\n.loc 2 4\n.long 1\n.section .debug_info\n"
      ".long .debug_line\n",
      "gfx900");
}

/// There a nop is put after some branches, which is decided at the end.
TEST(LineTables, CountBranchesWhoseLengthIsSettledLast) {
  std::string text = ".file 1 \"a.c\"\n.cfi_startproc\nf:\n.loc 1 1 1\ns_nop 0\ns_cbranch_scc0 .Lfar\n.loc 1 2 1\n";
  text += ".cfi_def_cfa_offset 8\n.rept 63\ns_nop 0\n.endr\n.Lfar:\n.loc 1 3 1\ns_nop 0\n.loc 1 4 1\n";
  text += "s_branch f\ns_cbranch_scc1 .Lnear\n.loc 1 5 1\n.Lnear:\ns_endpgm\n.cfi_endproc\n";
  for (const char* processor : {"gfx1010", "gfx1030"}) expect_same_object(text, processor);
}

// llvm-mc writes register -1 for vcc; the numbers are those of the user guide, "Register Identifier".
TEST(Frames, VccIsTheRegisterOfTheUserGuide) {
  const auto text = [](const char* vcc, const char* vcc_lo) {
    return fmt::format("f:\n.cfi_startproc\n.cfi_undefined {}\n.cfi_same_value {}\ns_nop 0\n.cfi_endproc\n", vcc,
                       vcc_lo);
  };
  for (const char* processor : {"gfx90a", "gfx1100"}) {
    const auto numbers = llvm_assemble(text("768", "512"), processor);
    const auto names = atoll_assemble(text("vcc", "vcc_lo"), processor);
    ASSERT_FALSE(names.object.empty()) << names.messages;
    EXPECT_EQ(names.object, numbers.object) << processor;
  }
}

TEST(LineTables, ErrorsAreFoundWithTheirPlaces) {
  const auto atoll = atoll_assemble(
      ".file 1 \"a\"\n.loc 2 3\n.loc 1 3 is_stmt 2\n.loc 1 2 nonsense\n.file 1 \"b\"\n.file 2 \"c\" md5 zero\n"
      ".cfi_endproc\n.cfi_offset 1, 2\n.cfi_startproc\n.cfi_startproc\n.cfi_undefined nothing\n"
      ".cfi_personality 0x7, x\n.text -1\n.base64 \"=\"\n",
      "gfx900");
  EXPECT_TRUE(atoll.object.empty());
  EXPECT_EQ(error_places(atoll.messages), (std::vector<std::string>{"2:6", "3:18", "4:10", "5:7", "6:17", "7:1", "8:1",
                                                                    "10:1", "11:16", "12:18", "13:7", "14:9"}))
      << atoll.messages;
  EXPECT_TRUE(atoll.messages.contains("no .cfi_endproc")) << atoll.messages;
}

class CompiledWithDebugInformation : public testing::TestWithParam<std::string> {};

TEST_P(CompiledWithDebugInformation, IsAssembledAsByLlvm) {
  const TemporaryDirectory directory;
  for (const char* level : {"-O0", "-O2"}) {
    const std::string text_file = directory / "kernels.s";
    const auto compiled =
        run_command(fmt::format("clang-22 --target=amdgcn-amd-amdhsa -mcpu={} -nogpulib -x cl -cl-std=CL1.2 "
                                "-w -g {} -S {}/assembler/kernels/plain.cl -o {} 2>&1",
                                GetParam(), level, ATOLL_TEST_SOURCE_DIR, text_file));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
    const auto bytes = read_bytes(text_file);
    const std::string text(bytes.begin(), bytes.end());
    EXPECT_TRUE(text.contains(".loc") && text.contains(".cfi_startproc"));
    expect_same_object(text, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, CompiledWithDebugInformation,
                         testing::Values("gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx90a", "gfx942", "gfx950",
                                         "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200", "gfx1250"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace Atoll::test
