// compiler: data flow of lane masks, as boolean functions of a lane's bits (decision_diagram.h).
//
// Along a path, a lane's bit in each register pair (wave32: in each register), and in the mask that SCC summarises, is
// expressed in terms of its bits at the start. Comparisons yield unknown bits that are zero outside EXEC.
#pragma once

#include <array>
#include <vector>

#include "compiler/analysis/decision_diagram.h"
#include "compiler/analysis/liveness.h"
#include "compiler/analysis/varying_masks.h"

namespace Atoll::compiler {

class MaskDataflow {
 public:
  using Function = DecisionDiagram::Function;
  /// An unknown mask. Readers assign it a variable first.
  static constexpr Function unknown = UINT32_MAX;

  /// `words`: number of registers in a lane mask.
  explicit MaskDataflow(unsigned words) : words_(words) {}

  /// A lane's bits in all masks, by first register, and in the mask that SCC summarises.
  struct Masks {
    std::array<Function, isa::scalar::count> mask{};
    Function scc = DecisionDiagram::never;
    Function exec() const { return mask[isa::scalar::exec_lo]; }
  };

  /// Side effects on one path, or on any of several.
  struct SideEffects {
    bool rows = false;   ///< a relevant lane may have been active at a vector instruction
    bool loads = false;  ///< loads with uniform addresses
    ScalarSet scalars;   ///< uniform scalars that were written
  };

  Function known(Function& mask) {
    if (mask == unknown) mask = fresh();
    return mask;
  }
  void give_variables(Masks& masks);
  /// Returns masks that are all unknown variables.
  Masks variable_masks();

  /// Sets the relevant lanes for never(), same() and SideEffects::rows.
  void set_care(Function care) { care_ = care; }
  bool never(Function f) { return logic_.both(f, care_) == DecisionDiagram::never; }
  /// Returns whether both are known and equal.
  bool same(Function f, Function g);

  /// Transfer function of an instruction, for the way it is lowered.
  void pass(const isa::Instruction& instruction, VaryingMasks::Lowering lowering, Masks& masks,
            SideEffects& side_effects);

  /// Returns the number of registers in a mask, which are aligned to it.
  unsigned words() const { return words_; }
  DecisionDiagram& logic() { return logic_; }
  /// Returns the variables that are uniform.
  const std::vector<Function>& uniform() const { return uniform_; }
  uint32_t variables() const { return next_variable_; }

 private:
  Function fresh() { return logic_.variable(next_variable_++); }
  Function fresh_uniform() {
    uniform_.push_back(fresh());
    return uniform_.back();
  }

  const unsigned words_;
  DecisionDiagram logic_;
  uint32_t next_variable_ = 0;
  Function care_ = DecisionDiagram::always;
  std::vector<Function> uniform_;
};

}  // namespace Atoll::compiler
