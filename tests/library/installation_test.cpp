// The installed library: found by CMake and by pkg-config from a prefix of its own, used by a project that knows only
// that; and what it shows of itself.
#include <cxxabi.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <regex>
#include <sstream>

#include "library/kernels.h"
#include "support/command.h"

namespace Atoll {
namespace {

class Installation : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory = new test::TemporaryDirectory;
    run(fmt::format("{} --install {} --component library --prefix {}", ATOLL_CMAKE, ATOLL_BUILD,
                    *directory / "prefix"));
    test::compile_kernels("clang-22", 5, "gfx90a", *directory / "kernels.co");
  }
  static void TearDownTestSuite() { delete directory; }

  static std::string run(const std::string& command) {
    const auto result = test::run_command(command + " 2>&1");
    EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.output;
    return result.output;
  }

  static inline test::TemporaryDirectory* directory = nullptr;
};

TEST_F(Installation, IsFoundByCMake) {
  const std::string build = *directory / "build";
  run(fmt::format("{} -S {} -B {} -G Ninja -DCMAKE_CXX_COMPILER={} -DCMAKE_PREFIX_PATH={}", ATOLL_CMAKE, ATOLL_EXTERNAL,
                  build, ATOLL_CXX, *directory / "prefix"));
  run(fmt::format("{} --build {}", ATOLL_CMAKE, build));
  EXPECT_EQ(run(fmt::format("{}/external {}", build, *directory / "kernels.co")), "7.5\n");
}

TEST_F(Installation, IsFoundByPkgConfig) {
  const std::string library_path = fmt::format("{}/{}", *directory / "prefix", ATOLL_LIBDIR);
  const std::string program = *directory / "by-pkg-config";
  run(fmt::format("{} -std=c++23 {}/main.cpp -o {} $(PKG_CONFIG_PATH={}/pkgconfig pkg-config --cflags --libs atoll)",
                  ATOLL_CXX, ATOLL_EXTERNAL, program, library_path));
  EXPECT_EQ(run(fmt::format("LD_LIBRARY_PATH={} {} {}", library_path, program, *directory / "kernels.co")), "7.5\n");
}

/// Returns the examples' output without addresses, which differ from run to run.
std::string without_addresses(const std::string& text) {
  return std::regex_replace(text, std::regex("0x[0-9a-f]+"), "0x...");
}

/// The C interface, by the system's compiler as strict C99; the examples of docs/library.md, which print the same.
TEST_F(Installation, IsUsedFromC) {
  const std::string library_path = fmt::format("{}/{}", *directory / "prefix", ATOLL_LIBDIR);
  const std::string flags =
      run(fmt::format("PKG_CONFIG_PATH={}/pkgconfig pkg-config --cflags --libs atoll | tr -d '\\n'", library_path));
  const auto build = [&](const std::string& compiler, const std::string& source, const std::string& program) {
    run(fmt::format("{} {} -o {} {}", compiler, source, *directory / program, flags));
  };
  const auto run_it = [&](const std::string& program, const std::string& argument) {
    return run(fmt::format("cd {} && LD_LIBRARY_PATH={} ./{} {}", directory->path().string(), library_path, program,
                           argument));
  };
  const std::string strict = "cc -std=c99 -Wall -Wextra -Wpedantic -Werror";
  build(strict, ATOLL_EXTERNAL "/interface.c", "interface");
  EXPECT_EQ(run_it("interface", "kernels.co"), "all as it should be\n");
  build("cc -std=c11 -Wall -Wextra -Wpedantic -Werror", ATOLL_EXTERNAL "/interface.c", "interface11");
  EXPECT_EQ(run_it("interface11", "kernels.co"), "all as it should be\n");

  run(
      fmt::format("cd {} && clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O2 -g -cl-kernel-arg-info "
                  "{}/scale.cl -o scale.co",
                  directory->path().string(), ATOLL_EXAMPLES));
  build(strict, ATOLL_EXAMPLES "/scale.c", "scale_c");
  build(ATOLL_CXX " -std=c++23 -Wall -Wextra -Werror", ATOLL_EXAMPLES "/scale.cpp", "scale_cpp");
  const std::string from_c = run_it("scale_c", "scale.co"), from_cpp = run_it("scale_cpp", "scale.co");
  EXPECT_THAT(from_c, testing::ContainsRegex("data\\[3\\] is 7.5 after [0-9]+ instructions of 16 waves\n"
                                             "memory_fault: kernel 'scale' "));
  EXPECT_THAT(from_c, testing::HasSubstr("in fields: memory in line 6 of "));
  EXPECT_THAT(from_cpp, testing::ContainsRegex("data\\[3\\] is 7.5 after [0-9]+ instructions of 16 waves\n"
                                               "data\\[3\\] is 30\nmemory_fault: kernel 'scale' "));
  const auto report = [](const std::string& text) { return without_addresses(text.substr(text.find("memory_fault"))); };
  EXPECT_EQ(report(from_c), report(from_cpp));
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? name.get() : symbol;
}

TEST_F(Installation, ShowsOnlyThePublicInterfaces) {
  std::istringstream symbols(run(fmt::format("llvm-nm-22 -D --defined-only --format=just-symbols {}/{}/libatoll.so",
                                             *directory / "prefix", ATOLL_LIBDIR)));
  const std::string version = "ATOLL_" ATOLL_INTERFACE_VERSION;  // itself a symbol, and a suffix of every other
  int count = 0, c_count = 0;
  for (std::string symbol; std::getline(symbols, symbol);) {
    if (symbol == version) continue;
    const size_t at = symbol.find("@@");
    EXPECT_EQ(symbol.substr(std::min(at, symbol.size())), "@@" + version) << symbol;
    EXPECT_THAT(demangled(symbol.substr(0, at)),
                testing::MatchesRegex(
                    "atoll_[a-z_]+|Atoll::(Code|Event|Gpu|Stream)::.*|"
                    "Atoll::(assemble|decode|disassemble|evaluate|gpus|inspect|link|version)(\\[abi:cxx11\\])?\\(.*"));
    c_count += symbol.starts_with("atoll_") ? 1 : 0;
    count++;
  }
  EXPECT_GT(count - c_count, 25);
  EXPECT_GT(c_count, 40);
}

}  // namespace
}  // namespace Atoll
