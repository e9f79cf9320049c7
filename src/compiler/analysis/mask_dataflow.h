// compiler: what instructions make of lane masks, as functions of a lane's bits (decision_diagram.h).
//
// Masks are followed along a way through the code: what a lane's bit is in each register pair (in waves of 32 lanes, in
// each register), and in the mask that SCC tells of, in terms of what it was at the beginning. Comparisons yield bits
// of which nothing is known, but that they are not set where EXEC is not.
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
  /// Of a mask of which nothing is known. Whoever reads it gives it a variable first.
  static constexpr Function unknown = UINT32_MAX;

  /// `words`: scalar registers that a lane mask fills.
  explicit MaskDataflow(unsigned words) : words_(words) {}

  /// The bits of one lane in all masks, by their first register, and in the mask that SCC tells of.
  struct Masks {
    std::array<Function, isa::scalar::count> mask{};
    Function scc = DecisionDiagram::never;
    Function exec() const { return mask[isa::scalar::exec_lo]; }
  };

  /// What happened on a way through the code, or on any of several ways.
  struct SideEffects {
    bool rows = false;   ///< a vector instruction may have had lanes that matter
    bool loads = false;  ///< with addresses that are the same for the whole wave
    ScalarSet scalars;   ///< written, the same for the whole wave
  };

  Function known(Function& mask) {
    if (mask == unknown) mask = fresh();
    return mask;
  }
  void give_variables(Masks& masks);
  /// Nothing is known of any of them.
  Masks variable_masks();

  /// The lanes that matter to never(), same() and SideEffects::rows.
  void set_care(Function care) { care_ = care; }
  bool never(Function f) { return logic_.both(f, care_) == DecisionDiagram::never; }
  /// Whether both are known and the same.
  bool same(Function f, Function g);

  /// One instruction, in the way that it is executed.
  void pass(const isa::Instruction& instruction, VaryingMasks::Lowering lowering, Masks& masks,
            SideEffects& side_effects);

  /// Registers that a mask fills: they begin with multiples of that.
  unsigned words() const { return words_; }
  DecisionDiagram& logic() { return logic_; }
  /// Variables that have the same value for all lanes.
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
