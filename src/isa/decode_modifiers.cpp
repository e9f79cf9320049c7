// isa: the decoder's modifiers: VOP3, VOP3P, matrix instructions, SDWA and DPP.
#include <algorithm>
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
    } else if (row.has(flag::permlane) &&
               map_.generation < target::Generation::gfx11) {  // ROCm 5.2's compiler sets them
      ignored |= 1u << index;
    } else if (map_.layout.true16 && is_half(spec.type)) {
      ignored |= 1u << index;
    }
  }
  if (row.has(flag::op_sel4) && !map_.layout.byte_select) ignored |= 0b100;

  const unsigned abs = carry ? 0 : get(Bits::abs);  // with a carry-out, its register is there
  const unsigned op_sel = carry ? 0 : get(Bits::op_sel);
  const unsigned neg = get(Bits::neg), omod = get(Bits::omod);
  // Until GFX7 the register of the carry-out is where others have clamp.
  const bool clamp = is(Bits::clamp) && (map_.layout.integer_clamp || !carry);
  const bool dpp = out_.extension == Extension::dpp16 || out_.extension == Extension::dpp8;

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
  if (clamp && !map_.layout.clamps(row)) return false;
  out_.clamp = clamp;

  const bool halves = map_.layout.true16 &&
                      std::ranges::any_of(row.operands, [](const OperandSpec& spec) { return is_half(spec.type); });
  if (halves && !row.has(flag::op_sel | flag::op_sel4 | flag::byte_source)) {
    // Bits of what is there say which half. Further bits make LLVM read an older form without halves.
    const bool has_dst = is_half(row.operands[0].type) || row.operands[0].field == Field::vdst;
    if ((op_sel & ~(there | (has_dst ? 0b1000u : 0u))) != 0) {
      if ((!row.has(flag::neg) && ((abs | neg) & ignored) != 0) || row.has(flag::true16_only) ||
          (!map_.suffixed[static_cast<size_t>(out_.opcode)] && row.has(flag::clamp))) {
        return false;
      }
      for (Operand& operand : out_.operands) operand.half = false;
    } else {
      select_halves(sources, op_sel);
    }
  } else if (row.has(flag::byte_source)) {  // the lower bit of its number stands above the higher
    const bool half = out_.operands[0].half;
    if ((op_sel & (half ? 0b0100 : 0b1100)) != 0 && (half || !dpp)) return false;
    out_.op_sel_dst = out_.operands[0].op_sel = half && (op_sel & 0b1000) != 0;
    sources[0]->sdwa = static_cast<SdwaSelect>((op_sel & 1) << 1 | (op_sel >> 1 & 1));
  } else if (row.has(flag::op_sel4) && map_.layout.byte_select) {
    if (row.has(flag::op_sel)) {
      sources[0]->op_sel = (op_sel & 1) != 0;
      sources[1]->op_sel = (op_sel & 2) != 0;
    } else if ((op_sel & 0b0011) != 0 && !dpp) {
      return false;
    }
    out_.dst_sel = static_cast<SdwaSelect>(op_sel >> 2);
  } else if (row.has(flag::op_sel | flag::op_sel4)) {
    if ((op_sel & 0b111 & ~(there | (row.has(flag::op_sel4) ? 0b100u : 0u))) != 0) return false;
    select_halves(sources, op_sel);
    if (row.has(flag::op_sel4)) out_.dst_sel = static_cast<SdwaSelect>(op_sel >> 2);  // a byte of the result
  } else if (row.has(flag::permlane)) {
    if ((op_sel & 0b100 & ~there) != 0) return false;
    sources[0]->op_sel = (op_sel & 1) != 0;
    sources[1]->op_sel = (op_sel & 2) != 0;
  } else if (row.has(flag::scale_select)) {
    out_.immediate = static_cast<uint16_t>(op_sel);
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

void Decoder::select_halves(std::span<Operand* const> sources, unsigned op_sel) {
  for (unsigned i = 0; i < sources.size(); ++i) {
    if (sources[i] == nullptr) continue;
    // Dot products always read whole registers.
    const bool dot = row_->operands[3].field != Field::none;
    const bool whole = map_.layout.true16 && (dot || !row_->has(flag::op_sel));
    if (whole && is_packed(sources[i]->type)) continue;
    sources[i]->op_sel = (op_sel >> i & 1) != 0;
  }
  out_.op_sel_dst = (op_sel & 0b1000) != 0;
  if (out_.operands[0].half) out_.operands[0].op_sel = out_.op_sel_dst;
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
  const unsigned neg_hi = get(Bits::abs), neg = get(Bits::neg);
  unsigned op_sel = get(Bits::op_sel);
  const unsigned op_sel_hi = get(Bits::op_sel_hi) | get(Bits::op_sel_hi2) << 2;
  if (row.has(flag::neg_low_sources) && (neg_hi != 0 || (neg & 0b100) != 0)) return false;
  if (row.has(flag::neg_accumulator) && ((neg_hi | neg) & 0b011) != 0) return false;
  if (row.has(flag::neg_hi_accumulator) && (neg_hi & 0b011) != 0) return false;
  if (row.has(flag::matrix_formats)) {
    out_.cbsz = static_cast<uint8_t>(op_sel);
    out_.blgp = static_cast<uint8_t>(op_sel_hi);
    op_sel = 0;
  } else if (row.has(flag::wmma | flag::neg_accumulator) && map_.layout.split_matrices) {
    if (row.has(flag::reuse)) {
      if ((op_sel_hi & 0b011) != 0b011) return false;
      out_.matrix_reuse = static_cast<uint8_t>(op_sel >> 2 | (op_sel_hi >> 2) << 1);
      op_sel &= 0b011;
    } else if (op_sel_hi != 0b111) {
      return false;
    }
    if (row.operands[3].field == Field::wmma_index) {
      if (((neg_hi | neg) & 0b100) != 0 || (((neg_hi | neg) != 0) && !row.has(flag::neg | flag::neg_low_sources)))
        return false;
      if (op_sel >= map_.index_keys(row)) return false;
      out_.abid = static_cast<uint8_t>(op_sel);
      op_sel = 0;
    }
  }
  if (!row.has(flag::clamp | flag::op_sel | flag::wmma | flag::neg_accumulator))
    return (neg_hi | neg | op_sel) == 0;  // v_accvgpr_*
  if (out_.destinations == 0 && get(Bits::vdst) != 0) return false;
  if (is(Bits::clamp) && !row.has(flag::clamp)) return false;
  if (((neg_hi | neg) & ~there) != 0) return false;
  if ((op_sel & ~(row.has(flag::op_sel) ? there : 0u)) != 0) return false;
  out_.clamp = is(Bits::clamp);
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
      const unsigned number = get(i == 0 ? Bits::src0 : i == 1 ? Bits::src1 : Bits::src2);
      source = {.neg = source.neg, .abs = source.abs, .op_sel = source.op_sel};
      scalar_source(source, number, DataType::f32);
    }
    if (!source.op_sel_hi) source.type = DataType::f32;
  }
  return true;
}

bool Decoder::matrix_modifiers() {
  out_.cbsz = static_cast<uint8_t>(get(Bits::cbsz));
  out_.abid = static_cast<uint8_t>(get(Bits::abid));
  out_.blgp = static_cast<uint8_t>(get(Bits::blgp));
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
    const unsigned select = bits(extension_, 8, 3), unused = bits(extension_, 11, 2);
    if (select > 6 || unused > 2) return false;
    out_.dst_sel = static_cast<SdwaSelect>(select);
    if (row.has(flag::sdwa_whole)) {
      if (out_.dst_sel != SdwaSelect::dword) return false;
    } else {
      out_.dst_unused = static_cast<SdwaUnused>(unused);
    }
    out_.clamp = bit(extension_, 13);
    if (map_.layout.scalar_sdwa) out_.omod = static_cast<uint8_t>(bits(extension_, 14, 2));
    if (out_.omod != 0 && !(row.has(flag::omod) && is_float(row.operands[0].type))) return false;
  }
  if (out_.encoding == Encoding::vopc && !map_.layout.scalar_sdwa) out_.clamp = bit(extension_, 13);
  for (unsigned i = 0; i < 2; ++i) {
    const uint32_t field = bits(extension_, 16 + 8 * i, 8);
    if (sources[i] == nullptr) {
      if ((field & (map_.layout.scalar_sdwa ? 0b10111111 : 0b00111111)) != 0) return false;
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

bool Decoder::dpp_control(unsigned control) const {
  const Layout& layout = map_.layout;
  switch (control >> 4) {
    case 0x10:
    case 0x11:
    case 0x12:  // row_shl, row_shr, row_ror by 1 to 15
      return (control & 15) != 0;
    case 0x13:  // wave_shl, wave_rol, wave_shr, wave_ror
      return layout.wave_shifts && (control & 3) == 0;
    case 0x14:  // row_mirror, row_half_mirror, row_bcast:15, row_bcast:31
      return (control & 15) < (layout.wave_shifts ? 4u : 2u);
    case 0x15:
      return layout.row_newbcast || layout.row_share;
    case 0x16:
      return layout.row_share;
    default:
      return control <= 0xFF;
  }
}

bool Decoder::dpp16_word() {
  const InstructionRow& row = *row_;
  Dpp& dpp = out_.dpp;
  dpp.control = bits(extension_, dpp16::control);
  dpp.bound_ctrl = bits(extension_, dpp16::bound_ctrl) != 0;
  dpp.bank_mask = static_cast<uint8_t>(bits(extension_, dpp16::bank_mask));
  dpp.row_mask = static_cast<uint8_t>(bits(extension_, dpp16::row_mask));
  dpp.fetch_inactive = map_.layout.fetch_inactive && bits(extension_, dpp16::fetch_inactive) != 0;
  if (!dpp_control(dpp.control)) return false;
  const bool any_wide = std::ranges::any_of(row.operands, [](const OperandSpec& spec) {
    return words_of(spec.type) > 1 && spec.type != DataType::lane_mask;
  });
  if (any_wide && map_.layout.wide_row_share && (dpp.control >> 4) != 0x15) return false;
  const unsigned modifiers = bits(extension_, dpp16::modifiers);
  if (wide()) return true;  // VOP3 has its own modifiers
  const bool newbcast = map_.layout.row_newbcast && (dpp.control >> 4) == 0x15;
  unsigned position = 0, modifiable = 0;
  for (const OperandSpec& spec : row.operands) {
    if (spec.field == Field::none) break;
    Operand& source = out_.operands[position++];
    const int index = source_index(spec.field);
    if (index != 0 && index != 1) continue;
    if (index == 0 && words_of(spec.type) == 2 && map_.layout.row_newbcast && !newbcast) return false;
    const bool floats = (is_float(spec.type) && row.has(flag::neg)) || row.has(flag::neg_any);
    if (!floats && !row.has(flag::slack) && !(map_.layout.true16 && is_half(spec.type))) continue;
    modifiable |= 3u << (2 * index);
    if (!floats) continue;
    source.neg = bit(modifiers, 2 * static_cast<unsigned>(index));
    source.abs = bit(modifiers, 1 + 2 * static_cast<unsigned>(index));
  }
  return (modifiers & ~modifiable) == 0;
}

bool Decoder::dpp8_word(bool fetch_inactive) {
  out_.dpp.control = bits(extension_, dpp8::selects);
  out_.dpp.fetch_inactive = fetch_inactive;
  return true;
}

}  // namespace Atoll::isa
