// What is wrong is found where llvm-mc-22 finds it, all of it and not the first alone; and no text, however broken,
// does harm.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "assembler/llvm_assembler.h"

namespace Atoll::test {
namespace {

/// The lines of error_places().
std::set<int> error_lines(const std::string& messages) {
  std::set<int> lines;
  for (const std::string& place : error_places(messages)) lines.insert(std::stoi(place));
  return lines;
}

TEST(Errors, AreFoundOnTheLinesWhereLlvmFindsThem) {
  const std::string text = R"(
.long 0x1fh
.long 1 2
.foo
.long (1
.byte 300
.short -40000
.ascii "a\q"
.if 1
.endif
.else
.endm
.endr
.set x, x+1
.balign 3
.p2align 40
.section .text,"a"
.globl .Ltemporary
.macro m a, a
.endm
.purgem nothing
.include "does not exist"
.popsection
.weak 5
.set good, 1
good:
.long good
.amdhsa_kernel
.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
)";
  std::set<int> expected = error_lines(llvm_assemble(text, "gfx90a").messages);
  EXPECT_EQ(expected.size(), 21u);
  // llvm-mc lets these pass: a symbol set to itself while it has no value, flags that a section has not, a label over
  // a symbol that was set. It reads the name of a kernel that is missing as a directive of its own.
  expected.insert({14, 17, 26});
  EXPECT_EQ(error_lines(atoll_assemble(text, "gfx90a").messages), expected);
}

TEST(Errors, ShowTheLineAndACaret) {
  const auto result = atoll_assemble(".long 1\n\t.byte 300 ; too much\n", "gfx90a");
  EXPECT_EQ(result.messages, "test.s:2:8: error: out of range literal value\n\t.byte 300 ; too much\n\t      ^\n");
}

TEST(Errors, SayHowAnExpansionCameAbout) {
  const auto result = atoll_assemble(".macro m a\n.byte \\a\n.endm\nm 999\n", "gfx90a");
  EXPECT_EQ(result.messages,
            "<instantiation>:1:7: error: out of range literal value\n.byte 999\n      ^\n"
            "test.s:4:1: note: while in macro instantiation\nm 999\n^\n");
}

TEST(Errors, EndlessRecursionIsStopped) {
  const auto result = atoll_assemble(".macro m\nm\n.endm\nm\n", "gfx90a");
  EXPECT_TRUE(result.object.empty());
  EXPECT_NE(result.messages.find("nested"), std::string::npos) << result.messages;
}

/// Macros that call themselves twice: each level doubles what there is to do, with errors and without.
TEST(Errors, ExpansionsThatDoubleAreStopped) {
  const auto quiet = atoll_assemble(".macro m n\n.if \\n\nm \\n-1\nm \\n-1\n.endif\n.endm\nm 60\n", "gfx900");
  EXPECT_TRUE(quiet.object.empty());
  EXPECT_NE(quiet.messages.find("macros within macros expand to more than"), std::string::npos);
  const auto loud = atoll_assemble(".macro m\n.nothing\nm\nm\n.endm\nm\n", "gfx900");
  EXPECT_TRUE(loud.object.empty());
  EXPECT_NE(loud.messages.find("the rest is left out"), std::string::npos);
}

TEST(Errors, WhatWouldBeEndlessIsRefused) {
  EXPECT_TRUE(atoll_assemble(".rept 1<<60\n.byte 1\n.endr\n", "gfx90a").object.empty());
  EXPECT_TRUE(atoll_assemble(".org 1<<60\n", "gfx90a").object.empty());
  EXPECT_TRUE(atoll_assemble(".fill 1<<60, 8, 1\n", "gfx90a").object.empty());
  EXPECT_TRUE(atoll_assemble(".skip 1<<62\n.skip 1<<62\n", "gfx90a").object.empty());
  EXPECT_TRUE(atoll_assemble(".dcb.b 1<<60, 1\n", "gfx90a").object.empty());
}

TEST(Errors, BrokenTextsDoNoHarm) {
  const std::string good =
      ".globl f\n.macro m a, b=2\n.long \\a, \\b+1\n.endm\nm 1\nf: .quad f-., ext@rel64\n.if 1\n.rept 2\n.byte "
      "1\n.endr\n"
      ".else\n.endif\n.section .rodata,\"a\",@progbits\n.amdhsa_kernel f\n.amdhsa_next_free_vgpr 4\n"
      ".amdhsa_next_free_sgpr 4\n.amdhsa_accum_offset 4\n.end_amdhsa_kernel\n.amdgpu_metadata\namdhsa.version: [1, 2]\n"
      "amdhsa.kernels: []\n.end_amdgpu_metadata\n.uleb128 5\n.p2align 4\n.fill 3, 2, 1\n";
  ASSERT_FALSE(atoll_assemble(good, "gfx90a").object.empty()) << atoll_assemble(good, "gfx90a").messages;
  std::mt19937 random(1);
  const auto pick = [&](size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random); };
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (size_t changes = 1 + pick(4); changes > 0; --changes) {
      switch (pick(3)) {
        case 0:
          text.erase(pick(text.size()), pick(20));
          break;
        case 1:
          text.insert(pick(text.size()), good.substr(pick(good.size()), pick(30)));
          break;
        default:
          text[pick(text.size())] = static_cast<char>(pick(256));
          break;
      }
    }
    const auto result = atoll_assemble(text, "gfx90a");
    EXPECT_TRUE(!result.object.empty() || !result.messages.empty()) << text;
  }
}

}  // namespace
}  // namespace Atoll::test
