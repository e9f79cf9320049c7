// isa: the encoder's modifiers: VOP3, VOP3P, SDWA and DPP.
#include <algorithm>
#include <array>

#include "isa/decoder.h"
#include "isa/encoder.h"

namespace Atoll::isa {

namespace {

/// A bit for each of three sources.
struct SourceBits {
  unsigned there = 0, neg = 0, abs = 0, neg_hi = 0, op_sel = 0, op_sel_hi = 0;
};

SourceBits source_bits(const Instruction& in, const InstructionRow& row) {
  SourceBits all;
  for (unsigned i = 0; i < in.operand_count && i < row.operands.size(); ++i) {
    const int index = source_index(row.operands[i].field);
    if (index < 0) continue;
    const Operand& operand = in.operands[i];
    const unsigned bit = 1u << index;
    all.there |= bit;
    all.neg |= operand.neg ? bit : 0;
    all.abs |= operand.abs ? bit : 0;
    all.neg_hi |= operand.neg_hi ? bit : 0;
    all.op_sel |= operand.op_sel ? bit : 0;
    all.op_sel_hi |= operand.op_sel_hi ? bit : 0;
  }
  return all;
}

}  // namespace

/// Nothing but halves of registers is possible in the base encodings.
bool Encoder::no_modifiers() {
  const std::string_view encoding = encoding_name(in_.encoding);
  if (in_.clamp) return fail("clamp is not possible in {}", encoding);
  if (in_.omod != 0) return fail("mul and div are not possible in {}", encoding);
  for (unsigned i = 0; i < in_.operand_count; ++i) {
    const Operand& operand = in_.operands[i];
    if (operand.neg || operand.abs) return fail("neg and abs are not possible in {}", encoding);
    if (operand.sext) return fail("sext is not possible in {}", encoding);
    if (operand.op_sel && !operand.half) return fail("op_sel is not possible in {}", encoding);
  }
  return true;
}

bool Encoder::vop3_modifiers() {
  const InstructionRow& row = *row_;
  const SourceBits bits = source_bits(in_, row);
  bool carry = false;
  unsigned modifiable = 0;
  for (const OperandSpec& spec : row.operands) {
    carry |= spec.field == Field::carry_out;
    const int index = source_index(spec.field);
    if (index < 0) continue;
    if ((row.has(flag::neg) && is_float(spec.type)) || row.has(flag::neg_any)) modifiable |= 1u << index;
  }
  if (in_.clamp && !layout_.clamps(row)) return fail("clamp is not possible");
  set(Bits::clamp, in_.clamp ? 1 : 0);

  unsigned op_sel = bits.op_sel;
  const bool high = in_.op_sel_dst || (in_.operands[0].half && in_.operands[0].op_sel);
  if (row.has(flag::bitop3)) {
    if (in_.immediate > 0xFF) return fail("the truth table has to be from 0 to 255");
    if ((bits.neg | bits.abs) != 0 || in_.omod != 0) return fail("neg, abs, mul and div are not possible");
    set(Bits::omod, in_.immediate >> 6 & 3u);
    set(Bits::abs, in_.immediate >> 3 & 7u);
    set(Bits::neg, in_.immediate & 7u);
  } else {
    if ((bits.neg & ~modifiable) != 0) return fail("neg is possible on floats only");
    if ((bits.abs & ~modifiable) != 0) return fail("abs is possible on floats only");
    if (carry && bits.abs != 0) return fail("abs is not possible");
    if (in_.omod > 3 || (in_.omod != 0 && !row.has(flag::omod))) return fail("mul and div are not possible");
    if (!carry) set(Bits::abs, bits.abs);
    set(Bits::neg, bits.neg);
    set(Bits::omod, in_.omod);
  }
  const bool halves =
      layout_.true16 && std::ranges::any_of(row.operands, [](const OperandSpec& spec) { return is_half(spec.type); });
  if (row.has(flag::scale_select)) {
    op_sel = in_.immediate;
  } else if (row.has(flag::byte_source)) {
    const SdwaSelect select = in_.src(0).sdwa;
    const unsigned byte = select == SdwaSelect::dword ? 0 : static_cast<unsigned>(select) & 3;
    op_sel = byte >> 1 | (byte & 1) << 1 | (high ? 8u : 0u);
  } else if (row.has(flag::op_sel4)) {
    op_sel = (op_sel & 3) | (static_cast<unsigned>(in_.dst_sel) & 3) << 2;
  } else if (row.has(flag::swap_control)) {
    op_sel = (in_.dpp.fetch_inactive ? 1u : 0u) | (in_.dpp.bound_ctrl ? 2u : 0u);
  } else if (row.has(flag::op_sel_dst)) {  // v_interp_p2_f16
    op_sel = (in_.operands[2].op_sel ? 1u : 0u) | (bits.op_sel & 4) | (high ? 8u : 0u);
  } else if (row.has(flag::op_sel) || halves) {
    op_sel |= high ? 8u : 0u;
  } else if ((op_sel != 0 && !row.has(flag::permlane)) || high) {
    return fail("op_sel is not possible");
  }
  return carry || put(Bits::op_sel, op_sel, "op_sel");
}

bool Encoder::vop3p_modifiers() {
  const InstructionRow& row = *row_;
  const SourceBits bits = source_bits(in_, row);
  const bool mix = row.has(flag::mix);
  if (in_.clamp && !row.has(flag::clamp)) return fail("clamp is not possible");
  if (in_.omod != 0) return fail("mul and div are not possible in VOP3P");
  if (!mix && bits.abs != 0) return fail("abs is not possible");
  if (mix && bits.neg_hi != 0) return fail("neg_hi is not possible");
  const bool modifiable =
      row.has(flag::clamp | flag::op_sel | flag::wmma | flag::neg_accumulator) && !row.has(flag::slack);
  if (!modifiable && (bits.neg | bits.abs | bits.neg_hi) != 0) return fail("neg_lo and neg_hi are not possible");
  if (!row.has(flag::op_sel) && bits.op_sel != 0) return fail("op_sel is not possible");
  for (unsigned i = 0; layout_.packed_scalars_low && i < in_.operand_count && i < row.operands.size(); ++i) {
    const Operand& operand = in_.operands[i];
    const bool is_pair = row.operands[i].type == DataType::v2f32 && operand.kind != OperandKind::vgpr &&
                         operand.kind != OperandKind::constant && operand.reg != scalar::null;
    if (is_pair && (operand.op_sel || operand.op_sel_hi)) {
      return wrong(row.operands[i].field, "is its lower register for both halves on {}: op_sel_hi has to be 0",
                   processor_.name);
    }
  }
  const unsigned negated = bits.neg | bits.neg_hi;
  if (row.has(flag::neg_low_sources) && (bits.neg_hi != 0 || (bits.neg & 0b100) != 0)) {
    return fail("neg_lo of the first two sources is possible alone");
  }
  if (row.has(flag::neg_accumulator) && (negated & 0b011) != 0) {
    return fail("neg_lo and neg_hi are possible on the third source alone");
  }
  if (row.has(flag::neg_hi_accumulator) && (bits.neg_hi & 0b011) != 0) {
    return fail("neg_hi is possible on the third source alone");
  }
  set(Bits::clamp, in_.clamp ? 1 : 0);
  set(Bits::neg, bits.neg);
  set(Bits::abs, mix ? bits.abs : bits.neg_hi);
  if (row.has(flag::matrix_formats)) {
    if (in_.cbsz > 4 || in_.blgp > 4) return fail("there is no such matrix format");
    set(Bits::op_sel, in_.cbsz);
    set(Bits::op_sel_hi, in_.blgp & 3u);
    set(Bits::op_sel_hi2, in_.blgp >> 2);
    return true;
  }
  set(Bits::op_sel, row.operands[3].field == Field::wmma_index ? in_.abid : bits.op_sel);
  if (row.has(flag::reuse)) {
    set(Bits::op_sel, (in_.matrix_reuse & 1u) << 2);
    set(Bits::op_sel_hi, 3);
    set(Bits::op_sel_hi2, in_.matrix_reuse >> 1 & 1u);
    return true;
  }
  if (in_.matrix_reuse != 0 && !row.has(flag::scaled))
    return fail("matrix_a_reuse and matrix_b_reuse are not possible");
  // Without op_sel_hi, and of sources that are not there, its bits are set; of mixed ones they say that it is a half.
  unsigned op_sel_hi = row.has(flag::op_sel) ? bits.op_sel_hi : bits.there;
  if (!mix) op_sel_hi |= ~bits.there;
  set(Bits::op_sel_hi, op_sel_hi & 3);
  set(Bits::op_sel_hi2, op_sel_hi >> 2 & 1);
  return true;
}

// --- Words after the instruction -----------------------------------------------------------------------------------

bool Encoder::extension() {
  switch (in_.extension) {
    case Extension::sdwa:
      set(Bits::src0, code::sdwa);
      return sdwa_word() && further_word(extension_);
    case Extension::dpp16:
      set(Bits::src0, code::dpp);
      return dpp_allowed() && dpp16_word() && further_word(extension_);
    case Extension::dpp8:
      set(Bits::src0, in_.dpp.fetch_inactive ? code::dpp8_fetch_inactive : code::dpp8);
      return dpp_allowed() && dpp8_word() && further_word(extension_);
    default:
      return true;
  }
}

bool Encoder::dpp_allowed() {
  bool allowed = map_.has_dpp(*row_, in_.encoding, in_.extension == Extension::dpp8);
  // Where it is not row_newbcast, which sources can have too, operands of 64 bits are possible as the destination only.
  if (layout_.wide_dpp && !layout_.row_newbcast) {
    allowed = allowed && std::ranges::none_of(row_->operands, [](const OperandSpec& spec) {
                return words_of(spec.type) > 1 && spec.type != DataType::lane_mask && spec.field != Field::vdst;
              });
  }
  return allowed || fail("DPP is not possible in {} on {}", encoding_name(in_.encoding), processor_.name);
}

bool Encoder::sdwa_word() {
  const InstructionRow& row = *row_;
  if (!layout_.sdwa || !row.has(flag::sdwa) || wide()) {
    return fail("SDWA is not possible in {} on {}", encoding_name(in_.encoding), processor_.name);
  }
  const auto put = [&](unsigned low, unsigned value) { extension_ |= value << low; };
  if (in_.encoding == Encoding::vopc) {
    if (in_.clamp && layout_.scalar_sdwa) return fail("clamp is not possible in VOPC");
    if (in_.omod != 0) return fail("mul and div are not possible in VOPC");
  } else {
    if (row.has(flag::sdwa_whole) && in_.dst_sel != SdwaSelect::dword) return fail("dst_sel is not possible");
    if (in_.dst_sel > SdwaSelect::dword || in_.dst_unused > SdwaUnused::preserve)
      return fail("there is no such select");
    put(8, static_cast<unsigned>(in_.dst_sel));
    put(11, static_cast<unsigned>(row.has(flag::sdwa_whole) ? SdwaUnused::pad : in_.dst_unused));
    if (in_.omod > 3 ||
        (in_.omod != 0 && !(layout_.scalar_sdwa && row.has(flag::omod) && is_float(row.operands[0].type)))) {
      return fail("mul and div are not possible with SDWA");
    }
    put(14, in_.omod);
  }
  put(13, in_.clamp ? 1 : 0);
  unsigned position = 0;
  for (const OperandSpec& spec : row.operands) {
    if (spec.field == Field::none) break;
    const Operand& source = in_.operands[position++];
    const int index = source_index(spec.field);
    if (index != 0 && index != 1) continue;
    const bool floats = is_float(spec.type) || row.has(flag::neg_any);
    if (floats ? source.sext : source.neg || source.abs) {
      return wrong(spec.field, "can have {}", floats ? "neg and abs, but not sext" : "sext, but not neg and abs");
    }
    if (source.sdwa > SdwaSelect::dword) return fail("there is no such select");
    const unsigned low = 16 + 8 * static_cast<unsigned>(index);
    put(low, static_cast<unsigned>(source.sdwa) | (source.sext ? 8u : 0u) | (source.neg ? 16u : 0u) |
                 (source.abs ? 32u : 0u));
  }
  return true;
}

bool Encoder::dpp_control() {
  const unsigned control = in_.dpp.control;
  bool good = control <= 0xFF;
  switch (control >> 4) {
    case 0x10:
    case 0x11:
    case 0x12:  // row_shl, row_shr, row_ror by 1 to 15
      good = (control & 15) != 0;
      break;
    case 0x13:  // wave_shl, wave_rol, wave_shr, wave_ror
      good = layout_.wave_shifts && (control & 3) == 0;
      break;
    case 0x14:  // row_mirror, row_half_mirror, row_bcast:15, row_bcast:31
      good = (control & 15) < (layout_.wave_shifts ? 4u : 2u);
      break;
    case 0x15:
      good = layout_.row_newbcast || layout_.row_share;
      break;
    case 0x16:
      good = layout_.row_share;
      break;
    default:
      break;
  }
  return good || fail("{} has no such DPP control", processor_.name);
}

bool Encoder::dpp16_word() {
  const Dpp& dpp = in_.dpp;
  if (!dpp_control()) return false;
  if (dpp.fetch_inactive && !layout_.fetch_inactive) return fail("fi is not possible on {}", processor_.name);
  if (dpp.row_mask > 15 || dpp.bank_mask > 15) return fail("row_mask and bank_mask have to be from 0 to 15");
  const auto put = [&](BitRange range, unsigned value) { extension_ |= value << range.low; };
  put(dpp16::control, dpp.control);
  put(dpp16::fetch_inactive, dpp.fetch_inactive ? 1 : 0);
  put(dpp16::bound_ctrl, dpp.bound_ctrl ? 1 : 0);
  put(dpp16::bank_mask, dpp.bank_mask);
  put(dpp16::row_mask, dpp.row_mask);
  if (wide()) return true;  // VOP3 has its own modifiers
  if (in_.clamp) return fail("clamp is not possible in {} with DPP", encoding_name(in_.encoding));
  if (in_.omod != 0) return fail("mul and div are not possible in {} with DPP", encoding_name(in_.encoding));
  const bool newbcast = layout_.row_newbcast && (dpp.control >> 4) == 0x15;
  unsigned position = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::none) break;
    const Operand& source = in_.operands[position++];
    const int index = source_index(spec.field);
    if (index != 0 && index != 1) continue;
    if (index == 0 && words_of(spec.type) == 2 && layout_.row_newbcast && !newbcast) {
      return fail("DPP on operands of 64 bits has to be row_newbcast");
    }
    const bool floats = (is_float(spec.type) && row_->has(flag::neg)) || row_->has(flag::neg_any);
    if ((source.neg || source.abs) && !floats) return wrong(spec.field, "cannot have neg and abs");
    if (source.neg) extension_ |= 1u << (dpp16::modifiers.low + 2 * static_cast<unsigned>(index));
    if (source.abs) extension_ |= 2u << (dpp16::modifiers.low + 2 * static_cast<unsigned>(index));
  }
  return true;
}

bool Encoder::dpp8_word() {
  if (in_.dpp.control > 0xFFFFFF) return fail("dpp8 has eight selects from 0 to 7");
  extension_ |= in_.dpp.control << dpp8::selects.low;
  return wide() || no_modifiers();
}

}  // namespace Atoll::isa
