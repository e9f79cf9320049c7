// compiler: which registers' values are still needed where.
//
// A vector instruction under EXEC gives some lanes a new value and leaves the others alone. So a row is live in two
// parts: in the lanes that EXEC has at that point, and in those that it lacks. What shrinks or grows EXEC moves lanes
// from one part to the other; whatever else writes it may mix them.
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

/// What an instruction reads and writes (isa/effects.h), and what becomes of lanes, as the compiler lowers it.
struct LaneEffects : isa::Effects {
  enum class Exec : uint8_t { stays, shrinks, grows, changes };
  VectorSet vector_overwrites;  ///< those of vector_writes whose old value in active lanes does not matter
  bool reads_inactive = false;  ///< lanes of vector_reads that EXEC lacks, too
  Exec exec = Exec::stays;
};
LaneEffects lane_effects_of(const isa::Instruction& instruction);

/// A dual instruction (VOPD) as two that follow each other, in an order in which the first writes nothing that the
/// second reads.
struct DualHalves {
  isa::Instruction first, second;
  /// Null: it is not dual, or each half writes what the other reads.
  static std::optional<DualHalves> of(const isa::Instruction& instruction);
};

/// Whether there is nothing to execute of an instruction: waits and hints, and the message by which a wave gives its
/// VGPRs back before it ends.
bool does_nothing(const isa::Instruction& instruction);
/// Whether an instruction has no part in what lanes and scalar registers hold: its only effect may be on MODE, which is
/// known of each instruction beforehand (engine::Located).
bool changes_no_data(const isa::Instruction& instruction);

/// Whether the register is EXEC's. In waves of 32 lanes, whose masks have one word, EXEC_HI is a register like others.
constexpr bool is_exec(unsigned reg, unsigned lane_mask_words) {
  return reg >= isa::scalar::exec_lo && reg < isa::scalar::exec_lo + lane_mask_words;
}

struct Live {
  ScalarSet scalars;
  VectorSet active, inactive;  ///< rows, in the lanes that EXEC has and in those that it lacks

  static Live everything();
  friend bool operator==(const Live&, const Live&) = default;
  Live& operator|=(const Live& other);
  /// From what is live after an instruction to what is live before it.
  void step_back(const LaneEffects& effects);
};

class Liveness {
 public:
  /// Everything is live where waves leave `flow` other than by ending.
  explicit Liveness(const engine::ControlFlow& flow);

  /// Before the block at `pc`; everything if there is none.
  const Live& before(uint64_t pc) const;
  /// After the block's last instruction.
  Live after(const engine::Block& block) const;
  /// Before each of the block's instructions, and after the last.
  std::vector<Live> within(const engine::Block& block) const;

 private:
  std::map<uint64_t, Live> before_;
  Live everything_ = Live::everything();
};

/// Where waves go after a block, as far as this is known: `anywhere` if they may go where is unknown.
struct Successors {
  std::vector<uint64_t> pcs;
  bool anywhere = false;
};
Successors successors_of(const engine::Block& block);

}  // namespace Atoll::compiler
