// The library exports every function that the public headers declare and that real programs import, each with the
// version ROCR_1, and nothing else; docs/hsa.md lists them all. What is declared, clang says; what is exported, nm.
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

/// The functions that docs/hsa.md lists: those of the API tables, and of the sections of rocr_api.txt that have some.
TEST(HsaExports, EveryFunctionThatIsDocumentedIsExported) {
  const std::set<std::string> present = exported();
  const std::vector<uint8_t> bytes = read_bytes(ATOLL_SOURCES "/docs/hsa.md");
  const std::set<std::string> documented =
      collect(std::string(bytes.begin(), bytes.end()), std::regex(R"(^\| `((hsa|_amdgpu)_[a-z_0-9]+)` \|)"));
  ASSERT_GT(documented.size(), 270U);
  // Functions that only tools call have slots in the tables and no exported name.
  const std::set<std::string> of_tools = {"hsa_amd_queue_intercept_create", "hsa_amd_queue_intercept_register",
                                          "hsa_amd_runtime_queue_create_register"};
  for (const std::string& function : documented) {
    EXPECT_NE(present.contains(function), of_tools.contains(function)) << function;
  }
  for (const std::string& function : present) EXPECT_TRUE(documented.contains(function)) << function;
}

TEST(HsaExports, TheDocumentationIsUpToDate) {
  const CommandResult check = run_command("python3 " ATOLL_SOURCES "/scripts/document-hsa --check 2>&1");
  EXPECT_EQ(check.exit_code, 0) << check.output;
}

TEST(HsaExports, NothingElseIsVisible) {
  const CommandResult names = run_command("nm -D --defined-only " ATOLL_HSA_LIBRARY);
  std::istringstream lines(names.output);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(std::regex_search(
        line, std::regex(R"( (T hsa_[a-z_0-9]+@@ROCR_1|[BD] _amdgpu_r_debug@@ROCR_1|A ROCR_1)(@@ROCR_1)?$)")))
        << line;
  }
}

TEST(HsaExports, TheLibraryGoesByTheNameThatProgramsLookFor) {
  const CommandResult dynamic = run_command("readelf -d " ATOLL_HSA_LIBRARY);
  EXPECT_NE(dynamic.output.find("[libhsa-runtime64.so.1]"), std::string::npos);
}

}  // namespace
