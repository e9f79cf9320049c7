// isa: the encoder's matrix instructions (MFMA, WMMA), which are in VOP3P.
#include "isa/decoder.h"
#include "isa/encoder.h"

namespace Atoll::isa {

bool Encoder::matrix() {
  if (row_->has(flag::scaled)) return scaled_matrix();
  if (row_->has(flag::sparse) && in_.blgp != 0) return fail("blgp is not possible");
  if (row_->has(flag::matrix_formats) && in_.abid != 0) return fail("abid is not possible");
  return put(Bits::cbsz, in_.cbsz, "cbsz") && put(Bits::abid, in_.abid, "abid") && put(Bits::blgp, in_.blgp, "blgp") &&
         operands() && accumulator_apart();
}

/// An accumulator of more than four registers is the destination or does not overlap it. (LLVM does not require
/// that of instructions whose sources have formats.)
bool Encoder::accumulator_apart() {
  const Operand &dst = in_.operands[0], &accumulator = in_.operands[3];
  const bool other =
      row_->has(flag::sparse | flag::matrix_formats) || in_.operand_count < 4 || dst.kind != accumulator.kind;
  if (other || dst.words <= 4 || dst.reg == accumulator.reg) return true;
  return dst.reg + dst.words <= accumulator.reg || accumulator.reg + accumulator.words <= dst.reg ||
         fail("the accumulator has to be the destination or to have no register in common with it");
}

/// v_mfma_ld_scale_b32 with the scales, and the matrix instruction after it, which says so.
bool Encoder::scaled_matrix() {
  if (!put(Bits::cbsz, in_.cbsz, "cbsz") || !put(Bits::blgp, in_.blgp, "blgp")) return false;
  set(Bits::abid, 1);
  if (in_.operand_count != 6) return fail("6 operands are needed, not {}", in_.operand_count);
  if (!operands()) return false;
  words_[2] = words_[0];
  words_[3] = words_[1];
  words_[0] = static_cast<uint32_t>(format_->prefix) << (32 - format_->prefix_bits);
  words_[1] = extension_;  // the scales
  set(Bits::opcode, codes_.value(Opcode::v_mfma_ld_scale_b32, Encoding::vop3p));
  const Operand &first = in_.operands[4], &second = in_.operands[5];
  set(Bits::op_sel, (first.op_sel ? 1u : 0u) | (second.op_sel ? 2u : 0u));
  set(Bits::op_sel_hi, (first.op_sel_hi ? 1u : 0u) | (second.op_sel_hi ? 2u : 0u));
  count_ = 4;
  return true;
}

bool Encoder::matrix_operand(const Operand& operand, Field field) {
  unsigned code = 0;
  // The destination's file is the accumulator's.
  const bool accumulation = !class_.vgpr || in_.operands[0].kind == OperandKind::agpr;
  switch (field) {
    case Field::matrix_dst:
      if (!vgpr(operand, field, code, accumulation)) return false;
      set(Bits::vdst, code);
      if (class_.vgpr) set(Bits::accumulation, accumulation ? 1 : 0);
      return true;
    case Field::matrix_src0:
    case Field::matrix_src1: {
      const bool first = field == Field::matrix_src0, agpr = operand.kind == OperandKind::agpr;
      if (!vgpr(operand, field, code, agpr)) return false;
      set(first ? Bits::src0 : Bits::src1, code + code::vgpr);
      if (agpr) set(Bits::source_accumulation, first ? 1 : 2);
      return true;
    }
    case Field::scale_src0:
    case Field::scale_src1:
      if (!source(operand, field, code)) return false;
      extension_ |= code << (field == Field::scale_src0 ? 0 : 9);
      return true;
    default:
      break;
  }
  if (operand.kind == OperandKind::constant) {
    if (!constant(operand, field, class_.type, code)) return false;
  } else {
    if (!vgpr(operand, field, code, accumulation)) return false;
    code += code::vgpr;
  }
  set(Bits::src2, code);
  return true;
}

/// WMMA's, which have half as many registers in waves of 64 lanes.
bool Encoder::wmma_operand(const Operand& operand, Field field) {
  unsigned code = 0;
  switch (field) {
    case Field::wmma_dst:
      if (!vgpr(operand, field, code)) return false;
      set(Bits::vdst, code);
      return true;
    case Field::wmma_src0:
    case Field::wmma_src1:
      if (!vgpr(operand, field, code)) return false;
      set(field == Field::wmma_src0 ? Bits::src0 : Bits::src1, code + code::vgpr);
      return true;
    case Field::wmma_index:
      if (!vgpr(operand, field, code)) return false;
      set(Bits::src2, code + code::vgpr);
      return true;
    default:
      break;
  }
  if (operand.kind == OperandKind::vgpr) {
    if (!vgpr(operand, field, code)) return false;
    code += code::vgpr;
  } else if (operand.kind != OperandKind::constant) {
    return wrong(field, "has to be vector registers or a constant");
  } else {
    class_.literal = true;  // what the decoder reads
    if (!constant(operand, field, class_.type, code)) return false;
  }
  set(Bits::src2, code);
  return true;
}

/// What the instruction that loads the scales of a WMMA says of them; they are the operands from there on.
bool Encoder::wmma_scales(unsigned position) {
  if (in_.operand_count != position + 2) return fail("{} operands are needed, not {}", position + 2, in_.operand_count);
  if (in_.scale_formats[0] > 3 || in_.scale_formats[1] > 3) return fail("there is no such scale format");
  const Operand &first = in_.operands[position], &second = in_.operands[position + 1];
  set(Bits::op_sel, (first.op_sel ? 1u : 0u) | (in_.matrix_reuse & 1u) << 2);
  set(Bits::op_sel_hi2, in_.matrix_reuse >> 1 & 1u);
  set(Bits::abs, in_.scale_formats[1]);
  words_[1] = extension_;  // the scales
  set(Bits::src2, code::vgpr);
  set(Bits::op_sel_hi, second.op_sel ? 1 : 0);
  set(Bits::neg, in_.scale_formats[0]);
  return true;
}

/// The instruction that loads the scales, and the WMMA after it.
bool Encoder::scaled_wmma() {
  if (in_.extension > Extension::literal) return fail("DPP is not possible");
  if (!operands() || !vop3p_modifiers()) return false;
  words_[2] = words_[0];
  words_[3] = words_[1];
  const bool pairs = words_of(row_->operands[4].type) == 2;
  words_[0] = static_cast<uint32_t>(format_->prefix) << (32 - format_->prefix_bits);
  set(Bits::opcode,
      codes_.value(pairs ? Opcode::v_wmma_ld_scale16_paired_b64 : Opcode::v_wmma_ld_scale_paired_b32, Encoding::vop3p));
  count_ = 4;
  return wmma_scales(4);
}

}  // namespace Atoll::isa
