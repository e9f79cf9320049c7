// assembler: expressions and what they come to, as far as is known (unit.h).
#include <algorithm>
#include <unordered_set>

#include "assembler/unit/assembly_unit.h"

namespace Atoll::assembler {

const Expression& Unit::constant(int64_t value, Place place) {
  Expression& made = expressions_.emplace_back();
  made.constant = value;
  made.place = place;
  return made;
}

const Expression& Unit::reference(Symbol& name, Specifier specifier, Place place) {
  Symbol& symbol = name.weakly_names != nullptr ? *name.weakly_names : name;
  (name.weakly_names != nullptr ? symbol.weakly_named : symbol.named) = true;
  // A redefinable number is evaluated at once.
  if (symbol.is_variable() && symbol.value->kind == Expression::Kind::constant && specifier == Specifier::none) {
    return constant(symbol.value->constant, place);
  }
  Expression& made = expressions_.emplace_back();
  made.kind = Expression::Kind::symbol;
  made.symbol = &symbol;
  made.setting = static_cast<uint32_t>(symbol.earlier.size());
  symbol.in_expressions = true;
  made.specifier = specifier;
  made.place = place;
  return made;
}

Symbol& Unit::meant(const Expression& reference) {
  Symbol& symbol = *reference.symbol;
  // A .weakref may come after what names its alias.
  if (symbol.weakly_names != nullptr) return *symbol.weakly_names;
  return reference.setting < symbol.earlier.size() ? *symbol.earlier[reference.setting] : symbol;
}

const Expression& Unit::operation(Operation operation, std::vector<const Expression*> operands, Place place) {
  const bool constants =
      std::ranges::all_of(operands, [](const Expression* e) { return e->kind == Expression::Kind::constant; });
  if (constants) {
    std::vector<int64_t> values;
    for (const Expression* operand : operands) values.push_back(operand->constant);
    if (const auto value = apply(operation, values, processor_)) return constant(*value, place);
  }
  Expression& made = expressions_.emplace_back();
  made.kind = Expression::Kind::operation;
  made.operation = operation;
  made.operands = std::move(operands);
  made.place = place;
  return made;
}

Symbol& Unit::anonymous_label() {
  Symbol& label = symbols_.emplace_back();
  label.name = ".";
  label.temporary = true;
  return label;
}

const Expression& Unit::here() {
  Symbol& label = anonymous_label();
  label.section = current_;
  label.fragment = static_cast<uint32_t>(current_->fragments.size() - 1);
  label.offset = current_->fragments.back().bytes.size();
  return reference(label);
}

/// How far it is from one label to another, if that is known by now.
std::optional<uint64_t> Unit::distance(const Symbol& from, const Symbol& to) {
  if (&from == &to) return 0;
  if (!from.is_label() || !to.is_label() || from.section != to.section) return std::nullopt;
  if (from.fragment == to.fragment) return to.offset - from.offset;
  const auto begin = address_of(from), end = address_of(to);
  if (begin && end) return *end - *begin;
  // Where neither address is known, what lies between may be.
  const bool ahead = from.fragment < to.fragment;
  const Symbol &low = ahead ? from : to, &high = ahead ? to : from;
  if (!spend(high.fragment - low.fragment)) return std::nullopt;
  uint64_t length = high.offset - low.offset;
  for (uint32_t i = low.fragment; i < high.fragment; ++i) {
    const Fragment& between = low.section->fragments[i];
    if (between.tail.kind != Tail::Kind::none && between.tail.kind != Tail::Kind::fill) return std::nullopt;
    if (between.tail.kind == Tail::Kind::fill && between.tail.expression->kind != Expression::Kind::constant)
      return std::nullopt;
    const auto tail = tail_length(*low.section, between.tail, 0);
    if (!tail) return std::nullopt;
    length += between.bytes.size() + *tail;
  }
  return ahead ? length : -length;
}

std::optional<Value> Unit::combine(Operation operation, const Value& a, const Value& b) {
  Value result;
  result.constant = static_cast<int64_t>(
      static_cast<uint64_t>(a.constant) +
      (operation == Operation::add ? static_cast<uint64_t>(b.constant) : -static_cast<uint64_t>(b.constant)));
  result.specifier = a.specifier != Specifier::none ? a.specifier : b.specifier;
  std::vector<Symbol*> plus, minus;
  const auto add = [](std::vector<Symbol*>& to, Symbol* symbol) {
    if (symbol != nullptr) to.push_back(symbol);
  };
  add(plus, a.plus);
  add(minus, a.minus);
  add(operation == Operation::add ? plus : minus, b.plus);
  add(operation == Operation::add ? minus : plus, b.minus);
  // Labels of one section whose distance is known cancel out.
  for (size_t i = 0; i < plus.size();) {
    bool gone = false;
    for (size_t j = 0; j < minus.size() && !gone; ++j) {
      Symbol *p = plus[i], *m = minus[j];
      const auto apart = distance(*m, *p);
      if (!apart) continue;
      result.constant = static_cast<int64_t>(static_cast<uint64_t>(result.constant) + *apart);
      plus.erase(plus.begin() + static_cast<std::ptrdiff_t>(i));
      minus.erase(minus.begin() + static_cast<std::ptrdiff_t>(j));
      gone = true;
    }
    if (!gone) ++i;
  }
  if (plus.size() > 1 || minus.size() > 1) return std::nullopt;
  if (!plus.empty()) result.plus = plus[0];
  if (!minus.empty()) result.minus = minus[0];
  return result;
}

/// Takes steps from what evaluating may cost in all. Values are known in one step each as a rule; but a chain of
/// symbols whose beginning is not known yet is followed from each of them on, as are sections whose lengths depend on
/// each other.
bool Unit::spend(uint64_t steps, Place place) {
  constexpr uint64_t max_steps = uint64_t{1} << 26;
  constexpr uint64_t steps_for_each = 16;
  steps_ += steps;
  if (!exhausted_ && steps_ > max_steps + steps_for_each * expressions_.size()) {
    exhausted_ = true;
    source_.error(place, "expressions that depend on each other take too many steps to evaluate");
  }
  return !exhausted_;
}

/// An expression under evaluation.
struct Unit::Pending {
  const Expression* expression;
  Symbol* variable = nullptr;  ///< the one that it names, whose value is being evaluated
  size_t next = 0;             ///< the operand that comes next
};

std::optional<Value> Unit::apply_to(Operation operation, std::span<const Value> values) {
  if (std::ranges::all_of(values, &Value::is_absolute)) {
    std::vector<int64_t> numbers;
    for (const Value& value : values) numbers.push_back(value.constant);
    const auto result = apply(operation, numbers, processor_);
    return result ? std::optional(Value{.constant = *result}) : std::nullopt;
  }
  switch (operation) {
    case Operation::add:
    case Operation::subtract:
      return combine(operation, values[0], values[1]);
    case Operation::negate:
      return combine(Operation::subtract, Value{}, values[0]);
    case Operation::plus:
      return values[0];
    default:
      return std::nullopt;
  }
}

/// The symbol that the last pending expression is: its value if that is there, or else what it is set to is pending,
/// too. False for one that is set to itself.
bool Unit::enter_symbol(std::vector<Pending>& pending, std::vector<Value>& values,
                        const std::unordered_map<const Symbol*, Value>& done) {
  const Expression& expression = *pending.back().expression;
  Symbol& symbol = meant(expression);
  const auto give = [&](Value value) {
    if (expression.specifier != Specifier::none) value.specifier = expression.specifier;
    values.push_back(value);
    pending.pop_back();
    return true;
  };
  if (!symbol.is_variable()) return give({.plus = &symbol});
  if (symbol.known_in == epoch_) return give({.constant = symbol.known});
  if (const auto found = done.find(&symbol); found != done.end()) return give(found->second);
  if (symbol.being_evaluated) return false;
  symbol.being_evaluated = true;
  pending.back().variable = &symbol;
  pending.push_back({symbol.value});
  return true;
}

/// The value of the one expression that is pending.
std::optional<Value> Unit::evaluate_pending(std::vector<Pending>& pending) {
  const Place place = pending.back().expression->place;
  std::vector<Value> values;
  std::unordered_map<const Symbol*, Value> done;  // each variable once, however often it is named
  while (!pending.empty()) {
    if (!spend(1, place)) return std::nullopt;
    Pending& at = pending.back();
    const Expression& expression = *at.expression;
    if (expression.kind == Expression::Kind::constant) {
      values.push_back({.constant = expression.constant});
      pending.pop_back();
    } else if (expression.kind == Expression::Kind::symbol && at.variable == nullptr) {
      if (!enter_symbol(pending, values, done)) return std::nullopt;
    } else if (expression.kind == Expression::Kind::symbol) {
      Value& value = values.back();
      done.emplace(at.variable, value);
      if (value.is_absolute() && value.specifier == Specifier::none) {
        at.variable->known = value.constant;
        at.variable->known_in = epoch_;
      }
      if (expression.specifier != Specifier::none) value.specifier = expression.specifier;
      at.variable->being_evaluated = false;
      pending.pop_back();
    } else if (at.next < expression.operands.size()) {
      pending.push_back({expression.operands[at.next++]});
    } else {
      const size_t first = values.size() - expression.operands.size();
      const auto value = apply_to(expression.operation, std::span(values).subspan(first));
      if (!value) return std::nullopt;
      values.resize(first);
      values.push_back(*value);
      pending.pop_back();
    }
  }
  return values.back();
}

std::optional<Value> Unit::evaluate(const Expression& expression) {
  /// Evaluations within evaluations, by way of sections' lengths.
  constexpr unsigned deepest = 64;
  if (expression.kind == Expression::Kind::constant) return Value{.constant = expression.constant};
  if (evaluations_ == deepest) return std::nullopt;
  ++evaluations_;
  std::vector<Pending> pending{{&expression}};
  const auto value = evaluate_pending(pending);
  for (const Pending& unfinished : pending) {
    if (unfinished.variable != nullptr) unfinished.variable->being_evaluated = false;
  }
  --evaluations_;
  return value;
}

bool Unit::names(const Expression& root, const std::function<bool(const Symbol&)>& is) {
  std::unordered_set<const Symbol*> seen;
  std::vector<const Expression*> pending{&root};
  bool found = false;
  while (!pending.empty() && !found) {
    const Expression& next = *pending.back();
    pending.pop_back();
    walk(next, [&](const Expression& part) {
      if (found || !spend(1, root.place)) return false;
      if (part.symbol != nullptr) {
        const Symbol* const symbol = &meant(part);
        found = is(*symbol);
        if (symbol->is_variable() && seen.insert(symbol).second) pending.push_back(symbol->value);
      }
      return true;
    });
  }
  return found;
}

std::optional<int64_t> Unit::absolute(const Expression& expression) {
  const auto value = evaluate(expression);
  if (!value || !value->is_absolute()) return std::nullopt;
  return value->constant;
}

}  // namespace Atoll::assembler
