// isa: the decoder's modifiers: VOP3, VOP3P, matrix instructions, SDWA and DPP.
#include <array>

#include "isa/decoder.h"

namespace Atoll::isa {

bool Decoder::vop3_modifiers() {
  const InstructionRow& row = *row_;
  bool carry = false;
  unsigned there = 0, modifiable = 0, ignored = 0;  // a bit for each source
  std::array<Operand*, 3> sources{};
  for (unsigned i = 0; i < out_.operand_count; ++i) {
    const OperandSpec& spec = row.operands[i];
    carry |= spec.field == Field::carry_out;
    const int index = source_index(spec.field);
    if (index < 0) continue;
    sources[static_cast<size_t>(index)] = &out_.operands[i];
    there |= 1u << index;
    if ((row.has(flag::neg) && is_float(spec.type)) || row.has(flag::neg_any)) {
      modifiable |= 1u << index;
    } else if (row.has(flag::slack)) {
      ignored |= 1u << index;
    }
  }
  if (row.has(flag::op_sel4)) ignored |= 0b100;

  const unsigned abs = carry ? 0 : bits(w0_, 8, 3);  // with a carry-out, its register is there
  const unsigned op_sel = carry ? 0 : bits(w0_, 11, 4);
  const unsigned neg = bits(w1_, 29, 3), omod = bits(w1_, 27, 2);
  const bool clamp = bit(w0_, 15);

  if (row.has(flag::bitop3)) {
    out_.immediate = static_cast<uint16_t>(omod << 6 | abs << 3 | neg);
  } else {
    if (((abs | neg) & ~(modifiable | ignored)) != 0) return false;
    if (omod != 0 && !row.has(flag::omod)) return false;
    out_.omod = static_cast<uint8_t>(omod);
    for (unsigned i = 0; i < 3; ++i) {
      if ((modifiable >> i & 1) == 0) continue;
      sources[i]->abs = (abs >> i & 1) != 0;
      sources[i]->neg = (neg >> i & 1) != 0;
    }
  }
  if (clamp && !row.has(flag::clamp)) return false;
  out_.clamp = clamp;

  if (row.has(flag::op_sel | flag::op_sel4)) {
    if ((op_sel & 0b111 & ~(there | (row.has(flag::op_sel4) ? 0b100u : 0u))) != 0) return false;
    for (unsigned i = 0; i < 3; ++i) {
      if (sources[i] != nullptr) sources[i]->op_sel = (op_sel >> i & 1) != 0;
    }
    out_.op_sel_dst = (op_sel & 0b1000) != 0;
    if (row.has(flag::op_sel4)) out_.dst_sel = static_cast<SdwaSelect>(op_sel >> 2);  // a byte of the result
  } else if (row.has(flag::swap_control)) {
    out_.dpp.fetch_inactive = (op_sel & 1) != 0;
    out_.dpp.bound_ctrl = (op_sel & 2) != 0;
  } else if (row.has(flag::op_sel_dst)) {  // v_interp_p2_f16
    out_.operands[2].op_sel = (op_sel & 0b0001) != 0;
    sources[2]->op_sel = (op_sel & 0b0100) != 0;
    out_.op_sel_dst = (op_sel & 0b1000) != 0;
  } else if (row.has(flag::bitop3) && op_sel != 0) {
    return false;
  }
  return true;
}

bool Decoder::vop3p_modifiers() {
  const InstructionRow& row = *row_;
  unsigned there = 0;
  std::array<Operand*, 3> sources{};
  for (unsigned i = 0; i < out_.operand_count; ++i) {
    const int index = source_index(row.operands[i].field);
    if (index < 0) continue;
    sources[static_cast<size_t>(index)] = &out_.operands[i];
    there |= 1u << index;
  }
  const unsigned neg_hi = bits(w0_, 8, 3), neg = bits(w1_, 29, 3), op_sel = bits(w0_, 11, 3);
  const unsigned op_sel_hi = bits(w1_, 27, 2) | (bit(w0_, 14) ? 0b100u : 0u);
  if (!row.has(flag::clamp) && !row.has(flag::op_sel)) return (neg_hi | neg | op_sel) == 0;  // v_accvgpr_*
  if (out_.destinations == 0 && bits(w0_, 0, 8) != 0) return false;
  if (bit(w0_, 15) && !row.has(flag::clamp)) return false;
  if (((neg_hi | neg) & ~there) != 0) return false;
  if ((op_sel & ~(row.has(flag::op_sel) ? there : 0u)) != 0) return false;
  out_.clamp = bit(w0_, 15);
  for (unsigned i = 0; i < 3; ++i) {
    if (sources[i] == nullptr) continue;
    Operand& source = *sources[i];
    source.neg = (neg >> i & 1) != 0 && !row.has(flag::slack);
    const bool hi = (neg_hi >> i & 1) != 0 && !row.has(flag::slack);
    if (row.has(flag::op_sel)) {
      source.op_sel = (op_sel >> i & 1) != 0;
      source.op_sel_hi = (op_sel_hi >> i & 1) != 0;
    }
    if (!row.has(flag::mix)) {
      source.neg_hi = hi;
      continue;
    }
    source.abs = hi;
    // A source is a half if op_sel_hi is set, else a float, and sees constants so.
    if (!source.op_sel_hi && source.kind == OperandKind::constant) {
      const unsigned number = bits(w1_, i * 9, 9);
      source = {.neg = source.neg, .abs = source.abs, .op_sel = source.op_sel};
      scalar_source(source, number, DataType::f32, false);
    }
    source.type = source.op_sel_hi ? DataType::f16 : DataType::f32;
  }
  return true;
}

bool Decoder::matrix_modifiers() {
  out_.cbsz = static_cast<uint8_t>(bits(w0_, 8, 3));
  out_.abid = static_cast<uint8_t>(bits(w0_, 11, 4));
  out_.blgp = static_cast<uint8_t>(bits(w1_, 29, 3));
  if (row_->has(flag::sparse) && out_.blgp != 0) return false;
  if (row_->has(flag::matrix_formats) && out_.abid != 0) return false;
  return true;
}

bool Decoder::sdwa_word() {
  const InstructionRow& row = *row_;
  std::array<Operand*, 2> sources{};
  unsigned position = 0;
  for (const OperandSpec& spec : row.operands) {
    if (spec.field == Field::none) break;
    const int index = source_index(spec.field);
    if (index == 0 || index == 1) sources[static_cast<size_t>(index)] = &out_.operands[position];
    ++position;
  }
  if (out_.encoding != Encoding::vopc) {
    const unsigned select = bits(w1_, 8, 3), unused = bits(w1_, 11, 2);
    if (select > 6 || unused > 2) return false;
    out_.dst_sel = static_cast<SdwaSelect>(select);
    if (row.has(flag::sdwa_whole)) {
      if (out_.dst_sel != SdwaSelect::dword) return false;
    } else {
      out_.dst_unused = static_cast<SdwaUnused>(unused);
    }
    out_.clamp = bit(w1_, 13);
    out_.omod = static_cast<uint8_t>(bits(w1_, 14, 2));
    if (out_.omod != 0 && !(row.has(flag::omod) && is_float(row.operands[0].type))) return false;
  }
  for (unsigned i = 0; i < 2; ++i) {
    const uint32_t field = bits(w1_, 16 + 8 * i, 8);
    if (sources[i] == nullptr) {
      if ((field & 0b10111111) != 0) return false;
      continue;
    }
    const unsigned select = field & 7;
    if (select > 6) return false;
    Operand& source = *sources[i];
    source.sdwa = static_cast<SdwaSelect>(select);
    source.sext = bit(field, 3);
    source.neg = bit(field, 4);
    source.abs = bit(field, 5);
  }
  // Floats have neg and abs, integers sext. The operands themselves are read afterwards and keep these.
  for (const OperandSpec& spec : row.operands) {
    const int index = source_index(spec.field);
    if (index != 0 && index != 1) continue;
    const Operand& source = *sources[static_cast<size_t>(index)];
    const bool floats = is_float(spec.type) || row.has(flag::neg_any);
    if (floats ? source.sext : source.neg || source.abs) return false;
  }
  return true;
}

bool Decoder::dpp_word() {
  const InstructionRow& row = *row_;
  Dpp& dpp = out_.dpp;
  dpp.control = bits(w1_, 8, 9);
  dpp.bound_ctrl = bit(w1_, 19);
  dpp.bank_mask = static_cast<uint8_t>(bits(w1_, 24, 4));
  dpp.row_mask = static_cast<uint8_t>(bits(w1_, 28, 4));
  const bool newbcast = map_.layout.row_newbcast && dpp.control >= 0x150 && dpp.control <= 0x15F;
  switch (dpp.control >> 4) {
    case 0x10:
    case 0x11:
    case 0x12:  // row_shl, row_shr, row_ror by 1 to 15
      if ((dpp.control & 15) == 0) return false;
      break;
    case 0x13:  // wave_shl, wave_rol, wave_shr, wave_ror
      if ((dpp.control & 3) != 0) return false;
      break;
    case 0x14:  // row_mirror, row_half_mirror, row_bcast:15, row_bcast:31
      if ((dpp.control & 15) > 3) return false;
      break;
    default:
      if (dpp.control > 0xFF && !newbcast) return false;
      break;
  }
  unsigned position = 0, modifiable = 0;
  for (const OperandSpec& spec : row.operands) {
    if (spec.field == Field::none) break;
    Operand& source = out_.operands[position++];
    const int index = source_index(spec.field);
    if (index != 0 && index != 1) continue;
    if (index == 0 && words_of(spec.type) == 2 && map_.layout.row_newbcast && !newbcast) return false;
    const bool floats = (is_float(spec.type) && row.has(flag::neg)) || row.has(flag::neg_any);
    if (!floats && !row.has(flag::slack)) continue;
    modifiable |= 3u << (2 * index);
    if (!floats) continue;
    source.neg = bit(w1_, 20 + 2 * static_cast<unsigned>(index));
    source.abs = bit(w1_, 21 + 2 * static_cast<unsigned>(index));
  }
  return (bits(w1_, 20, 4) & ~modifiable) == 0;
}

}  // namespace Atoll::isa
