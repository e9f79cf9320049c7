// compiler: which lane masks are uniform for a region's chunks, and which vary, as they are made in the chunk loop.
//
// Within a region the wave's scalars are the same for every chunk, except for what comes of comparisons and of EXEC:
// lane masks, of which each chunk has its slice only. VaryingMasks follows, instruction by instruction, which
// registers (pairs of them in waves of 64 lanes) are such slices, and says how an instruction can be executed then.
#pragma once

#include <bitset>

#include "isa/effects.h"
#include "isa/instruction.h"

namespace Atoll::compiler {

/// Whether an instruction's operand is in registers that can be a varying mask: a pair, or in waves of 32 lanes any
/// one.
bool is_mask(const isa::Instruction& instruction, const isa::Operand& operand);
/// Whether such an operand is EXEC.
bool is_exec(const isa::Operand& operand);
/// Whether the lane mask that begins with a register, and fills `words`, has any register in the set.
inline bool has_mask(const isa::ScalarSet& set, unsigned reg, unsigned words) {
  return set[reg] || (words == 2 && set[reg + 1]);
}
bool writes_exec(const isa::Instruction& instruction);

struct VaryingMasks {
  /// Of all registers that varying masks fill.
  using Registers = std::bitset<isa::scalar::count>;
  Registers varying;
  Registers within;  ///< slices without lanes that EXEC lacked at the region's beginning
  bool scc_varies = false;
  bool exec_written = false;  ///< in the region
  bool exec_grows = false;    ///< perhaps beyond what it was at the beginning
  friend bool operator==(const VaryingMasks&, const VaryingMasks&) = default;

  bool is_varying(unsigned reg) const { return varying[reg]; }
  /// Whether a source is varying for an instruction on varying masks: EXEC always can be.
  bool is_varying_source(const isa::Instruction& instruction, const isa::Operand& operand) const {
    return is_mask(instruction, operand) && (is_varying(operand.reg) || is_exec(operand));
  }

  /// How an instruction is executed.
  enum class Lowering : uint8_t {
    lanes,             ///< ValuLowering
    memory,            ///< ChunkMemory
    scalars,           ///< SaluLowering, the same for every chunk
    on_varying_masks,  ///< SaluLowering::emit_on_varying_masks
    neither            ///< it needs a whole mask that is varying or lanes of other chunks, or is of another kind
  };
  /// `inside`: vector instructions precede in the region, so that EXEC is no longer what the Wave has once it changes.
  Lowering lowering(const isa::Instruction& instruction, bool inside) const;
  /// The state after an instruction that is executed in that way.
  void step(const isa::Instruction& instruction, Lowering lowering);
  /// Where two ways through the code meet.
  void join(const VaryingMasks& other);

 private:
  bool reads_varying(const isa::Instruction& instruction) const;
  void set_mask(const isa::Instruction& by, unsigned reg, bool is_within);
  void note_exec(const isa::Instruction& by, bool within_beginning);
};

}  // namespace Atoll::compiler
