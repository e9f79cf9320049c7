// Instructions made at random from the instruction table, for GFX9 processors.
//
// An instruction is made as bits: its opcode where its encoding has it, small register numbers, modifiers; what the
// decoder then does not take for that very instruction, or what would harm more than the wave's own state, is thrown
// away and made anew. Memory instructions get their addresses from registers that are set before them, so that they
// stay in a buffer.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "isa/table.h"
#include "target/processor.h"

namespace Atoll::test {

/// Which registers a random program uses for what. Random instructions write none from `first_kept` on.
namespace fuzz_register {
inline constexpr unsigned first_kept = 64;                         // of the SGPRs
inline constexpr unsigned saved_exec = 64;                         // pairs, by depth
inline constexpr unsigned counter = 80;                            // by depth
inline constexpr unsigned buffer = 90;                             // a pair: the buffer's address
inline constexpr unsigned resource = 92;                           // four: a buffer resource
inline constexpr unsigned scratch_resource = 84;                   // four: the wave's scratch as a buffer
inline constexpr unsigned stack_offset = 88, private_offset = 89;  // in it: of the wave, of each lane
inline constexpr unsigned callee = 98, caller = 100;
inline constexpr unsigned address = 250;        // VGPRs: 250 and 251
inline constexpr unsigned other_address = 252;  // a pair, too
inline constexpr unsigned lane = 254;           // the lane's number
}  // namespace fuzz_register

/// Bytes before and behind the buffer's address that instructions may touch.
inline constexpr unsigned fuzz_buffer_reach = 32768;

class RandomInstruction {
 public:
  RandomInstruction(const target::Processor& processor, std::mt19937_64& random);

  /// The words of one instruction, with those before it that set its address.
  std::vector<uint32_t> make();

  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  bool chance(unsigned percent) { return pick(100) < percent; }
  unsigned vgpr();
  unsigned scalar_source();
  unsigned scalar_result();

  /// The opcode's number on this processor.
  uint32_t number(isa::Opcode opcode) const { return isa::row(opcode).opcodes.on(processor_.generation).opcode; }

 private:
  std::optional<std::vector<uint32_t>> attempt(const isa::InstructionRow& row, isa::Opcode opcode);
  bool fits(const std::vector<uint32_t>& words, isa::Opcode opcode) const;
  void vector_alu(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  void vop3(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  void vop3p(uint32_t opcode, std::vector<uint32_t>& words);
  uint32_t vop1(isa::Opcode opcode, unsigned result, unsigned source) const {
    return 0x7E000000 | number(opcode) << 9 | result << 17 | source;
  }
  uint32_t vop2(isa::Opcode opcode, unsigned result, unsigned a, unsigned b) const {
    return number(opcode) << 25 | result << 17 | b << 9 | a;
  }
  void set_address(unsigned result, uint32_t mask, std::vector<uint32_t>& words);
  void set_flat_address(bool is_flat, std::vector<uint32_t>& words);
  void flat(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  void buffer(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  void local(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  void scalar_memory(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  unsigned any_source();
  uint32_t literal();

  const target::Processor& processor_;
  std::mt19937_64& random_;
  std::vector<isa::Opcode> scalar_, vector_, lane_, memory_;
};

}  // namespace Atoll::test
