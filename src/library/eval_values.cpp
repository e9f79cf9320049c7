#include "library/eval_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "isa/effects.h"
#include "isa/instruction.h"

namespace Atoll::library {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;
namespace scalar = isa::scalar;

// bf16 is none of the types of buffers (element_type.h), as OpenCL has no such type.
constexpr ElementType brain_float{"bf16", "", ElementType::Kind::floating, 2};

const ElementType* type_named(std::string_view name) {
  return name == brain_float.name ? &brain_float : find_element_type(name);
}

struct NamedRegister {
  std::string_view name;
  uint16_t reg;
  uint8_t words;
};
constexpr std::array named_registers{
    NamedRegister{"vcc_lo", scalar::vcc_lo, 1},
    NamedRegister{"vcc_hi", scalar::vcc_hi, 1},
    NamedRegister{"exec_lo", scalar::exec_lo, 1},
    NamedRegister{"exec_hi", scalar::exec_hi, 1},
    NamedRegister{"m0", scalar::m0, 1},
    NamedRegister{"flat_scratch", scalar::flat_scratch_lo, 2},
    NamedRegister{"flat_scratch_lo", scalar::flat_scratch_lo, 1},
    NamedRegister{"flat_scratch_hi", scalar::flat_scratch_hi, 1},
    NamedRegister{"xnack_mask", scalar::xnack_mask_lo, 2},
    NamedRegister{"xnack_mask_lo", scalar::xnack_mask_lo, 1},
    NamedRegister{"xnack_mask_hi", scalar::xnack_mask_hi, 1},
};

template <typename T>
std::optional<T> number_of(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const bool binary = text.starts_with("0b") || text.starts_with("0B");
  if (hexadecimal || binary) text.remove_prefix(2);
  T value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : (binary ? 2 : 10));
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// "0-7,9"
std::optional<std::vector<uint8_t>> parse_lanes(std::string_view text) {
  constexpr unsigned max_lanes = 64;
  std::vector<uint8_t> lanes;
  for (const std::string_view part : split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = number_of<unsigned>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of<unsigned>(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= max_lanes) return std::nullopt;
    for (unsigned lane = *first; lane <= *last; ++lane) lanes.push_back(static_cast<uint8_t>(lane));
  }
  return lanes;
}

/// "3" or "[2:3]" after a register file's letter; takes what it reads off the text.
std::optional<std::pair<unsigned, unsigned>> take_registers(std::string_view& text) {
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const auto ends = split(text.substr(1, close - 1), ':');
    const auto first = number_of<unsigned>(ends.front()), last = number_of<unsigned>(ends.back());
    if (ends.size() > 2 || !first || !last || *first > *last || *last >= isa::first_agpr) return std::nullopt;
    text.remove_prefix(close + 1);
    return std::pair(*first, *last - *first + 1);
  }
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto reg = number_of<unsigned>(text.substr(0, digits));
  if (!reg || *reg >= isa::first_agpr) return std::nullopt;
  text.remove_prefix(digits);
  return std::pair(*reg, 1u);
}

/// "mem[ADDRESS]", "mem[ADDRESS:BYTES]", the same of lds, and "lds" alone.
std::optional<Destination> parse_place(std::string_view name) {
  Destination destination;
  if (name.starts_with("mem[")) {
    destination.kind = Destination::Kind::memory;
    name.remove_prefix(3);
  } else if (name == "lds" || name.starts_with("lds[")) {
    destination.kind = Destination::Kind::lds;
    name.remove_prefix(3);
    if (name.empty()) return destination;
  } else {
    return std::nullopt;
  }
  if (!name.ends_with(']')) return std::nullopt;
  const auto parts = split(name.substr(1, name.size() - 2), ':');
  const auto address = number_of<uint64_t>(parts.front());
  if (!address || parts.size() > 2) return std::nullopt;
  destination.address = *address;
  if (parts.size() == 2) {
    destination.bytes = number_of<uint64_t>(parts[1]);
    if (!destination.bytes || *destination.bytes == 0) return std::nullopt;
  }
  return destination;
}

std::optional<Destination> parse_destination(std::string_view name) {
  using Kind = Destination::Kind;
  if (name == "scc") return Destination{.kind = Kind::scc};
  if (name == "mode") return Destination{.kind = Kind::mode};
  if (name == "exec") return Destination{.kind = Kind::exec};
  if (name == "vcc") return Destination{.kind = Kind::vcc};
  if (const auto place = parse_place(name)) return place;
  for (const NamedRegister& each : named_registers)
    if (each.name == name) return Destination{.kind = Kind::scalar, .reg = each.reg, .words = each.words};
  Destination destination;
  std::string_view rest = name;
  uint16_t first = 0;
  unsigned count = isa::vector_registers_of_a_kind;
  if (rest.starts_with("ttmp")) {
    destination.kind = Kind::scalar;
    first = scalar::ttmp0;
    count = 16;
    rest.remove_prefix(4);
  } else if (rest.starts_with('v') || rest.starts_with('a')) {
    const bool is_vgpr = rest.starts_with('v');
    destination.kind = is_vgpr ? Kind::vgpr : Kind::agpr;
    if (is_vgpr) count = isa::first_agpr;  // in all banks of GFX12.5
    rest.remove_prefix(1);
  } else if (rest.starts_with('s')) {
    destination.kind = Kind::scalar;
    count = scalar::vcc_lo;
    rest.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  const auto registers = take_registers(rest);
  if (!registers || registers->first + registers->second > count) return std::nullopt;
  destination.reg = first + registers->first;
  destination.words = registers->second;
  if (destination.kind == Kind::scalar) return rest.empty() ? std::optional(destination) : std::nullopt;
  if (destination.words == 1 && (rest.starts_with(".l") || rest.starts_with(".h"))) {
    destination.high = rest[1] == 'h';
    rest.remove_prefix(2);
  }
  if (rest.empty()) return destination;
  if (!rest.starts_with('[') || !rest.ends_with(']')) return std::nullopt;
  const auto lanes = parse_lanes(rest.substr(1, rest.size() - 2));
  if (!lanes) return std::nullopt;
  destination.lanes = *lanes;
  return destination;
}

/// A number of an expression: what it is as an integer, or as a floating-point number.
struct Number {
  bool floating = false;
  uint64_t integer = 0;
  double real = 0;

  double as_real() const { return floating ? real : static_cast<double>(static_cast<int64_t>(integer)); }
};

/// Reads `lane * 4 + 0x1000` and the like, with C's operators and precedence.
class Expression {
 public:
  Expression(std::string_view text, uint64_t index, bool floating) : rest_(text), index_(index), floating_(floating) {}

  std::optional<Number> evaluate() {
    const auto number = binary(0);
    skip_blanks();
    if (!rest_.empty()) return std::nullopt;
    return number;
  }
  /// Whether it is one number, as opposed to something computed.
  bool is_plain() const { return plain_; }
  const std::string& complaint() const { return complaint_; }

 private:
  struct Operator {
    std::string_view text;
    int precedence;
  };
  static constexpr std::array<Operator, 10> operators{
      Operator{"|", 1}, Operator{"^", 2}, Operator{"&", 3}, Operator{"<<", 4}, {">>", 4},
      {"+", 5},         {"-", 5},         {"*", 6},         {"/", 6},          {"%", 6}};

  void skip_blanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  std::optional<Number> binary(int least) {
    if (++depth_ > 100) return std::nullopt;
    auto left = unary();
    while (left) {
      skip_blanks();
      const auto* found =
          std::ranges::find_if(operators, [&](const Operator& each) { return rest_.starts_with(each.text); });
      if (found == operators.end() || found->precedence <= least) break;
      rest_.remove_prefix(found->text.size());
      plain_ = false;
      const auto right = binary(found->precedence);
      if (!right) return std::nullopt;
      left = apply(found->text, *left, *right);
    }
    --depth_;
    return left;
  }

  std::optional<Number> apply(std::string_view what, const Number& a, const Number& b) {
    if (floating_ || a.floating || b.floating) {
      const double x = a.as_real(), y = b.as_real();
      const auto real = [](double value) { return Number{.floating = true, .real = value}; };
      if (what == "+") return real(x + y);
      if (what == "-") return real(x - y);
      if (what == "*") return real(x * y);
      if (what == "/") return real(x / y);
      complaint_ = fmt::format("'{}' is for integers", what);
      return std::nullopt;
    }
    const uint64_t x = a.integer, y = b.integer;
    const auto integer = [](uint64_t value) { return Number{.integer = value}; };
    if (what == "+") return integer(x + y);
    if (what == "-") return integer(x - y);
    if (what == "*") return integer(x * y);
    if (what == "|") return integer(x | y);
    if (what == "^") return integer(x ^ y);
    if (what == "&") return integer(x & y);
    if (what == "<<") return integer(y < 64 ? x << y : 0);
    if (what == ">>") return integer(y < 64 ? x >> y : 0);
    const auto dividend = static_cast<int64_t>(x), divisor = static_cast<int64_t>(y);
    if (divisor == 0) {
      complaint_ = "division by zero";
      return std::nullopt;
    }
    if (divisor == -1) return integer(what == "/" ? 0 - x : 0);
    return integer(static_cast<uint64_t>(what == "/" ? dividend / divisor : dividend % divisor));
  }

  std::optional<Number> unary() {
    if (++depth_ > 100) return std::nullopt;
    skip_blanks();
    std::optional<Number> number;
    if (rest_.starts_with('-') || rest_.starts_with('+') || rest_.starts_with('~')) {
      const char sign = rest_.front();
      rest_.remove_prefix(1);
      number = unary();
      if (number && sign == '-') {
        number = number->floating ? Number{.floating = true, .real = -number->real}
                 : floating_      ? Number{.floating = true, .real = -number->as_real()}
                                  : Number{.integer = 0 - number->integer};
      } else if (number && sign == '~') {
        if (number->floating) return std::nullopt;
        plain_ = false;
        number->integer = ~number->integer;
      }
    } else if (rest_.starts_with('(')) {
      rest_.remove_prefix(1);
      number = binary(0);
      skip_blanks();
      if (!rest_.starts_with(')')) return std::nullopt;
      rest_.remove_prefix(1);
    } else {
      number = primary();
    }
    --depth_;
    return number;
  }

  std::optional<Number> primary() {
    for (const std::string_view name : {"lane", "i"}) {
      const bool longer =
          rest_.size() > name.size() && (std::isalnum(rest_[name.size()]) != 0 || rest_[name.size()] == '_');
      if (!rest_.starts_with(name) || longer) continue;
      rest_.remove_prefix(name.size());
      plain_ = false;
      return Number{.integer = index_};
    }
    size_t length = 0;
    const bool prefixed = rest_.size() > 1 && rest_[0] == '0' && std::string_view("xXbB").contains(rest_[1]);
    while (length < rest_.size()) {
      const char c = rest_[length];
      const bool exponent_sign = (c == '+' || c == '-') && !prefixed && length > 0 && (rest_[length - 1] | 0x20) == 'e';
      if (std::isalnum(c) == 0 && c != '.' && !exponent_sign) break;
      ++length;
    }
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    if (prefixed && floating_) {
      complaint_ = fmt::format("{} are bits: leave the type out, or write a decimal number", word);
      return std::nullopt;
    }
    if (const auto integer = number_of<uint64_t>(word)) return Number{.integer = *integer};
    double real = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), real);
    if (prefixed || error != std::errc() || end != word.data() + word.size() || word.empty()) {
      if (error == std::errc::result_out_of_range) complaint_ = fmt::format("{} is out of range", word);
      return std::nullopt;
    }
    return Number{.floating = true, .real = real};
  }

  std::string_view rest_;
  uint64_t index_;
  bool floating_;
  bool plain_ = true;
  int depth_ = 0;
  std::string complaint_;
};

/// The nearest number with eight bits of precision, ties to even, of single precision's range.
uint16_t brain_float_of(double value) {
  if (std::isnan(value)) return 0x7FC0;
  if (std::isinf(value) || value == 0) {
    return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
  }
  int exponent = 0;
  std::frexp(value, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 8, -133));  // of the last place
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(std::nearbyint(value / unit) * unit)) >> 16);
}

uint64_t float_bits(double value, unsigned bits, bool brain) {
  if (brain) return brain_float_of(value);
  if (bits == 16) return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  if (bits == 32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<uint64_t>(value);
}

bool fits(uint64_t integer, unsigned bits) {
  if (bits >= 64) return true;
  const auto value = static_cast<int64_t>(integer);
  return integer >> bits == 0 || (value < 0 && value >= -(int64_t{1} << (bits - 1)));
}

void put(std::vector<uint8_t>& bytes, size_t at, uint64_t value, size_t count) {
  for (size_t i = 0; i < count && at + i < bytes.size(); ++i) {
    bytes[at + i] = i < sizeof value ? static_cast<uint8_t>(value >> (8 * i)) : uint8_t{0};
  }
}

/// Random, and the same for the same seed and item whatever comes before it.
std::vector<uint8_t> random_bytes(const Value& value, uint64_t item, unsigned bits) {
  std::vector<uint8_t> bytes(bits / 8);
  std::seed_seq seeds{static_cast<uint32_t>(*value.seed), static_cast<uint32_t>(*value.seed >> 32),
                      static_cast<uint32_t>(item)};
  std::mt19937_64 random(seeds);
  const bool floating = value.type != nullptr && value.type->kind == ElementType::Kind::floating;
  const unsigned size = value.type != nullptr ? value.type->size : 4u;
  for (size_t at = 0; at < bytes.size(); at += size) {
    uint64_t word = random();
    if (floating) word = float_bits(static_cast<double>(word >> 11) * 0x1p-53, size * 8, value.type == &brain_float);
    put(bytes, at, word, size);
  }
  return bytes;
}

}  // namespace

bool is_assignment(std::string_view word) {
  const size_t equals = word.find('=');
  return equals != std::string_view::npos && word.substr(0, equals).find(' ') == std::string_view::npos;
}

Result<Assignment> parse_assignment(std::string_view word) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  std::string_view text = word.substr(equals + 1);
  const auto destination = parse_destination(name);
  if (!destination) {
    return fail(ErrorKind::invalid_argument,
                "{}: '{}' cannot be set; these can: v3, v[2:3], v3[0-7] (lanes), a3, s3, s[2:3], vcc, "
                "exec, scc, m0, mode, ttmp3, flat_scratch, lds[ADDRESS], mem[ADDRESS]",
                word, name);
  }
  Assignment assignment{
      .text = std::string(word), .destination = *destination, .value = {.text = std::string(text), .items = {}}};
  Value& value = assignment.value;
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    value.type = type_named(text.substr(0, colon));
    if (value.type != nullptr) text.remove_prefix(colon + 1);
  }
  for (const std::string_view prefix : {"s:", "seed:"}) {
    if (!text.starts_with(prefix)) continue;
    value.seed = number_of<uint64_t>(text.substr(prefix.size()));
    if (!value.seed) return fail(ErrorKind::invalid_argument, "{}: the seed must be a number", word);
    return assignment;
  }
  for (const std::string_view item : split(text, ',')) {
    std::vector<std::string> elements;
    for (const std::string_view element : split(item, ':')) elements.emplace_back(element);
    value.items.push_back(std::move(elements));
  }
  return assignment;
}

unsigned natural_bits(const Value& value, uint64_t item) {
  if (value.type == nullptr) return 32;
  if (value.seed) return value.type->size * 8u;
  return value.type->size * 8u * static_cast<unsigned>(value.items[item % value.items.size()].size());
}

Result<std::vector<uint8_t>> bytes_of_item(const Value& value, uint64_t item, unsigned bits, uint64_t index) {
  if (value.seed) return random_bytes(value, item, bits);
  const std::vector<std::string>& elements = value.items[item % value.items.size()];
  const auto count = static_cast<unsigned>(elements.size());
  unsigned element_bits = value.type != nullptr ? value.type->size * 8u : bits / count;
  if (element_bits * count > bits || element_bits == 0) {
    return fail(ErrorKind::invalid_argument, "{}: {} x {} bits do not fit into {}", value.text, count, element_bits,
                bits);
  }
  std::vector<uint8_t> bytes(bits / 8);
  for (unsigned i = 0; i < count; ++i) {
    const bool floating = value.type != nullptr && value.type->kind == ElementType::Kind::floating;
    Expression expression(elements[i], index, floating);
    const auto number = expression.evaluate();
    if (!number) {
      return fail(ErrorKind::invalid_argument, "{}: '{}' is not a value{}{}", value.text, elements[i],
                  expression.complaint().empty() ? "" : ": ", expression.complaint());
    }
    const size_t at = size_t{i} * element_bits / 8;
    if (floating || number->floating) {
      if (value.type != nullptr && !floating) {
        return fail(ErrorKind::invalid_argument, "{}: '{}' is not an integer", value.text, elements[i]);
      }
      if (element_bits != 16 && element_bits != 32 && element_bits != 64) {
        return fail(ErrorKind::invalid_argument,
                    "{}: there are no floating-point numbers of {} bits; say which type, as in f32:1.5", value.text,
                    element_bits);
      }
      put(bytes, at, float_bits(number->as_real(), element_bits, value.type == &brain_float), element_bits / 8);
      continue;
    }
    if (expression.is_plain() && !fits(number->integer, element_bits)) {
      return fail(ErrorKind::invalid_argument, "{}: {} does not fit into {} bits", value.text, elements[i],
                  element_bits);
    }
    // A single integer is extended by its sign to all of a wider destination.
    put(bytes, at, number->integer, element_bits / 8);
    const bool negative = static_cast<int64_t>(number->integer) < 0;
    const size_t extend_from = at + std::min<size_t>(element_bits / 8, sizeof number->integer);
    const bool is_signed = value.type == nullptr || value.type->kind == ElementType::Kind::signed_integer;
    if (negative && count == 1 && is_signed)
      std::fill(bytes.begin() + static_cast<ptrdiff_t>(extend_from), bytes.end(), uint8_t{0xFF});
  }
  return bytes;
}

std::string lane_ranges(const std::vector<uint8_t>& lanes) {
  std::string text;
  for (size_t i = 0; i < lanes.size();) {
    size_t last = i;
    while (last + 1 < lanes.size() && lanes[last + 1] == lanes[last] + 1) ++last;
    text += text.empty() ? "" : ",";
    text += last == i ? fmt::format("{}", lanes[i]) : fmt::format("{}-{}", lanes[i], lanes[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace Atoll::library
