// assembler: expressions (expression.h).
#include "assembler/syntax/expression.h"

#include <algorithm>

#include "object/register_usage.h"

namespace Atoll::assembler {

namespace {

struct NamedSpecifier {
  std::string_view name;
  Specifier specifier;
};
constexpr NamedSpecifier specifiers[] = {
    {"gotpcrel", Specifier::gotpcrel},
    {"gotpcrel32@lo", Specifier::gotpcrel32_lo},
    {"gotpcrel32@hi", Specifier::gotpcrel32_hi},
    {"rel32@lo", Specifier::rel32_lo},
    {"rel32@hi", Specifier::rel32_hi},
    {"rel64", Specifier::rel64},
    {"abs32@lo", Specifier::abs32_lo},
    {"abs32@hi", Specifier::abs32_hi},
    {"abs64", Specifier::abs64},
};

struct NamedFunction {
  std::string_view name;
  Operation operation;
};
constexpr NamedFunction functions[] = {
    {"max", Operation::maximum},
    {"or", Operation::disjunction},
    {"alignto", Operation::align_to},
    {"extrasgprs", Operation::extra_sgprs},
    {"totalnumvgprs", Operation::total_vgprs},
    {"occupancy", Operation::occupancy},
};

/// Returns -1 for true, as the GNU assembler.
int64_t truth(bool value) { return value ? -1 : 0; }

std::optional<int64_t> apply_unary(Operation operation, int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  switch (operation) {
    case Operation::negate:
      return static_cast<int64_t>(-bits);
    case Operation::complement:
      return ~value;
    case Operation::logical_not:
      return value == 0;
    case Operation::plus:
      return value;
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> apply_binary(Operation operation, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const auto wrapped = [](uint64_t value) { return static_cast<int64_t>(value); };
  switch (operation) {
    case Operation::add:
      return wrapped(ua + ub);
    case Operation::subtract:
      return wrapped(ua - ub);
    case Operation::multiply:
      return wrapped(ua * ub);
    case Operation::divide:
    case Operation::remainder:
      if (b == 0) return std::nullopt;
      if (b == -1) return operation == Operation::divide ? wrapped(-ua) : 0;  // the least number has no opposite
      return operation == Operation::divide ? a / b : a % b;
    case Operation::shift_left:
      return ub > 63 ? 0 : wrapped(ua << ub);
    case Operation::shift_right:
      return ub > 63 ? 0 : wrapped(ua >> ub);
    case Operation::bit_and:
      return a & b;
    case Operation::bit_or:
      return a | b;
    case Operation::bit_or_not:
      return a | ~b;
    case Operation::bit_xor:
      return a ^ b;
    case Operation::logical_and:
      return a != 0 && b != 0;
    case Operation::logical_or:
      return a != 0 || b != 0;
    case Operation::equal:
      return truth(a == b);
    case Operation::not_equal:
      return truth(a != b);
    case Operation::less:
      return truth(a < b);
    case Operation::less_equal:
      return truth(a <= b);
    case Operation::greater:
      return truth(a > b);
    case Operation::greater_equal:
      return truth(a >= b);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Specifier> find_specifier(std::string_view name) {
  const auto* found = std::ranges::find(specifiers, name, &NamedSpecifier::name);
  return found == std::end(specifiers) ? std::nullopt : std::optional(found->specifier);
}

std::optional<Operation> find_function(std::string_view name) {
  const auto* found = std::ranges::find(functions, name, &NamedFunction::name);
  return found == std::end(functions) ? std::nullopt : std::optional(found->operation);
}

std::optional<int64_t> apply(Operation operation, std::span<const int64_t> operands,
                             const target::Processor& processor) {
  if (operands.empty()) return std::nullopt;
  const auto number = [&](size_t i) { return static_cast<uint32_t>(operands[i]); };
  switch (operation) {
    case Operation::maximum:
      return std::ranges::max(operands);
    case Operation::disjunction: {
      int64_t all = 0;
      for (const int64_t operand : operands) all |= operand;
      return all;
    }
    case Operation::align_to:
      if (operands.size() != 2 || operands[1] <= 0) return std::nullopt;
      return (operands[0] + operands[1] - 1) / operands[1] * operands[1];
    case Operation::extra_sgprs:
      if (operands.size() != 3) return std::nullopt;
      return object::extra_sgprs(processor, operands[0] != 0, operands[1] != 0, operands[2] != 0);
    case Operation::total_vgprs:
      if (operands.size() != 2) return std::nullopt;
      return object::total_vgprs(processor, number(1), number(0));
    case Operation::occupancy:
      if (operands.size() != 7 || operands[1] <= 0) return std::nullopt;
      return object::occupancy({.max_waves = number(0), .vgpr_granule = number(1), .vgprs_there_are = number(2)},
                               processor, number(4), number(5), number(6));
    default:
      break;
  }
  if (operands.size() == 1) return apply_unary(operation, operands[0]);
  if (operands.size() == 2) return apply_binary(operation, operands[0], operands[1]);
  return std::nullopt;
}

}  // namespace Atoll::assembler
