// compiler: boolean functions that describe a lane's bits in lane masks.
//
// A lane's bit in a mask is a function of variables: its bits in earlier masks, and unknown bits. Functions are reduced
// ordered binary decision diagrams (Bryant, "Graph-based algorithms for Boolean function manipulation", 1986), so two
// functions are equal if and only if their numbers are.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace Atoll::compiler {

class DecisionDiagram {
 public:
  using Function = uint32_t;
  static constexpr Function never = 0, always = 1;

  Function variable(uint32_t number);
  /// Returns condition ? yes : no.
  Function choose(Function condition, Function yes, Function no);
  Function not_of(Function f) { return choose(f, never, always); }
  Function both(Function f, Function g) { return choose(f, g, never); }
  Function differs(Function f, Function g) { return choose(f, not_of(g), g); }
  bool implies(Function f, Function g) { return choose(f, g, always) == always; }
  /// Returns the function with this truth table: bit n, with the first input as n's lowest bit.
  Function of_table(std::span<const Function> inputs, uint8_t table);

 private:
  struct Node {
    uint32_t variable;
    Function yes, no;
  };
  uint32_t top(Function f) const { return f <= always ? UINT32_MAX : nodes_[f].variable; }
  Function part(Function f, uint32_t variable, bool value) const;
  Function node(uint32_t variable, Function yes, Function no);

  std::vector<Node> nodes_{{UINT32_MAX, never, never}, {UINT32_MAX, always, always}};
  std::map<std::tuple<uint32_t, Function, Function>, Function> known_nodes_, known_choices_;
};

}  // namespace Atoll::compiler
