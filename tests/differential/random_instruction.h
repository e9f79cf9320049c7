// Instructions made at random from the instruction table.
//
// For GFX9, an instruction is made as bits: its opcode where its encoding has it, small register numbers, modifiers;
// what the decoder then does not take for that very instruction, or what would harm more than the wave's own state, is
// thrown away and made anew. Memory instructions get their addresses from registers that are set before them, so that
// they stay in a buffer. For later generations, one of a pool gets such registers, addresses and modifiers
// (remade_instruction.cpp).
//
// Each program has its own mixture of kinds of instructions, and perhaps few of each: what only goes wrong where many
// of a kind come together, or none of another in between, is found sooner so ("swarm testing", Groce et al., ISSTA
// 2012).
#pragma once

#include <array>
#include <optional>
#include <random>
#include <vector>

#include "differential/encoder.h"
#include "isa/table.h"
#include "target/processor.h"

namespace Atoll::test {

/// Which registers a random program uses for what. Random instructions write none from `first_kept` on.
namespace fuzz_register {
inline constexpr unsigned first_kept = 64;                         // of the SGPRs
inline constexpr unsigned saved_exec = 64;                         // pairs, by depth
inline constexpr unsigned done = 72;                               // pairs, by depth: lanes that have left a loop
inline constexpr unsigned counter = 80;                            // by depth
inline constexpr unsigned buffer = 90;                             // a pair: the buffer's address
inline constexpr unsigned resource = 92;                           // four: a buffer resource
inline constexpr unsigned scratch_resource = 84;                   // four: the wave's scratch as a buffer
inline constexpr unsigned stack_offset = 88, private_offset = 89;  // in it: of the wave, of each lane
inline constexpr unsigned results = 96;  // a pair: where a work-group's waves in series store what they have
inline constexpr unsigned callee = 98, caller = 100;
inline constexpr unsigned result_offset = 239;             // a VGPR: what the lane adds to that
inline constexpr unsigned rounds = 240, max_rounds = 244;  // VGPRs, by depth: of a loop that lanes leave
inline constexpr unsigned address = 250;                   // VGPRs: 250 and 251
inline constexpr unsigned other_address = 252;             // a pair, too
inline constexpr unsigned lane = 254;                      // the lane's number
}  // namespace fuzz_register

/// Bytes before and after the buffer's address that instructions may touch.
inline constexpr unsigned fuzz_buffer_reach = 32768;

/// VGPRs that programs of FuzzMix::few name, tuples from the last one on included.
inline constexpr unsigned fuzz_few_registers = 11;
/// Bytes that a wave in series has for its results.
inline constexpr unsigned fuzz_results_bytes = 4096;

/// Instructions that a program consists of.
enum class FuzzMix : uint8_t {
  everything,
  few  ///< of few registers, and what is compiled as a whole: no LDS, no scratch
};

class RandomInstruction {
 public:
  /// `bad_addresses`: percent of the addresses that are not mapped.
  RandomInstruction(const target::Target& target, std::mt19937_64& random, FuzzMix mix, unsigned bad_addresses);

  /// The words of one instruction, with those before it that set its address.
  std::vector<uint32_t> make();

  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  bool chance(unsigned percent) { return pick(100) < percent; }
  unsigned vgpr() { return chance(50) ? pick(vgprs_) : pick(vgprs_ / 2) * 2; }
  unsigned scalar_source();
  unsigned scalar_result();

  /// VGPR banks that s_set_vgpr_msb has selected for the next instruction: one for all operands, and `banks`
  /// for each of the four roles (GFX12.5).
  void set_bank(unsigned bank) { bank_ = bank; }
  unsigned bank() const { return bank_; }
  uint32_t banks() const { return bank_ * 0x55; }
  bool has_banks() const { return target_.processor->generation >= target::Generation::gfx12_5; }

  Encoder encode;

 private:
  /// Kinds of instructions, of which each program has some more than others.
  enum Kind : unsigned {
    vector,
    compare,
    crossing,
    matrix,
    scalar,
    lds,
    global,
    scratch,
    buffer_memory,
    typed_buffer,
    scalar_load,
    dual,
    kinds
  };
  static bool has_operand(const isa::InstructionRow& row, isa::Field field);
  Kind kind_of(const isa::InstructionRow& row) const;
  bool is_gfx9() const { return target_.processor->generation < target::Generation::gfx10; }
  void choose_mixture(FuzzMix mix);
  Kind any_kind();
  std::optional<std::vector<uint32_t>> attempt(const isa::InstructionRow& row, isa::Opcode opcode);
  bool fits(const std::vector<uint32_t>& words, isa::Opcode opcode) const;
  std::optional<std::vector<uint32_t>> remade(const std::vector<isa::Instruction>& pool);
  void remake_registers(isa::Instruction& instruction);
  bool remake_address(isa::Instruction& instruction, std::vector<uint32_t>& words);
  void vector_alu(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  void vop3(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  void vop3p(uint32_t opcode, std::vector<uint32_t>& words);
  void set_address(unsigned result, uint32_t mask, std::vector<uint32_t>& words);
  void set_flat_address(bool is_flat, std::vector<uint32_t>& words);
  void flat(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  void buffer(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  void local(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  void scalar_memory(const isa::InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words);
  unsigned any_source();
  uint32_t literal();

  const target::Target target_;
  std::mt19937_64& random_;
  const unsigned bad_addresses_;
  std::array<std::vector<isa::Opcode>, kinds> opcodes_;
  std::array<unsigned, kinds> weights_{};
  unsigned vgprs_ = 32;  ///< that are used
  unsigned bank_ = 0;
  unsigned modifiers_ = 0, even_addresses_ = 0;  ///< percent of the instructions that have such
};

}  // namespace Atoll::test
