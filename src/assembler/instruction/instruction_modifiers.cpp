// assembler: reading an instruction's modifiers (instruction_parser.h). Each is a row of a table that says its name and
// how its value reads; whether the instruction has it is seen when its forms are tried.
#include <algorithm>

#include <fmt/format.h>

#include "assembler/instruction/instruction_parser.h"
#include "assembler/syntax/parser.h"
#include "isa/modifier_names.h"
#include "support/spelling.h"

namespace Atoll::assembler {

using isa::Instruction;
using isa::SdwaSelect;
namespace names = isa::names;

namespace {

/// How the value after a modifier's name reads.
enum class Syntax : uint8_t {
  flag,         ///< the name alone
  flag_or_bit,  ///< the name alone, or 0 or 1 after a colon
  number,       ///< into `target`, from 0 to `most`
  offset,       ///< a signed number, or swizzle(...)
  bits,         ///< [1,0,1]
  multiply,
  divide,
  select,
  source_select,
  unused,
  dpp_control,
  dpp_masks,
  bound_ctrl,
  fetch_inactive,
  dpp8,
  format,
  data_format,
  number_format,
  dimension,
  temporal_hint,
  scope,
  matrix_format,
  matrix_scale,
  matrix_scale_format,
  matrix_reuse,
};

}  // namespace

struct InstructionParser::ModifierRow {
  Modifier modifier;
  Syntax syntax;
  bool Instruction::* flag = nullptr;
  uint8_t Instruction::* target = nullptr;
  uint16_t most = 0;
  uint8_t index = 0;  ///< of the source or matrix that it is about
};

const std::unordered_map<std::string_view, InstructionParser::ModifierRow>& InstructionParser::modifier_rows() {
  using enum Modifier;
  static const std::unordered_map<std::string_view, ModifierRow> all{
      {"clamp", {clamp, Syntax::flag_or_bit, &Instruction::clamp}},
      {"mul", {omod, Syntax::multiply}},
      {"div", {omod, Syntax::divide}},
      {"op_sel", {op_sel, Syntax::bits}},
      {"op_sel_hi", {op_sel_hi, Syntax::bits}},
      {"neg_lo", {neg_lo, Syntax::bits}},
      {"neg_hi", {neg_hi, Syntax::bits}},
      {"neg", {neg, Syntax::bits}},
      {"bitop3", {bitop3, Syntax::number, nullptr, nullptr, 255}},
      {"high", {high, Syntax::flag}},
      {"dst_sel", {dst_sel, Syntax::select}},
      {"dst_unused", {dst_unused, Syntax::unused}},
      {"src0_sel", {src0_sel, Syntax::source_select, nullptr, nullptr, 0, 0}},
      {"src1_sel", {src1_sel, Syntax::source_select, nullptr, nullptr, 0, 1}},
      {"quad_perm", {Modifier::dpp_control, Syntax::dpp_control}},
      {"row_shl", {Modifier::dpp_control, Syntax::dpp_control}},
      {"row_shr", {Modifier::dpp_control, Syntax::dpp_control}},
      {"row_ror", {Modifier::dpp_control, Syntax::dpp_control}},
      {"wave_shl", {Modifier::dpp_control, Syntax::dpp_control}},
      {"wave_rol", {Modifier::dpp_control, Syntax::dpp_control}},
      {"wave_shr", {Modifier::dpp_control, Syntax::dpp_control}},
      {"wave_ror", {Modifier::dpp_control, Syntax::dpp_control}},
      {"row_mirror", {Modifier::dpp_control, Syntax::dpp_control}},
      {"row_half_mirror", {Modifier::dpp_control, Syntax::dpp_control}},
      {"row_bcast", {Modifier::dpp_control, Syntax::dpp_control}},
      {"row_newbcast", {Modifier::dpp_control, Syntax::dpp_control}},
      {"row_share", {Modifier::dpp_control, Syntax::dpp_control}},
      {"row_xmask", {Modifier::dpp_control, Syntax::dpp_control}},
      {"row_mask", {row_mask, Syntax::dpp_masks}},
      {"bank_mask", {bank_mask, Syntax::dpp_masks}},
      {"bound_ctrl", {bound_ctrl, Syntax::bound_ctrl}},
      {"fi", {fi, Syntax::fetch_inactive}},
      {"dpp8", {dpp8, Syntax::dpp8}},
      {"cbsz", {cbsz, Syntax::number, nullptr, &Instruction::cbsz, 7}},
      {"abid", {abid, Syntax::number, nullptr, &Instruction::abid, 15}},
      {"blgp", {blgp, Syntax::number, nullptr, &Instruction::blgp, 7}},
      {"wait_exp", {wait_exp, Syntax::number, nullptr, &Instruction::wait_exp, 7}},
      {"wait_vdst", {wait_vdst, Syntax::number, nullptr, &Instruction::wait_exp, 15}},
      {"wait_va_vdst", {wait_vdst, Syntax::number, nullptr, &Instruction::wait_exp, 15}},
      {"wait_vm_vsrc", {wait_vm_vsrc, Syntax::flag_or_bit, &Instruction::wait_vm_vsrc}},
      {"byte_sel", {byte_sel, Syntax::number, nullptr, nullptr, 3}},
      {"index_key", {index_key, Syntax::number, nullptr, &Instruction::abid, 3}},
      {"matrix_a_fmt", {matrix_a_format, Syntax::matrix_format, nullptr, &Instruction::cbsz}},
      {"matrix_b_fmt", {matrix_b_format, Syntax::matrix_format, nullptr, &Instruction::blgp}},
      {"matrix_a_scale", {Modifier::matrix_scale, Syntax::matrix_scale, nullptr, nullptr, 0, 0}},
      {"matrix_b_scale", {Modifier::matrix_scale, Syntax::matrix_scale, nullptr, nullptr, 0, 1}},
      {"matrix_a_scale_fmt", {Modifier::matrix_scale_format, Syntax::matrix_scale_format, nullptr, nullptr, 0, 0}},
      {"matrix_b_scale_fmt", {Modifier::matrix_scale_format, Syntax::matrix_scale_format, nullptr, nullptr, 0, 1}},
      {"matrix_a_reuse", {Modifier::matrix_reuse, Syntax::matrix_reuse, nullptr, nullptr, 0, 0}},
      {"matrix_b_reuse", {Modifier::matrix_reuse, Syntax::matrix_reuse, nullptr, nullptr, 0, 1}},
      {"scale_sel", {scale_sel, Syntax::number, nullptr, nullptr, 15}},
      {"th", {Modifier::temporal_hint, Syntax::temporal_hint}},
      {"scope", {Modifier::scope, Syntax::scope}},
      {"nv", {nv, Syntax::flag, &Instruction::nv}},
      {"scale_offset", {scale_offset, Syntax::flag, &Instruction::scale_offset}},
      {"offset", {offset, Syntax::offset}},
      {"offset0", {offset0, Syntax::number, nullptr, nullptr, 255}},
      {"offset1", {offset1, Syntax::number, nullptr, &Instruction::offset1, 255}},
      {"gds", {gds, Syntax::flag, &Instruction::gds}},
      {"glc", {glc, Syntax::flag, &Instruction::glc}},
      {"sc0", {glc, Syntax::flag, &Instruction::glc}},
      {"slc", {slc, Syntax::flag, &Instruction::slc}},
      {"nt", {slc, Syntax::flag, &Instruction::slc}},
      {"dlc", {dlc, Syntax::flag, &Instruction::dlc}},
      {"scc", {scc, Syntax::flag, &Instruction::scc}},
      {"sc1", {scc, Syntax::flag, &Instruction::scc}},
      {"offen", {offen, Syntax::flag, &Instruction::offen}},
      {"idxen", {idxen, Syntax::flag, &Instruction::idxen}},
      {"addr64", {addr64, Syntax::flag, &Instruction::addr64}},
      {"lds", {lds, Syntax::flag, &Instruction::lds}},
      {"tfe", {tfe, Syntax::flag, &Instruction::tfe}},
      {"format", {format, Syntax::format}},
      {"dfmt", {format, Syntax::data_format}},
      {"nfmt", {format, Syntax::number_format}},
      {"dmask", {dmask, Syntax::number, nullptr, &Instruction::dmask, 15}},
      {"dim", {dim, Syntax::dimension}},
      {"unorm", {unorm, Syntax::flag, &Instruction::unorm}},
      {"da", {da, Syntax::flag, &Instruction::da}},
      {"r128", {r128, Syntax::flag, &Instruction::r128}},
      {"a16", {a16, Syntax::flag, &Instruction::a16}},
      {"lwe", {lwe, Syntax::flag, &Instruction::lwe}},
      {"d16", {d16, Syntax::flag, &Instruction::d16}},
      {"done", {done, Syntax::flag, &Instruction::done}},
      {"compr", {compr, Syntax::flag, &Instruction::compressed}},
      {"vm", {vm, Syntax::flag, &Instruction::valid_mask}},
      {"row_en", {row_en, Syntax::flag, &Instruction::row_enable}},
  };
  return all;
}

std::string_view InstructionParser::modifier_like(std::string_view name) {
  support::SpellingOf nearest(name);
  for (const auto& [known, row] : modifier_rows()) nearest.consider(known);
  return nearest.found();
}

/// The letters, digits and the like that stand together here, whatever tokens they are ("2D_MSAA").
std::string_view InstructionParser::word() {
  const std::string& text = lexer().buffer().text;
  const size_t begin = lexer().start();
  size_t end = begin;
  while (end < text.size() && continues_name(text[end])) ++end;
  const std::string_view found = std::string_view(text).substr(begin, end - begin);
  if (end != begin) lexer().jump(end);
  return found;
}

std::optional<bool> InstructionParser::modifier() {
  if (!lexer().is(TokenKind::identifier)) return std::nullopt;
  const std::string_view name = token().text;
  const auto found = modifier_rows().find(name);
  if (found == modifier_rows().end()) return std::nullopt;
  const ModifierRow& row = found->second;
  // Two names are operands elsewhere: a16 is the data of an image, too, which comes first.
  const bool image = encoding_ == isa::Encoding::mimg || encoding_ == isa::Encoding::vsample;
  if (row.modifier == Modifier::a16 && (!image || count_ == 0)) return std::nullopt;
  if (name == "scc" && encoding_ < isa::Encoding::ds) return std::nullopt;
  const Place place = lexer().place();
  const bool colon = lexer().buffer().text.c_str()[lexer().next()] == ':';
  const bool alone = row.syntax == Syntax::flag || row.syntax == Syntax::matrix_reuse || name.ends_with("_mirror") ||
                     (!colon && (row.syntax == Syntax::flag_or_bit));
  if (!alone && !colon) return std::nullopt;
  const Modifiers bit = assembler::bit(row.modifier);
  // These are several words each.
  constexpr Modifiers of_two =
      bits(Modifier::format, Modifier::matrix_scale, Modifier::matrix_scale_format, Modifier::matrix_reuse);
  if ((given_ & bit & ~of_two) != 0) {
    return error(place, fmt::format("'{}' is there twice", name));
  }
  given_ |= bit;
  modifier_places_[static_cast<size_t>(row.modifier)] = place;
  lexer().advance();
  if (!alone) lexer().advance();
  if (row.syntax == Syntax::flag_or_bit && alone) {
    said_.*row.flag = true;
    return true;
  }
  return row.syntax == Syntax::dpp_control ? dpp_control(name) : modifier_value(row);
}

/// What comes after the name and its colon.
bool InstructionParser::modifier_value(const ModifierRow& row) {
  switch (row.syntax) {
    case Syntax::flag:
      if (row.flag != nullptr) said_.*row.flag = true;
      return true;
    case Syntax::flag_or_bit:
      return bit_value(said_.*row.flag);
    case Syntax::number:
      return number_value(row);
    case Syntax::offset:
      return offset_value();
    case Syntax::bits:
      return bit_list(bits_of(row.modifier));
    case Syntax::multiply:
    case Syntax::divide:
      return output_modifier(row.syntax == Syntax::multiply);
    case Syntax::select:
      return sdwa_select(said_.dst_sel);
    case Syntax::source_select:
      return sdwa_select(source_selects_[row.index]);
    case Syntax::unused:
      return sdwa_unused();
    case Syntax::dpp_masks:
      return field_value(row.modifier == Modifier::row_mask ? said_.dpp.row_mask : said_.dpp.bank_mask, 15);
    case Syntax::bound_ctrl:
      // Until GFX10, "bound_ctrl:0" has been another way to set it.
      if (!bit_value(said_.dpp.bound_ctrl)) return false;
      said_.dpp.bound_ctrl |= !map_.layout.vector_dpp;
      return true;
    case Syntax::fetch_inactive:
      return bit_value(said_.dpp.fetch_inactive);
    case Syntax::dpp8:
      return dpp8_lanes();
    case Syntax::format:
      return buffer_format();
    case Syntax::data_format:
      return field_value(said_.data_format, 15);
    case Syntax::number_format:
      return field_value(said_.number_format, 7);
    case Syntax::temporal_hint:
      return temporal_hint();
    case Syntax::scope:
      return scope();
    case Syntax::matrix_format:
    case Syntax::matrix_scale:
    case Syntax::matrix_scale_format:
    case Syntax::matrix_reuse:
      return matrix_value(row);
    case Syntax::dimension:
      return dimension();
    case Syntax::dpp_control:  // tells itself by the name
      break;
  }
  return false;
}

/// A number into a field of the instruction.
bool InstructionParser::field_value(uint8_t& field, int64_t most) {
  const auto number = number_between(0, most);
  if (number) field = static_cast<uint8_t>(*number);
  return number.has_value();
}

bool InstructionParser::bit_value(bool& flag) {
  const auto set = number_between(0, 1);
  if (set) flag = *set != 0;
  return set.has_value();
}

bool InstructionParser::number_value(const ModifierRow& row) {
  if (row.target != nullptr) return field_value(said_.*row.target, row.most);
  const auto number = number_between(0, row.most);
  if (!number) return false;
  if (row.modifier == Modifier::byte_sel) {
    byte_select_ = static_cast<uint8_t>(*number);
  } else if (row.modifier == Modifier::bitop3 || row.modifier == Modifier::scale_sel) {
    said_.immediate = static_cast<uint16_t>(*number);
  } else {
    said_.offset = static_cast<int32_t>(*number);
  }
  return true;
}

bool InstructionParser::offset_value() {
  if (lexer().is(TokenKind::identifier) && token().text == "swizzle") return swizzle();
  const Place place = lexer().place();
  const auto offset = number();
  if (!offset) return false;
  if (*offset != static_cast<int32_t>(*offset)) return error(place, "the offset is too large");
  said_.offset = static_cast<int32_t>(*offset);
  return true;
}

BitList& InstructionParser::bits_of(Modifier modifier) {
  switch (modifier) {
    case Modifier::op_sel:
      return op_sel_;
    case Modifier::op_sel_hi:
      return op_sel_hi_;
    case Modifier::neg_lo:
      return neg_lo_;
    case Modifier::neg_hi:
      return neg_hi_;
    default:
      return neg_;
  }
}

/// mul:2, mul:4 or div:2; a factor of 1 is none.
bool InstructionParser::output_modifier(bool multiplies) {
  const Place place = lexer().place();
  const auto factor = number_between(0, 4);
  if (!factor) return false;
  if (*factor == 0 || *factor == 3 || (!multiplies && *factor == 4)) {
    return error(place, "expected mul:2, mul:4 or div:2");
  }
  said_.omod = static_cast<uint8_t>(*factor == 1 ? 0 : !multiplies ? 3 : *factor == 2 ? 1 : 2);
  return true;
}

bool InstructionParser::sdwa_select(SdwaSelect& select) {
  const Place place = lexer().place();
  const auto found = find_word(names::sdwa_selects, word());
  if (!found) return error(place, "expected BYTE_0 to BYTE_3, WORD_0, WORD_1 or DWORD");
  select = static_cast<SdwaSelect>(*found);
  return true;
}

bool InstructionParser::sdwa_unused() {
  const Place place = lexer().place();
  const auto unused = find_word(names::sdwa_unused, word());
  if (!unused) return error(place, "expected UNUSED_PAD, UNUSED_SEXT or UNUSED_PRESERVE");
  said_.dst_unused = static_cast<isa::SdwaUnused>(*unused);
  return true;
}

bool InstructionParser::dpp8_lanes() {
  std::array<uint8_t, 8> lanes{};
  if (!number_list(lanes, 7)) return false;
  said_.dpp.control = 0;
  for (unsigned i = 0; i < lanes.size(); ++i) said_.dpp.control |= static_cast<uint32_t>(lanes[i]) << (3 * i);
  return true;
}

/// What matrix instructions of GFX12.5 say about A and B.
bool InstructionParser::matrix_value(const ModifierRow& row) {
  std::optional<uint8_t> value;
  switch (row.syntax) {
    case Syntax::matrix_format:
      value = named_number(names::matrix_formats, "MATRIX_FMT_");
      if (value) said_.*row.target = *value;
      break;
    case Syntax::matrix_scale:
      value = named_number(names::matrix_scale_rows, "MATRIX_SCALE_");
      if (value) scale_rows_[row.index] = *value != 0;
      break;
    case Syntax::matrix_scale_format:
      value = named_number(names::matrix_scale_formats, "MATRIX_SCALE_FMT_");
      if (value) said_.scale_formats[row.index] = *value;
      break;
    default:  // matrix_reuse: the name says it all
      said_.matrix_reuse = static_cast<uint8_t>(said_.matrix_reuse | 1u << row.index);
      return true;
  }
  return value.has_value();
}

bool InstructionParser::dimension() {
  const Place place = lexer().place();
  const auto dimension = find_word(names::dimensions, without("SQ_RSRC_IMG_", word()));
  if (!dimension) return error(place, "invalid dim value");
  said_.dim = static_cast<uint8_t>(*dimension);
  return true;
}

/// [0,1,...] of up to four bits.
bool InstructionParser::bit_list(BitList& list) {
  list = {};
  if (!lexer().accept(TokenKind::left_bracket)) return error("expected '['");
  do {
    const auto set = number_between(0, 1);
    if (!set) return false;
    if (list.count == 4) return error("expected ']': there are no more than four bits");
    list.bits = static_cast<uint8_t>(list.bits | *set << list.count);
    ++list.count;
  } while (lexer().accept(TokenKind::comma));
  if (!lexer().accept(TokenKind::right_bracket)) return error("expected ',' or ']'");
  return true;
}

bool InstructionParser::number_list(std::span<uint8_t> numbers, unsigned most) {
  if (!lexer().accept(TokenKind::left_bracket)) return error("expected '['");
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0 && !lexer().accept(TokenKind::comma)) return error("expected ','");
    const auto value = number_between(0, most);
    if (!value) return false;
    numbers[i] = static_cast<uint8_t>(*value);
  }
  if (!lexer().accept(TokenKind::right_bracket)) return error("expected ']'");
  return true;
}

bool InstructionParser::dpp_control(std::string_view name) {
  struct Control {
    std::string_view name;
    uint16_t code;  ///< of the first value
    uint8_t least, most;
    bool there;
  };
  const isa::Layout& layout = map_.layout;
  const std::array controls{Control{"row_shl", 0x100, 1, 15, true},
                            Control{"row_shr", 0x110, 1, 15, true},
                            Control{"row_ror", 0x120, 1, 15, true},
                            Control{"wave_shl", 0x12F, 1, 1, layout.wave_shifts},
                            Control{"wave_rol", 0x133, 1, 1, layout.wave_shifts},
                            Control{"wave_shr", 0x137, 1, 1, layout.wave_shifts},
                            Control{"wave_ror", 0x13B, 1, 1, layout.wave_shifts},
                            Control{"row_newbcast", 0x150, 0, 15, layout.row_newbcast},
                            Control{"row_share", 0x150, 0, 15, layout.row_share},
                            Control{"row_xmask", 0x160, 0, 15, layout.row_share}};
  const Place place = lexer().place();
  uint32_t& code = said_.dpp.control;
  if (name == "quad_perm") {
    std::array<uint8_t, 4> lanes{};
    if (!number_list(lanes, 3)) return false;
    code = 0;
    for (unsigned i = 0; i < 4; ++i) code |= static_cast<uint32_t>(lanes[i]) << (2 * i);
    return true;
  }
  if (name == "row_mirror" || name == "row_half_mirror") {
    code = name == "row_mirror" ? 0x140 : 0x141;
    return true;
  }
  if (name == "row_bcast") {
    const auto lane = number();
    if (!lane) return false;
    if (!layout.wave_shifts) return error(place, fmt::format("not on {}: row_bcast", unit_.processor().name));
    if (*lane != 15 && *lane != 31) return error(place, "expected row_bcast:15 or row_bcast:31");
    code = *lane == 15 ? 0x142 : 0x143;
    return true;
  }
  const auto found = std::ranges::find(controls, name, &Control::name);
  if (found == controls.end()) return false;
  if (!found->there) {
    return error(modifier_places_[static_cast<size_t>(Modifier::dpp_control)],
                 fmt::format("not on {}: {}", unit_.processor().name, name));
  }
  const auto value = number_between(found->least, found->most);
  if (!value) return false;
  code = found->code + static_cast<uint32_t>(*value);
  return true;
}

std::optional<uint8_t> InstructionParser::named_number(std::span<const std::string_view> words,
                                                       std::string_view prefix) {
  const Place place = lexer().place();
  if (!lexer().is(TokenKind::identifier)) {
    const auto value = number_between(0, static_cast<int64_t>(words.size()) - 1);
    return value ? std::optional(static_cast<uint8_t>(*value)) : std::nullopt;
  }
  const std::string_view name = word();
  const auto found = std::ranges::find(words, without(prefix, name));
  if (found != words.end() && name.starts_with(prefix)) return static_cast<uint8_t>(found - words.begin());
  error(place, fmt::format("expected {}{} to {}{}", prefix, words.front(), prefix, words.back()));
  return std::nullopt;
}

/// scope:SCOPE_DEV: how far the access reaches.
bool InstructionParser::scope() {
  static constexpr std::array<std::string_view, 4> scopes{"CU", "SE", "DEV", "SYS"};
  const auto found = named_number(scopes, "SCOPE_");
  if (found) said_.scope = *found;
  return found.has_value();
}

}  // namespace Atoll::assembler
