// isa: the printer's modifiers: what stands after the operands.
#include <algorithm>
#include <array>
#include <bit>

#include "isa/buffer_formats.h"
#include "isa/modifier_names.h"
#include "isa/printer.h"

namespace Atoll::isa {

void Printer::modifiers() {
  switch (in_.encoding) {
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
    case Encoding::vop3:
      return vector_modifiers();
    case Encoding::vop3p:
      return row_.has(flag::matrix) ? matrix_modifiers() : packed_modifiers();
    case Encoding::vinterp:
      return interpolation();
    case Encoding::ldsdir:
      text_ += map_.layout.temporal_hints ? " wait_va_vdst:" : " wait_vdst:";
      decimal(in_.wait_exp);
      if (map_.layout.temporal_hints) (text_ += " wait_vm_vsrc:") += in_.wait_vm_vsrc ? '1' : '0';
      return;
    case Encoding::smem:
      if (map_.layout.temporal_hints) return cache_policy();
      return flag(in_.glc, "glc"), flag(in_.dlc, "dlc");
    case Encoding::ds:
      return offset(), flag(in_.gds, "gds");
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
      return offset(), cache_policy(), flag(in_.lds, "lds");
    case Encoding::mtbuf:
    case Encoding::mubuf:
      if (in_.encoding == Encoding::mtbuf) typed_format();
      flag(in_.idxen, "idxen");
      flag(in_.offen, "offen");
      flag(in_.addr64, "addr64");
      offset();
      if (row_.has(flag::from_lds)) text_ += " lds";
      cache_policy();
      flag(in_.tfe, "tfe");
      flag(in_.lds && !row_.has(flag::from_lds), "lds");
      return;
    case Encoding::mimg:
    case Encoding::vsample:
      if (row_.has(flag::ray)) return flag(in_.a16, "a16");
      if (row_.has(flag::tensor)) return flag(in_.r128, "r128"), cache_policy();
      if (in_.dmask != 0) {
        text_ += " dmask:";
        hexadecimal(in_.dmask);
      }
      if (map_.layout.dimensions) dimension();
      flag(in_.unorm, "unorm");
      cache_policy();
      flag(in_.r128, "r128");
      flag(in_.a16, "a16");
      flag(in_.tfe, "tfe");
      flag(in_.lwe, "lwe");
      flag(in_.da, "da");
      flag(in_.d16, "d16");
      return;
    case Encoding::exp:
      flag(in_.done, "done");
      flag(in_.compressed, "compr");
      flag(in_.valid_mask, "vm");
      flag(in_.row_enable, "row_en");
      return;
    default:
      return;
  }
}

void Printer::list(std::string_view name, bool Operand::* member, bool usual, bool with_destination) {
  bool unusual = with_destination && in_.op_sel_dst;
  const unsigned end = std::min<unsigned>(in_.operand_count, in_.destinations + 3u);  // scales have none
  for (unsigned i = in_.destinations; i < end; ++i) unusual |= in_.operands[i].*member != usual;
  if (!unusual) return;
  ((text_ += ' ') += name) += ":[";
  for (unsigned i = in_.destinations; i < end; ++i) {
    if (i != in_.destinations) text_ += ',';
    text_ += in_.operands[i].*member ? '1' : '0';
  }
  // The old destination's bit, where it is a source like others.
  if (with_destination && row_.has(flag::reads_dst) && !row_.has(flag::op_sel) && map_.layout.true16) text_ += ",0";
  if (with_destination) (text_ += ',') += in_.op_sel_dst ? '1' : '0';
  text_ += ']';
}

void Printer::truth_table() {
  if (in_.immediate == 0) return;
  text_ += " bitop3:";
  if (in_.immediate <= 10) {
    decimal(in_.immediate);
  } else {
    hexadecimal(in_.immediate);
  }
}

void Printer::vector_modifiers() {
  if (row_.has(flag::bitop3)) truth_table();
  if (in_.encoding == Encoding::vop3) {
    for (unsigned i = 0; i < in_.operand_count; ++i) {
      flag(row_.operands[i].field == Field::attribute && (in_.operands[i].value >> 8 & 1) != 0, "high");
    }
    if (row_.has(flag::op_sel4)) byte_select();
    if (row_.has(flag::scale_select) && in_.immediate != 0) {
      text_ += " scale_sel:";
      decimal(in_.immediate);
    }
    if (row_.has(flag::byte_source) && in_.op_sel_dst) text_ += " op_sel:[0,1]";
    if (row_.has(flag::byte_source) && in_.src(0).sdwa != SdwaSelect::byte_0) {
      text_ += " byte_sel:";
      decimal(static_cast<int>(in_.src(0).sdwa));
    }
    const bool halves = map_.layout.true16 &&
                        std::ranges::any_of(row_.operands, [](const OperandSpec& spec) { return is_half(spec.type); });
    // Comparisons with DPP, and those that write EXEC, print selects of sources only.
    const bool two =
        (in_.extension == Extension::dpp16 || in_.extension == Extension::dpp8 || row_.has(flag::exec_out)) &&
        in_.destinations == 1 && row_.encoding == Encoding::vopc;
    const bool selects = std::ranges::any_of(row_.operands, [](const OperandSpec& spec) {
      return spec.field == Field::carry_in;  // v_cndmask_b16
    });
    if ((row_.has(flag::op_sel) || (halves && !selects)) && !row_.has(flag::op_sel4 | flag::byte_source))
      list("op_sel", &Operand::op_sel, false, !two);
    if (row_.has(flag::permlane) && (in_.src(0).op_sel || in_.src(1).op_sel)) {
      (((text_ += " op_sel:[") += in_.src(0).op_sel ? "1," : "0,") += in_.src(1).op_sel ? '1' : '0') += ']';
    }
    if (row_.has(flag::swap_control)) {
      flag(in_.dpp.bound_ctrl, "bound_ctrl:1");
      flag(in_.dpp.fetch_inactive, "fi:1");
    }
  }
  flag(in_.clamp, "clamp");
  if (row_.has(flag::op_sel_dst)) {  // after clamp, as v_interp_p2_f16 alone has it
    const std::array all{in_.operands[2].op_sel, false, in_.operands[3].op_sel, in_.op_sel_dst};
    select_list(all);
  }
  constexpr std::array<std::string_view, 4> omods{"", " mul:2", " mul:4", " div:2"};
  text_ += omods[in_.omod];
  if (in_.extension == Extension::sdwa) sdwa();
  if (in_.extension == Extension::dpp16) dpp();
  if (in_.extension == Extension::dpp8) dpp8();
}

void Printer::interpolation() {
  flag(in_.clamp, "clamp");
  list("op_sel", &Operand::op_sel, false, true);
  text_ += " wait_exp:";
  decimal(in_.wait_exp);
}

void Printer::dpp8() {
  text_ += " dpp8:[";
  for (unsigned i = 0; i < 8; ++i) {
    if (i != 0) text_ += ',';
    decimal(in_.dpp.control >> (3 * i) & 7);
  }
  text_ += ']';
  flag(in_.dpp.fetch_inactive, "fi:1");
}

/// op_sel of an instruction whose result is one byte of the destination: sources, then the byte's number.
void Printer::byte_select() {
  const auto byte = static_cast<unsigned>(in_.dst_sel) & 3;
  if (map_.layout.byte_select) {
    if (in_.src(0).op_sel || in_.src(1).op_sel) {
      (((text_ += " op_sel:[") += in_.src(0).op_sel ? "1," : "0,") += in_.src(1).op_sel ? "1" : "0") += ",0]";
    }
    if (byte == 0) return;
    text_ += " byte_sel:";
    return decimal(byte);
  }
  const std::array all{in_.src(0).op_sel, in_.src(1).op_sel, (byte & 1) != 0, (byte & 2) != 0};
  select_list(all);
}

void Printer::select_list(const std::array<bool, 4>& all) {
  if (all == std::array{false, false, false, false}) return;
  text_ += " op_sel:[";
  for (unsigned i = 0; i < all.size(); ++i) {
    if (i != 0) text_ += ',';
    text_ += all[i] ? '1' : '0';
  }
  text_ += ']';
}

void Printer::packed_modifiers() {
  if (row_.has(flag::op_sel)) {
    list("op_sel", &Operand::op_sel, false, false);
    list("op_sel_hi", &Operand::op_sel_hi, !row_.has(flag::mix), false);
  }
  if (row_.operands[3].field == Field::wmma_index && in_.abid != 0) {
    text_ += " index_key:";
    decimal(in_.abid);
  }
  if (row_.has(flag::matrix_formats)) {
    const auto& formats = names::matrix_formats;
    const auto format = [&](std::string_view name, unsigned value) {
      if (value == 0) return;
      (text_ += name) += value < formats.size() ? "MATRIX_FMT_" : "";
      if (value < formats.size()) {
        text_ += formats[value];
      } else {
        decimal(value);
      }
    };
    format(" matrix_a_fmt:", in_.cbsz);
    format(" matrix_b_fmt:", in_.blgp);
  }
  if (row_.operands[0].field == Field::scale_src0 || row_.has(flag::scaled)) scale_modifiers();
  flag((in_.matrix_reuse & 1) != 0, "matrix_a_reuse");
  flag((in_.matrix_reuse & 2) != 0, "matrix_b_reuse");
  if (!row_.has(flag::mix)) {
    list("neg_lo", &Operand::neg, false, false);
    list("neg_hi", &Operand::neg_hi, false, false);
  }
  flag(in_.clamp, "clamp");
  if (in_.extension == Extension::dpp16) dpp();
  if (in_.extension == Extension::dpp8) dpp8();
}

/// Prints the modifiers of the last two operands, the scales of a matrix instruction of GFX12.5.
void Printer::scale_modifiers() {
  const auto& formats = names::matrix_scale_formats;
  const unsigned scales = in_.operand_count - 2u;
  flag(in_.operands[scales].op_sel, "matrix_a_scale:MATRIX_SCALE_ROW1");
  flag(in_.operands[scales + 1].op_sel, "matrix_b_scale:MATRIX_SCALE_ROW1");
  for (size_t i = 0; i < in_.scale_formats.size(); ++i) {
    const unsigned format = in_.scale_formats[i];
    if (format == 0) continue;
    text_ += i == 0 ? " matrix_a_scale_fmt:" : " matrix_b_scale_fmt:";
    if (format < formats.size()) {
      (text_ += "MATRIX_SCALE_FMT_") += formats[format];
    } else {
      decimal(format);
    }
  }
}

void Printer::matrix_modifiers() {
  const auto number = [&](std::string_view name, unsigned value) {
    if (value == 0) return;
    (text_ += ' ') += name;
    decimal(value);
  };
  if (row_.has(flag::scaled)) {  // lists of three, of which the third is nothing
    const Operand &first = in_.operands[4], &second = in_.operands[5];
    const auto three = [&](std::string_view name, bool a, bool b) {
      (((((text_ += name) += a ? '1' : '0') += ',') += b ? '1' : '0') += ",0]");
    };
    if (first.op_sel || second.op_sel) three(" op_sel:[", first.op_sel, second.op_sel);
    three(" op_sel_hi:[", first.op_sel_hi, second.op_sel_hi);
  }
  number("cbsz:", in_.cbsz);
  number("abid:", in_.abid);
  const bool doubles = row_.operands[3].field == Field::matrix_acc_f64;
  if (doubles && processor_.has(target::Feature::gfx940_insts)) {  // blgp negates the sources of doubles
    if (in_.blgp == 0) return;
    text_ += " neg:[";
    for (unsigned i = 0; i < 3; ++i) {
      if (i != 0) text_ += ',';
      text_ += (in_.blgp >> i & 1) != 0 ? '1' : '0';
    }
    text_ += ']';
    return;
  }
  number("blgp:", in_.blgp);
}

void Printer::sdwa() {
  if (in_.encoding != Encoding::vopc && !row_.has(flag::sdwa_whole)) {
    (text_ += " dst_sel:") += names::sdwa_selects[static_cast<size_t>(in_.dst_sel)];
    (text_ += " dst_unused:") += names::sdwa_unused[static_cast<size_t>(in_.dst_unused)];
  }
  for (unsigned i = 0; i < in_.operand_count; ++i) {
    const Field field = row_.operands[i].field;
    const int index = source_index(field);
    if (index != 0 && index != 1) continue;
    text_ += index == 0 ? " src0_sel:" : " src1_sel:";
    text_ += names::sdwa_selects[static_cast<size_t>(in_.operands[i].sdwa)];
  }
}

void Printer::dpp() {
  const unsigned control = in_.dpp.control;
  constexpr std::array<std::string_view, 4> wave{"wave_shl:1", "wave_rol:1", "wave_shr:1", "wave_ror:1"};
  constexpr std::array<std::string_view, 4> rows{"row_mirror", "row_half_mirror", "row_bcast:15", "row_bcast:31"};
  text_ += ' ';
  if (control < 0x100) {
    text_ += "quad_perm:[";
    for (unsigned i = 0; i < 4; ++i) {
      if (i != 0) text_ += ',';
      decimal(control >> (2 * i) & 3);
    }
    text_ += ']';
  } else {
    switch (control >> 4) {
      case 0x10:
        text_ += "row_shl:";
        break;
      case 0x11:
        text_ += "row_shr:";
        break;
      case 0x12:
        text_ += "row_ror:";
        break;
      case 0x13:
        text_ += wave[control >> 2 & 3];
        break;
      case 0x14:
        text_ += rows[control & 3];
        break;
      case 0x15:
        text_ += map_.layout.row_share ? "row_share:" : "row_newbcast:";
        break;
      default:
        text_ += "row_xmask:";
        break;
    }
    if ((control >> 4) != 0x13 && (control >> 4) != 0x14) decimal(control & 15);
  }
  text_ += " row_mask:";
  hexadecimal(in_.dpp.row_mask);
  text_ += " bank_mask:";
  hexadecimal(in_.dpp.bank_mask);
  flag(in_.dpp.bound_ctrl, "bound_ctrl:1");
  if (map_.layout.fetch_inactive) flag(in_.dpp.fetch_inactive, "fi:1");
}

void Printer::offset() {
  if (in_.opcode == Opcode::ds_swizzle_b32) return swizzle();
  const bool two = row_.has(flag::two_offsets);
  if (in_.offset != 0) {
    text_ += two ? " offset0:" : " offset:";
    decimal(in_.offset);
  }
  if (two && in_.offset1 != 0) {
    text_ += " offset1:";
    decimal(in_.offset1);
  }
}

/// The modes of ds_swizzle_b32 (ISA guide, "DS_SWIZZLE_B32").
void Printer::swizzle() {
  const unsigned value = static_cast<unsigned>(in_.offset);
  if (value == 0) return;
  text_ += " offset:";
  if (!map_.layout.swizzle_modes && value >= 0xC000) return decimal(value);
  if (value >= 0xE000) {
    text_ += "swizzle(FFT,";
    decimal(value & 31);
    text_ += ')';
    return;
  }
  if (value >= 0xC000) {
    text_ += "swizzle(ROTATE,";
    decimal(value >> 10 & 1);
    text_ += ',';
    decimal(value >> 5 & 31);
    text_ += ')';
    return;
  }
  if ((value & 0xFF00) == 0x8000) {
    text_ += "swizzle(QUAD_PERM";
    for (unsigned i = 0; i < 4; ++i) {
      text_ += ',';
      decimal(value >> (2 * i) & 3);
    }
    text_ += ')';
    return;
  }
  if ((value & 0x8000) != 0) return decimal(value);
  // Lane l reads lane ((l & keep) | set) ^ flip of its group of 32.
  const unsigned keep = value & 31, set = value >> 5 & 31, flip = value >> 10 & 31;
  const unsigned group = 32 - keep;
  if (keep == 31 && set == 0 && std::has_single_bit(flip)) {
    text_ += "swizzle(SWAP,";
    decimal(flip);
  } else if (keep == 31 && set == 0 && flip > 0 && std::has_single_bit(flip + 1)) {
    text_ += "swizzle(REVERSE,";
    decimal(flip + 1);
  } else if (group > 1 && std::has_single_bit(group) && set < group && flip == 0) {
    text_ += "swizzle(BROADCAST,";
    decimal(group);
    text_ += ',';
    decimal(set);
  } else {
    text_ += "swizzle(BITMASK_PERM,\"";
    const unsigned of_zero = set ^ flip, of_ones = ((31 & keep) | set) ^ flip;
    for (unsigned mask = 16; mask != 0; mask >>= 1) {
      const bool zero = (of_zero & mask) != 0, one = (of_ones & mask) != 0;
      text_ += zero == one ? (zero ? '1' : '0') : (zero ? 'i' : 'p');
    }
    text_ += '"';
  }
  text_ += ')';
}

void Printer::cache_policy() {
  if (map_.layout.temporal_hints) {
    constexpr std::array<std::string_view, 4> scopes{"", " scope:SCOPE_SE", " scope:SCOPE_DEV", " scope:SCOPE_SYS"};
    flag(in_.scale_offset, "scale_offset");
    temporal_hint();
    text_ += scopes[in_.scope];
    return flag(in_.nv, "nv");
  }
  const bool renamed_bits = processor_.has(target::Feature::gfx940_insts);
  flag(in_.glc, renamed_bits ? "sc0" : "glc");
  flag(in_.slc, renamed_bits ? "nt" : "slc");
  flag(in_.dlc, "dlc");
  flag(in_.scc, renamed_bits ? "sc1" : "scc");
}

/// Which of the caches should keep the data, and for how long (ISA guide of RDNA4, "Memory Temporal Hints").
void Printer::temporal_hint() {
  constexpr unsigned device = 2, system = 3;
  const unsigned hint = in_.temporal_hint;
  if (hint == 0) return;
  text_ += " th:";
  if (row_.has(flag::atomic)) {
    const bool returns = (hint & 1) != 0, non_temporal = (hint & 2) != 0, cascade = (hint & 4) != 0;
    text_ += "TH_ATOMIC_";
    if (cascade && in_.scope >= device) {
      text_ += non_temporal ? "CASCADE_NT" : "CASCADE_RT";
    } else if (cascade) {
      hexadecimal(hint);
    } else if (non_temporal) {
      text_ += returns ? "NT_RETURN" : "NT";
    } else {
      text_ += "RETURN";
    }
    return;
  }
  const bool store = row_.has(flag::store) && !row_.has(flag::load);
  constexpr std::array<std::string_view, 8> hints{"", "NT", "HT", "", "NT_RT", "RT_NT", "NT_HT", "NT_WB"};
  constexpr unsigned last_use = 3, reserved = 7;
  if (hint == reserved && !store) return hexadecimal(hint);
  text_ += store ? "TH_STORE_" : "TH_LOAD_";
  if (hint == last_use) {
    text_ += in_.scope == system ? "BYPASS" : store ? "WB" : "LU";
  } else {
    text_ += hints[hint];
  }
}

void Printer::dimension() { (text_ += " dim:SQ_RSRC_IMG_") += names::dimensions[in_.dim]; }

void Printer::typed_format() {
  if (map_.layout.unified_formats) return unified_format();
  const bool data_shown = in_.data_format != names::usual_data_format,
             number_shown = in_.number_format != names::usual_number_format;
  if (!data_shown && !number_shown) return;
  text_ += " format:[";
  if (data_shown) (text_ += "BUF_DATA_FORMAT_") += names::data_formats[in_.data_format];
  if (data_shown && number_shown) text_ += ',';
  if (number_shown) (text_ += "BUF_NUM_FORMAT_") += names::number_formats_of(map_.layout.snorm_ogl)[in_.number_format];
  text_ += ']';
}

/// The one format number of GFX10 and later (ISA guides, "Buffer Image format").
void Printer::unified_format() {
  const std::string_view name = unified_format_name(in_.data_format, processor_.generation);
  if (in_.data_format == names::usual_unified_format) return;
  text_ += " format:";
  if (name.empty()) return decimal(in_.data_format);
  ((text_ += "[BUF_FMT_") += name) += ']';
}

}  // namespace Atoll::isa
