// compiler: which lane masks are uniform over a region's chunks, and which vary because the chunk loop computes them.
//
// Within a region scalars are uniform, except results of comparisons and of EXEC: lane masks, of which each chunk has
// only its slice. VaryingMasks tracks which registers (pairs in wave64) hold slices, and from that selects how an
// instruction is executed.
#pragma once

#include <bitset>

#include "isa/effects.h"
#include "isa/instruction.h"

namespace Atoll::compiler {

/// Returns whether an operand is in registers that can be a varying mask: a pair, or any register in wave32.
bool is_mask(const isa::Instruction& instruction, const isa::Operand& operand);
/// Returns whether such an operand is EXEC.
bool is_exec(const isa::Operand& operand);
/// Returns whether the set overlaps the lane mask of `words` registers from `reg` on.
inline bool has_mask(const isa::ScalarSet& set, unsigned reg, unsigned words) {
  return set[reg] || (words == 2 && set[reg + 1]);
}
bool writes_exec(const isa::Instruction& instruction);

struct VaryingMasks {
  /// All registers that varying masks occupy.
  using Registers = std::bitset<isa::scalar::count>;
  Registers varying;
  Registers within;  ///< slices that are subsets of EXEC at the region's entry
  bool scc_varies = false;
  bool exec_written = false;  ///< in the region
  bool exec_grows = false;    ///< possibly beyond its value at the region's entry
  friend bool operator==(const VaryingMasks&, const VaryingMasks&) = default;

  bool is_varying(unsigned reg) const { return varying[reg]; }
  /// Returns whether a source is varying, for an instruction on varying masks. EXEC always may be.
  bool is_varying_source(const isa::Instruction& instruction, const isa::Operand& operand) const {
    return is_mask(instruction, operand) && (is_varying(operand.reg) || is_exec(operand));
  }

  /// How an instruction is lowered.
  enum class Lowering : uint8_t {
    lanes,             ///< ValuLowering
    memory,            ///< ChunkMemory
    scalars,           ///< SaluLowering, uniform
    on_varying_masks,  ///< SaluLowering::emit_on_varying_masks
    neither            ///< unsupported: needs a whole varying mask or lanes of other chunks, or is another kind
  };
  /// `inside`: vector instructions precede it in the region, so EXEC in the Wave is outdated once it changes.
  Lowering lowering(const isa::Instruction& instruction, bool inside) const;
  /// Returns the state after an instruction that is lowered in that way.
  void step(const isa::Instruction& instruction, Lowering lowering);
  /// Joins the states of two paths.
  void join(const VaryingMasks& other);

 private:
  bool reads_varying(const isa::Instruction& instruction) const;
  void set_mask(const isa::Instruction& by, unsigned reg, bool is_within);
  void note_exec(const isa::Instruction& by, bool within_beginning);
};

}  // namespace Atoll::compiler
