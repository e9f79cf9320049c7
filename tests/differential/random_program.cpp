#include "differential/random_program.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace Atoll::test {

namespace {

struct Type {
  const char* name;
  unsigned bits;
  bool floating = false;
};
constexpr Type types[] = {{"u8", 8},   {"i8", 8},   {"u16", 16},       {"i16", 16},       {"u32", 32},      {"i32", 32},
                          {"u64", 64}, {"i64", 64}, {"f16", 16, true}, {"f32", 32, true}, {"f64", 64, true}};
constexpr const Type& u32 = types[4];
constexpr const Type& i8 = types[1];
constexpr const Type& u64 = types[6];
constexpr const Type& f16 = types[8];
constexpr const Type& f32 = types[9];
constexpr const Type& f64 = types[10];
constexpr std::span<const Type> integers(types, 8);

struct Variable {
  std::string name;
  const Type* type;
  bool writable = true;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15 + 1) {}

  std::string program() {
    std::string text = "#include \"prelude.c\"\n";
    // The second helper calls the first; the functions call both. Nothing calls itself.
    for (helpers_ = 0; helpers_ < 2; ++helpers_) {
      variables_ = {{"a", &u64}, {"b", &u32}};
      text += fmt::format("__attribute__((noinline)) static u64 helper{}(u64 a, u32 b) {{\n", helpers_);
      text += "  u64 array[8] = {a, b, 1, 2, 3, 4, 5, 6};\n" + body(1, 3) + "}\n";
    }
    std::string calls;
    for (unsigned i = 0; i < random_functions; ++i) {
      variables_.clear();
      for (const Type& type : types) variables_.push_back({fmt::format("{}_", type.name), &type});
      text += fmt::format("static u64 function{}(u64 a, u64 b, u64 c) {{\n", i);
      text += "  u8 u8_ = (u8)b; i8 i8_ = (i8)(c >> 32); u16 u16_ = (u16)(a >> 3); i16 i16_ = (i16)a;\n";
      text += "  u32 u32_ = (u32)c; i32 i32_ = (i32)(a >> 7); u64 u64_ = a; i64 i64_ = (i64)(b * 3);\n";
      text += "  f16 f16_ = (f16)i8_; f32 f32_ = (f32)(i32)u32_ * 0.37f; f64 f64_ = (f64)(i64)b * 1e-3;\n";
      text += "  u64 array[8] = {a, b, c, 1, 2, 3, 4, 5};\n" + body(3, 10) + "}\n";
      calls += fmt::format("  out[{}] = function{}(a, b, c);\n", i, i);
    }
    text += "static void evaluate(u64 a, u64 b, u64 c, GLOBAL u64* out) {\n" + calls + "}\n";
    return text + fmt::format("#define FUNCTIONS {}\n#include \"entry.c\"\n", random_functions);
  }

 private:
  // splitmix64, written out so that programs are the same with every standard library.
  uint64_t random() {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  unsigned below(size_t count) { return static_cast<unsigned>(random() % count); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename T, size_t count>
  const T& any(const T (&list)[count]) {
    return list[below(count)];
  }
  const Type& any_type() {
    if (chance(60)) return types[4 + below(4)];  // 32 and 64 bits
    return any(types);
  }
  const Type& any_integer() { return integers[below(integers.size())]; }

  std::string constant(const Type& type) {
    if (type.floating) {
      static constexpr const char* numbers[] = {"0.0",     "1.0",  "-1.0",   "0.5",  "2.0",
                                                "3.14159", "1e-3", "1000.0", "-7.25"};
      return fmt::format("(({}){})", type.name, any(numbers));
    }
    static constexpr uint64_t numbers[] = {0,   1,   2,   3,      7,      31,     32,         63,         127,
                                           128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    const uint64_t number = chance(75) ? any(numbers) : random() >> below(64);
    return fmt::format("(({}){:#x}ull)", type.name, number & (~uint64_t{0} >> (64 - type.bits)));
  }

  std::string variable(const Type& type) {
    std::vector<const Variable*> fitting;
    for (const Variable& variable : variables_) {
      if (variable.type == &type) fitting.push_back(&variable);
    }
    return fitting.empty() ? constant(type) : fitting[below(fitting.size())]->name;
  }

  std::string leaf(const Type& type) { return chance(75) ? variable(type) : constant(type); }

  std::string condition(unsigned depth) {
    static constexpr const char* operators[] = {"<", "<=", ">", ">=", "==", "!="};
    const Type& type = any_type();
    std::string text = fmt::format("({} {} {})", expression(type, depth), any(operators), expression(type, depth));
    if (depth > 0 && chance(20)) text = fmt::format("({} {} {})", text, chance(50) ? "&&" : "||", condition(depth - 1));
    return text;
  }

  /// The result is of the type, whatever C promotes it to on the way.
  std::string expression(const Type& type, unsigned depth) {
    if (depth == 0) return leaf(type);
    if (chance(10)) {
      return fmt::format("({} ? {} : {})", condition(depth - 1), expression(type, depth - 1),
                         expression(type, depth - 1));
    }
    return fmt::format("({})({})", type.name, type.floating ? floating(type, depth - 1) : integer(type, depth - 1));
  }

  std::string floating(const Type& type, unsigned depth) {
    const auto operand = [&] { return expression(type, depth); };
    const bool half = &type == &f16;
    switch (below(half ? 5 : 9)) {
      case 0:
        return operand() + " + " + operand();
      case 1:
        return operand() + " - " + operand();
      case 2:
        return operand() + " * " + operand();
      case 3:
        return "-" + operand();
      case 4:  // a half only of what it holds exactly
        return expression(half ? i8 : any_integer(), depth);
      case 5:
        return operand() + " / " + operand();
      case 6:
        return fmt::format("fma_{}({}, {}, {})", type.name, operand(), operand(), operand());
      case 7:
        return fmt::format("sqrt_{}({})", type.name, operand());
      default:
        return expression(&type == &f32 ? f64 : f32, depth);
    }
  }

  std::string integer(const Type& type, unsigned depth) {
    const auto operand = [&] { return expression(type, depth); };
    static constexpr const char* operators[] = {"+", "-", "*", "&", "|", "^"};
    switch (below(14)) {
      default:
        return fmt::format("{} {} {}", operand(), any(operators), operand());
      case 4:
      case 5:
        return fmt::format("{} {} ({} & {})", operand(), chance(50) ? "<<" : ">>", expression(u32, depth),
                           type.bits - 1);
      case 6: {  // by something positive: no division by zero, none that overflows
        const uint64_t positive = ~uint64_t{0} >> (65 - type.bits);
        return fmt::format("{} {} (({})({} & {:#x}) | 1)", operand(), chance(50) ? "/" : "%", type.name, operand(),
                           positive);
      }
      case 7:
        return (chance(50) ? "~" : "-") + operand();
      case 8:
      case 9:
        return expression(any_integer(), depth);
      case 10:
        return fmt::format("to_{}_{}({})", type.name, chance(50) ? "f32" : "f64",
                           expression(chance(50) ? f32 : f64, depth));
      case 11: {
        // Saturation of fewer than 32 bits means different things to different versions of clang.
        static constexpr const char* functions[] = {"min", "max", "add_sat", "sub_sat"};
        return fmt::format("__builtin_elementwise_{}(({}){}, ({}){})", functions[below(type.bits < 32 ? 2 : 4)],
                           type.name, operand(), type.name, operand());
      }
      case 12: {
        static constexpr const char* functions[] = {"population", "leading", "trailing", "reversed", "swapped"};
        return fmt::format("{}{}({})", any(functions), type.bits == 64 ? 64 : 32,
                           expression(type.bits == 64 ? u64 : u32, depth));
      }
      case 13:
        return special(type, depth);
    }
  }

  /// Idioms that the compiler has instructions for.
  std::string special(const Type& type, unsigned depth) {
    if (type.bits == 64) {
      return fmt::format("high_{}({}, {})", type.name, expression(type, depth), expression(type, depth));
    }
    static constexpr const char* functions[] = {
        "pk_add",   "pk_sub",  "pk_mul",  "pk_mad",  "pk_shl",   "pk_shr",  "pk_sar",  "pk_umin",    "pk_umax",
        "pk_imin",  "pk_imax", "pk_uadd", "pk_isub", "pk_swap",  "pk_mix",  "pk_f32",  "dot_u8",     "dot_i8",
        "dot_u16",  "dot_i16", "sad_u8",  "sad_u32", "bytes",    "med_u32", "med_i32", "bit_select", "align",
        "shift_or", "extract", "rotate",  "mad_24",  "high_u32", "high_i32"};
    return fmt::format("{}({}, {}, {})", any(functions), expression(u32, depth), expression(u32, depth),
                       expression(u32, depth));
  }

  std::string block(unsigned depth, unsigned indent) {
    const size_t visible = variables_.size();
    std::string text;
    for (unsigned i = 1 + below(3); i > 0; --i) text += statement(depth, indent);
    variables_.resize(visible);
    return text;
  }

  const Variable* any_writable() {
    const Variable& variable = variables_[below(variables_.size())];
    return variable.writable ? &variable : nullptr;
  }

  std::string statement(unsigned depth, unsigned indent) {
    const std::string margin(indent * 2, ' ');
    const unsigned kind = below(100);
    const Variable* target = any_writable();
    if (kind < 62 && kind >= 40 && target != nullptr) {
      return fmt::format("{}{} = {};\n", margin, target->name, expression(*target->type, 3));
    }
    if (kind < 80 && kind >= 62 && depth > 0) {
      std::string text =
          fmt::format("{}if ({}) {{\n{}{}}}", margin, condition(2), block(depth - 1, indent + 1), margin);
      if (chance(50)) text += fmt::format(" else {{\n{}{}}}", block(depth - 1, indent + 1), margin);
      return text + "\n";
    }
    if (kind < 92 && kind >= 80 && depth > 0) {
      const std::string counter = fmt::format("k{}", ++names_);
      const std::string bound = fmt::format("({} & {})", expression(u32, 1), (4u << below(3)) - 1);
      variables_.push_back({counter, &u32, false});
      std::string text = fmt::format("{}for (u32 {} = 0; {} < {}; ++{}) {{\n{}", margin, counter, counter, bound,
                                     counter, block(depth - 1, indent + 1));
      if (chance(30)) text += fmt::format("{}  if ({}) {};\n", margin, condition(1), chance(50) ? "break" : "continue");
      variables_.pop_back();
      return text + margin + "}\n";
    }
    if (kind >= 92 && kind < 95) {
      return fmt::format("{}array[{} & 7] = {};\n", margin, expression(u32, 1), expression(u64, 2));
    }
    if (kind >= 95 && target != nullptr && !target->type->floating) {
      if (helpers_ == 0 || chance(50)) {
        return fmt::format("{}{} ^= ({})array[{} & 7];\n", margin, target->name, target->type->name,
                           expression(u32, 1));
      }
      return fmt::format("{}{} = ({})helper{}({}, {});\n", margin, target->name, target->type->name, below(helpers_),
                         expression(u64, 1), expression(u32, 1));
    }
    const Type& type = any_type();
    const std::string name = fmt::format("v{}", ++names_);
    std::string text = fmt::format("{}{} {} = {};\n", margin, type.name, name, expression(type, 3));
    variables_.push_back({name, &type});
    return text;
  }

  /// `statements` statements, and the result: all that is in scope in the end, mixed.
  std::string body(unsigned depth, unsigned statements) {
    std::string text;
    for (unsigned i = 0; i < statements; ++i) text += statement(depth, 1);
    text += "  u64 mixed = 0;\n";
    for (const Variable& variable : variables_) {
      text += fmt::format("  mixed = mix(mixed, bits_{}({}));\n", variable.type->name, variable.name);
    }
    return text + "  for (int i = 0; i < 8; ++i) mixed = mix(mixed, array[i]);\n  return mixed;\n";
  }

  uint64_t state_;
  unsigned names_ = 0;
  unsigned helpers_ = 0;  ///< how many may be called
  std::vector<Variable> variables_;
};

}  // namespace

std::string random_program(uint64_t seed) { return Generator(seed).program(); }

}  // namespace Atoll::test
