// semantics: floating-point exceptions (exceptions.h).
//
// Most follow from what the sources and the result are: a NaN that comes of none, an infinity that comes of none.
// Whether a result is exact, the host says for operations that are its own: it carries them out once more, one lane at
// a time, in the wave's rounding mode. Halves it does in double precision, in which what is rounded is exact, or is
// known not to be.
#include "semantics/float/exceptions.h"

#include <xmmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>

#include "isa/element_type.h"

namespace Atoll::semantics {

namespace {

using isa::DataType;

/// Class of an operation's computation for its exceptions.
enum class Kind : uint8_t {
  other,
  add,
  subtract,
  subtract_from,
  multiply,
  multiply_add,  ///< rounded once
  multiply_round_add,
  widen_or_narrow,  ///< to the type of the result
  to_signed,
  to_unsigned,
  reciprocal,  ///< or another one whose result for 0 is infinite
  reciprocal_of_integer,
  fix_quotient,
  quiet  ///< raises nothing
};

/// True for the element types whose conversions the host can do again.
bool is_computed_by_host(isa::Element element) {
  using enum isa::Element;
  return element == f16 || element == f32 || element == f64 || element == i16 || element == u16 || element == i32 ||
         element == u32;
}

Kind kind_of_conversion(const isa::InstructionRow& row, isa::Element to) {
  const isa::Computation& computes = row.computes;
  const bool is_plain = computes.rounding == isa::Rounding::mode && computes.elements == 0 && !row.has(isa::flag::mix);
  if (!is_plain || !is_computed_by_host(to) || !is_computed_by_host(computes.from)) return Kind::other;
  if (isa::element_of(row.operands[1].type) != computes.from) return Kind::other;  // a part of a register
  if (to == isa::Element::i16 || to == isa::Element::i32) return Kind::to_signed;
  if (to == isa::Element::u16 || to == isa::Element::u32) return Kind::to_unsigned;
  return Kind::widen_or_narrow;
}

/// True if all operands are of that type. Scalar halves are operands of 32 bits.
bool has_operands_of(const isa::InstructionRow& row, isa::Element type) {
  return std::ranges::all_of(row.operands, [&](const isa::OperandSpec& operand) {
    return operand.field == isa::Field::none || isa::element_of(operand.type) == type;
  });
}

/// A table over operations on floating-point numbers. Mixed precision (op_sel_hi) is left to the general rules.
Kind kind_of(const isa::InstructionRow& row) {
  using enum isa::Operation;
  const isa::Element type = isa::element_type(row);
  if (row.computes.operation == classify) return Kind::quiet;
  if (row.computes.operation == convert) return kind_of_conversion(row, type);
  if (!isa::is_float(type) || !has_operands_of(row, type) || row.has(isa::flag::mix | isa::flag::memory)) {
    return Kind::other;
  }
  switch (row.computes.operation) {
    case add:
      return Kind::add;
    case sub:
      return row.computes.order == isa::Order::reversed ? Kind::subtract_from : Kind::subtract;
    case mul:
      return Kind::multiply;
    case fma:
      return Kind::multiply_add;
    case mad:  // the flushing of denormals between its steps is known for single precision
      return type == isa::Element::f32 ? Kind::multiply_round_add : Kind::other;
    case rcp:
    case rsq:
    case log2:
      return Kind::reciprocal;
    case rcp_iflag:
      return Kind::reciprocal_of_integer;
    case div_fixup:
      return Kind::fix_quotient;
    default:
      return Kind::other;
  }
}

/// A format's elements: how many a register operand has, and of what they consist.
struct Format {
  unsigned elements = 1, words = 1, fraction_bits = 0, exponent_bits = 0;
  bool is_packed_half() const { return elements == 2 && words == 1; }
};
std::optional<Format> format_of(DataType type) {
  switch (type) {
    case DataType::f16:
      return Format{.fraction_bits = 10, .exponent_bits = 5};
    case DataType::v2f16:
      return Format{.elements = 2, .fraction_bits = 10, .exponent_bits = 5};
    case DataType::f32:
      return Format{.fraction_bits = 23, .exponent_bits = 8};
    case DataType::v2f32:
      return Format{.elements = 2, .words = 2, .fraction_bits = 23, .exponent_bits = 8};
    case DataType::f64:
      return Format{.words = 2, .fraction_bits = 52, .exponent_bits = 11};
    default:
      return {};
  }
}

struct Number {
  double value = 0;
  bool is_nan = false, is_signalling = false, is_infinite = false, is_denormal = false;
};

Number number(const Format& format, const Row* rows, unsigned lane, unsigned element) {
  uint64_t word = rows[0][lane];
  if (format.fraction_bits == 52) {
    word |= uint64_t{rows[1][lane]} << 32;
  } else if (format.is_packed_half()) {
    word = word >> 16 * element & 0xFFFF;
  } else if (format.fraction_bits == 10) {
    word &= 0xFFFF;
  } else if (element != 0) {
    word = rows[1][lane];
  }
  const uint64_t fraction = word & ((uint64_t{1} << format.fraction_bits) - 1);
  const int most = (1 << format.exponent_bits) - 1, bias = most / 2;
  const int exponent = static_cast<int>(word >> format.fraction_bits) & most;
  const bool negative = (word >> (format.fraction_bits + format.exponent_bits) & 1) != 0;
  Number result;
  const int scale = std::max(exponent, 1) - bias - static_cast<int>(format.fraction_bits);
  const uint64_t digits = fraction | (exponent != 0 ? uint64_t{1} << format.fraction_bits : 0);
  result.value = std::ldexp(static_cast<double>(digits), scale);
  if (negative) result.value = -result.value;
  result.is_denormal = exponent == 0 && fraction != 0;
  result.is_infinite = exponent == most && fraction == 0;
  result.is_nan = exponent == most && fraction != 0;
  result.is_signalling = result.is_nan && (fraction >> (format.fraction_bits - 1) & 1) == 0;
  return result;
}

constexpr unsigned rounding_control(Round round) {
  constexpr unsigned controls[] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN, _MM_ROUND_TOWARD_ZERO};
  return controls[static_cast<unsigned>(round)];
}

/// The flags that the host raises in what `compute` does; they have the order of TRAPSTS'. Its own state stays as it
/// is.
template <typename Compute>
uint32_t flags_of(Round round, const Compute& compute) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(_MM_MASK_MASK | rounding_control(round));
  compute();
  const unsigned raised = _mm_getcsr() & _MM_EXCEPT_MASK;
  _mm_setcsr(before);
  return raised & ~exception::input_denormal;
}

/// Volatile operands keep the compiler from computing ahead, or not at all.
template <typename T>
void compute(Kind kind, double a, double b, double c, double& result) {
  volatile T x = static_cast<T>(a), y = static_cast<T>(b), z = static_cast<T>(c), r{};
  switch (kind) {
    case Kind::add:
      r = x + y;
      break;
    case Kind::subtract:
      r = x - y;
      break;
    case Kind::subtract_from:
      r = y - x;
      break;
    case Kind::multiply:
      r = x * y;
      break;
    case Kind::multiply_add:
      r = std::fma(x, y, z);
      break;
    case Kind::multiply_round_add:
      r = x * y;
      r = r + z;
      break;
    default:
      r = x;
      break;
  }
  result = r;
}

constexpr double largest_half = 65504, least_normal_half = 0x1p-14;

uint32_t inexact_flags(Kind kind, const Format& format, const std::array<double, 3>& v, double result, Round round) {
  double exact = 0;
  uint32_t flags = 0;
  if (format.fraction_bits == 52) {
    return flags_of(round, [&] { compute<double>(kind, v[0], v[1], v[2], exact); });
  }
  if (format.fraction_bits == 23) {
    if (kind != Kind::widen_or_narrow) {
      return flags_of(round, [&] { compute<float>(kind, v[0], v[1], v[2], exact); });
    }
    return flags_of(round, [&] {
      volatile double wide = v[0];
      [[maybe_unused]] volatile float narrow = static_cast<float>(wide);
    });
  }
  flags = flags_of(Round::nearest_even, [&] { compute<double>(kind, v[0], v[1], v[2], exact); });
  const bool is_inexact = (flags & exception::inexact) != 0 || exact != result;
  flags = is_inexact ? exception::inexact : 0;
  if (is_inexact && std::abs(exact) >= largest_half + 16) flags |= exception::overflow;
  if (is_inexact && std::abs(exact) < least_normal_half) flags |= exception::underflow;
  return flags;
}

/// One element of one lane.
class Element {
 public:
  Element(const DoneOperation& done, Kind kind, const FloatMode& mode) : done_(done), kind_(kind), mode_(mode) {
    if (done.result != nullptr) result_format_ = format_of(done.instruction.dst().type);
  }

  unsigned count() const {
    unsigned most = result_format_ ? result_format_->elements : 1;
    for (unsigned i = 0; i < done_.source_count; ++i) {
      if (const auto format = format_of(done_.operands[i]->type)) most = std::max(most, format->elements);
    }
    return most;
  }

  uint32_t exceptions(unsigned lane, unsigned element) const {
    Sources sources;
    for (unsigned i = 0; i < done_.source_count && i < 3; ++i) {
      add(sources, done_.operands[i]->type, done_.sources[i], lane, element);
    }
    if (done_.old != nullptr && sources.count < 3) {
      add(sources, done_.instruction.dst().type, done_.old, lane, element);
    }
    uint32_t flags = sources.flags;
    if (kind_ == Kind::to_signed || kind_ == Kind::to_unsigned) return flags | integer_flags(sources);
    if (!result_format_) return flags;
    const Number result = number(*result_format_, done_.result, lane, element);
    const auto& v = sources.value;
    if (kind_ == Kind::fix_quotient) {
      if (sources.is_nan[1] || sources.is_nan[2]) return flags;
      const bool infinite[] = {std::isinf(v[1]), std::isinf(v[2])};
      if ((v[1] == 0 && v[2] == 0) || (infinite[0] && infinite[1])) return flags | exception::invalid;
      return v[1] == 0 && !infinite[1] ? flags | exception::division_by_zero : flags;
    }
    if (result.is_nan && !sources.any_nan) flags |= exception::invalid;
    if (sources.any_nan || sources.any_infinite || result.is_nan) return flags;
    if ((kind_ == Kind::reciprocal || kind_ == Kind::reciprocal_of_integer) && v[0] == 0) {
      return flags | (kind_ == Kind::reciprocal ? exception::division_by_zero : exception::integer_division_by_zero);
    }
    if (result.is_infinite) flags |= exception::overflow | exception::inexact;
    const bool is_exact_kind = kind_ >= Kind::add && kind_ <= Kind::widen_or_narrow;
    if (is_exact_kind) flags |= inexact_flags(kind_, *result_format_, v, result.value, round());
    return flags;
  }

 private:
  struct Sources {
    unsigned count = 0;
    std::array<double, 3> value{};
    std::array<bool, 3> is_nan{};
    bool any_nan = false, any_infinite = false;
    uint32_t flags = 0;
  };

  bool keeps_denormals(const Format& format) const {
    if (kind_ == Kind::multiply_round_add) return false;
    const Denormals denormals = format.fraction_bits == 23 ? mode_.denormals32 : mode_.denormals16_64;
    return (static_cast<uint8_t>(denormals) & static_cast<uint8_t>(Denormals::allow_in)) != 0;
  }

  void add(Sources& sources, DataType type, const Row* rows, unsigned lane, unsigned element) const {
    const unsigned i = sources.count++;
    const auto format = format_of(type);
    if (!format) {
      const uint32_t word = rows[0][lane];
      sources.value[i] = type == DataType::i32   ? static_cast<int32_t>(word)
                         : type == DataType::i16 ? static_cast<int16_t>(word)
                         : type == DataType::u16 ? static_cast<uint16_t>(word)
                                                 : word;
      return;
    }
    const Number n = number(*format, rows, lane, std::min(element, format->elements - 1));
    sources.value[i] = n.value;
    if (n.is_infinite) sources.value[i] = std::copysign(INFINITY, n.value);
    sources.is_nan[i] = n.is_nan;
    sources.any_nan |= n.is_nan;
    sources.any_infinite |= n.is_infinite;
    if (n.is_signalling) sources.flags |= exception::invalid;
    if (!n.is_denormal) return;
    if (keeps_denormals(*format)) {
      sources.flags |= exception::input_denormal;
    } else {
      sources.value[i] = std::copysign(0.0, n.value);
    }
  }

  Round round() const { return result_format_->fraction_bits == 23 ? mode_.round32 : mode_.round16_64; }

  uint32_t integer_flags(const Sources& sources) const {
    const unsigned bits =
        done_.instruction.dst().type == DataType::i16 || done_.instruction.dst().type == DataType::u16 ? 16 : 32;
    const double whole = std::trunc(sources.value[0]);
    const double end = std::ldexp(1.0, static_cast<int>(kind_ == Kind::to_signed ? bits - 1 : bits));
    const double begin = kind_ == Kind::to_signed ? -end : 0;
    if (sources.any_nan || whole < begin || whole >= end) return exception::invalid;
    return whole != sources.value[0] ? exception::inexact : 0;
  }

  const DoneOperation& done_;
  const Kind kind_;
  const FloatMode& mode_;
  std::optional<Format> result_format_;
};

}  // namespace

bool may_raise_exceptions(const isa::Instruction& instruction) {
  if (kind_of(isa::row_of(instruction)) == Kind::quiet) return false;
  return std::any_of(instruction.operands.begin(), instruction.operands.begin() + instruction.operand_count,
                     [](const isa::Operand& operand) { return format_of(operand.type).has_value(); });
}

uint32_t exceptions_of(const DoneOperation& done, uint64_t exec, const FloatMode& mode) {
  const Element element(done, kind_of(isa::row_of(done.instruction)), mode);
  const unsigned count = element.count();
  uint32_t raised = 0;
  for (; exec != 0; exec &= exec - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(exec));
    for (unsigned i = 0; i < count; ++i) raised |= element.exceptions(lane, i);
  }
  return raised;
}

std::string names_of_exceptions(uint32_t exceptions) {
  constexpr const char* names[] = {"invalid operation", "input denormal", "division by zero",        "overflow",
                                   "underflow",         "inexact result", "integer division by zero"};
  std::string text;
  for (unsigned i = 0; i < std::size(names); ++i) {
    if ((exceptions >> i & 1) == 0) continue;
    if (!text.empty()) text += ", ";
    text += names[i];
  }
  return text;
}

}  // namespace Atoll::semantics
