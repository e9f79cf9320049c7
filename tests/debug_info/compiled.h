// A kernel that clang compiles with debug information, and LLVM's answers about its instructions.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.h"

namespace Atoll::debug_info {

inline constexpr const char* source = R"(
int helper(int a, global int *p) {
  if (a > 3)
    p[a] += 7;
  return p[a + 1]
         * 3;
}
__attribute__((noinline)) int far(int a, global int *p) { return a * p[0]; }

kernel void k(global int *p, int n) {
  for (int i = 0; i < n; ++i) {
    p[i] = helper(p[i], p) + far(i, p);
  }
}
)";

/// The source compiled with that version of DWARF, and where its code is.
struct Compiled {
  test::TemporaryDirectory directory;
  std::vector<uint8_t> file;
  uint64_t start = 0, end = 0;

  Compiled(const char* optimization, int version) {
    test::write_file(directory / "lines.cl", source);
    const auto compiled = test::run_command(
        enter() +
        fmt::format("clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib {} -g -gdwarf-{} -cl-std=CL2.0 "
                    "lines.cl -o lines.co 2>&1 && llvm-readelf-22 -SW lines.co | grep ' .text '",
                    optimization, version));
    EXPECT_EQ(compiled.exit_code, 0) << compiled.output;
    if (compiled.exit_code != 0) return;
    // "  [ 8] .text  PROGBITS  0000000000001900 000900 000134 ..."
    std::istringstream words(compiled.output.substr(compiled.output.find("PROGBITS") + 8));
    std::string address, offset, size;
    words >> address >> offset >> size;
    start = std::stoull(address, nullptr, 16);
    end = start + std::stoull(size, nullptr, 16);
    file = test::read_bytes(directory / "lines.co");
  }
  std::string enter() const { return "cd " + directory.path().string() + " && "; }
  /// Output of llvm-symbolizer for every dword of the code, in the order of addresses.
  std::string symbolized(const char* inlines, const char* functions = "none") const {
    std::string addresses;
    for (uint64_t at = start; at < end; at += 4) addresses += fmt::format(" {:#x}", at);
    const auto run = test::run_command(
        enter() + fmt::format("llvm-symbolizer-22 --obj=lines.co {} --functions={} --output-style=LLVM{}", inlines,
                              functions, addresses));
    EXPECT_EQ(run.exit_code, 0) << run.output;
    return run.output;
  }
};

}  // namespace Atoll::debug_info
