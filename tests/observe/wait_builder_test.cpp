// Instructions that wait, built from what they have to wait for: LLVM 22 disassembles their bytes to the text expected
// of it, and the decoded instruction gives the requirement again.
#include "hazards/wait_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isa/decode.h"
#include "isa/encode.h"
#include "isa/print.h"
#include "target/processor.h"

namespace Atoll::test {
namespace {

using hazards::CounterWaits;
using hazards::DependencyField;
using hazards::DependencyFields;
using memory_model::Counter;

using Limit = std::pair<Counter, uint32_t>;

CounterWaits waits_for(const std::vector<Limit>& limits, uint32_t exports = CounterWaits::any) {
  CounterWaits waits;
  for (const auto& [counter, limit] : limits) waits.of(counter) = limit;
  waits.exports = exports;
  return waits;
}

/// The bytes of instructions, as llvm-mc reads them.
std::string bytes_of(const std::vector<isa::Instruction>& built, const target::Processor& processor) {
  std::string text;
  for (const isa::Instruction& instruction : built) {
    const auto encoded = isa::encode(instruction, processor);
    if (!encoded) throw std::runtime_error(encoded.error().message);
    for (const uint8_t byte : encoded->view()) text += fmt::format("0x{:02x} ", byte);
    text += "\n";
  }
  return text;
}

/// What llvm-mc 22 makes of bytes: the instructions, each in a line, blanks reduced to one.
std::string disassembled(const std::string& bytes, std::string_view gpu) {
  const std::string command =
      fmt::format("printf '{}' | llvm-mc-22 -triple=amdgcn -mcpu={} -disassemble 2>&1", bytes, gpu);
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 512> buffer{};
  while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    std::string line = buffer.data();
    const size_t begin = line.find_first_not_of(" \t\n"), comment = line.find_first_of(";/");
    if (begin == std::string::npos || line[begin] == '.') continue;
    line = line.substr(begin, comment == std::string::npos ? comment : comment - begin);
    line.erase(line.find_last_not_of(" \t\n") + 1);
    output += line + "\n";
  }
  if (pipe != nullptr) pclose(pipe);
  return output;
}

/// The requirement that instructions state together.
CounterWaits decoded(const std::vector<isa::Instruction>& built, const target::Processor& processor) {
  CounterWaits all;
  for (const isa::Instruction& instruction : built) {
    const auto encoded = isa::encode(instruction, processor);
    const auto waits = hazards::counter_waits(*isa::decode(encoded->view(), processor));
    if (!waits) throw std::runtime_error("it does not wait");
    for (size_t i = 0; i < all.at_most.size(); ++i) all.at_most[i] = std::min(all.at_most[i], waits->at_most[i]);
    all.exports = std::min(all.exports, waits->exports);
  }
  return all;
}

bool has_no_counter(Counter counter, target::Generation generation) {
  using enum target::Generation;
  switch (counter) {
    case Counter::async:
    case Counter::tensor:
    case Counter::xnack:
      return generation < gfx12_5;
    case Counter::sample:
    case Counter::bvh:
      return generation >= gfx12_5;
    default:
      return false;
  }
}

struct Case {
  const char* gpu;
  std::vector<Limit> limits;
  uint32_t exports;
  const char* text;
};

TEST(WaitBuilder, BuildsTheInstructionsOfEachGeneration) {
  constexpr uint32_t any = CounterWaits::any;
  const std::vector<Case> cases = {
      {"gfx803", {{Counter::load, 0}}, any, "s_waitcnt vmcnt(0)\n"},
      {"gfx803", {{Counter::load, 5}, {Counter::lds, 3}}, 2, "s_waitcnt vmcnt(5) expcnt(2) lgkmcnt(3)\n"},
      {"gfx90a", {{Counter::load, 33}}, any, "s_waitcnt vmcnt(33)\n"},
      {"gfx90a", {{Counter::store, 2}}, any, "s_waitcnt vmcnt(2)\n"},
      {"gfx90a",
       {{Counter::load, 7}, {Counter::store, 2}, {Counter::scalar, 0}},
       any,
       "s_waitcnt vmcnt(2) lgkmcnt(0)\n"},
      {"gfx1030", {{Counter::load, 40}, {Counter::lds, 20}}, any, "s_waitcnt vmcnt(40) lgkmcnt(20)\n"},
      {"gfx1030", {{Counter::store, 3}}, any, "s_waitcnt_vscnt null, 0x3\n"},
      {"gfx1030", {{Counter::load, 0}, {Counter::store, 0}}, any, "s_waitcnt vmcnt(0)\ns_waitcnt_vscnt null, 0x0\n"},
      {"gfx1100", {{Counter::load, 1}, {Counter::lds, 2}}, 3, "s_waitcnt vmcnt(1) expcnt(3) lgkmcnt(2)\n"},
      {"gfx1100", {{Counter::store, 9}}, any, "s_waitcnt_vscnt null, 0x9\n"},
      {"gfx1201", {{Counter::load, 1}, {Counter::store, 2}}, any, "s_wait_loadcnt 0x1\ns_wait_storecnt 0x2\n"},
      {"gfx1201", {{Counter::sample, 3}, {Counter::bvh, 4}}, any, "s_wait_samplecnt 0x3\ns_wait_bvhcnt 0x4\n"},
      {"gfx1201",
       {{Counter::lds, 5}, {Counter::scalar, 6}},
       1,
       "s_wait_dscnt 0x5\ns_wait_kmcnt 0x6\ns_wait_expcnt 0x1\n"},
      {"gfx1250", {{Counter::async, 1}, {Counter::tensor, 2}}, any, "s_wait_asynccnt 0x1\ns_wait_tensorcnt 0x2\n"},
      {"gfx1250", {{Counter::xnack, 0}}, any, "s_wait_xcnt 0x0\n"},
  };
  for (const Case& each : cases) {
    const target::Processor& processor = *target::find_processor(each.gpu);
    const auto built = hazards::counter_waits_for(waits_for(each.limits, each.exports), processor);
    EXPECT_EQ(disassembled(bytes_of(built, processor), each.gpu), each.text) << each.gpu;
    const CounterWaits again = decoded(built, processor);
    for (const auto& [counter, limit] : each.limits) EXPECT_LE(again.of(counter), limit) << each.text;
    EXPECT_EQ(again.exports, each.exports) << each.text;
  }
}

TEST(WaitBuilder, BuildsNothingWhereNothingIsAwaited) {
  for (const char* gpu : {"gfx900", "gfx1030", "gfx1201", "gfx1250"}) {
    EXPECT_TRUE(hazards::counter_waits_for({}, *target::find_processor(gpu)).empty());
  }
}

/// Every limit of every counter of a GPU is what the decoded instruction waits for, or less where the field is smaller.
TEST(WaitBuilder, KeepsEveryLimit) {
  size_t tried = 0;
  for (const char* gpu :
       {"gfx600", "gfx803", "gfx906", "gfx942", "gfx1010", "gfx1100", "gfx1151", "gfx1200", "gfx1250"}) {
    const target::Processor& processor = *target::find_processor(gpu);
    for (unsigned which = 0; which < static_cast<unsigned>(Counter::count); ++which) {
      const auto counter = static_cast<Counter>(which);
      for (uint32_t limit = 0; limit <= 70; ++limit) {
        const auto built = hazards::counter_waits_for(waits_for({{counter, limit}}), processor);
        if (built.empty()) {  // the GPU does not have the counter, or it cannot count that many
          EXPECT_TRUE(limit >= 15 || has_no_counter(counter, processor.generation)) << gpu << " " << which;
          continue;
        }
        EXPECT_LE(decoded(built, processor).of(counter), limit) << gpu;
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 2000u);
}

TEST(WaitBuilder, BuildsWaitsForDependencies) {
  const auto text = [](const char* gpu, DependencyFields fields) {
    const target::Processor& processor = *target::find_processor(gpu);
    return disassembled(bytes_of({hazards::dependency_wait_for(fields, processor)}, processor), gpu);
  };
  EXPECT_EQ(text("gfx1030", field_mask(DependencyField::vm_vsrc)), "s_waitcnt_depctr depctr_vm_vsrc(0)\n");
  EXPECT_EQ(text("gfx1100", field_mask(DependencyField::va_vdst)), "s_waitcnt_depctr depctr_va_vdst(0)\n");
  EXPECT_EQ(text("gfx1201", field_mask(DependencyField::sa_sdst)), "s_wait_alu depctr_sa_sdst(0)\n");
  EXPECT_EQ(text("gfx1250", field_mask(DependencyField::va_vcc)), "s_wait_alu depctr_va_vcc(0)\n");
  for (const char* gpu : {"gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1250"}) {
    const target::Processor& processor = *target::find_processor(gpu);
    for (unsigned fields = 1; fields <= hazards::all_dependency_fields; ++fields) {
      const auto built = hazards::dependency_wait_for(static_cast<DependencyFields>(fields), processor);
      const auto again = hazards::dependency_wait(*isa::decode(isa::encode(built, processor)->view(), processor));
      ASSERT_TRUE(again);
      const bool has_hold = hazards::dependency_field(DependencyField::hold_cnt, processor.generation) != nullptr;
      const unsigned absent = has_hold ? 0 : field_mask(DependencyField::hold_cnt);
      EXPECT_EQ(*again, fields | absent) << gpu;
    }
  }
}

TEST(WaitBuilder, BuildsWaitStates) {
  for (const char* gpu : {"gfx600", "gfx701", "gfx803", "gfx90a", "gfx1030", "gfx1201"}) {
    const target::Processor& processor = *target::find_processor(gpu);
    for (uint32_t states = 0; states <= 40; ++states) {
      uint32_t sum = 0;
      for (const isa::Instruction& each : hazards::wait_states_for(states, processor)) {
        sum += hazards::wait_states(*isa::decode(isa::encode(each, processor)->view(), processor));
      }
      EXPECT_EQ(sum, states) << gpu;
    }
    if (processor.generation < target::Generation::gfx8) continue;  // LLVM does not disassemble these
    EXPECT_EQ(disassembled(bytes_of(hazards::wait_states_for(5, processor), processor), gpu), "s_nop 4\n");
    EXPECT_EQ(disassembled(bytes_of(hazards::vector_nops(2, processor), processor), gpu), "v_nop\nv_nop\n");
  }
}

}  // namespace
}  // namespace Atoll::test
