// assembler: expressions and what they come to, as far as is known (unit.h).
#include <algorithm>

#include "assembler/unit.h"

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
  // A number that may be set anew is taken as it is now.
  if (symbol.is_variable() && symbol.value->kind == Expression::Kind::constant && specifier == Specifier::none) {
    return constant(symbol.value->constant, place);
  }
  Expression& made = expressions_.emplace_back();
  made.kind = Expression::Kind::symbol;
  made.symbol = &symbol;
  made.specifier = specifier;
  made.place = place;
  return made;
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

std::optional<Value> Unit::evaluate(const Expression& expression) {
  switch (expression.kind) {
    case Expression::Kind::constant:
      return Value{.constant = expression.constant};
    case Expression::Kind::symbol: {
      // A .weakref may come after what names its alias.
      Symbol& named = *expression.symbol;
      Symbol& symbol = named.weakly_names != nullptr ? *named.weakly_names : named;
      if (!symbol.is_variable()) return Value{.plus = &symbol, .specifier = expression.specifier};
      if (symbol.being_evaluated) return std::nullopt;
      symbol.being_evaluated = true;
      auto value = evaluate(*symbol.value);
      symbol.being_evaluated = false;
      if (value && expression.specifier != Specifier::none) value->specifier = expression.specifier;
      return value;
    }
    case Expression::Kind::operation:
      break;
  }
  std::vector<Value> values;
  for (const Expression* operand : expression.operands) {
    const auto value = evaluate(*operand);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  if (std::ranges::all_of(values, &Value::is_absolute)) {
    std::vector<int64_t> numbers;
    for (const Value& value : values) numbers.push_back(value.constant);
    const auto result = apply(expression.operation, numbers, processor_);
    return result ? std::optional(Value{.constant = *result}) : std::nullopt;
  }
  switch (expression.operation) {
    case Operation::add:
    case Operation::subtract:
      return combine(expression.operation, values[0], values[1]);
    case Operation::negate:
      return combine(Operation::subtract, Value{}, values[0]);
    case Operation::plus:
      return values[0];
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> Unit::absolute(const Expression& expression) {
  const auto value = evaluate(expression);
  if (!value || !value->is_absolute()) return std::nullopt;
  return value->constant;
}

}  // namespace Atoll::assembler
