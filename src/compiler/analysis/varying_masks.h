// compiler: which lane masks are uniform for a region's chunks, and which vary, as they are made in the chunk loop.
//
// Within a region the wave's scalars are the same for every chunk, except for what comes of comparisons and of EXEC:
// lane masks, of which each chunk has its slice only. VaryingMasks follows, instruction by instruction, which register
// pairs are such slices, and says how an instruction can be executed then.
#pragma once

#include <bitset>

#include "isa/instruction.h"

namespace Atoll::compiler {

/// A register pair that can be varying.
bool is_mask(const isa::Operand& operand);
bool is_exec(const isa::Operand& operand);
bool writes_exec(const isa::Instruction& instruction);

struct VaryingMasks {
  static constexpr unsigned pairs = isa::scalar::count / 2;
  std::bitset<pairs> varying;
  std::bitset<pairs> within;  ///< slices without lanes that EXEC lacked at the region's beginning
  bool scc_varies = false;
  bool exec_written = false;  ///< in the region
  bool exec_grows = false;    ///< perhaps beyond what it was at the beginning
  friend bool operator==(const VaryingMasks&, const VaryingMasks&) = default;

  bool is_varying(unsigned reg) const { return varying[reg / 2]; }
  /// Whether a source is varying for an instruction on varying masks: EXEC always can be.
  bool is_varying_source(const isa::Operand& operand) const {
    return is_mask(operand) && (is_varying(operand.reg) || is_exec(operand));
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
  void note_exec(bool within_beginning);
};

}  // namespace Atoll::compiler
