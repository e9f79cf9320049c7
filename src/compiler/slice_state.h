// compiler: which lane masks are there as a whole, and which as slices made in a loop over the chunks.
//
// Within a region the wave's scalars are the same for every chunk, except for what comes of comparisons and of EXEC:
// lane masks, of which each chunk has its slice only. SliceState follows, instruction by instruction, which register
// pairs are such slices, and says how an instruction can be carried out then.
#pragma once

#include <bitset>

#include "isa/instruction.h"

namespace Atoll::compiler {

/// A register pair that can be in slices.
bool is_mask(const isa::Operand& operand);
bool is_exec(const isa::Operand& operand);
bool writes_exec(const isa::Instruction& instruction);

struct SliceState {
  static constexpr unsigned pairs = isa::scalar::count / 2;
  std::bitset<pairs> sliced;
  std::bitset<pairs> within;  ///< slices without lanes that EXEC lacked at the region's beginning
  bool scc_sliced = false;
  bool exec_written = false;  ///< in the region
  bool exec_grows = false;    ///< perhaps beyond what it was at the beginning
  friend bool operator==(const SliceState&, const SliceState&) = default;

  bool is_sliced(unsigned reg) const { return sliced[reg / 2]; }
  /// Whether a source is in slices for an instruction on slices: EXEC always can be.
  bool is_sliced_source(const isa::Operand& operand) const {
    return is_mask(operand) && (is_sliced(operand.reg) || is_exec(operand));
  }

  /// How an instruction is carried out.
  enum class Way : uint8_t {
    lanes,      ///< LaneCode
    memory,     ///< ChunkMemory
    scalars,    ///< ScalarCode, the same for every chunk
    on_slices,  ///< ScalarCode::emit_on_slices
    neither     ///< it needs a whole mask that is in slices or lanes of other chunks, or is of another kind
  };
  /// `inside`: vector instructions precede in the region, so that EXEC is no longer what the Wave has once it changes.
  Way way(const isa::Instruction& instruction, bool inside) const;
  /// The state behind an instruction that is carried out in that way.
  void step(const isa::Instruction& instruction, Way way);
  /// Where two ways through the code meet.
  void join(const SliceState& other);

 private:
  bool reads_slices(const isa::Instruction& instruction) const;
  void note_exec(bool within_beginning);
};

}  // namespace Atoll::compiler
