// Source lines against llvm-symbolizer, for the same code object compiled with each DWARF version.
#include "debug_info/line_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "compiled.h"
#include "debug_info/inlined_calls.h"
#include "support/command.h"

namespace Atoll::debug_info {
namespace {

TEST(SourceLines, AgreeWithLlvmSymbolizer) {
  for (const int version : {2, 3, 4, 5}) {
    SCOPED_TRACE(version);
    const Compiled compiled("-O1", version);
    const uint64_t start = compiled.start, end = compiled.end;
    const auto& file = compiled.file;
    ASSERT_GT(end, start);
    std::istringstream lines(compiled.symbolized("--no-inlines"));
    std::string line, last;
    unsigned known = 0;
    for (uint64_t at = start; at < end; at += 4) {
      ASSERT_TRUE(std::getline(lines, line));  // "/tmp/x/lines.cl:12:5", then an empty line
      std::string empty;
      std::getline(lines, empty);
      std::string found = source_line_at(file, at);
      if (line.starts_with("??")) {
        EXPECT_EQ(found, "") << fmt::format("{:#x}", at);
        continue;
      }
      // An instruction without a line has the line of the last one before it.
      if (line.find(":0:") != std::string::npos) line = last;
      last = line;
      if (line.ends_with(":0")) found += ":0";  // no column
      ++known;
      // Before version 5 the line table does not know the directory that it was compiled in.
      if (version >= 5) {
        EXPECT_EQ(found, line) << fmt::format("{:#x}", at);
      } else {
        EXPECT_EQ("/" + found, line.substr(line.rfind('/'))) << fmt::format("{:#x}", at);
      }
    }
    EXPECT_GT(known, 20u);
  }
}

TEST(InlinedCalls, AgreeWithLlvmSymbolizer) {
  for (const int version : {4, 5}) {
    SCOPED_TRACE(version);
    const Compiled compiled("-O2", version);
    const uint64_t start = compiled.start, end = compiled.end;
    const auto& file = compiled.file;
    ASSERT_GT(end, start);
    std::istringstream lines(compiled.symbolized("--inlines"));
    unsigned inlined = 0;
    for (uint64_t at = start; at < end; at += 4) {
      // The instruction's own line, then the calls, each on a line, then an empty one.
      std::vector<std::string> calls;
      std::string line;
      ASSERT_TRUE(std::getline(lines, line));
      const bool is_known = !line.starts_with("??");
      while (std::getline(lines, line) && !line.empty()) calls.push_back(line.substr(line.rfind('/') + 1));
      if (!is_known) continue;
      std::vector<std::string> found = inlined_calls_at(file, at);
      for (std::string& call : found) call = call.substr(call.rfind('/') + 1);
      EXPECT_EQ(found, calls) << fmt::format("{:#x}", at);
      inlined += calls.empty() ? 0 : 1;
    }
    EXPECT_GT(inlined, 5u);
    for (size_t bytes = 0; bytes < file.size(); bytes += 97) inlined_calls_at(std::span(file).first(bytes), start);
  }
}

TEST(SourceLines, DamagedFilesYieldNothingOrSomethingButNoCrash) {
  const test::TemporaryDirectory directory;
  test::write_file(directory / "lines.cl", source);
  const auto compiled = test::run_command("cd " + directory.path().string() +
                                          " && clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O1 -g "
                                          "-cl-std=CL2.0 lines.cl -o lines.co 2>&1");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  const auto file = test::read_bytes(directory / "lines.co");
  ASSERT_FALSE(file.empty());
  EXPECT_EQ(source_line_at({}, 0x1900), "");
  for (size_t size = 0; size < file.size(); size += 97) source_line_at(std::span(file).first(size), 0x1900);
  uint32_t random = 1;
  for (int round = 0; round < 300; ++round) {
    auto broken = file;
    for (int i = 0; i < 40; ++i) {
      random = random * 1664525 + 1013904223;
      const size_t where = random % broken.size();
      random = random * 1664525 + 1013904223;
      broken[where] = static_cast<uint8_t>(random >> 16);
    }
    source_line_at(broken, 0x1900 + static_cast<uint64_t>(round) % 64 * 4);
  }
}

}  // namespace
}  // namespace Atoll::debug_info
