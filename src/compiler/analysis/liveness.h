// compiler: liveness of registers.
//
// A vector instruction under EXEC changes some lanes and leaves the others. A row therefore has two liveness bits: for
// active lanes (in EXEC at that point) and inactive ones. Narrowing or widening EXEC moves lanes between the two; other
// writes of EXEC may mix them.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "engine/compiled/control_flow.h"
#include "isa/effects.h"
#include "isa/instruction.h"

namespace Atoll::compiler {

using isa::ScalarSet;
using isa::scc_number;
using isa::VectorSet;

/// The registers and lanes that an instruction reads and writes (isa/effects.h), as the compiler lowers it.
struct LaneEffects : isa::Effects {
  enum class Exec : uint8_t { stays, shrinks, grows, changes };
  VectorSet vector_overwrites;  ///< written rows whose old value in active lanes is irrelevant
  bool reads_inactive = false;  ///< also reads inactive lanes of vector_reads
  Exec exec = Exec::stays;
};
LaneEffects lane_effects_of(const isa::Instruction& instruction);

/// A VOPD split into two consecutive instructions, ordered so that the first does not write what the second reads.
struct DualHalves {
  isa::Instruction first, second;
  /// Returns null if it is not a VOPD, or if each half writes what the other reads.
  static std::optional<DualHalves> of(const isa::Instruction& instruction);
};

/// Returns whether an instruction has no effect to execute: waits, hints, and the message that deallocates VGPRs.
bool does_nothing(const isa::Instruction& instruction);
/// Returns whether an instruction changes neither lanes nor scalar registers. It may change MODE, which is known
/// statically (engine::Located).
bool changes_no_data(const isa::Instruction& instruction);

/// Returns whether the register is part of EXEC. In wave32, EXEC_HI is an ordinary register.
constexpr bool is_exec(unsigned reg, unsigned lane_mask_words) {
  return reg >= isa::scalar::exec_lo && reg < isa::scalar::exec_lo + lane_mask_words;
}

struct Live {
  ScalarSet scalars;
  VectorSet active, inactive;  ///< rows live in active lanes, and in inactive lanes

  static Live everything();
  friend bool operator==(const Live&, const Live&) = default;
  Live& operator|=(const Live& other);
  /// Transfer function: from liveness after an instruction to liveness before it.
  void step_back(const LaneEffects& effects);
};

class Liveness {
 public:
  /// Everything is live where waves leave `flow` other than by ending.
  explicit Liveness(const engine::ControlFlow& flow);

  /// Returns liveness before the block at `pc`; everything if there is none.
  const Live& before(uint64_t pc) const;
  /// Returns liveness after the block's last instruction.
  Live after(const engine::Block& block) const;
  /// Returns liveness before each of the block's instructions, and after the last.
  std::vector<Live> within(const engine::Block& block) const;

 private:
  std::map<uint64_t, Live> before_;
  Live everything_ = Live::everything();
};

/// Successors of a block; `anywhere` if they are unknown.
struct Successors {
  std::vector<uint64_t> pcs;
  bool anywhere = false;
};
Successors successors_of(const engine::Block& block);

}  // namespace Atoll::compiler
