// The library exports every function that the public headers declare and that real programs import, each with the
// version ROCR_1, and nothing else. What is declared, clang says; what is exported, nm.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "support/command.h"

using namespace Atoll::test;

namespace {

/// The words of each line that a pattern's first group matches.
std::set<std::string> collect(const std::string& text, const std::regex& pattern) {
  std::set<std::string> words;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, pattern)) words.insert(match[1]);
  }
  return words;
}

std::set<std::string> exported() {
  return collect(run_command("nm -D --defined-only " ATOLL_HSA_LIBRARY).output,
                 std::regex(R"( [TWBD] ([A-Za-z_0-9]+)@@ROCR_1$)"));
}

TEST(HsaExports, EveryDeclaredFunctionIsExported) {
  const TemporaryDirectory directory;
  std::string source;
  for (const char* header : {"hsa.h", "hsa_ext_amd.h", "hsa_ext_image.h", "hsa_ext_finalize.h", "hsa_ven_amd_loader.h",
                             "hsa_ven_amd_aqlprofile.h"}) {
    source += std::string("#include <hsa/") + header + ">\n";
  }
  write_file(directory / "all.cpp", source);
  const CommandResult dump = run_command(ATOLL_COMPILER " -std=c++20 -I" ATOLL_HSA_HEADERS
                                                        " -fsyntax-only -Xclang -ast-dump -fno-color-diagnostics " +
                                         directory / "all.cpp" + " | grep FunctionDecl");
  const std::set<std::string> declared = collect(dump.output, std::regex(R"( (hsa_[a-z_0-9]+) ')"));
  ASSERT_GT(declared.size(), 200U);
  const std::set<std::string> present = exported();
  for (const std::string& function : declared) EXPECT_TRUE(present.contains(function)) << function;
}

TEST(HsaExports, EverythingThatProgramsImportIsExported) {
  const std::set<std::string> present = exported();
  for (const char* program : {"/usr/lib/x86_64-linux-gnu/libamdhip64.so.5", "/usr/bin/rocminfo"}) {
    const std::set<std::string> imported = collect(run_command(std::string("nm -D --undefined-only ") + program).output,
                                                   std::regex(R"( U ([A-Za-z_0-9]+)@ROCR_1$)"));
    EXPECT_GE(imported.size(), 10U) << program;
    for (const std::string& function : imported) EXPECT_TRUE(present.contains(function)) << function;
  }
}

TEST(HsaExports, NothingElseIsVisible) {
  const CommandResult names = run_command("nm -D --defined-only " ATOLL_HSA_LIBRARY);
  std::istringstream lines(names.output);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(std::regex_search(line, std::regex(R"( (T hsa_[a-z_0-9]+@@ROCR_1|[BD] _amdgpu_r_debug@@ROCR_1|A ROCR_1)(@@ROCR_1)?$)"))) << line;
  }
}

TEST(HsaExports, TheLibraryGoesByTheNameThatProgramsLookFor) {
  const CommandResult dynamic = run_command("readelf -d " ATOLL_HSA_LIBRARY);
  EXPECT_NE(dynamic.output.find("[libhsa-runtime64.so.1]"), std::string::npos);
}

}  // namespace
