// Instructions of a target (instruction_pool.h).
#include "differential/instruction_pool.h"

#include <array>
#include <mutex>
#include <random>
#include <span>
#include <string>

#include "isa/decode.h"

namespace Atoll::test {

namespace {

constexpr unsigned tries_of_a_prefix = 8;
constexpr size_t most_of_an_opcode = 24, max_duals = 4000;

/// Codes of the first source that stand for SDWA, DPP16 and DPP8, which words at random would hardly ever have.
constexpr std::array<uint32_t, 4> extensions{0xF9, 0xFA, 0xE9, 0xEA};

}  // namespace

InstructionPool::InstructionPool(const target::Target& target) {
  std::mt19937_64 random(1);
  const auto keep = [&](std::vector<isa::Instruction>& kept, const isa::Instruction& instruction, size_t most) {
    if (kept.size() < most) {
      kept.push_back(instruction);
    } else if (random() % 8 == 0) {
      kept[random() % most] = instruction;
    }
  };
  for (uint32_t prefix = 0; prefix <= 0xFFFF; ++prefix) {
    for (unsigned i = 0; i < tries_of_a_prefix; ++i) {
      std::array<uint32_t, 4> words;
      for (uint32_t& word : words) word = static_cast<uint32_t>(random());
      words[0] = prefix << 16 | (words[0] & 0xFFFF);
      if (i % 4 == 0) {
        const uint32_t code = extensions[random() % extensions.size()];
        words[0] = (words[0] & ~0x1FFu) | code;
        words[1] = (words[1] & ~0x1FFu) | code;
      }
      const std::span bytes(reinterpret_cast<const uint8_t*>(words.data()), sizeof words);
      const auto instruction = isa::decode(bytes, *target.processor, target.wave_size);
      if (!instruction) continue;
      if (instruction->second != isa::Opcode::invalid) {
        keep(duals_, *instruction, max_duals);
      } else {
        keep(by_opcode_[instruction->opcode], *instruction, most_of_an_opcode);
      }
    }
  }
}

const InstructionPool& InstructionPool::of(const target::Target& target) {
  static std::map<std::pair<std::string, unsigned>, InstructionPool> pools;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const std::pair key(std::string(target.processor->name), unsigned{target.wave_size});
  const auto found = pools.find(key);
  if (found != pools.end()) return found->second;
  return pools.emplace(key, InstructionPool(target)).first->second;
}

const std::vector<isa::Instruction>& InstructionPool::with(isa::Opcode opcode) const {
  static const std::vector<isa::Instruction> none;
  const auto found = by_opcode_.find(opcode);
  return found != by_opcode_.end() ? found->second : none;
}

}  // namespace Atoll::test
