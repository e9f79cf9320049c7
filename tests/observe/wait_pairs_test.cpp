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
#include "object/elf_file.h"
#include "observe/wait_paths.h"
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

std::vector<Function> functions_of(const Bytes& file, const target::Processor& processor) {
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
      const auto instruction = isa::decode(rest.subspan(end), processor);
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
