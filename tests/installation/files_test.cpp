// What is installed runs on other distributions: it needs no library but the C library, of that none newer than Ubuntu
// 22.04's, and shows a program nothing of the libraries that are linked into it. readelf and nm say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "support/command.h"

namespace Atoll {
namespace {

/// The words that a pattern's first group matches.
std::set<std::string> all(const std::string& text, const std::regex& pattern) {
  std::set<std::string> words;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; match++)
    words.insert((*match)[1]);
  return words;
}

class InstallationFiles : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory = new test::TemporaryDirectory;
    for (const char* component : {"runtime", "library"}) {
      const auto installed =
          test::run_command(fmt::format("{} --install {} --component {} --prefix {} 2>&1", ATOLL_CMAKE, ATOLL_BUILD,
                                        component, directory->path().string()));
      ASSERT_EQ(installed.exit_code, 0) << installed.output;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory->path())) {
      if (!entry.is_regular_file() || entry.is_symlink()) continue;
      const std::vector<uint8_t> bytes = test::read_bytes(entry.path());
      if (bytes.size() > 4 && std::string(bytes.begin(), bytes.begin() + 4) ==
                                  "\x7f"
                                  "ELF") {
        files.push_back(entry.path());
      }
    }
  }
  static void TearDownTestSuite() { delete directory; }

  static bool is_library(const std::string& file) { return file.find(".so") != std::string::npos; }

  static inline test::TemporaryDirectory* directory = nullptr;
  static inline std::vector<std::string> files;
};

TEST_F(InstallationFiles, AreThese) {
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back(std::filesystem::path(file).filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre("atoll", "atoll-codegen", "atoll-compiler", "libatoll-driver.so",
                                                   "libatoll-hip-calls.so", testing::StartsWith("libatoll.so."),
                                                   testing::StartsWith("libhsa-runtime64.so.1.")));
}

TEST_F(InstallationFiles, NeedTheCLibraryOnly) {
  const std::set<std::string> allowed{"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"};
  for (const std::string& file : files) {
    const auto dynamic = test::run_command("readelf --wide --dynamic " + file);
    const auto needed = all(dynamic.output, std::regex(R"(\(NEEDED\) +Shared library: \[([^\]]+)\])"));
    EXPECT_TRUE(needed.contains("libc.so.6")) << file;
    EXPECT_TRUE(std::ranges::includes(allowed, needed)) << file << ": " << testing::PrintToString(needed);
    EXPECT_THAT(dynamic.output, testing::Not(testing::HasSubstr("RUNPATH"))) << file;
  }
}

TEST_F(InstallationFiles, NeedNoNewerCLibraryThanUbuntu2204s) {
  for (const std::string& file : files) {
    const auto versions = test::run_command("readelf --wide --version-info " + file);
    const auto minors = all(versions.output, std::regex(R"(Name: GLIBC_2\.([0-9]+))"));
    EXPECT_FALSE(minors.empty()) << file;
    for (const std::string& minor : minors) EXPECT_LE(std::stoi(minor), 35) << file;
    EXPECT_THAT(versions.output, testing::Not(testing::ContainsRegex("Name: (GLIBCXX|CXXABI|GCC)_"))) << file;
  }
}

// What dlopen loads shares 1.5 KB of static thread-local storage with all other such libraries of the process, and some
// hosts have used it up. Dynamic thread-local storage has no such limit, but glibc may place up to 512 bytes of it in
// the static part (tunable glibc.rtld.optional_static_tls); a library stays well below that.
TEST_F(InstallationFiles, NeedNoStaticThreadLocalStorage) {
  for (const std::string& file : files) {
    if (!is_library(file)) continue;
    EXPECT_THAT(test::run_command("readelf --wide --dynamic " + file).output,
                testing::Not(testing::HasSubstr("STATIC_TLS")))
        << file;
    const auto headers = test::run_command("readelf --wide --program-headers " + file);
    std::smatch segment;  // TLS, offset, two addresses, size in the file, size in memory
    if (std::regex_search(headers.output, segment, std::regex(R"(TLS(?: +0x[0-9a-f]+){4} +0x([0-9a-f]+))")))
      EXPECT_LE(std::stoul(segment[1], nullptr, 16), 384U) << file;
  }
}

TEST_F(InstallationFiles, ShowProgramsNothingOfTheLibrariesInThem) {
  for (const std::string& file : files) {
    if (!is_library(file)) continue;
    std::istringstream names(test::run_command("nm --dynamic --defined-only --demangle " + file).output);
    int count = 0;
    for (std::string line; std::getline(names, line); count++)
      EXPECT_THAT(line, testing::Not(testing::ContainsRegex(
                            "^[0-9a-f]+ . (std::|__cxa|__gxx|__gnu_cxx|operator |fmt::|YAML::|ZSTD_|inflate|_Unwind)")))
          << file;
    EXPECT_GT(count, 4) << file;
  }
}

}  // namespace
}  // namespace Atoll
