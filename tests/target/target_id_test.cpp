// Target IDs: text both ways, ELF flags as clang writes them, and the rules of what runs where.
#include "target/target_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "support/command.h"

namespace Atoll::target {
namespace {

using testing::HasSubstr;

TargetId id(std::string_view text) {
  auto parsed = parse_target_id(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : TargetId{};
}

TEST(TargetId, ParsesEveryFormToTheCanonicalOne) {
  EXPECT_EQ(id("gfx90a").to_string(), "gfx90a");
  EXPECT_EQ(id("gfx90a:xnack-").to_string(), "gfx90a:xnack-");
  EXPECT_EQ(id("gfx90a:xnack-:sramecc+").to_string(), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(id("amdgcn-amd-amdhsa--gfx906:sramecc+").to_string(), "gfx906:sramecc+");
  EXPECT_EQ(id("amdgcn-amd-amdhsa-gfx900").to_string(), "gfx900");
  EXPECT_EQ(id("gfx900").xnack, Setting::any);
  EXPECT_EQ(id("gfx900").sramecc, Setting::unsupported);
}

TEST(TargetId, SaysWhatIsWrong) {
  const auto message = [](std::string_view text) {
    const auto parsed = parse_target_id(text);
    EXPECT_FALSE(parsed) << text;
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_THAT(message("gfx9999"), HasSubstr("unknown processor 'gfx9999'"));
  EXPECT_THAT(message("gfx90b"), HasSubstr("did you mean 'gfx900'?"));
  EXPECT_THAT(message(""), HasSubstr("unknown processor ''; one is 'gfx90a'"));
  EXPECT_THAT(message("gfx90a:xnack"), HasSubstr("'xnack' in target ID"));
  EXPECT_THAT(message("gfx90a:"), HasSubstr("'' in target ID"));
  EXPECT_THAT(message("gfx90a:wave32+"), HasSubstr("'wave32+'"));
  EXPECT_THAT(message("gfx900:sramecc+"), HasSubstr("gfx900 has no sramecc setting"));
  EXPECT_THAT(message("gfx90a:xnack+:xnack-"), HasSubstr("names xnack twice"));
}

// LLVM 23's triples have the processor's version, or its family's, in the architecture (llvm/llvm-project#206480). The
// names below are those of its tests.
TEST(TargetId, ReadsTriplesWithSubarchitectures) {
  const auto id = [](std::string_view text) {
    const auto parsed = parse_target_id(text);
    return parsed ? parsed->to_string() : parsed.error().message;
  };
  EXPECT_EQ(id("amdgpu12.01-amd-amdhsa--gfx1201"), "gfx1201");
  EXPECT_EQ(id("amdgpu12-amd-amdhsa--gfx1201"), "gfx1201");
  EXPECT_EQ(id("amdgpu9.0a-amd-amdhsa--gfx90a:sramecc+:xnack-"), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(id("amdgpu9.0a-amd-amdhsa"), "gfx90a");
  EXPECT_EQ(id("amdgpu9.4-amd-amdhsa"), "gfx9-4-generic");
  EXPECT_EQ(id("amdgpu12.5-amd-amdhsa"), "gfx12-5-generic");
  EXPECT_EQ(id("amdgpu9.50-amd-amdhsa--"), "gfx950");
  EXPECT_EQ(id("amdgpu9.4-amd-amdhsa--gfx9-4-generic"), "gfx9-4-generic");
  EXPECT_EQ(id("amdgpu8-amd-amdhsa--gfx803"), "gfx803");
  EXPECT_EQ(id("amdgpu-amd-amdhsa--gfx1030"), "gfx1030");
  EXPECT_EQ(id("amdgcn-amd-amdhsa-unknown-gfx1201"), "gfx1201");
  EXPECT_EQ(id("amdgcn-amd-amdhsa-unknown-gfx11-generic"), "gfx11-generic");
  EXPECT_EQ(id("amdgcn-amd-amdhsa-gfx9-4-generic"), "gfx9-4-generic");
  EXPECT_THAT(id("amdgpu9.0a-amd-amdhsa--gfx1201"), HasSubstr("amdgpu9.0a is not the architecture of gfx1201"));
  EXPECT_THAT(id("amdgpu12-amd-amdhsa--gfx1250"), HasSubstr("amdgpu12 is not the architecture of gfx1250"));
  EXPECT_THAT(id("amdgcn-amd-amdpal--gfx1030"), HasSubstr("operating system amdpal"));
  EXPECT_THAT(id("amdgcn-amd-amdhsa"), HasSubstr("unknown processor"));
  // Each processor, by its own version in both positions.
  for (const Processor& processor : processors()) {
    if (processor.generic) continue;
    std::string version(processor.name.substr(3));
    version.insert(version.size() - 2, ".");
    EXPECT_EQ(id(fmt::format("amdgpu{}-amd-amdhsa--{}", version, processor.name)), processor.name);
    EXPECT_EQ(id(fmt::format("amdgpu{}-amd-amdhsa", version)), processor.name);
    // A family is named by its major version where one generic processor covers it; before GFX9 there are none.
    const std::string major = version.substr(0, version.find('.'));
    const std::string of_family = id(fmt::format("amdgpu{}-amd-amdhsa--{}", major, processor.name));
    if (major.size() == 2 || major == "9") {
      EXPECT_EQ(of_family == processor.name, processor.generic_processor == fmt::format("gfx{}-generic", major))
          << of_family;
    } else {
      EXPECT_EQ(of_family == processor.name, processor.name != "gfx810") << of_family;
    }
  }
}

TEST(TargetId, ReadsTheFlagsThatClangWrites) {
  const test::TemporaryDirectory directory;
  struct Case {
    int version;
    const char* text;
  };
  for (const auto& [version, text] :
       {Case{4, "gfx900"}, Case{4, "gfx900:xnack-"}, Case{5, "gfx900:xnack+"}, Case{4, "gfx906:sramecc+:xnack-"},
        Case{5, "gfx90a:sramecc-:xnack+"}, Case{5, "gfx90a"}, Case{6, "gfx942:sramecc+"}, Case{6, "gfx9-generic"},
        Case{6, "gfx9-generic:xnack-"}, Case{6, "gfx9-4-generic"}, Case{5, "gfx1100"}}) {
    SCOPED_TRACE(fmt::format("V{} {}", version, text));
    const auto run = test::run_command(
        fmt::format("clang-22 -target amdgcn-amd-amdhsa -mcpu={} -mcode-object-version={} -nogpulib -c -x cl /dev/null "
                    "-o {} 2>&1",
                    text, version, directory / "target.o"));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    const auto bytes = test::read_bytes(directory / "target.o");
    ASSERT_GE(bytes.size(), 64u);
    uint32_t flags = 0;
    std::memcpy(&flags, bytes.data() + 48, sizeof flags);
    ASSERT_EQ(bytes[8], version - 2);
    const auto read = target_id_of_flags(flags, bytes[8]);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->to_string(), text);
    EXPECT_EQ(read->generic_version, read->processor->generic ? 1 : 0);
  }
}

TEST(TargetId, ReadsVersion3Flags) {
  EXPECT_EQ(target_id_of_flags(0x2f, 1)->to_string(), "gfx906:sramecc-:xnack-");
  EXPECT_EQ(target_id_of_flags(0x12f, 1)->to_string(), "gfx906:sramecc-");
  EXPECT_EQ(target_id_of_flags(0x32f, 1)->to_string(), "gfx906");
  EXPECT_EQ(target_id_of_flags(0x2c, 1)->to_string(), "gfx900:xnack-");
}

TEST(TargetId, RefusesFlagsThatContradictThemselves) {
  EXPECT_THAT(target_id_of_flags(0xFE, 2).error().message, HasSubstr("0xfe"));
  EXPECT_THAT(target_id_of_flags(0x841, 2).error().message, HasSubstr("gfx1100 has not"));
  EXPECT_THAT(target_id_of_flags(0x42c, 2).error().message, HasSubstr("sramecc"));
  EXPECT_THAT(target_id_of_flags(0x2c, 5).error().message, HasSubstr("newer than code object V6"));
  EXPECT_THAT(target_id_of_flags(0x151, 4).error().message, HasSubstr("lack the version"));
  EXPECT_THAT(target_id_of_flags(0x01000151, 3).error().message, HasSubstr("needs code object V6"));
}

// LLVM's main branch publishes their numbers, and nobody their instructions.
TEST(TargetId, NamesProcessorsThatAreNotPublished) {
  EXPECT_THAT(target_id_of_flags(0x50, 4).error().message, HasSubstr("gfx1310"));
  EXPECT_THAT(target_id_of_flags(0x01000063, 4).error().message, HasSubstr("gfx13-generic"));
}

// "Target ID" and "Generic Processor Versioning": code that names no setting runs with either; code that names one
// runs where the GPU has the same.
TEST(TargetId, RunsWhereTheRulesSay) {
  const auto runs = [](std::string_view code, std::string_view gpu) {
    return check_runs_on(id(code), id(gpu)).has_value();
  };
  EXPECT_TRUE(runs("gfx90a", "gfx90a:sramecc+:xnack-"));
  EXPECT_TRUE(runs("gfx90a:xnack-", "gfx90a:sramecc+:xnack-"));
  EXPECT_TRUE(runs("gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-"));
  EXPECT_FALSE(runs("gfx90a:xnack+", "gfx90a:sramecc+:xnack-"));
  EXPECT_FALSE(runs("gfx90a:sramecc-", "gfx90a:sramecc+:xnack-"));
  EXPECT_FALSE(runs("gfx908", "gfx90a:sramecc+:xnack-"));
  EXPECT_FALSE(runs("gfx90a:sramecc+", "gfx908:sramecc+:xnack-"));
  EXPECT_TRUE(runs("gfx9-generic", "gfx906:sramecc+:xnack-"));
  EXPECT_TRUE(runs("gfx12-5-generic", "gfx1251:sramecc+:xnack-"));
  EXPECT_TRUE(runs("gfx9-generic:xnack-", "gfx900:xnack-"));
  EXPECT_FALSE(runs("gfx9-generic:xnack+", "gfx900:xnack-"));
  EXPECT_FALSE(runs("gfx9-generic", "gfx908:sramecc+:xnack-"));
  EXPECT_FALSE(runs("gfx9-generic", "gfx942:sramecc+:xnack-"));
  EXPECT_TRUE(runs("gfx9-4-generic", "gfx942:sramecc+:xnack-"));
  EXPECT_TRUE(runs("gfx9-4-generic:sramecc+", "gfx950:sramecc+:xnack-"));
  EXPECT_FALSE(runs("gfx9-4-generic", "gfx90a:sramecc+:xnack-"));

  TargetId old = id("gfx9-generic");
  old.generic_version = 0;
  const auto refused = check_runs_on(old, id("gfx900:xnack-"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("covers gfx900 from version 1 on"));
  EXPECT_THAT(check_runs_on(id("gfx908"), id("gfx90a:sramecc+:xnack-")).error().message,
              HasSubstr("the code is for gfx908, the GPU is gfx90a:sramecc+:xnack-"));
}

}  // namespace
}  // namespace Atoll::target
