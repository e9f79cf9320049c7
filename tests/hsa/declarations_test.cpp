// Atoll's own declarations of what ROCm 7.2 has added (src/hsa/interface/rocm_7_2.h) agree with ROCm 7.2's headers,
// where those are at hand: in build/rocm/7.2, which scripts/rocm-root makes, or in the folder that ATOLL_ROCM_HEADERS
// names. The compiler compares: functions by declaring them twice, values and layouts by assertions made from the text
// of Atoll's header.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>

#include "support/command.h"

using namespace Atoll::test;

namespace {

/// Assertions that each constant, enumerator, structure and field has a counterpart, which is the same. Atoll's are in
/// the namespace `own`.
std::string assertions_about(const std::string& header, int& count) {
  std::string text;
  const auto assert_that = [&](const std::string& condition) {
    text += "static_assert(" + condition + ");\n";
    ++count;
  };
  std::istringstream lines(header);
  std::string structure;  // that is open, and what it is called there
  std::string real;
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, std::regex(R"(^inline constexpr int (\w+) =)"))) {
      assert_that("int(::" + match.str(1) + ") == own::" + match.str(1));
    } else if (std::regex_search(line, match, std::regex(R"(^enum (\w+)[^{]*\{(.*)\};)"))) {
      assert_that("sizeof(::" + match.str(1) + ") == sizeof(own::" + match.str(1) + ")");
      const std::string body = match.str(2);
      const std::regex enumerator(R"((\w+)( = \w+)?(,|\s*$))");
      for (std::sregex_iterator at(body.begin(), body.end(), enumerator), end; at != end; ++at) {
        assert_that("int(::" + at->str(1) + ") == int(own::" + at->str(1) + ")");
      }
    } else if (std::regex_search(line, match, std::regex(R"(^struct (\w+) \{)"))) {
      structure = match[1];
      real = std::regex_replace(structure, std::regex("_7_2$"), "_t");
      assert_that("sizeof(::" + real + ") == sizeof(own::" + structure + ")");
    } else if (line == "};") {
      structure.clear();
    } else if (!structure.empty() && std::regex_search(line, match, std::regex(R"((\w+)(\[\d+\])?;$)"))) {
      const std::string field = match[1];
      assert_that("offsetof(::" + real + ", " + field + ") == offsetof(own::" + structure + ", " + field + ")");
      assert_that("sizeof(::" + real + "::" + field + ") == sizeof(own::" + structure + "::" + field + ")");
    }
  }
  return text;
}

TEST(HsaDeclarations, AreThoseOfRocm72) {
  const char* named = std::getenv("ATOLL_ROCM_HEADERS");
  const std::string headers = named != nullptr ? named : ATOLL_BUILD "/rocm/7.2/usr/include";
  if (!std::filesystem::exists(headers + "/hsa/hsa_ext_amd.h")) GTEST_SKIP() << "no headers of ROCm 7.2";
  const TemporaryDirectory directory;
  // Includes only these headers of the root: its C library is not this system's.
  std::filesystem::create_directory(directory / "include");
  std::filesystem::create_directory_symlink(headers + "/hsa", directory / "include/hsa");
  const auto compare = [&](const std::string& types) {
    int count = 0;
    const std::string assertions = assertions_about(types, count);
    EXPECT_GT(count, 80);
    write_file(directory / "types.h", types);
    write_file(directory / "compare.cpp", R"(#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <cstddef>
#include <cstdint>
#include "hsa/interface/rocm_7_2.h"
namespace own {
#include "types.h"
}
)" + assertions);
    return run_command(ATOLL_COMPILER " -std=c++23 -fsyntax-only -isystem " + directory / "include" +
                       " -I" ATOLL_SOURCE "/src " + directory / "compare.cpp" + " 2>&1");
  };
  const std::vector<uint8_t> bytes = read_bytes(ATOLL_SOURCE "/src/hsa/interface/rocm_7_2_types.h");
  std::string types(bytes.begin(), bytes.end());
  const CommandResult same = compare(types);
  EXPECT_EQ(same.exit_code, 0) << same.output;
  // A difference is found.
  const std::string value = "HSA_AMD_AGENT_INFO_NUM_XCC = 0xA111";
  ASSERT_NE(types.find(value), std::string::npos);
  types.replace(types.find(value), value.size(), "HSA_AMD_AGENT_INFO_NUM_XCC = 0xA112");
  EXPECT_NE(compare(types).output.find("own::HSA_AMD_AGENT_INFO_NUM_XCC"), std::string::npos);
}

}  // namespace
