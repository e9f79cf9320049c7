// Real code: kernels compiled by clang-22 for each processor, disassembled whole by Atoll and by llvm-objdump-22. Texts
// and sizes of all instructions must be equal.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "isa/decode.h"
#include "isa/print.h"

namespace Atoll::isa::test {
namespace {

/// One line of llvm-objdump's: the instruction's text, single-spaced, and its bytes.
struct Line {
  std::string text;
  std::vector<uint8_t> bytes;
};

/// "\ts_load_dwordx2 s[0:1], s[4:5], 0x0   // 000000000004: C0060002 00000000 <label>"
bool parse(const std::string& line, Line& parsed) {
  const size_t comment = line.find("// ");
  const size_t colon = line.find(": ", comment);
  if (line.empty() || line[0] != '\t' || comment == std::string::npos || colon == std::string::npos) return false;
  for (const char c : line.substr(0, comment)) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && (parsed.text.empty() || parsed.text.back() == ' ')) continue;
    parsed.text += blank ? ' ' : c;
  }
  while (!parsed.text.empty() && parsed.text.back() == ' ') parsed.text.pop_back();
  for (size_t at = colon + 2; at + 8 <= line.size() && line[at] != '<'; at += 9) {
    const unsigned long word = std::stoul(line.substr(at, 8), nullptr, 16);
    for (unsigned shift = 0; shift < 32; shift += 8) parsed.bytes.push_back(static_cast<uint8_t>(word >> shift));
  }
  return true;
}

void run(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

class RealCode : public testing::TestWithParam<const char*> {};

TEST_P(RealCode, DisassemblesAsByObjdump) {
  const std::string name = GetParam();
  const target::Processor& processor = *target::find_processor(name);
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("atoll-real-code-{}", getpid());
  std::filesystem::create_directory(directory);
  unsigned instructions = 0, different = 0;
  for (const char* source : {"arithmetic", "memory", "special"}) {
    for (const char* level : {"-O0", "-O3"}) {
      const auto object = directory / "kernels.o", listing = directory / "kernels.txt";
      run(
          fmt::format("clang-22 --target=amdgcn-amd-amdhsa -mcpu={} -nogpulib -x cl -cl-std=CL2.0 "
                      "-Xclang -finclude-default-header -w {} -c {}/isa/real_code/{}.cl -o {}",
                      name, level, ATOLL_TEST_SOURCE_DIR, source, object.string()));
      run(fmt::format("llvm-objdump-22 -d {} > {}", object.string(), listing.string()));
      if (HasFatalFailure()) break;
      std::ifstream file(listing);
      for (std::string text; std::getline(file, text);) {
        Line line;
        if (!parse(text, line)) continue;
        ++instructions;
        const auto decoded = decode(line.bytes, processor);
        const std::string atoll = decoded ? print(*decoded, processor) : "(refused)";
        const unsigned size = decoded ? decoded->size : 0;
        if (atoll == line.text && size == line.bytes.size()) continue;
        if (++different <= 20) {
          ADD_FAILURE() << source << level << ": " << text << "\n  atoll: " << atoll << ", " << size << " bytes";
        }
      }
    }
  }
  std::filesystem::remove_all(directory);
  std::printf("%s: %u instructions, %u different\n", name.c_str(), instructions, different);
  EXPECT_EQ(different, 0u);
  EXPECT_GT(instructions, 1000u);
}

INSTANTIATE_TEST_SUITE_P(All, RealCode,
                         testing::Values("gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909", "gfx90a", "gfx90c",
                                         "gfx942", "gfx950", "gfx9-generic", "gfx9-4-generic", "gfx803", "gfx1010",
                                         "gfx1030", "gfx1100", "gfx1150"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace Atoll::isa::test
