// assembler: one instruction's text to an isa::Instruction.
//
// The text is read without regard to what it means: operands (instruction_operands.cpp), modifiers
// (instruction_modifiers.cpp), the named immediates of scalar instructions (instruction_immediates.cpp). Then the forms
// that the name can stand for (mnemonics.h) are tried in LLVM's order, and the first that has all that was read is
// taken (instruction_forms.cpp: which fields a form has; instruction_values.cpp: what goes into them). If none does,
// the complaint is about the operand at which the form that got furthest failed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "assembler/instruction/mnemonics.h"
#include "assembler/syntax/lexer.h"
#include "assembler/unit/assembly_unit.h"
#include "isa/immediate_names.h"
#include "isa/instruction.h"
#include "isa/opcode_map.h"
#include "isa/operand_class.h"

namespace Atoll::assembler {

class Parser;

/// An operand as it stands in the text.
struct OperandText {
  enum class Kind : uint8_t {
    registers,   ///< or another source that has a name: `kind` tells
    integer,     ///< `value`
    real,        ///< `value` is the double's bits
    expression,  ///< its value comes later
    word,        ///< a name that only some instructions have as an operand ("attr0.x", "p10"): `word`
    call,        ///< sendmsg(...): `value`
  };
  Kind is = Kind::registers;
  isa::OperandKind kind = isa::OperandKind::none;
  uint16_t reg = 0;
  uint8_t words = 0;
  bool half = false, upper_half = false;  ///< v0.l, v0.h
  bool list = false;                      ///< [v1, v5]: InstructionParser::addresses_ holds the registers
  bool lit = false;                       ///< lit(...): a literal even where it could be inline ...
  bool lit64 = false;                     ///< ... of 64 bits where the operand has them
  bool neg = false, abs = false, sext = false;
  uint64_t value = 0;
  std::string_view word;
  const Expression* expression = nullptr;
  Place place;

  bool is_constant() const { return is == Kind::integer || is == Kind::real || is == Kind::expression; }
  bool modified() const { return neg || abs || sext; }
  /// A name that may be a symbol of which nothing has been said yet, or nothing at all.
  bool is_unknown_name() const {
    return is == Kind::expression && expression->kind == Expression::Kind::symbol && !expression->symbol->is_defined();
  }
};

/// The modifiers that a text can have. A form has some of them; a text with another is not that form's.
enum class Modifier : uint8_t {
  clamp,
  omod,
  op_sel,
  op_sel_hi,
  neg_lo,
  neg_hi,
  neg,
  bitop3,
  high,
  dst_sel,
  dst_unused,
  src0_sel,
  src1_sel,
  dpp_control,
  row_mask,
  bank_mask,
  bound_ctrl,
  fi,
  dpp8,
  cbsz,
  abid,
  blgp,
  wait_exp,
  wait_vdst,
  wait_vm_vsrc,
  offset,
  offset0,
  offset1,
  gds,
  glc,
  slc,
  dlc,
  scc,
  temporal_hint,
  scope,
  nv,
  scale_offset,
  offen,
  idxen,
  addr64,
  lds,
  tfe,
  format,
  dmask,
  dim,
  unorm,
  da,
  r128,
  a16,
  lwe,
  d16,
  done,
  compr,
  vm,
  row_en,
  byte_sel,
  index_key,
  matrix_a_format,
  matrix_b_format,
  matrix_scale,
  matrix_scale_format,
  matrix_reuse,
  scale_sel,
};
using Modifiers = uint64_t;
constexpr Modifiers bit(Modifier modifier) { return Modifiers{1} << static_cast<unsigned>(modifier); }
template <typename... More>
constexpr Modifiers bits(More... modifiers) {
  return (bit(modifiers) | ... | Modifiers{0});
}

/// op_sel:[1,0,1]: a bit for each entry.
struct BitList {
  uint8_t bits = 0, count = 0;
  bool at(unsigned index) const { return (bits >> index & 1) != 0; }
};

/// The place of a word in a list of words, or nothing.
template <size_t count>
std::optional<unsigned> find_word(const std::array<std::string_view, count>& words, std::string_view word) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end() || word.empty()) return std::nullopt;
  return static_cast<unsigned>(found - words.begin());
}

/// Removes the prefix from the word if present.
inline std::string_view without(std::string_view prefix, std::string_view word) {
  return word.starts_with(prefix) ? word.substr(prefix.size()) : word;
}

/// What an instruction's text says.
struct ParsedInstruction {
  isa::Instruction instruction;
  std::optional<isa::Instruction> otherwise;  ///< what it is if that cannot be encoded
  const Expression* literal = nullptr;        ///< the value of its literal, if that comes later
  const Expression* branch = nullptr;         ///< where it branches to, if that is no number
};

class InstructionParser {
 public:
  InstructionParser(Parser& parser, Unit& unit, Source& source, const Mnemonics& mnemonics, const isa::OpcodeMap& map)
      : parser_(parser), unit_(unit), source_(source), mnemonics_(mnemonics), map_(map) {}

  /// Reads the operands after the mnemonic up to the statement's end. What is wrong has been reported.
  bool parse(std::string_view mnemonic, Place place);

  const ParsedInstruction& result() const { return result_; }
  /// One more than the highest VGPR and SGPR that the text names.
  unsigned vgprs() const { return vgprs_; }
  unsigned sgprs() const { return sgprs_; }

 private:
  static constexpr unsigned max_operands = 16;

  // --- Reading (instruction_operands.cpp)
  /// Reads operands up to that many, and modifiers.
  bool operands(unsigned most);
  bool operand();
  bool operand_value(OperandText& operand, bool in_bars);
  /// Nothing: the token is no register. Otherwise whether what stands there is right.
  std::optional<bool> register_operand(OperandText& operand);
  bool register_range(OperandText& operand, isa::OperandKind kind, uint16_t first, unsigned limit);
  bool register_list(OperandText& operand);
  bool finish_register(OperandText& operand, uint16_t file, unsigned index, unsigned words, unsigned limit);
  bool constant(OperandText& operand, bool in_bars);
  bool function_operand(OperandText& operand, std::string_view name);
  std::optional<int64_t> number();
  std::optional<int64_t> number_between(int64_t least, int64_t most);

  // --- Modifiers (instruction_modifiers.cpp)
  /// Nothing: the token is no modifier.
  std::optional<bool> modifier();
  struct ModifierRow;
  static const std::unordered_map<std::string_view, ModifierRow>& modifier_rows();
  bool modifier_value(const ModifierRow& row);
  bool field_value(uint8_t& field, int64_t most);
  bool bit_value(bool& flag);
  bool number_value(const ModifierRow& row);
  bool offset_value();
  BitList& bits_of(Modifier modifier);
  bool output_modifier(bool multiplies);
  bool sdwa_select(isa::SdwaSelect& select);
  bool sdwa_unused();
  bool dpp8_lanes();
  bool matrix_value(const ModifierRow& row);
  /// The modifier whose name is most like that, or nothing.
  static std::string_view modifier_like(std::string_view name);
  bool bit_list(BitList& list);
  bool number_list(std::span<uint8_t> numbers, unsigned most);
  bool dpp_control(std::string_view name);
  bool dimension();
  /// One of those words after a prefix, or its number.
  std::optional<uint8_t> named_number(std::span<const std::string_view> words, std::string_view prefix);
  bool scope();
  std::string_view word();
  // (instruction_memory_modifiers.cpp)
  bool buffer_format();
  bool swizzle();
  bool temporal_hint();

  // --- Named immediates (instruction_immediates.cpp)
  /// The operands of an instruction that has an immediate, and the immediate.
  bool operands_and_immediate(const isa::InstructionRow& row);
  bool immediate(const isa::InstructionRow& row);
  bool branch_target();
  bool hardware_register(int64_t& value);
  bool message(int64_t& value);
  bool counters(std::span<const isa::CounterField> all, int64_t& value, bool is_waitcnt);
  bool delay(int64_t& value);
  bool gpr_index(int64_t& value);
  bool version(int64_t& value);
  /// Whether a word with a parenthesis after it comes, as in "vmcnt(0)".
  bool at_call();

  // --- Forms (instruction_forms.cpp)
  bool choose(std::span<const Form> forms, Suffix suffix);
  bool match(const Form& form);
  Modifiers modifiers_of(const Form& form) const;
  bool match_operand(const isa::OperandSpec& spec, const OperandText& text, isa::Operand& to);
  bool scalar_operand(const isa::OperandSpec& spec, const OperandText& text, isa::Operand& to);
  bool leaves_out(const isa::OperandSpec& spec) const;
  bool hides(const isa::OperandSpec& spec) const;
  // --- Memory operands (instruction_memory.cpp)
  bool memory_operand(const isa::OperandSpec& spec, const OperandText& text, isa::Operand& to);
  bool image_operand(const isa::OperandSpec& spec, const OperandText& text, isa::Operand& to);
  bool image_address_fits(const OperandText& text);
  bool flat_base(const OperandText& text, unsigned words, isa::Operand& to);
  bool data(const OperandText& text, unsigned words, isa::Operand& to);
  bool resource(const OperandText& text, unsigned words, isa::Operand& to);
  bool export_target();
  /// The operand that has been read for that field, if the form has one.
  const isa::Operand* operand_of(isa::Field field) const;

  // --- Dual instructions (instruction_vopd.cpp)
  /// What the text says of one half.
  struct DualText {
    isa::Opcode opcode = isa::Opcode::invalid;
    std::array<OperandText, max_operands> operands{};
    unsigned count = 0;
    Place end{};

    bool any_modified() const {
      return std::any_of(operands.begin(), operands.begin() + count, [](const auto& each) { return each.modified(); });
    }
  };
  bool dual(std::string_view mnemonic, Place place);
  bool dual_halves(const DualText& x, const DualText& y, isa::Encoding encoding);
  bool dual_half(const DualText& half, isa::Encoding encoding);

  // --- Modifiers where they belong (instruction_applied_modifiers.cpp)
  bool apply_modifiers();
  bool apply_op_sel();
  bool merge_half(isa::Operand& operand, bool selected, bool given);
  bool apply_packed_modifiers();
  static void see_as_mixed(isa::Operand& operand);
  bool apply_matrix_modifiers();

  // --- Vector operands (instruction_vector_operands.cpp)
  bool vector_operand(const isa::OperandSpec& spec, const OperandText& text, isa::Operand& to);
  bool source_operand(const isa::OperandSpec& spec, const OperandText& text, isa::Operand& to);
  bool interpolation_operand(isa::Field field, const OperandText& text, isa::Operand& to);
  bool matrix_operand(const isa::OperandSpec& spec, const OperandText& text, isa::Operand& to);

  // --- Checks (instruction_checks.cpp)
  /// Whether all that the instruction says goes together.
  bool check();
  bool check_scalar_inputs();
  bool check_halves();
  bool check_lds_direct();
  bool check_lane_select();
  bool check_wide_dpp();
  bool check_dot_selects();
  bool check_sparse_index();
  bool check_accumulation_write();
  bool check_bf16_constants();
  bool check_null_counter();
  bool check_even_resource();
  bool check_cache_policy();
  bool check_image();
  bool scales_offset() const;

  // --- Values (instruction_values.cpp)
  bool vgpr(const OperandText& text, unsigned words, isa::Operand& to);
  bool vector_register(const OperandText& text, isa::Operand& to);
  bool scalar_register(const OperandText& text, unsigned words, isa::Operand& to);
  bool scalar_source(const OperandText& text, isa::DataType type, bool literals, isa::Operand& to);
  bool source(const OperandText& text, isa::DataType type, bool literals, isa::Operand& to);
  bool constant_value(const OperandText& text, isa::DataType type, bool literals, isa::Operand& to);
  bool wide_constant(const OperandText& text, isa::DataType type, bool literals, isa::Operand& to);
  /// `wide`: in 64 bits.
  bool literal(const OperandText& text, isa::DataType type, uint64_t bits, bool wide, isa::Operand& to);
  /// Applies neg and abs to the constant itself.
  bool fold(OperandText& text, isa::DataType type) const;
  bool immediate_value(const OperandText& text, int64_t least, int64_t most, isa::Operand& to);
  unsigned words(isa::DataType type) const {
    return type == isa::DataType::lane_mask ? map_.lane_mask_words : isa::words_of(type);
  }

  // --- Errors (instruction_errors.cpp)
  bool error(Place place, std::string text);
  bool error(std::string text);
  bool unknown(std::string_view mnemonic, Place place);
  bool unknown_modifier(std::string_view name, Place place);
  bool diagnose();
  /// Records why the current form does not accept an operand; the reason of the form that matched furthest is reported.
  bool refuse(Place place, std::string_view why);
  bool refuse_operand(const OperandText& text, std::string_view must_be, unsigned words = 0);
  bool refuse_literal(const OperandText& text);
  /// The text ends before that operand, or has one that is too much.
  bool refuse_missing(unsigned operand);
  bool refuse_additional(const OperandText& text);
  bool gets_further() const;

  Lexer& lexer();
  const Token& token() { return lexer().token(); }

  Parser& parser_;
  Unit& unit_;
  Source& source_;
  const Mnemonics& mnemonics_;
  const isa::OpcodeMap& map_;
  unsigned vgprs_ = 0, sgprs_ = 0;

  // The text at hand.
  std::array<OperandText, max_operands> operands_;
  unsigned count_ = 0;
  isa::Instruction said_;    ///< its modifiers
  isa::OperandClass class_;  ///< of the operand that is being matched
  Modifiers given_ = 0;
  std::array<Place, 64> modifier_places_;
  isa::Encoding encoding_ = isa::Encoding::sopp;  ///< of the first form
  std::string lower_case_;                        ///< the mnemonic, whose case does not matter
  std::string_view mnemonic_;                     ///< `lower_case_`
  Place mnemonic_place_;
  BitList op_sel_, op_sel_hi_, neg_lo_, neg_hi_, neg_;
  std::array<isa::SdwaSelect, 2> source_selects_{};
  uint8_t byte_select_ = 0;
  std::array<bool, 2> scale_rows_{};  ///< matrix_a_scale, matrix_b_scale
  /// What accesses the temporal hint's name is for, and whether it says that all caches are gone by.
  enum class HintKind : uint8_t { load, store, atomic };
  HintKind hint_kind_ = HintKind::load;
  bool bypass_said_ = false;
  std::array<uint8_t, 16> addresses_{};
  std::array<uint8_t, 16> address_words_{};
  unsigned address_count_ = 0;

  // The form that is being tried.
  const Form* form_ = nullptr;
  /// Of its operands that are halves of registers: whether one says which, and one that does not.
  bool half_named_ = false;
  const OperandText* whole_named_ = nullptr;
  const isa::InstructionRow* row_ = nullptr;
  ParsedInstruction result_;

  struct MatchFailure {
    unsigned progress = 0;
    Place place;
    std::string_view why;
    unsigned operand = 0, words = 0;
    const OperandText* additional = nullptr;
    bool any = false;
  };
  MatchFailure failure_;
  unsigned progress_ = 0;
};

}  // namespace Atoll::assembler
