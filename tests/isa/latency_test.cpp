// Latencies of every row (isa/latency.h) against LLVM 22's scheduling models, as llvm-mca-22 reports them.
//
// latency_differences.txt lists the differences, each with its reason.
#include "isa/latency.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "isa/decode.h"
#include "isa/opcode_map.h"
#include "isa/patterns.h"
#include "isa/print.h"
#include "isa/unit.h"

namespace Atoll::isa::test {
namespace {

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' && c != '\t') result += c;
  }
  return result;
}

/// llvm-mca-22's latency of each instruction that it knows, by its text without blanks.
std::map<std::string, unsigned> latencies(std::string_view processor, const std::string& assembly) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("atoll_latency_{}_{}.s", processor, getpid());
  std::ofstream(file) << assembly;
  const std::string command = fmt::format(
      "llvm-mca-22 -mtriple=amdgcn -mcpu={} -iterations=1 -instruction-info -summary-view=0 -resource-pressure=0 "
      "-skip-unsupported-instructions=any {} 2>/dev/null",
      processor, file.string());
  FILE* output = popen(command.c_str(), "r");
  std::string text;
  for (int c = fgetc(output); c != EOF; c = fgetc(output)) text += static_cast<char>(c);
  pclose(output);
  std::filesystem::remove(file);
  // Columns: micro-operations, latency, throughput, marks, the instruction.
  static const std::regex line_of("^ *[0-9]+ +([0-9]+) +[0-9.-]+[ *U]{24}(.*)$");
  std::map<std::string, unsigned> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, line_of)) {
      result.try_emplace(without_blanks(match[2].str()), static_cast<unsigned>(std::stoul(match[1])));
    }
  }
  return result;
}

struct Difference {
  std::string names, processors;  ///< patterns of the shell's
};

/// The lines of latency_differences.txt.
std::vector<Difference> differences() {
  std::ifstream file(ATOLL_TEST_SOURCE_DIR "/isa/latency_differences.txt");
  std::vector<Difference> list;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words(line);
    Difference each;
    words >> each.names >> each.processors;
    list.push_back(each);
  }
  return list;
}

bool matches(const std::string& pattern, std::string_view text) {
  return fnmatch(pattern.c_str(), std::string(text).c_str(), FNM_EXTMATCH) == 0;
}

class LatencyOf : public testing::TestWithParam<const char*> {};

TEST_P(LatencyOf, EveryRowIsThatOfLlvm) {
  const target::Processor& processor = *target::find_processor(GetParam());
  std::map<Opcode, std::string> texts;
  for (const Bytes& bytes : patterns(processor, 2, 9)) {
    const auto instruction = decode(bytes, processor);
    if (!instruction || instruction->second != Opcode::invalid) continue;
    if (instruction->extension > Extension::literal) continue;
    texts.try_emplace(instruction->opcode, print(*instruction, processor));
  }
  // llvm-mca-22 crashes on long inputs for gfx1030.
  constexpr size_t max_lines = 32;
  std::map<std::string, unsigned> theirs;
  std::string assembly;
  size_t lines = 0;
  for (const auto& [opcode, text] : texts) {
    assembly += text + '\n';
    if (++lines % max_lines != 0 && lines != texts.size()) continue;
    theirs.merge(latencies(processor.name, assembly));
    assembly.clear();
  }
  ASSERT_GT(theirs.size(), 300u) << "llvm-mca-22 is missing or knows no instruction";
  size_t equal = 0;
  const auto expected = differences();
  for (const auto& [opcode, text] : texts) {
    const auto found = theirs.find(without_blanks(text));
    if (found == theirs.end()) continue;
    const InstructionRow& row = row_on(opcode, processor.generation);
    if (unit_of(row) == Unit::matrix) continue;  // hazards/matrix_hazards.h has the passes
    const LatencyClass ours = latency_class(row);
    const unsigned latency = timing_of(ours, processor).latency / unit_of_latency(processor);
    equal += latency == found->second;
    const auto listed = std::ranges::find_if(expected, [&](const Difference& each) {
      return matches(each.names, row.name) && matches(each.processors, processor.name);
    });
    if (listed == expected.end()) {
      EXPECT_EQ(latency, found->second) << row.name << " (" << name_of(ours) << "): " << text;
      continue;
    }
    EXPECT_NE(latency, found->second) << row.name << ": the line " << listed->names << " is out of date";
  }
  std::printf("%s: %zu of %zu rows have LLVM's latency\n", GetParam(), equal, theirs.size());
}

TEST(Latency, EveryProcessorHasATimingForEachOfItsRows) {
  for (const target::Processor& processor : target::processors()) {
    for (const Opcode opcode : all_opcodes(processor)) {
      const InstructionRow& row = row_on(opcode, processor.generation);
      EXPECT_GT(timing_of(latency_class(row), processor).latency, 0u) << processor.name << ' ' << row.name;
    }
  }
}

// ACO's issue times, of instructions in each of its classes (get_perf_info() in Mesa's aco_statistics.cpp).
TEST(Latency, IssueTimesAreAcos) {
  struct Case {
    Opcode opcode;
    unsigned gfx9, gfx10;
  };
  for (const Case& each :
       {Case{Opcode::v_add_f32, 4, 1}, Case{Opcode::v_cvt_f32_u32, 16, 1}, Case{Opcode::v_lshlrev_b64, 8, 2},
        Case{Opcode::v_mul_lo_u32, 16, 4}, Case{Opcode::v_exp_f32, 16, 4}, Case{Opcode::v_add_f64, 32, 16},
        Case{Opcode::v_cvt_f64_f32, 16, 16}, Case{Opcode::v_rcp_f64, 64, 16}, Case{Opcode::s_add_u32, 4, 1},
        Case{Opcode::s_branch, 4, 3}, Case{Opcode::ds_read_b32, 4, 1}, Case{Opcode::exp, 16, 1}}) {
    const auto issue = [&](const char* name) {
      const target::Processor& processor = *target::find_processor(name);
      return timing_of(latency_class(row_on(each.opcode, processor.generation)), processor).issue;
    };
    EXPECT_EQ(issue("gfx900"), each.gfx9) << row(each.opcode).name;
    EXPECT_EQ(issue("gfx1030"), each.gfx10) << row(each.opcode).name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, LatencyOf,
                         testing::Values("gfx600", "gfx601", "gfx701", "gfx803", "gfx908", "gfx90a", "gfx942", "gfx950",
                                         "gfx1030", "gfx1100", "gfx1151", "gfx1201", "gfx1250"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace Atoll::isa::test
