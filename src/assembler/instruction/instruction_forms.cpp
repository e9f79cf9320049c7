// assembler: which of a name's forms an instruction's text is (instruction_parser.h). A form's row says which operands
// it has and which modifiers.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "assembler/instruction/instruction_parser.h"
#include "assembler/syntax/parser.h"
#include "isa/immediate_names.h"
#include "isa/modifier_names.h"
#include "isa/table.h"
#include "isa/unit.h"

namespace Atoll::assembler {

using isa::DataType;
using isa::Encoding;
using isa::Extension;
using isa::Field;
using isa::Instruction;
using isa::InstructionRow;
using isa::Opcode;
using isa::Operand;
using isa::OperandKind;
using isa::OperandSpec;
namespace flag = isa::flag;
namespace scalar = isa::scalar;

namespace {

constexpr Modifiers cache_bits = bits(Modifier::glc, Modifier::slc, Modifier::dlc, Modifier::scc,
                                      Modifier::temporal_hint, Modifier::scope, Modifier::nv);
constexpr Modifiers dpp_bits = bits(Modifier::dpp_control, Modifier::row_mask, Modifier::bank_mask,
                                    Modifier::bound_ctrl, Modifier::fi, Modifier::dpp8);

bool any_half(const InstructionRow& row) {
  return std::ranges::any_of(row.operands, [](const OperandSpec& spec) { return isa::is_half(spec.type); });
}

}  // namespace

bool InstructionParser::parse(std::string_view mnemonic, Place place) {
  count_ = vgprs_ = sgprs_ = 0;
  given_ = 0;
  address_count_ = 0;
  said_ = {};
  said_.data_format = isa::names::usual_data_format;
  op_sel_ = op_sel_hi_ = neg_lo_ = neg_hi_ = neg_ = {};
  source_selects_.fill(isa::SdwaSelect::dword);
  byte_select_ = 0;
  scale_rows_ = {};
  bypass_said_ = false;
  result_.literal = result_.branch = nullptr;
  result_.otherwise.reset();
  failure_ = {};
  lower_case_.assign(mnemonic);
  std::ranges::transform(lower_case_, lower_case_.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  mnemonic = mnemonic_ = lower_case_;
  mnemonic_place_ = place;

  const Mnemonics::Found found = mnemonics_.find(mnemonic);
  if (found.forms.empty()) {
    if (mnemonics_.find_dual(mnemonic) != Opcode::invalid) return dual(mnemonic, place);
    return unknown(mnemonic, place);
  }
  const InstructionRow& row = map_.row(found.forms.front().opcode);
  encoding_ = found.forms.front().encoding;
  const bool scalar_encoding = isa::is_scalar_alu(encoding_);
  if (encoding_ == Encoding::exp && !export_target()) return false;
  if (scalar_encoding && row.has(flag::any_immediate)) {
    if (!operands_and_immediate(row)) return false;
  } else if (!operands(max_operands)) {
    return false;
  }
  if (!lexer().at_end()) return error("unexpected token after the operands");
  return choose(found.forms, found.suffix);
}

bool InstructionParser::choose(std::span<const Form> forms, Suffix suffix) {
  for (const Form& form : forms) {
    if (allows(suffix, form) && match(form)) return true;
  }
  if (failure_.any) return diagnose();
  const std::string_view name = map_.name(forms.front().opcode);
  return error(mnemonic_place_, fmt::format("{} has no {} form of {}: without the suffix, the form that fits is taken",
                                            unit_.processor().name, mnemonic_.substr(name.size()), name));
}

Modifiers InstructionParser::modifiers_of(const Form& form) const {
  using enum Modifier;
  const InstructionRow& row = *row_;
  const auto with = [&](isa::Flags flags, Modifiers modifiers) { return row.has(flags) ? modifiers : Modifiers{0}; };
  const auto vop3 = [&] {
    const bool halves = map_.layout.true16 && any_half(row);
    Modifiers all = with(flag::clamp, bit(clamp)) | with(flag::omod, bit(omod)) | with(flag::bitop3, bit(bitop3)) |
                    with(flag::op_sel | flag::op_sel4 | flag::permlane | flag::op_sel_dst, bit(op_sel)) |
                    with(flag::swap_control, bits(bound_ctrl, fi));
    if (halves) all |= bit(op_sel);
    if (map_.layout.byte_select) all |= with(flag::op_sel4 | flag::byte_source, bit(byte_sel));
    if (row.encoding != Encoding::vintrp) all |= bit(high);
    all |= with(flag::scale_select, bit(scale_sel));
    return all;
  };
  const auto vop3p = [&] {
    Modifiers all = with(flag::clamp, bit(clamp)) | with(flag::op_sel, bits(op_sel, op_sel_hi));
    if (!row.has(flag::mix) && row.has(flag::clamp | flag::op_sel | flag::wmma | flag::neg_accumulator)) {
      all |= bits(neg_lo, neg_hi);
    }
    if (row.operands[3].field == Field::wmma_index) all |= bit(index_key);
    return all | with(flag::matrix_formats, bits(matrix_a_format, matrix_b_format)) |
           with(flag::reuse, bit(matrix_reuse)) |
           (row.has(flag::scaled) || row.operands[0].field == Field::scale_src0
                ? bits(matrix_scale, matrix_scale_format, matrix_reuse)
                : 0);
  };
  switch (form.kind) {
    case FormKind::sdwa:
      return bits(src0_sel, src1_sel, clamp) | (form.encoding == Encoding::vopc ? 0 : bits(dst_sel, dst_unused, omod));
    case FormKind::dpp:
      return dpp_bits;
    case FormKind::vop3:
      return vop3();
    case FormKind::vop3_dpp:
      return dpp_bits | (form.encoding == Encoding::vop3p ? vop3p() : vop3());
    case FormKind::base:
      break;
  }
  switch (form.encoding) {
    case Encoding::vop3p:
      if (!row.has(flag::matrix)) return vop3p();
      return bits(cbsz, abid, blgp, neg) | with(flag::scaled, bits(op_sel, op_sel_hi));
    case Encoding::vinterp:
      return bits(clamp, op_sel, wait_exp);
    case Encoding::ldsdir:
      return bits(wait_vdst, wait_vm_vsrc);
    case Encoding::smem:
      return bits(offset, scale_offset) | cache_bits;
    case Encoding::ds:
      return bit(gds) | (row.has(flag::two_offsets) ? bits(offset0, offset1) : bit(offset));
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
      return bits(offset, lds, tfe, scale_offset) | cache_bits;
    case Encoding::mtbuf:
    case Encoding::mubuf:
      return bits(offset, offen, idxen, addr64, lds, tfe) | cache_bits |
             (form.encoding == Encoding::mtbuf ? bit(format) : 0);
    case Encoding::mimg:
    case Encoding::vsample:
      if (row.has(flag::tensor)) return cache_bits;
      return bits(dmask, dim, unorm, r128, a16, tfe, lwe, da, d16) | cache_bits;
    case Encoding::exp:
      return bits(done, compr, vm, row_en);
    default:
      return 0;
  }
}

/// Whether the form that is tried has no such operand: what an atomic does not return, what goes to LDS instead.
bool InstructionParser::leaves_out(const OperandSpec& spec) const {
  const Instruction& out = result_.instruction;
  if (spec.field == Field::flat_return) return !out.glc;
  if (spec.field == Field::tensor_group2 || spec.field == Field::tensor_group3) return count_ == 2;
  return out.lds && (spec.field == Field::flat_dst || spec.field == Field::buffer_data);
}

/// Whether the text leaves that operand out.
bool InstructionParser::hides(const OperandSpec& spec) const {
  if (spec.field == Field::vcc_in) return true;
  return spec.field == Field::cmp_dst && map_.layout.exec_compares && row_->has(flag::exec_out);
}

bool InstructionParser::match(const Form& form) {
  form_ = &form;
  row_ = &map_.row(form.opcode);
  progress_ = 0;
  half_named_ = false;
  whole_named_ = nullptr;
  const Expression* const branch = result_.branch;
  Instruction& out = result_.instruction;
  out = said_;
  result_.literal = nullptr;
  result_.branch = branch;
  out.opcode = form.opcode;
  if (map_.layout.temporal_hints && row_->has(flag::atomic)) out.glc = (out.temporal_hint & 1) != 0;
  out.encoding = form.encoding;
  if (const Modifiers foreign = given_ & ~modifiers_of(form); foreign != 0) {
    const auto index = static_cast<size_t>(std::countr_zero(foreign));
    return refuse(modifier_places_[index], "the instruction has no such modifier");
  }
  if (form.kind == FormKind::sdwa) out.extension = Extension::sdwa;
  if (form.is_dpp()) {
    const bool eight = (given_ & bit(Modifier::dpp8)) != 0;
    if (!eight && (given_ & bit(Modifier::dpp_control)) == 0) {
      return refuse(mnemonic_place_, "too few operands for instruction: a DPP control is missing");
    }
    out.extension = eight ? Extension::dpp8 : Extension::dpp16;
  }
  unsigned read = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::none) break;
    if (leaves_out(spec)) continue;
    Operand& to = out.operands[out.operand_count];
    to.type = spec.type;
    to.op_sel_hi = form.encoding != Encoding::vop3p && isa::is_packed(spec.type);
    if (hides(spec)) {
      to.kind = OperandKind::scalar;
      to.reg = spec.field == Field::vcc_in ? scalar::vcc_lo : scalar::exec_lo;
      to.words = map_.lane_mask_words;
    } else if (read == count_) {
      // VCC as the last source may be left out.
      const bool implied = spec.field == Field::carry_in && form.encoding == Encoding::vop2 && !row_->has(flag::clamp);
      if (!implied) {
        ++progress_;
        return refuse_missing(read);
      }
      to.kind = OperandKind::scalar;
      to.reg = scalar::vcc_lo;
      to.words = map_.lane_mask_words;
    } else if (spec.field == Field::soffset && operands_[read].is_constant()) {
      // The immediate stands in the register's place.
      const OperandText& text = operands_[read++];
      if (text.is != OperandText::Kind::integer) return refuse(text.place, "expected absolute expression");
      if ((given_ & bit(Modifier::offset)) != 0) {
        return refuse(modifier_places_[static_cast<size_t>(Modifier::offset)], "the instruction has an offset already");
      }
      out.offset = static_cast<int32_t>(text.value);
      const bool literal = map_.layout.scalar_literals && static_cast<uint32_t>(out.offset) == text.value;
      const bool negative = map_.layout.scalar_literals && out.offset < 0;  // a literal has no sign
      if ((negative || out.offset != static_cast<int64_t>(text.value)) && !literal) {
        return refuse(text.place, "the offset does not fit");
      }
      out.offset_immediate = true;
      const bool prefetch = std::ranges::any_of(
          row_->operands, [](const OperandSpec& other) { return other.field == Field::prefetch_length; });
      if (!prefetch) continue;
      // A prefetch has both, the immediate in front.
      if (read == count_) return refuse_missing(read);
      if (!match_operand(spec, operands_[read++], to)) return false;
      out.offset_register = true;
    } else {
      ++progress_;
      if (!match_operand(spec, operands_[read++], to)) return false;
      if (spec.field == Field::soffset) out.offset_register = true;
    }
    if (isa::writes(*row_, spec.field, out.glc)) ++out.destinations;
    ++out.operand_count;
  }
  if (form.encoding == Encoding::flat && map_.layout.flat_bases && read + 1 == count_) {  // a base, which no row has
    Operand& to = out.operands[out.operand_count++];
    to.type = isa::DataType::b64;
    ++progress_;
    if (!flat_base(operands_[read++], 2, to)) return false;
  }
  const Operand* address = form.encoding == Encoding::flat ? operand_of(Field::flat_address) : nullptr;
  if (address != nullptr && address->words == 1 && out.operands[out.operand_count - 1u].kind != OperandKind::scalar) {
    return refuse(mnemonic_place_, "a pair of SGPRs is missing after an address of 32 bits");
  }
  if (read != count_) {
    ++progress_;
    return refuse_additional(operands_[read]);
  }
  if (form.encoding == Encoding::smem && (given_ & bit(Modifier::offset)) != 0) out.offset_immediate = true;
  ++progress_;
  return apply_modifiers() && check();
}

bool InstructionParser::match_operand(const OperandSpec& spec, const OperandText& text, Operand& to) {
  if (spec.field < Field::matrix_dst) return vector_operand(spec, text, to);
  class_ = isa::operand_class(map_, *row_, result_.instruction, spec.field, spec.type);
  if (text.modified()) {
    // Scalar sources of VOP3 can have them, other scalar and memory operands cannot.
    const bool modifiable = form_->encoding == Encoding::vop3 && isa::source_index(spec.field) >= 0 && !text.sext &&
                            row_->has(flag::neg) && isa::is_float(spec.type);
    if (!modifiable) return refuse(text.place, "the operand cannot have neg, abs or sext");
    to.neg = text.neg;
    to.abs = text.abs;
  }
  if (spec.field < Field::sdst) return matrix_operand(spec, text, to);
  if (spec.field < Field::sdata) return scalar_operand(spec, text, to);
  return memory_operand(spec, text, to);
}

bool InstructionParser::scalar_operand(const OperandSpec& spec, const OperandText& text, Operand& to) {
  // LLVM's assembler has no literals as lane numbers of v_readlane and v_writelane.
  const bool is_lane = form_->encoding == Encoding::vop3 && spec.field != Field::ssrc0;
  const bool literals = class_.literal && !is_lane;
  switch (spec.field) {
    case Field::sdst:
    case Field::sdst_in:
      return scalar_register(text, class_.words, to);
    default:
      if (!class_.is_constant()) return scalar_register(text, class_.words, to);
      if (class_.m0 && !text.is_constant() && (text.kind != OperandKind::scalar || text.reg != scalar::m0)) {
        return refuse_operand(text, "m0 or a number");
      }
      return scalar_source(text, spec.type, literals, to);
  }
}

}  // namespace Atoll::assembler
