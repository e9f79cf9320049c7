// The installed library: found by CMake and by pkg-config from a prefix of its own, used by a project that knows only
// that; and what it shows of itself.
#include <cxxabi.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
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

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? name.get() : symbol;
}

TEST_F(Installation, ShowsOnlyThePublicClasses) {
  std::istringstream symbols(run(fmt::format("llvm-nm-22 -D --defined-only --format=just-symbols {}/{}/libatoll.so",
                                             *directory / "prefix", ATOLL_LIBDIR)));
  const std::string version = "ATOLL_" ATOLL_INTERFACE_VERSION;  // itself a symbol, and a suffix of every other
  int count = 0;
  for (std::string symbol; std::getline(symbols, symbol);) {
    if (symbol == version) continue;
    const size_t at = symbol.find("@@");
    EXPECT_EQ(symbol.substr(std::min(at, symbol.size())), "@@" + version) << symbol;
    EXPECT_THAT(demangled(symbol.substr(0, at)),
                testing::AnyOf(testing::StartsWith("Atoll::Gpu::"), testing::StartsWith("Atoll::Code::")));
    count++;
  }
  EXPECT_GT(count, 5);
}

}  // namespace
}  // namespace Atoll
