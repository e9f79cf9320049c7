// What is wrong is found where llvm-mc-22 finds it, all of it and not the first alone; and no text, however broken,
// does harm.
#include <fmt/format.h>
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

/// A target and llvm-mc's options for it, in a command line that is made with -mcpu=.
struct CommandLine {
  const char *target, *llvm;
};

TEST(Errors, TheTextsTargetMustBeTheCommandLines) {
  const CommandLine command_lines[] = {{"gfx90a", "gfx90a"},
                                       {"gfx90a:xnack-", "gfx90a -mattr=-xnack"},
                                       {"gfx90a:sramecc+:xnack+", "gfx90a -mattr=+sramecc,+xnack"},
                                       {"gfx1030", "gfx1030"}};
  const char* const targets[] = {
      "gfx90a",  "gfx90a:xnack+", "gfx90a:xnack-", "gfx90a:sramecc+:xnack+", "gfx90a:sramecc-:xnack+",
      "gfx1030", "gfx908"};
  for (const CommandLine& command_line : command_lines) {
    for (const char* target : targets) {
      const std::string text = fmt::format(".amdgcn_target \"amdgcn-amd-amdhsa--{}\"\n", target);
      EXPECT_EQ(error_places(atoll_assemble(text, command_line.target).messages),
                error_places(llvm_assemble(text, command_line.llvm).messages))
          << target << " for " << command_line.target;
    }
  }
}

// llvm-mc takes what the descriptor's field of 5 bits can hold.
TEST(Errors, NoProcessorSetsMoreUserSgprsThanItHas) {
  const auto messages = [](int count, const char* processor) {
    return atoll_assemble(fmt::format(".amdhsa_kernel k\n.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 8\n"
                                      ".amdhsa_user_sgpr_count {}\n.end_amdhsa_kernel\n",
                                      count),
                          processor)
        .messages;
  };
  EXPECT_EQ(messages(16, "gfx900"), "");
  EXPECT_TRUE(
      messages(17, "gfx900").starts_with("test.s:4:25: error: too many user SGPRs enabled: 17, gfx900 has 16\n"))
      << messages(17, "gfx900");
  EXPECT_EQ(messages(32, "gfx1250"), "");
  EXPECT_TRUE(messages(33, "gfx1250").contains(": 33, gfx1250 has 32\n"));
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

TEST(Errors, ExpressionsAreReadAsDeepAsClangReadsBrackets) {
  const auto assembled = [](const std::string& value) { return atoll_assemble(".long " + value + "\n", "gfx90a"); };
  for (const char* before : {"-", "~", "(-", "max(1, "}) {
    std::string deep, too_deep;
    const std::string_view opens = before;
    const auto repeated = [&](size_t count, std::string_view part) {
      std::string all;
      for (size_t i = 0; i < count; ++i) all += part;
      return all;
    };
    const std::string_view closes = opens.find('(') == std::string_view::npos ? "" : ")";
    const std::string text = ".long " + repeated(100, opens) + "1" + repeated(100, closes) + "\n";
    expect_same_object(text, "gfx90a");
    for (const size_t count : {1000u, 200'000u}) {
      const auto result = assembled(repeated(count, opens) + "1" + repeated(count, closes));
      EXPECT_NE(result.messages.find("cannot be nested more than 256 levels deep"), std::string::npos) << before;
    }
  }
}

/// Sums of any length, which are as deep as they are long.
TEST(Errors, LongSumsAreNoDeepNesting) {
  std::string sum = "end-begin";
  for (int i = 0; i < 5000; ++i) sum += "+later-later+" + std::to_string(i);
  expect_same_object("begin: .long " + sum + "\n.long 1\nend:\n.set later, 5\n", "gfx90a");
  for (int i = 0; i < 100'000; ++i) sum += "+later";
  for (const char* use : {".long ", ".set x, ", ".size f, ", "s_mov_b32 s0, ", ".fill ", ".quad f+"}) {
    const auto result = atoll_assemble("begin:\nend:\n" + (use + sum) + "\n.set later, 0\n", "gfx90a");
    EXPECT_FALSE(result.object.empty() && result.messages.empty()) << use;
  }
}

/// Symbols that are set to twice the next: what they come to is worked out once for each.
TEST(Errors, ChainsOfSymbolsTakeNoLongerThanTheyAre) {
  std::string forward, backward = ".set b0, end-begin\n";
  for (int i = 0; i < 40; ++i) {
    forward += fmt::format(".set n{}, n{}+n{}\n", i, i + 1, i + 1);
    backward += fmt::format(".set b{}, b{}+b{}\n", i + 1, i, i);
  }
  const std::string uses = ".quad n0, b40\nbegin: .long 1\nend:\ns_mov_b32 s0, n38\n.set n40, 3\n";
  const auto result = atoll_assemble(forward + backward + uses, "gfx90a");
  EXPECT_EQ(result.messages, "");
  // llvm-mc-22's time is exponential in the number of symbols, so it gets fewer.
  std::string few = forward.substr(forward.find(".set n30")) + backward.substr(0, backward.find(".set b10"));
  expect_same_object(few + ".quad n30, b9\nbegin: .long 1\nend:\n.set n40, 3\n", "gfx90a");

  // A variable that is set anew changes what was known of others.
  const std::string anew =
      ".set d, end-begin\nbegin: .long 1\nend:\n.if d+d != 8\n.error \"before\"\n.endif\n"
      ".set d, end-begin+3\n.if d+d != 14\n.error \"after\"\n.endif\n";
  EXPECT_EQ(atoll_assemble(anew, "gfx90a").messages, llvm_assemble(anew, "gfx90a").messages);
  EXPECT_FALSE(atoll_assemble(anew, "gfx90a").object.empty());
  // Where all of a chain is followed from each of its symbols on, and where sections' lengths depend on each other,
  // there is an end to it.
  std::string chain, sections;
  for (int i = 0; i < 20'000; ++i) chain += fmt::format(".set c{0}, c{1}+1\n.long c{0}\n", i + 1, i);
  EXPECT_NE(atoll_assemble(chain + ".set c0, 1\n", "gfx90a").messages.find("take too many steps to evaluate"),
            std::string::npos);
  for (int i = 0; i < 2'000; ++i)
    sections += fmt::format(".section s{0}\nb{0}: .fill (e{1}-b{1})+(e{1}-b{1})\ne{0}:\n", i, i + 1);
  EXPECT_TRUE(atoll_assemble(sections, "gfx90a").object.empty());
}

/// Some lines that stand for more than there is memory.
TEST(Errors, ExpansionsAreBoundedBeforeTheyAreMade) {
  const std::string long_argument(100'000, 'x');
  std::string uses_it;
  for (int i = 0; i < 10'000; ++i) uses_it += "\\a";
  for (const std::string& text : {
           ".macro m a\n" + uses_it + "\n.endm\nm " + long_argument + "\n",
           ".macro m a\n.irpc c, \\a\n.irpc d, \\a\n;\n.endr\n.endr\n.endm\nm " + long_argument + "\n",
           std::string(".rept 1<<62\nabcd\n.endr\n"),
       }) {
    const auto result = atoll_assemble(text, "gfx90a");
    EXPECT_TRUE(result.object.empty());
    EXPECT_FALSE(result.messages.empty());
    EXPECT_LT(result.messages.size(), 2'000'000u);
  }
  // To repeat nothing costs nothing.
  expect_same_object(".rept 1000\n.rept 1<<10\n.endr\n.endr\n", "gfx90a");
  EXPECT_FALSE(atoll_assemble(".rept 100000\n.rept 1<<62\n.endr\n.endr\n", "gfx90a").object.empty());
  EXPECT_TRUE(atoll_assemble(".dcb.l 1<<28, unknown\n", "gfx90a").object.empty());
  EXPECT_TRUE(atoll_assemble(".data\n.space 3<<30\n.section a\n.space 3<<30\n", "gfx90a").object.empty());
}

/// Each level of aliases doubles what the metadata have; LLVM takes none at all.
TEST(Errors, MetadataHaveNoAliases) {
  std::string lines = "amdhsa.version: [1, 2]\namdhsa.kernels: []\na0: &a0 [1, 2]\n";
  for (int i = 0; i < 60; ++i) lines += fmt::format("a{1}: &a{1} [*a{0}, *a{0}]\n", i, i + 1);
  for (const auto& [begin, end] :
       {std::pair{".amdgpu_metadata", ".end_amdgpu_metadata"}, {".amdgpu_pal_metadata", ".end_amdgpu_pal_metadata"}}) {
    const std::string text = fmt::format("{}\n{}{}\n", begin, lines, end);
    EXPECT_TRUE(llvm_assemble(text.substr(0, text.find("a2:")) + end + "\n", "gfx90a").object.empty());
    const auto result = atoll_assemble(text, "gfx90a");
    EXPECT_TRUE(result.object.empty());
    EXPECT_NE(result.messages.find("line 4: an alias (*name) is not supported"), std::string::npos) << result.messages;
  }
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
