// Tests of the semantics room: the vendor's pseudo-code (pseudocode.h).
#include "semantics/pseudocode.h"

#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace Atoll::semantics::test::pseudocode {

// --- Text to trees --------------------------------------------------------------------------------------------------

enum class Form : uint8_t {
  block,
  condition,  ///< if: pairs of a condition and a block, and a last block
  loop,       ///< for: name, first, last, block
  declare,
  leave,  ///< break
  give,   ///< return
  assign,
  evaluate,
  literal,
  name,
  member,  ///< x.f32
  range,   ///< x[7 : 0]
  part,    ///< x[4 +: 8]
  element,
  call,
  cast,  ///< 64'U(x)
  lambda,
  unary,
  binary,
  choose,  ///< c ? a : b
  join     ///< { a, b }
};

struct Node {
  Form form;
  std::string text{};
  std::vector<Tree> children{};
  Value value{};
  std::vector<std::string> names{};  ///< parameters of a lambda
};

namespace {

struct Token {
  enum class Kind : uint8_t { end, name, number, sign } kind = Kind::end;
  std::string text{};
};

std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> tokens;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      ++i;
    } else if (std::isdigit(static_cast<unsigned char>(text[i])) != 0) {
      // 12, 0xffLL, 1.0F, 16'0.5, 8'255U, 64'U (a cast)
      size_t end = i;
      while (end < text.size() && (is_word(text[end]) || text[end] == '\'' ||
                                   (text[end] == '.' && end + 1 < text.size() &&
                                    std::isdigit(static_cast<unsigned char>(text[end + 1])) != 0))) {
        ++end;
      }
      tokens.push_back({Token::Kind::number, text.substr(i, end - i)});
      i = end;
    } else if (is_word(text[i])) {
      size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      tokens.push_back({Token::Kind::name, text.substr(i, end - i)});
      i = end;
    } else {
      static constexpr std::string_view signs[] = {"<<", ">>", "<=", ">=", "==", "!=", "<>",
                                                   "&&", "||", "**", "+=", "-=", "+:"};
      std::string sign(1, text[i]);
      for (const std::string_view two : signs) {
        if (text.compare(i, 2, two) == 0) sign = two;
      }
      i += sign.size();
      tokens.push_back({Token::Kind::sign, sign});
    }
  }
  tokens.emplace_back();
  return tokens;
}

Kind kind_of(std::string_view letters) {
  if (letters == "U" || letters == "u") return Kind::unsigned_integer;
  if (letters == "I" || letters == "i") return Kind::signed_integer;
  if (letters == "F" || letters == "f") return Kind::floating;
  if (letters == "B" || letters == "b") return Kind::bits;
  if (letters == "BF" || letters == "bf") return Kind::bf16;
  throw Unsupported("type " + std::string(letters));
}

struct Type {
  Kind kind;
  unsigned width;
};

/// "f32", "u1", "fp8"; nothing for what is no type.
std::optional<Type> type_of_member(const std::string& text) {
  if (text == "fp8") return Type{Kind::fp8, 8};
  if (text == "bf8") return Type{Kind::bf8, 8};
  if (text == "bf16") return Type{Kind::bf16, 16};
  if (text.size() < 2 || std::string_view("uifb").find(text[0]) == std::string_view::npos) return {};
  for (size_t i = 1; i < text.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) return {};
  }
  return Type{kind_of(text.substr(0, 1)), static_cast<unsigned>(std::stoul(text.substr(1)))};
}

Word low_bits(unsigned width) { return width >= 128 ? ~Word{0} : (Word{1} << width) - 1; }

/// Of binary formats: exponent bits, fraction bits.
struct Format {
  int exponent_bits, fraction_bits;
};
constexpr Format half{5, 10};

/// A number in a small format, rounded to nearest even or toward zero; of a NaN the default one. What is too large
/// becomes infinity, in fp8 NaN.
uint16_t rounded_to(Format format, double number, bool toward_zero = false) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1, top = (1 << format.exponent_bits) - 1;
  const bool is_fp8 = format.exponent_bits == 4;
  const auto infinity = static_cast<uint16_t>(is_fp8 ? 0x7F : top << format.fraction_bits);
  const auto largest = static_cast<uint16_t>(infinity - 1);
  const auto sign =
      static_cast<uint16_t>((std::signbit(number) ? 1 : 0) << (format.exponent_bits + format.fraction_bits));
  const double size = std::fabs(number);
  if (std::isnan(number)) {
    return static_cast<uint16_t>(sign | (is_fp8 ? 0x7F : infinity | 1 << (format.fraction_bits - 1)));
  }
  if (std::isinf(size)) return sign | infinity;
  if (size == 0) return sign;
  int exponent = 0;
  std::frexp(size, &exponent);
  exponent = std::max(exponent, 2 - bias);  // that of the smallest normal number and of denormals
  const int last_place = exponent - 1 - format.fraction_bits;
  const double steps = std::ldexp(size, -last_place);
  const double whole = toward_zero ? std::trunc(steps) : std::nearbyint(steps);
  // Steps beyond the largest fraction carry into the exponent.
  const double code = whole + static_cast<double>((exponent + bias - 2)) * (1 << format.fraction_bits);
  if (code > largest) return sign | (toward_zero ? largest : infinity);
  return static_cast<uint16_t>(sign | static_cast<uint16_t>(code));
}

Value make(Kind kind, unsigned width, Word bits, bool any_nan = false) {
  return {kind, width, bits & low_bits(width), any_nan};
}
Value integer(int64_t number) { return make(Kind::signed_integer, 32, static_cast<Word>(number)); }
Value boolean(bool value) { return make(Kind::unsigned_integer, 1, value ? 1 : 0); }
Value double_value(double number) { return make(Kind::floating, 64, std::bit_cast<uint64_t>(number)); }

Format format_of(const Value& value) {
  switch (value.kind) {
    case Kind::bf16:
      return {8, 7};
    case Kind::fp8:
      return {4, 3};
    case Kind::bf8:
      return {5, 2};
    default:
      return value.width == 16 ? Format{5, 10} : value.width == 32 ? Format{8, 23} : Format{11, 52};
  }
}
bool is_float(const Value& value) {
  return value.kind == Kind::floating || value.kind == Kind::bf16 || value.kind == Kind::fp8 || value.kind == Kind::bf8;
}
uint64_t fraction_of(const Value& value) {
  return static_cast<uint64_t>(value.bits) & ((uint64_t{1} << format_of(value).fraction_bits) - 1);
}
unsigned exponent_of(const Value& value) {
  const Format format = format_of(value);
  return static_cast<unsigned>(value.bits >> format.fraction_bits) & ((1u << format.exponent_bits) - 1);
}
bool sign_of(const Value& value) { return (value.bits >> (value.width - 1) & 1) != 0; }
bool is_nan(const Value& value) {
  const Format format = format_of(value);
  const unsigned top = (1u << format.exponent_bits) - 1;
  if (value.kind == Kind::fp8) return (value.bits & 0x7F) == 0x7F;
  return exponent_of(value) == top && fraction_of(value) != 0;
}
bool is_signalling(const Value& value) {
  return is_nan(value) && (fraction_of(value) >> (format_of(value).fraction_bits - 1)) == 0;
}

/// The number; of a NaN, some NaN.
double number_of(const Value& value) {
  if (!is_float(value)) {
    if (value.kind == Kind::signed_integer) {
      const unsigned unused = 128 - value.width;
      return static_cast<double>(static_cast<__int128>(value.bits << unused) >> unused);
    }
    return static_cast<double>(value.bits);
  }
  if (is_nan(value)) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign_of(value) ? -1.0 : 1.0);
  const Format format = format_of(value);
  const unsigned exponent = exponent_of(value), top = (1u << format.exponent_bits) - 1;
  const int bias = static_cast<int>(top >> 1);
  double size = 0;
  if (exponent == top && value.kind != Kind::fp8) {
    size = std::numeric_limits<double>::infinity();
  } else {
    const double leading = exponent == 0 ? 0 : 1;
    size = std::ldexp(leading + std::ldexp(static_cast<double>(fraction_of(value)), -format.fraction_bits),
                      (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias);
  }
  return sign_of(value) ? -size : size;
}

/// To another binary format: rounded to nearest even, or toward zero to halves; the payload of a NaN stays.
Value convert_float(const Value& value, Type to, bool toward_zero = false) {
  Value result = make(to.kind, to.width, 0, value.any_nan);
  const Format format = format_of(result);
  if (is_nan(value) && to.width > 8) {
    const int shift = format.fraction_bits - format_of(value).fraction_bits;
    const uint64_t fraction = shift >= 0 ? fraction_of(value) << shift : fraction_of(value) >> -shift;
    const Word exponent = ((Word{1} << format.exponent_bits) - 1) << format.fraction_bits;
    result.bits = (sign_of(value) ? Word{1} << (to.width - 1) : 0) | exponent | fraction;
    // A signalling NaN that loses its payload is no infinity.
    if (fraction == 0) result.bits |= Word{1} << (format.fraction_bits - 1);
    return result;
  }
  const double number = number_of(value);
  if (to.width == 64) return {result.kind, 64, std::bit_cast<uint64_t>(number), value.any_nan};
  if (to.width == 32) return {result.kind, 32, std::bit_cast<uint32_t>(static_cast<float>(number)), value.any_nan};
  return {result.kind, to.width, rounded_to(format, number, toward_zero), value.any_nan};
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Tree program() {
    Tree block = statements({""});
    if (peek().kind != Token::Kind::end) throw Unsupported("text after the end: " + peek().text);
    return block;
  }

 private:
  static Tree node(Form form, std::string text = {}, std::vector<Tree> children = {}) {
    return std::make_shared<Node>(Node{form, std::move(text), std::move(children)});
  }
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }
  bool is(std::string_view text) const { return peek().kind != Token::Kind::number && peek().text == text; }
  Token take() { return tokens_[next_ < tokens_.size() - 1 ? next_++ : next_]; }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    take();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) throw Unsupported(std::string(text) + " expected before " + peek().text);
  }

  Tree statements(const std::vector<std::string_view>& ends) {
    std::vector<Tree> all;
    while (true) {
      while (accept(";")) {
      }
      if (peek().kind == Token::Kind::end) break;
      bool ended = false;
      for (const std::string_view end : ends) ended |= is(end);
      if (ended) break;
      all.push_back(statement());
    }
    return node(Form::block, {}, std::move(all));
  }

  Tree statement() {
    if (accept("if")) {
      std::vector<Tree> parts;
      do {
        parts.push_back(expression());
        expect("then");
        parts.push_back(statements({"elsif", "else", "endif"}));
      } while (accept("elsif"));
      if (accept("else")) parts.push_back(statements({"endif"}));
      expect("endif");
      return node(Form::condition, {}, std::move(parts));
    }
    if (accept("for")) {
      const std::string name = take().text;
      expect("in");
      Tree first = binary(0);
      expect(":");
      Tree last = expression();
      expect("do");
      Tree body = statements({"endfor"});
      expect("endfor");
      return node(Form::loop, name, {first, last, body});
    }
    if (accept("declare")) {
      const std::string name = take().text;
      expect(":");
      const std::string type = take().text;
      const size_t quote = type.find('\'');
      auto made = std::make_shared<Node>(Node{Form::declare, name});
      made->value = make(kind_of(type.substr(quote + 1)), static_cast<unsigned>(std::stoul(type)), 0);
      if (accept("[")) {
        made->children.push_back(expression());
        expect("]");
      }
      return made;
    }
    if (accept("break")) return node(Form::leave);
    if (accept("return")) return node(Form::give, {}, {expression()});
    Tree left = expression();
    for (const std::string_view sign : {"=", "+=", "-="}) {
      if (!accept(sign)) continue;
      if (sign == "=" && accept("lambda")) return node(Form::assign, "=", {left, lambda()});
      Tree right = expression();
      // a = b = c
      if (accept("="))
        return node(Form::block, {},
                    {node(Form::assign, "=", {right, expression_again()}), node(Form::assign, "=", {left, right})});
      return node(Form::assign, std::string(sign), {left, right});
    }
    return node(Form::evaluate, {}, {left});
  }
  Tree expression_again() { return expression(); }

  Tree lambda() {
    auto made = std::make_shared<Node>(Node{Form::lambda});
    expect("(");
    while (!accept(")")) {
      made->names.push_back(take().text);
      accept(",");
    }
    expect("(");
    if (is("if") || is("declare")) {
      made->children.push_back(statements({")"}));
    } else {
      made->children.push_back(node(Form::give, {}, {expression()}));
    }
    expect(")");
    return made;
  }

  Tree expression() {
    Tree condition = binary(0);
    if (!accept("?")) return condition;
    Tree yes = expression();
    expect(":");
    return node(Form::choose, {}, {condition, yes, expression()});
  }

  Tree binary(unsigned level) {
    static const std::vector<std::vector<std::string_view>> levels = {
        {"||"},       {"&&"},     {"|"},           {"^"}, {"&"}, {"==", "!=", "<>"}, {"<", ">", "<=", ">="},
        {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}, {"**"}};
    if (level == levels.size()) return unary();
    Tree left = binary(level + 1);
    while (true) {
      bool found = false;
      for (const std::string_view sign : levels[level]) {
        if (peek().kind == Token::Kind::sign && is(sign)) {
          take();
          left = node(Form::binary, std::string(sign), {left, binary(level + 1)});
          found = true;
          break;
        }
      }
      if (!found) return left;
    }
  }

  Tree unary() {
    for (const std::string_view sign : {"-", "+", "~", "!"}) {
      if (accept(sign)) return node(Form::unary, std::string(sign), {unary()});
    }
    return suffixed(primary());
  }

  Tree suffixed(Tree base) {
    while (true) {
      if (accept(".")) {
        base = node(Form::member, take().text, {base});
      } else if (accept("[")) {
        Tree first = expression();
        if (accept(":")) {
          base = node(Form::range, {}, {base, first, expression()});
        } else if (accept("+:")) {
          base = node(Form::part, {}, {base, first, expression()});
        } else {
          base = node(Form::element, {}, {base, first});
        }
        expect("]");
      } else {
        return base;
      }
    }
  }

  Tree primary() {
    if (accept("(")) {
      Tree inner = expression();
      expect(")");
      return inner;
    }
    if (accept("{")) {
      std::vector<Tree> parts;
      do {
        parts.push_back(expression());
      } while (accept(","));
      expect("}");
      return node(Form::join, {}, std::move(parts));
    }
    const Token token = take();
    if (token.kind == Token::Kind::number) return number(token.text);
    if (token.kind != Token::Kind::name) throw Unsupported("a value expected before " + token.text);
    if (!accept("(")) return node(Form::name, token.text);
    std::vector<Tree> arguments;
    while (!accept(")")) {
      arguments.push_back(expression());
      accept(",");
    }
    return node(Form::call, token.text, std::move(arguments));
  }

  Tree number(const std::string& text) {
    auto made = std::make_shared<Node>(Node{Form::literal, text});
    std::string digits = text;
    std::optional<unsigned> width;
    if (const size_t quote = text.find('\''); quote != std::string::npos) {
      width = static_cast<unsigned>(std::stoul(text.substr(0, quote)));
      digits = text.substr(quote + 1);
      if (std::isdigit(static_cast<unsigned char>(digits[0])) == 0) {  // 64'U(x)
        made->form = Form::cast;
        made->value = make(kind_of(digits), *width, 0);
        expect("(");
        made->children.push_back(expression());
        expect(")");
        return made;
      }
    }
    const bool hexadecimal = digits.starts_with("0x");
    const size_t suffix = digits.find_first_not_of(hexadecimal ? "0123456789abcdefABCDEFx" : "0123456789.");
    const std::string letters = suffix == std::string::npos ? "" : digits.substr(suffix);
    if (digits.find('.') != std::string::npos) {
      const unsigned bits = width.value_or(letters == "F" ? 32 : 64);
      made->value = convert_float(double_value(std::stod(digits)), {Kind::floating, bits});
      return made;
    }
    const bool is_unsigned = letters.starts_with('U');
    const bool wide = letters.ends_with("LL");
    made->value = make(is_unsigned ? Kind::unsigned_integer : Kind::signed_integer, width.value_or(wide ? 64 : 32),
                       std::stoull(digits, nullptr, 0));
    return made;
  }

  std::vector<Token> tokens_;
  size_t next_ = 0;
};

// --- Execution ------------------------------------------------------------------------------------------------------

__int128 signed_of(const Value& value) {
  const unsigned unused = 128 - value.width;
  return static_cast<__int128>(value.bits << unused) >> unused;
}
bool truth(const Value& value) { return value.bits != 0; }

/// The value as an integer of that type would have it.
Word extended(const Value& value) {
  return value.kind == Kind::signed_integer ? static_cast<Word>(signed_of(value)) : value.bits;
}

struct Variable {
  Value value{};
  bool declared = false;
  std::vector<Value> elements{};  ///< of an array
  Tree lambda{};
};

class Machine {
 public:
  explicit Machine(Lane& lane) : lane_(lane) {}

  void run(const Tree& program) {
    for (unsigned i = 0; i < 3; ++i) {
      variables_["S" + std::to_string(i)].value = make(Kind::bits, lane_.source_bits[i], lane_.source[i]);
    }
    variables_["D0"].value = make(Kind::bits, 128, lane_.destination);
    variables_["D1"].value = make(Kind::bits, 64, 0);
    variables_["SCC"].value = boolean(lane_.scc);
    variables_["VCC"].value = make(Kind::bits, 64, Word{lane_.carry} << lane_.lane_id);
    variables_["EXEC"].value = make(Kind::bits, 64, lane_.exec);
    variables_["laneId"].value = make(Kind::unsigned_integer, 32, lane_.lane_id);
    variables_["SIMM16"].value = make(Kind::bits, 16, lane_.immediate);
    variables_["SIMM32"].value = make(Kind::bits, 32, lane_.immediate);
    variables_["NEG"].value = make(Kind::bits, 3, lane_.negated);
    for (const char* name : {"OPSEL", "OPSEL_HI", "ROUND_MODE", "ROUND_NEAREST_EVEN"}) {
      variables_[name].value = make(Kind::unsigned_integer, 32, 0);
    }
    variables_["ROUND_TOWARD_ZERO"].value = make(Kind::unsigned_integer, 32, 3);
    for (unsigned i = 0; i < 3; ++i) {
      variables_["SRC" + std::to_string(i)].value = make(Kind::unsigned_integer, 32, i);
    }
    variables_["VDST"].value = make(Kind::unsigned_integer, 32, destination_register);
    variables_["INF"].value = double_value(std::numeric_limits<double>::infinity());
    variables_["NAN"].value = double_value(std::numeric_limits<double>::quiet_NaN());
    variables_["PI"].value = double_value(3.14159265358979323846);
    variables_["MAX_FLOAT_F32"].value =
        make(Kind::floating, 32, std::bit_cast<uint32_t>(std::numeric_limits<float>::max()));
    execute(program);
    lane_.destination = variables_["D0"].value.bits;
    lane_.destination_any_nan = any_nan_;
    lane_.carry = (variables_["VCC"].value.bits >> lane_.lane_id & 1) != 0;
    lane_.scc = truth(variables_["SCC"].value);
    lane_.exec = static_cast<uint64_t>(variables_["EXEC"].value.bits);
    lane_.second = (variables_["D1"].value.bits & 1) != 0;
  }

 private:
  static constexpr unsigned destination_register = 3;

  enum class Flow : uint8_t { on, leave, give };

  Flow execute(const Tree& tree) {
    switch (tree->form) {
      case Form::block:
        for (const Tree& child : tree->children) {
          if (const Flow flow = execute(child); flow != Flow::on) return flow;
        }
        return Flow::on;
      case Form::condition:
        for (size_t i = 0; i + 1 < tree->children.size(); i += 2) {
          if (truth(evaluate(tree->children[i]))) return execute(tree->children[i + 1]);
        }
        return tree->children.size() % 2 != 0 ? execute(tree->children.back()) : Flow::on;
      case Form::loop: {
        const auto first = static_cast<int64_t>(extended(evaluate(tree->children[0])));
        const auto last = static_cast<int64_t>(extended(evaluate(tree->children[1])));
        for (int64_t i = first; i <= last; ++i) {
          variables_[tree->text] = {.value = integer(i)};
          const Flow flow = execute(tree->children[2]);
          if (flow == Flow::leave) break;
          if (flow == Flow::give) return flow;
        }
        return Flow::on;
      }
      case Form::declare: {
        Variable& variable = variables_[tree->text];
        variable = {.value = tree->value, .declared = true};
        if (!tree->children.empty()) {
          variable.elements.assign(static_cast<size_t>(evaluate(tree->children[0]).bits), tree->value);
        }
        if (tree->text == "S") {  // the sources as an array
          for (unsigned i = 0; i < 3; ++i) variable.elements[i].bits = lane_.source[i];
        }
        return Flow::on;
      }
      case Form::leave:
        return Flow::leave;
      case Form::give:
        given_ = evaluate(tree->children[0]);
        return Flow::give;
      case Form::assign: {
        if (tree->children[1]->form == Form::lambda) {
          variables_[tree->children[0]->text].lambda = tree->children[1];
          return Flow::on;
        }
        Value value = evaluate(tree->children[1]);
        if (tree->text != "=") {
          const Value old = evaluate(tree->children[0]);
          value = converted(operate(tree->text.substr(0, 1), old, value), {old.kind, old.width});
        }
        assign(tree->children[0], value);
        return Flow::on;
      }
      default:
        evaluate(tree->children[0]);
        return Flow::on;
    }
  }

  // --- Assignment ---

  /// A place in a variable: bits `first` and up.
  struct Place {
    Variable* variable = nullptr;
    Value* value = nullptr;
    unsigned first = 0;
    std::optional<unsigned> width{};
    std::optional<Type> type{};
    bool ignored = false;
  };

  Place place_of(const Tree& tree) {
    switch (tree->form) {
      case Form::name: {
        Variable& variable = variables_[tree->text];
        return {.variable = &variable, .value = &variable.value};
      }
      case Form::member: {
        Place place = place_of(tree->children[0]);
        const auto type = type_of_member(tree->text);
        if (!type) place.ignored = true;  // a field of a status register
        place.type = type;
        if (type) place.width = type->width;
        return place;
      }
      case Form::range: {
        Place place = place_of(tree->children[0]);
        const auto high = static_cast<unsigned>(evaluate(tree->children[1]).bits);
        const auto low = static_cast<unsigned>(evaluate(tree->children[2]).bits);
        place.first += low;
        place.width = high - low + 1;
        return place;
      }
      case Form::element: {
        if (tree->children[0]->form == Form::element && tree->children[0]->children[0]->text == "VGPR") {
          if (evaluate(tree->children[1]).bits != destination_register) throw Unsupported("writes to a source");
          Variable& variable = variables_["D0"];
          return {.variable = &variable, .value = &variable.value};
        }
        Place place = place_of(tree->children[0]);
        const auto index = static_cast<unsigned>(evaluate(tree->children[1]).bits);
        if (place.variable != nullptr && !place.variable->elements.empty() && !place.width) {
          place.value = &place.variable->elements.at(index);
          place.variable = nullptr;
          return place;
        }
        place.first += index;
        place.width = 1;
        return place;
      }
      default:
        throw Unsupported("an assignment to what is no register");
    }
  }

  void assign(const Tree& tree, Value value) {
    if (tree->form == Form::join) {  // { D1.u1, D0.u64 } = ..., the first the highest
      unsigned shift = 0;
      for (size_t i = tree->children.size(); i-- > 0;) {
        const Place place = place_of(tree->children[i]);
        assign(tree->children[i], make(Kind::bits, place.width.value_or(32), value.bits >> shift));
        shift += place.width.value_or(32);
      }
      return;
    }
    const Place place = place_of(tree);
    if (place.ignored) return;
    const bool is_destination = place.value == &variables_["D0"].value;
    if (is_destination && value.any_nan) any_nan_ = true;
    place.value->any_nan |= value.any_nan;
    if (place.type && is_float(value) && place.type->kind == Kind::floating) value = convert_float(value, *place.type);
    if (!place.width) {
      if (is_destination) {  // as wide as the value
        place.value->bits = (place.value->bits & ~low_bits(value.width)) | value.bits;
        lane_.destination_mask |= low_bits(value.width);
      } else if (place.variable == nullptr || place.variable->declared) {
        *place.value = converted(value, {place.value->kind, place.value->width});
      } else {
        *place.value = value;
      }
      return;
    }
    const unsigned width = *place.width;
    const Word mask = low_bits(width) << place.first;
    const Word bits = extended(value);
    if (place.value->width < place.first + width) place.value->width = place.first + width;
    place.value->bits = (place.value->bits & ~mask) | (bits << place.first & mask);
    const bool is_whole = tree->form == Form::member && tree->children[0]->form == Form::name;
    if (is_whole && !is_destination && place.variable != nullptr && !place.variable->declared) {
      place.value->kind = place.type->kind;  // tmp.i32 = ...
      place.value->width = place.type->width;
    }
    if (is_destination) lane_.destination_mask |= mask;
  }

  // --- Expressions ---

  Value converted(const Value& value, Type type, bool cast = false) {
    const bool to_float = type.kind == Kind::floating || type.kind == Kind::bf16;
    if (to_float && is_float(value)) return convert_float(value, type);
    if (to_float) return make(type.kind, type.width, extended(value));  // a pattern
    if (is_float(value) && cast && type.kind != Kind::bits) throw Unsupported("a cast of a float to an integer");
    return make(type.kind, type.width, extended(value));
  }

  Value evaluate(const Tree& tree) {
    switch (tree->form) {
      case Form::literal:
        return tree->value;
      case Form::name: {
        const auto found = variables_.find(tree->text);
        if (found == variables_.end()) throw Unsupported("the name " + tree->text);
        return found->second.value;
      }
      case Form::member:
        return member(tree);
      case Form::range: {
        const Value base = evaluate(tree->children[0]);
        const auto high = static_cast<unsigned>(evaluate(tree->children[1]).bits);
        const auto low = static_cast<unsigned>(evaluate(tree->children[2]).bits);
        if (high < low) {  // backward
          Word reversed = 0;
          for (unsigned bit = high; bit <= low; ++bit) reversed = reversed << 1 | (base.bits >> bit & 1);
          return make(Kind::bits, low - high + 1, reversed);
        }
        return make(Kind::bits, high - low + 1, base.bits >> low, base.any_nan);
      }
      case Form::part: {
        const Value base = evaluate(tree->children[0]);
        return make(Kind::bits, static_cast<unsigned>(evaluate(tree->children[2]).bits),
                    base.bits >> static_cast<unsigned>(evaluate(tree->children[1]).bits));
      }
      case Form::element:
        return element(tree);
      case Form::cast:
        return converted(evaluate(tree->children[0]), {tree->value.kind, tree->value.width}, true);
      case Form::unary:
        return unary(tree->text, evaluate(tree->children[0]));
      case Form::binary: {
        const Value left = evaluate(tree->children[0]);
        if (tree->text == "&&") return boolean(truth(left) && truth(evaluate(tree->children[1])));
        if (tree->text == "||") return boolean(truth(left) || truth(evaluate(tree->children[1])));
        if (tree->text == "==" && is_signed_zero(*tree->children[1])) {
          return boolean(number_of(left) == 0 && sign_of(left) == (tree->children[1]->text == "-"));
        }
        return operate(tree->text, left, evaluate(tree->children[1]));
      }
      case Form::choose:
        return evaluate(tree->children[truth(evaluate(tree->children[0])) ? 1 : 2]);
      case Form::join: {
        Value joined = make(Kind::bits, 0, 0);
        for (const Tree& child : tree->children) {
          const Value part = evaluate(child);
          joined.bits = joined.bits << part.width | part.bits;
          joined.width += part.width;
          joined.any_nan |= part.any_nan;
        }
        return joined;
      }
      case Form::call:
        return call(tree);
      default:
        throw Unsupported("no value");
    }
  }

  /// +0.0 or -0.0, to which only a zero of that sign is equal.
  static bool is_signed_zero(const Node& tree) {
    return tree.form == Form::unary && tree.children[0]->form == Form::literal && is_float(tree.children[0]->value) &&
           tree.children[0]->value.bits == 0;
  }

  Value member(const Tree& tree) {
    if (tree->children[0]->form == Form::name && tree->children[0]->text == "WAVE_MODE") {
      if (tree->text == "IEEE") return boolean(lane_.ieee);
      throw Unsupported("MODE." + tree->text);
    }
    const Value base = evaluate(tree->children[0]);
    const auto type = type_of_member(tree->text);
    if (!type) throw Unsupported("the field " + tree->text);
    const bool constant = base.kind == Kind::floating && base.width == 64 && tree->children[0]->form != Form::element;
    if (constant && type->kind == Kind::floating && type->width != 64) return convert_float(base, *type);  // INF.f32
    if (type->kind == base.kind && type->width == base.width) return base;
    return make(type->kind, type->width, type->width > base.width ? extended(base) : base.bits, base.any_nan);
  }

  Value element(const Tree& tree) {
    const Tree& base_tree = tree->children[0];
    if (base_tree->form == Form::element && base_tree->children[0]->form == Form::name &&
        base_tree->children[0]->text == "VGPR") {
      const auto lane = static_cast<unsigned>(evaluate(base_tree->children[1]).bits);
      const auto number = static_cast<unsigned>(evaluate(tree->children[1]).bits);
      if (number == destination_register) return variables_["D0"].value;
      if (lane == lane_.lane_id) return make(Kind::bits, 32, lane_.source.at(number));
      if (!lane_.other_lane) throw Unsupported("other lanes");
      return make(Kind::bits, 32, lane_.other_lane(lane, number));
    }
    const auto index = static_cast<unsigned>(evaluate(tree->children[1]).bits);
    if (base_tree->form == Form::name) {
      const auto found = variables_.find(base_tree->text);
      if (found == variables_.end()) throw Unsupported("the name " + base_tree->text);
      if (!found->second.elements.empty()) return found->second.elements.at(index);
    }
    return make(Kind::bits, 1, evaluate(base_tree).bits >> index);
  }

  static Value unary(const std::string& sign, const Value& value) {
    if (sign == "+") return value;
    if (sign == "!") return boolean(!truth(value));
    if (sign == "~") return make(value.kind, value.width, ~value.bits);
    if (is_float(value)) {
      return make(value.kind, value.width, value.bits ^ Word{1} << (value.width - 1), value.any_nan);
    }
    return make(value.kind, value.width, 0 - value.bits);
  }

  static Value real(double number, unsigned width) {
    if (width == 64) return make(Kind::floating, 64, std::bit_cast<uint64_t>(number), std::isnan(number));
    if (width == 32) {
      return make(Kind::floating, 32, std::bit_cast<uint32_t>(static_cast<float>(number)), std::isnan(number));
    }
    return make(Kind::floating, 16, rounded_to(half, number), std::isnan(number));
  }

  static Value operate(const std::string& sign, const Value& a, const Value& b) {
    if (is_float(a) || is_float(b)) return operate_floats(sign, a, b);
    const bool is_shift = sign == "<<" || sign == ">>";
    if (is_shift) {
      const unsigned width = std::max(a.width, 32u);
      if (b.bits >= width) return make(a.kind, width, 0);
      const auto amount = static_cast<unsigned>(b.bits);
      if (sign == "<<") return make(a.kind, width, a.bits << amount);
      return make(a.kind, width,
                  a.kind == Kind::signed_integer ? static_cast<Word>(signed_of(a) >> amount) : a.bits >> amount);
    }
    const unsigned width = std::max({a.width, b.width, 32u});
    const bool is_signed = a.kind == Kind::signed_integer && b.kind == Kind::signed_integer;
    const Word x = extended(a) & low_bits(width), y = extended(b) & low_bits(width);
    const Kind kind = is_signed ? Kind::signed_integer : Kind::unsigned_integer;
    const Value left = make(kind, width, x), right = make(kind, width, y);
    const bool less = is_signed ? signed_of(left) < signed_of(right) : x < y;
    if (sign == "==") return boolean(x == y);
    if (sign == "!=" || sign == "<>") return boolean(x != y);
    if (sign == "<") return boolean(less);
    if (sign == ">=") return boolean(!less);
    if (sign == ">") return boolean(!less && x != y);
    if (sign == "<=") return boolean(less || x == y);
    // Logic keeps the width of its operands: parts of words are joined after it.
    const unsigned own = a.width == b.width ? a.width : width;
    if (sign == "&") return make(kind, own, x & y);
    if (sign == "|") return make(kind, own, x | y);
    if (sign == "^") return make(kind, own, x ^ y);
    if (sign == "+") return make(kind, width, x + y);
    if (sign == "-") return make(kind, width, x - y);
    if (sign == "*") return make(kind, width, x * y);
    if (sign == "**" && b.kind == Kind::signed_integer) throw Unsupported("powers of integers");
    throw Unsupported("the operator " + sign);
  }

  static Value operate_floats(const std::string& sign, const Value& a, const Value& b) {
    const double x = number_of(a), y = number_of(b);
    if (sign == "==") return boolean(x == y);
    if (sign == "!=") return boolean(x != y);
    if (sign == "<>") return boolean(x < y || x > y);
    if (sign == "<") return boolean(x < y);
    if (sign == ">") return boolean(x > y);
    if (sign == "<=") return boolean(x <= y);
    if (sign == ">=") return boolean(x >= y);
    if (sign == "**") {  // 2 to a power; in double precision, and no larger than its range
      if (x != 2) throw Unsupported("powers");
      return double_value(std::ldexp(1.0, static_cast<int>(std::min(std::max(y, -1000.0), 1000.0))));
    }
    const unsigned width = std::max(is_float(a) ? a.width : 0, is_float(b) ? b.width : 0);
    const auto compute = [&]<typename T>(T left, T right) -> double {
      if (sign == "+") return static_cast<double>(left + right);
      if (sign == "-") return static_cast<double>(left - right);
      if (sign == "*") return static_cast<double>(left * right);
      throw Unsupported("the operator " + sign);
    };
    // Sums and products of halves are exact in double precision.
    const double result = width == 32 ? compute(static_cast<float>(x), static_cast<float>(y)) : compute(x, y);
    return real(result, width);
  }

  static Value fused(const Value& a, const Value& b, const Value& c) {
    const double x = number_of(a), y = number_of(b), z = number_of(c);
    const unsigned width = std::max({a.width, b.width, c.width});
    if (width == 64) return real(std::fma(x, y, z), 64);
    if (width == 32) return real(std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)), 32);
    const double product = x * y;  // exact
    double sum = product + z;
    if (std::isfinite(sum)) {  // what is lost goes into the last bit, so that rounding again does no harm
      const double part = sum - product, lost = (product - (sum - part)) + (z - part);
      if (lost != 0 && (std::bit_cast<uint64_t>(sum) & 1) == 0) {
        sum = std::nextafter(sum, lost > 0 ? INFINITY : -INFINITY);
      }
    }
    return real(sum, 16);
  }

  Value to_integer(const Value& value, Type type) {
    const double number = number_of(value);
    if (std::isnan(number)) return make(type.kind, type.width, 0);
    const bool is_signed = type.kind == Kind::signed_integer;
    const double low = is_signed ? -std::ldexp(1.0, static_cast<int>(type.width) - 1) : 0;
    const double high = std::ldexp(1.0, static_cast<int>(type.width) - (is_signed ? 1 : 0)) - 1;
    const double whole = std::trunc(std::min(std::max(number, low), high));
    return make(type.kind, type.width, static_cast<Word>(static_cast<__int128>(whole)));
  }

  Value call(const Tree& tree) {
    const std::string& name = tree->text;
    if (const auto found = variables_.find(name); found != variables_.end() && found->second.lambda) {
      const Tree lambda = found->second.lambda;
      std::map<std::string, Variable> outer = variables_;
      for (size_t i = 0; i < tree->children.size(); ++i) {
        variables_[lambda->names.at(i)] = {.value = evaluate(tree->children[i])};
      }
      execute(lambda->children[0]);
      variables_ = std::move(outer);
      return given_;
    }
    std::vector<Value> a;
    for (const Tree& child : tree->children) a.push_back(evaluate(child));
    if (a.empty()) throw Unsupported(name);
    const unsigned width = a[0].width;
    if (name == "isNAN") return boolean(is_nan(a[0]));
    if (name == "isSignalNAN") return boolean(is_signalling(a[0]));
    if (name == "isQuietNAN") return boolean(is_nan(a[0]) && !is_signalling(a[0]));
    if (name == "cvtToQuietNAN") {
      return make(a[0].kind, width, a[0].bits | Word{1} << (format_of(a[0]).fraction_bits - 1), a[0].any_nan);
    }
    if (name == "abs") return make(a[0].kind, width, a[0].bits & ~(Word{1} << (width - 1)));
    if (name == "sign") return boolean(sign_of(a[0]));
    if (name == "exponent") return integer(exponent_of(a[0]));
    if (name == "fma") return fused(a.at(0), a.at(1), a.at(2));
    if (name == "floor") return rounded(a[0], std::floor(number_of(a[0])));
    if (name == "trunc") return rounded(a[0], std::trunc(number_of(a[0])));
    if (name == "fract") return real(number_of(a[0]) - std::floor(number_of(a[0])), width);
    if (name == "isEven") return boolean(std::fmod(number_of(a[0]), 2) == 0);
    if (name == "signext") return make(Kind::signed_integer, 64, static_cast<Word>(signed_of(a[0])));
    if (name == "signext_from_bit") {
      const auto from = static_cast<unsigned>(a.at(1).bits);
      if (from == 0) return make(a[0].kind, width, 0);
      if (from >= width) return a[0];
      return make(a[0].kind, width, static_cast<Word>(signed_of(make(Kind::signed_integer, from, a[0].bits))));
    }
    if (name == "s_nop" || name == "nop") return a[0];
    if (name == "f32_to_u8")
      return to_integer(rounded(a[0], std::nearbyint(number_of(a[0]))), {Kind::unsigned_integer, 8});
    if (name == "v_cvt_i16_f32") return to_integer(a[0], {Kind::signed_integer, 16});
    if (name == "v_cvt_u16_f32") return to_integer(a[0], {Kind::unsigned_integer, 16});
    if (name.ends_with("_to_snorm") || name.ends_with("_to_unorm")) {
      const bool is_signed = name.ends_with("_to_snorm");
      const double scaled = std::nearbyint(number_of(a[0]) * (is_signed ? 32767.0 : 65535.0));
      const Value whole = double_value(std::max(scaled, is_signed ? -32767.0 : 0.0));
      return to_integer(std::isnan(scaled) ? double_value(scaled) : whole,
                        {is_signed ? Kind::signed_integer : Kind::unsigned_integer, 16});
    }
    if (const size_t to = name.find("_to_"); to != std::string::npos) {
      const auto from_type = type_of_member(name.substr(0, to)), to_type = type_of_member(name.substr(to + 4));
      if (from_type && to_type) return between(a[0], *from_type, *to_type);
    }
    if (name.starts_with("v_")) return other_instruction(name, a);
    throw Unsupported("the function " + name);
  }

  /// A function that makes numbers of numbers: quiet NaNs stay, with their payload left open.
  static Value rounded(const Value& value, double number) {
    Value result = real(number, value.width);
    if (std::isnan(number)) result.any_nan = true;
    return result;
  }

  /// f32_to_i32 and the like.
  Value between(const Value& value, Type from, Type to) {
    const Value source = make(from.kind, from.width, extended(value), value.any_nan);
    const bool to_float = is_float(Value{.kind = to.kind});
    if (is_float(source) && to_float) {
      Value result = convert_float(source, to, variables_["ROUND_MODE"].value.bits == 3);
      if (is_nan(source)) result.any_nan = true;
      return result;
    }
    if (is_float(source)) return to_integer(source, to);
    if (to_float) {
      if (to.width == 64) return double_value(number_of(source));
      if (to.width == 16) return make(Kind::floating, 16, rounded_to(half, number_of(source)));
      return make(Kind::floating, 32, std::bit_cast<uint32_t>(static_cast<float>(number_of(source))));
    }
    if (to.width < from.width) return to_integer(double_value(number_of(source)), to);  // saturates
    return make(to.kind, to.width, extended(source));
  }

  Value other_instruction(const std::string& name, const std::vector<Value>& arguments) {
    const Tree tree = lane_.instruction ? lane_.instruction(name) : nullptr;
    if (tree == nullptr) throw Unsupported("the instruction " + name);
    Lane inner = lane_;
    inner.destination = 0;
    inner.destination_any_nan = false;
    bool any_nan = false;
    for (size_t i = 0; i < arguments.size(); ++i) {
      inner.source[i] = extended(arguments[i]);
      inner.source_bits[i] = std::max(arguments[i].width, 32u);
      any_nan |= arguments[i].any_nan;
    }
    Machine(inner).run(tree);
    const size_t suffix = name.rfind('_');
    const Type type = type_of_member(name.substr(suffix + 1)).value_or(Type{Kind::unsigned_integer, 32});
    const unsigned width = type.width == 8 ? 32 : type.width;
    return make(type.kind, width, inner.destination, inner.destination_any_nan || any_nan);
  }

  Lane& lane_;
  std::map<std::string, Variable> variables_;
  Value given_{};
  bool any_nan_ = false;
};

}  // namespace

Tree parse(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    const size_t comment = line.find("//");
    text += line.substr(0, comment) + "\n";
  }
  return Parser(tokens_of(text)).program();
}

void run(const Tree& program, Lane& lane) {
  lane.destination_mask = 0;
  Machine(lane).run(program);
}

}  // namespace Atoll::semantics::test::pseudocode
