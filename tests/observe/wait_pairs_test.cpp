// Wait states, against LLVM: of each pair of instructions (wait_pairs.py, and matrix_pairs.py about matrices) llc has
// put as many s_nop between as the GPU needs. With these nothing is missing, and with one wait state less something is.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hazards/counters.h"
#include "isa/decode.h"
#include "isa/print.h"
#include "object/elf_file.h"
#include "observe/wait/wait_paths.h"
#include "target/target.h"

namespace Atoll::test {
namespace {

using Bytes = std::vector<uint8_t>;

struct Function {
  std::string name;
  Bytes code;  ///< up to s_endpgm
};

Bytes read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + " is not there");
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr uint32_t s_nop = 0xBF800000, v_nop = 0x7E000000;
uint32_t word_at(const Bytes& code, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, &code[at], sizeof word);
  return word;
}

std::vector<Function> functions_of(const Bytes& file, const target::Processor& processor, unsigned wave_size = 0) {
  const auto elf = object::read_elf_file(file);
  if (!elf) throw std::runtime_error(elf.error().message);
  const object::ElfSection* const text = elf->find_section(".text");
  const auto symbols = object::read_symbols(*elf, *elf->find_section(uint32_t{SHT_SYMTAB}));
  if (text == nullptr || !symbols) throw std::runtime_error("there are no functions");
  std::vector<Function> functions;
  for (const object::ElfSymbol& symbol : *symbols) {
    if ((symbol.raw.st_info & 0xF) != STT_FUNC) continue;
    Function function{.name = std::string(symbol.name), .code = {}};
    const auto rest = text->bytes.subspan(symbol.raw.st_value);
    size_t end = 0;
    while (true) {
      const auto instruction = isa::decode(rest.subspan(end), processor, wave_size);
      if (!instruction) throw std::runtime_error(function.name + ": " + instruction.error().message);
      if (instruction->opcode == isa::Opcode::s_endpgm) break;
      end += instruction->size;
    }
    function.code.assign(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(end));
    functions.push_back(std::move(function));
  }
  return functions;
}

/// Whether some instruction comes too early.
bool lacks_states(const Bytes& code, const target::Target& target) {
  observe::WaitPaths paths;
  const auto begin = reinterpret_cast<uint64_t>(code.data());
  const auto step = paths.step(0, {.begin = begin, .end = begin + code.size()}, *target.processor, target.wave_size);
  return step.events != nullptr && (!step.events->missing.empty() || !step.events->missing_of_matrices.empty());
}

/// The code with a wait state less; empty where it has no s_nop, nor v_nop.
Bytes with_one_less(const Bytes& code, const target::Processor& processor) {
  for (size_t at = 0; at < code.size();) {
    const uint32_t word = word_at(code, at);
    if ((word & 0xFFFF0000) == s_nop || word == v_nop) {
      Bytes less = code;
      const auto place = less.begin() + static_cast<ptrdiff_t>(at);
      if ((word & 0xFFFF) == 0) {
        less.erase(place, place + 4);
      } else {
        --*place;
      }
      return less;
    }
    at += isa::decode(std::span(code).subspan(at), processor)->size;
  }
  return {};
}

/// The name of the pairs, and the GPU.
class WaitStates : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(WaitStates, AreThoseThatLlvmHas) {
  const auto& [pairs, gpu] = GetParam();
  const target::Target target(*target::find_processor(gpu));
  const Bytes file = read(fmt::format("{}/{}_{}.o", ATOLL_WAIT_PAIRS, pairs, gpu));
  size_t waiting = 0, free = 0;
  for (const Function& function : functions_of(file, *target.processor)) {
    EXPECT_FALSE(lacks_states(function.code, target)) << function.name << ": more is asked for than LLVM has";
    if (const Bytes less = with_one_less(function.code, *target.processor); !less.empty()) {
      ++waiting;
      EXPECT_TRUE(lacks_states(less, target)) << function.name << ": less is asked for than LLVM has";
    } else {
      ++free;
    }
  }
  EXPECT_GT(waiting, 20u);
  EXPECT_GT(free, 20u);
}

/// The instructions of code that LLVM's hazard recognizer may have inserted, by their places.
struct Inserted {
  size_t at = 0, size = 0;
};

bool is_inserted(const isa::Instruction& instruction) {
  using isa::Opcode;
  switch (instruction.opcode) {
    case Opcode::s_nop:
    case Opcode::v_nop:
    case Opcode::s_waitcnt_depctr:
    case Opcode::s_waitcnt_vscnt:
    case Opcode::s_wait_tensorcnt:
      return true;
    case Opcode::v_mov_b32:
      return instruction.operands[0].reg == instruction.operands[1].reg &&
             instruction.operands[1].kind == isa::OperandKind::vgpr;
    case Opcode::s_mov_b32:
      return instruction.operands[0].reg == isa::scalar::null;
    default:
      return false;
  }
}

std::vector<Inserted> inserted_in(const Bytes& code, const target::Target& target) {
  std::vector<Inserted> found;
  for (size_t at = 0; at < code.size();) {
    const auto instruction = isa::decode(std::span(code).subspan(at), *target.processor, target.wave_size);
    if (is_inserted(*instruction)) found.push_back({at, instruction->size});
    at += instruction->size;
  }
  return found;
}

/// The first violation of code, as the recognizer finds it, in words; empty if there is none.
std::string first_violation(const Bytes& code, const target::Target& target) {
  observe::WaitPaths paths;
  const auto begin = reinterpret_cast<uint64_t>(code.data());
  const auto step = paths.step(0, {.begin = begin, .end = begin + code.size()}, *target.processor, target.wave_size);
  if (step.events == nullptr || step.events->missing.empty()) return {};
  const auto& [pc, violation] = step.events->missing.front();
  return fmt::format("+{:#x}: {}, register {}", pc - begin, violation.hazard->name, violation.reg);
}

std::string text_of(const Bytes& code, const target::Target& target) {
  std::string text;
  for (size_t at = 0; at < code.size();) {
    const auto instruction = isa::decode(std::span(code).subspan(at), *target.processor, target.wave_size);
    text += fmt::format("  {:#x} {}\n", at, isa::print(*instruction, *target.processor));
    at += instruction->size;
  }
  return text;
}

/// The GPU and the size of its waves.
class Hazards : public testing::TestWithParam<std::pair<std::string, unsigned>> {};

TEST_P(Hazards, AreThoseThatLlvmHas) {
  const auto& [gpu, wave_size] = GetParam();
  target::Target target(*target::find_processor(gpu));
  target.wave_size = static_cast<uint8_t>(wave_size);
  const Bytes file = read(fmt::format("{}/rdna_pairs_{}_{}.o", ATOLL_WAIT_PAIRS, gpu, wave_size));
  size_t waiting = 0, free = 0, mixed_waits = 0, mixed_found = 0;
  for (const Function& function : functions_of(file, *target.processor, wave_size)) {
    const std::string violation = first_violation(function.code, target);
    EXPECT_EQ(violation, "") << function.name << ": more is asked for than LLVM has\n"
                             << text_of(function.code, target);
    const bool is_mixed = function.name.starts_with("mixed_") || function.name.ends_with("_loose");
    const std::vector<Inserted> inserted = inserted_in(function.code, target);
    if (inserted.empty() && !is_mixed) ++free;
    for (const Inserted& each : inserted) {
      Bytes less = function.code;
      const auto place = less.begin() + static_cast<ptrdiff_t>(each.at);
      less.erase(place, place + static_cast<ptrdiff_t>(each.size));
      const bool is_found = !first_violation(less, target).empty();
      if (is_mixed) {
        ++mixed_waits;
        mixed_found += is_found ? 1 : 0;
      } else {
        ++waiting;
        EXPECT_TRUE(is_found) << function.name << ": less is asked for than LLVM has, which waits at " << each.at
                              << "\n"
                              << text_of(function.code, target);
      }
    }
  }
  EXPECT_GT(free, 20u);
  RecordProperty("waits", static_cast<int>(waiting));
  fmt::print("{} wave{}: {} waits in pairs, {} pairs without; in random sequences {} of {} found\n", gpu, wave_size,
             waiting, free, mixed_found, mixed_waits);
}
INSTANTIATE_TEST_SUITE_P(Of, Hazards,
                         testing::Values(std::pair("gfx1010", 32u), std::pair("gfx1030", 32u),
                                         std::pair("gfx1100", 32u), std::pair("gfx1100", 64u),
                                         std::pair("gfx1150", 64u), std::pair("gfx1201", 32u),
                                         std::pair("gfx1201", 64u), std::pair("gfx1250", 32u)),
                         [](const auto& of) { return fmt::format("{}_wave{}", of.param.first, of.param.second); });

/// The GPU.
class ImageWaits : public testing::TestWithParam<std::string> {};

TEST_P(ImageWaits, AreEnoughAsLlvmHasThem) {
  const target::Target target(*target::find_processor(GetParam()));
  const unsigned wave_size = target.processor->has_wave_size(32) ? 32 : 64;  // as functions_of() decodes
  const Bytes file = read(fmt::format("{}/image_waits_{}.o", ATOLL_WAIT_PAIRS, GetParam()));
  size_t found = 0, functions = 0;
  for (const Function& function : functions_of(file, *target.processor)) {
    observe::WaitPaths paths;
    const auto begin = reinterpret_cast<uint64_t>(function.code.data());
    const auto step =
        paths.step(0, {.begin = begin, .end = begin + function.code.size()}, *target.processor, wave_size);
    const size_t conflicts = step.events == nullptr ? 0 : step.events->conflicts.size();
    EXPECT_EQ(conflicts, 0u) << function.name;
    // Without its waits, the results are used too early.
    Bytes hasty = function.code;
    for (size_t at = 0; at < hasty.size();) {
      const auto instruction = isa::decode(std::span(hasty).subspan(at), *target.processor);
      ASSERT_TRUE(instruction);
      if (hazards::counter_waits(*instruction)) std::memcpy(&hasty[at], &s_nop, sizeof s_nop);
      at += instruction->size;
    }
    observe::WaitPaths hasty_paths;
    const auto hasty_begin = reinterpret_cast<uint64_t>(hasty.data());
    const auto hasty_step =
        hasty_paths.step(0, {.begin = hasty_begin, .end = hasty_begin + hasty.size()}, *target.processor, wave_size);
    found += hasty_step.events != nullptr && !hasty_step.events->conflicts.empty() ? 1 : 0;
    ++functions;
  }
  EXPECT_GT(functions, 10u);
  EXPECT_EQ(found, functions);
}
INSTANTIATE_TEST_SUITE_P(Of, ImageWaits,
                         testing::Values("gfx803", "gfx900", "gfx90a", "gfx1010", "gfx1030", "gfx1100", "gfx1201"));

const std::vector<std::pair<std::string, std::string>> all = {
    {"wait_pairs", "gfx803"},   {"wait_pairs", "gfx900"},   {"wait_pairs", "gfx906"},   {"wait_pairs", "gfx90a"},
    {"wait_pairs", "gfx942"},   {"wait_pairs", "gfx950"},   {"matrix_pairs", "gfx908"}, {"matrix_pairs", "gfx90a"},
    {"matrix_pairs", "gfx942"}, {"matrix_pairs", "gfx950"}, {"wmma_pairs", "gfx1250"}};
INSTANTIATE_TEST_SUITE_P(Of, WaitStates, testing::ValuesIn(all),
                         [](const auto& of) { return fmt::format("{}_{}", of.param.first, of.param.second); });

}  // namespace
}  // namespace Atoll::test
