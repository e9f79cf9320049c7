#include "engine/instruction_programs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "engine/coverage.h"
#include "engine/wave_runner.h"
#include "isa/table.h"
#include "target/target.h"

namespace Atoll::test {

namespace {

bool is_at_least_gfx9(const Machine& machine) {
  return target::find_processor(machine.processor)->generation >= target::Generation::gfx9;
}

/// The machines of ATOLL_TEST_MACHINES for which `is_wanted` holds.
std::vector<Machine> selected_machines(bool (*is_wanted)(const Machine&)) {
  const char* sample = std::getenv("ATOLL_TEST_MACHINES");
  const std::string names = sample == nullptr ? "" : fmt::format(",{},", sample);
  std::vector<Machine> selected;
  for (const Machine& machine : all_machines) {
    const bool in_sample = names.empty() || names.find(fmt::format(",{},", machine.processor)) != std::string::npos;
    if (in_sample && is_wanted(machine)) selected.push_back(machine);
  }
  return selected;
}

}  // namespace

const std::vector<Machine> machines = selected_machines([](const Machine&) { return true; });
const std::vector<Machine> machines_from_gfx9 = selected_machines(is_at_least_gfx9);

void expect_machines(unsigned found, unsigned count) {
  if (machines.size() == std::size(all_machines)) EXPECT_EQ(found, count);
}

std::string name_on(const target::Processor& processor, std::string_view row_name) {
  static const std::map<std::string_view, isa::Opcode> by_name = [] {
    std::map<std::string_view, isa::Opcode> all;
    for (unsigned i = 1; i < static_cast<unsigned>(isa::Opcode::count); ++i) {
      const auto opcode = static_cast<isa::Opcode>(i);
      all.emplace(isa::row(opcode).name, opcode);
    }
    return all;
  }();
  const auto found = by_name.find(row_name);
  if (found == by_name.end()) {
    ADD_FAILURE() << "no row is named " << row_name;
    return {};
  }
  const isa::InstructionRow& row = isa::row_on(found->second, processor.generation);
  const isa::Opcodes::Change now = row.opcodes.on(processor.generation);
  if (now.opcode == isa::Opcodes::none || !(now.always || processor.has(row.feature))) return {};
  if (engine::reason_not_executed(row, target::Target(processor)) != nullptr) return {};
  return std::string(now.name.empty() ? row.name : now.name);
}

std::vector<std::vector<uint8_t>> assemble_programs(const std::vector<std::string>& sources,
                                                    const target::Processor& processor, unsigned wave_size) {
  // SOPP is the same on all generations, and so is s_nop.
  constexpr uint32_t between = 0xBF80DEAD;
  std::string all;
  for (const std::string& source : sources) all += source + "\ns_nop 0xdead\n";
  const std::vector<uint8_t> bytes = assemble(all, processor.name, wave_size);
  std::vector<std::vector<uint8_t>> programs(1);
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    uint32_t word;
    std::memcpy(&word, &bytes[at], 4);
    if (word == between) {
      programs.emplace_back();
    } else {
      programs.back().insert(programs.back().end(), &bytes[at], &bytes[at] + 4);
    }
  }
  programs.pop_back();
  EXPECT_EQ(programs.size(), sources.size());
  programs.resize(sources.size());
  return programs;
}

std::string_view returning(const target::Processor& processor) {
  const target::Generation generation = processor.generation;
  if (generation >= target::Generation::gfx12) return " th:TH_ATOMIC_RETURN";
  const bool scopes = generation == target::Generation::gfx940 || generation == target::Generation::gfx950;
  return scopes ? " sc0" : " glc";
}

uint32_t raw_buffer_word(const target::Processor& processor) {
  switch (processor.buffer_resources) {
    case target::BufferResources::gfx10:
      return 0x3101'4000;
    case target::BufferResources::gfx11:
      return 0x3100'4000;
    default:
      return 0x0002'0000;
  }
}

void set_buffer(WaveRunner& runner, unsigned first, const void* base, uint32_t size, uint32_t stride) {
  const target::Processor& processor = *target::find_processor(runner.processor());
  runner.set_pair(first, base);
  if (processor.generation >= target::Generation::gfx12_5) {
    // 57 bits of base, then 45 of size; the stride has a place of its own (LLVM, lowerPointerAsRsrcIntrin).
    runner.s(first + 1) |= size << 25;
    runner.s(first + 2) = size >> 7;
    runner.s(first + 3) = stride << 12;
    return;
  }
  runner.s(first + 1) |= stride << 16;
  runner.s(first + 2) = size;
  runner.s(first + 3) = raw_buffer_word(processor);
}

std::string registers(char kind, unsigned first, unsigned count) {
  return count == 1 ? fmt::format("{}{}", kind, first) : fmt::format("{}[{}:{}]", kind, first, first + count - 1);
}

std::string name_of_machine(const Machine& machine) {
  return fmt::format("{}_wave{}", machine.processor, machine.wave_size);
}

}  // namespace Atoll::test
