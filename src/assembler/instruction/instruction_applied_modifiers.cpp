// assembler: modifiers put where they belong in an instruction (instruction_parser.h).
#include <algorithm>

#include <fmt/format.h>

#include "assembler/instruction/instruction_parser.h"
#include "isa/constants.h"
#include "isa/modifier_names.h"
#include "isa/table.h"

namespace Atoll::assembler {

using isa::Encoding;
using isa::Field;
using isa::Instruction;
using isa::Operand;
using isa::OperandKind;
using isa::OperandSpec;
namespace flag = isa::flag;
namespace scalar = isa::scalar;

bool InstructionParser::apply_modifiers() {
  Instruction& out = result_.instruction;
  if (form_->encoding != Encoding::mtbuf) {
    out.data_format = 0;
  } else if ((given_ & bit(Modifier::format)) == 0) {
    out.data_format = isa::names::usual_data_format;
    out.number_format = isa::names::usual_number_format;
  }
  if (form_->kind == FormKind::sdwa) {
    const bool whole = form_->encoding == Encoding::vopc || row_->has(flag::sdwa_whole);
    if (whole) {
      out.dst_unused = isa::SdwaUnused::pad;
    } else if ((given_ & bit(Modifier::dst_unused)) == 0) {
      out.dst_unused = isa::SdwaUnused::preserve;
    }
    for (unsigned i = 0; i < out.operand_count; ++i) {
      const int index = isa::source_index(row_->operands[i].field);
      if (index == 0 || index == 1) out.operands[i].sdwa = source_selects_[static_cast<size_t>(index)];
    }
  }
  switch (form_->encoding) {
    case Encoding::vop3:
    case Encoding::vinterp:
      return apply_op_sel();
    case Encoding::vop3p:
      return row_->has(flag::matrix) ? apply_matrix_modifiers() : apply_packed_modifiers();
    default:
      return true;
  }
}

/// op_sel of VOP3: a bit for each source, then one for the result. Halves that are named in the text say it already.
bool InstructionParser::apply_op_sel() {
  Instruction& out = result_.instruction;
  const BitList& list = op_sel_;
  const bool given = (given_ & bit(Modifier::op_sel)) != 0;
  if (row_->has(flag::op_sel_dst)) {  // v_interp_p2_f16
    out.operands[2].op_sel = list.at(0);
    out.operands[3].op_sel = list.at(2);
    out.op_sel_dst = list.at(3);
    return true;
  }
  if (map_.layout.byte_select) {
    if (row_->has(flag::op_sel4)) out.dst_sel = static_cast<isa::SdwaSelect>(byte_select_);
    if (row_->has(flag::byte_source)) out.operands[1].sdwa = static_cast<isa::SdwaSelect>(byte_select_);
  } else if (row_->has(flag::op_sel4)) {
    out.dst_sel = static_cast<isa::SdwaSelect>(list.bits >> 2 & 3);
  }
  unsigned sources = 0;
  for (unsigned i = 0; i < out.operand_count; ++i) {
    const int index = isa::source_index(row_->operands[i].field);
    if (index < 0) continue;
    ++sources;
    Operand& operand = out.operands[i];
    const bool selected = list.at(static_cast<unsigned>(index));
    if (!operand.half) {
      operand.op_sel = selected;
    } else if (!merge_half(operand, selected, given)) {
      return false;
    }
  }
  const bool old_is_source = row_->has(flag::reads_dst) && !row_->has(flag::op_sel) && map_.layout.true16;
  const unsigned result = sources + (old_is_source ? 1 : 0);
  const bool selected = given && result < list.count && list.at(result) && !row_->has(flag::op_sel4 | flag::permlane);
  Operand& dst = out.operands[0];
  if (dst.half && !merge_half(dst, selected, given)) return false;
  out.op_sel_dst = dst.half ? dst.op_sel : selected;
  return true;
}

/// A register without .l or .h is the half that op_sel says; with it, op_sel must say the same or nothing.
bool InstructionParser::merge_half(Operand& operand, bool selected, bool given) {
  const bool unsaid = !given || op_sel_.bits == 0;
  if (unsaid) return true;
  const bool named = std::ranges::any_of(operands_.begin(), operands_.begin() + count_, [&](const OperandText& text) {
    return text.half && text.reg == operand.reg && text.kind == operand.kind && text.upper_half == operand.op_sel;
  });
  if (named && operand.op_sel != selected) {
    return refuse(modifier_places_[static_cast<size_t>(Modifier::op_sel)],
                  "op_sel operand conflicts with 16-bit operand suffix");
  }
  operand.op_sel = selected;
  return true;
}

/// A source of v_fma_mix is a half if op_sel_hi is set, else a float. Constants have been read as halves.
void InstructionParser::see_as_mixed(Operand& operand) {
  if (operand.op_sel_hi) return;
  const isa::InlineFloats& halves = isa::inline_floats(operand.type);
  operand.type = isa::DataType::f32;
  if (operand.kind != OperandKind::constant || operand.is_literal) return;
  const auto half = std::ranges::find(halves, operand.value);
  if (half != halves.end()) {
    operand.value = isa::inline_f32[static_cast<size_t>(half - halves.begin())];
  } else {
    operand.value = static_cast<uint32_t>(int32_t{static_cast<int16_t>(operand.value)});
  }
}

bool InstructionParser::apply_packed_modifiers() {
  Instruction& out = result_.instruction;
  const bool mix = row_->has(flag::mix), selects = row_->has(flag::op_sel);
  const bool high_given = (given_ & bit(Modifier::op_sel_hi)) != 0;
  for (unsigned i = 0; i < out.operand_count; ++i) {
    const int index = isa::source_index(row_->operands[i].field);
    if (index < 0) continue;
    const auto at = static_cast<unsigned>(index);
    Operand& operand = out.operands[i];
    if (selects) {
      operand.op_sel = op_sel_.at(at);
      operand.op_sel_hi = high_given ? op_sel_hi_.at(at) : !mix;
    }
    if (mix) {
      see_as_mixed(operand);
    } else {
      operand.neg = neg_lo_.at(at);
      operand.neg_hi = neg_hi_.at(at);
    }
  }
  // The scales come last.
  const bool scaled = row_->has(flag::scaled) || row_->operands[0].field == Field::scale_src0;
  for (unsigned i = 0; scaled && i < scale_rows_.size(); ++i) {
    out.operands[out.operand_count - scale_rows_.size() + i].op_sel = scale_rows_[i];
  }
  return true;
}

bool InstructionParser::apply_matrix_modifiers() {
  Instruction& out = result_.instruction;
  if ((given_ & bit(Modifier::neg)) != 0) {  // in blgp's place
    if (row_->operands[3].field != Field::matrix_acc_f64) {
      return refuse(modifier_places_[static_cast<size_t>(Modifier::neg)], "the instruction has no such modifier");
    }
    out.blgp = neg_.bits;
  }
  if (!row_->has(flag::scaled)) return true;
  const bool high_given = (given_ & bit(Modifier::op_sel_hi)) != 0;
  for (unsigned i = 0; i < 2; ++i) {
    out.operands[4 + i].op_sel = op_sel_.at(i);
    out.operands[4 + i].op_sel_hi = high_given && op_sel_hi_.at(i);
  }
  return true;
}

}  // namespace Atoll::assembler
