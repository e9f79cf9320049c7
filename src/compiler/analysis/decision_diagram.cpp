// compiler: boolean functions of a lane's bits (decision_diagram.h).
#include "compiler/analysis/decision_diagram.h"

#include <algorithm>

namespace Atoll::compiler {

DecisionDiagram::Function DecisionDiagram::node(uint32_t variable, Function yes, Function no) {
  if (yes == no) return yes;
  const auto [found, is_new] = known_nodes_.try_emplace({variable, yes, no}, static_cast<Function>(nodes_.size()));
  if (is_new) nodes_.push_back({variable, yes, no});
  return found->second;
}

DecisionDiagram::Function DecisionDiagram::variable(uint32_t number) { return node(number, always, never); }

DecisionDiagram::Function DecisionDiagram::part(Function f, uint32_t variable, bool value) const {
  if (top(f) != variable) return f;
  return value ? nodes_[f].yes : nodes_[f].no;
}

DecisionDiagram::Function DecisionDiagram::choose(Function condition, Function yes, Function no) {
  if (condition == always || yes == no) return yes;
  if (condition == never) return no;
  if (yes == always && no == never) return condition;
  if (const auto known = known_choices_.find({condition, yes, no}); known != known_choices_.end()) {
    return known->second;
  }
  const uint32_t first = std::min({top(condition), top(yes), top(no)});
  const auto part_of = [&](bool value) {
    return choose(part(condition, first, value), part(yes, first, value), part(no, first, value));
  };
  const Function if_set = part_of(true), if_clear = part_of(false);
  const Function result = node(first, if_set, if_clear);
  known_choices_.emplace(std::tuple{condition, yes, no}, result);
  return result;
}

DecisionDiagram::Function DecisionDiagram::of_table(std::span<const Function> inputs, uint8_t table) {
  if (inputs.empty()) return (table & 1) != 0 ? always : never;
  const unsigned half = 1u << (inputs.size() - 1);
  const auto rest = inputs.first(inputs.size() - 1);
  return choose(inputs.back(), of_table(rest, static_cast<uint8_t>(table >> half)),
                of_table(rest, static_cast<uint8_t>(table & ((1u << half) - 1))));
}

}  // namespace Atoll::compiler
