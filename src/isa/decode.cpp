// isa: the decoder.
//
// The first word's leading bits tell the encoding, a field of it the opcode. An OpcodeMap, made once for each
// processor out of the instruction table, maps opcodes to rows; a row's operands name the fields to read. What
// the encodings of one generation share (which bit means what) is in Layout. Each step reads from a bounds-checked
// buffer and answers whether the bits mean something; the first that do not make the whole an error.
//
// Sources: the vendor's ISA guides, chapter "Microcode Formats"; the LLVM disassembler's decisions about fields that
// are not used (ignored or refused), as tests/isa observes them.
#include "isa/decode.h"

#include "isa/decoder.h"

namespace Atoll::isa {

bool Decoder::run() {
  if (!word_at(0, w0_)) return false;
  out_.size = 4;
  if (!bit(w0_, 31)) {
    return bits(w0_, 25, 6) >= 0x3E ? vop1_or_vopc() : vop2();
  }
  if (!bit(w0_, 30)) return scalar_alu();
  switch (bits(w0_, 26, 6)) {
    case 0b110000:
      return smem();
    case 0b110001:
      return exp();
    case 0b110100:
      return bits(w0_, 16, 10) >= vop3p_in_vop3 ? vop3p() : vop3();
    case 0b110101:
      return begin(map_.vintrp[bits(w0_, 16, 2)], Encoding::vintrp) && operands();
    case 0b110110:
      return ds();
    case 0b110111:
      return flat();
    case 0b111000:
    case 0b111010:
      return buffer();
    case 0b111100:
      return mimg();
    default:
      return false;
  }
}

bool Decoder::scalar_alu() {
  switch (bits(w0_, 23, 7)) {
    case 0b1111101:
      if (!begin(map_.sop1[bits(w0_, 8, 8)], Encoding::sop1)) return false;
      break;
    case 0b1111110:
      if (!begin(map_.sopc[bits(w0_, 16, 7)], Encoding::sopc)) return false;
      if (row_->has(flag::gpr_index_imm)) out_.immediate = static_cast<uint16_t>(bits(w0_, 8, 8));
      break;
    case 0b1111111:
      if (!begin(map_.sopp[bits(w0_, 16, 7)], Encoding::sopp)) return false;
      out_.immediate = static_cast<uint16_t>(w0_);
      if (!row_->has(flag::any_immediate) && out_.immediate != 0) return false;
      break;
    default:
      if (bits(w0_, 28, 2) == 0b11) {
        if (!begin(map_.sopk[bits(w0_, 23, 5)], Encoding::sopk)) return false;
        out_.immediate = static_cast<uint16_t>(w0_);
      } else if (!begin(map_.sop2[bits(w0_, 23, 7)], Encoding::sop2)) {
        return false;
      }
      break;
  }
  return operands();
}

bool Decoder::vop1_or_vopc() {
  if (bits(w0_, 25, 6) == 0x3F) {
    if (!begin(map_.vop1[bits(w0_, 9, 8)], Encoding::vop1)) return false;
  } else if (!begin(map_.vopc[bits(w0_, 17, 8)], Encoding::vopc)) {
    return false;
  }
  if (row_->operands[0].field == Field::none && (w0_ & 0x01FE01FF) != 0) return false;  // v_nop: no operands at all
  return extension() && operands();
}

bool Decoder::vop2() { return begin(map_.vop2[bits(w0_, 25, 6)], Encoding::vop2) && extension() && operands(); }

/// The SDWA or DPP word, if src0's code says that there is one.
bool Decoder::extension() {
  const unsigned number = bits(w0_, 0, 9);
  if (number == code::sdwa) {
    out_.extension = Extension::sdwa;
    return row_->has(flag::sdwa) && second_word() && sdwa_word();
  }
  if (number == code::dpp) {
    out_.extension = Extension::dpp16;
    return row_->has(flag::dpp) && second_word() && dpp_word();
  }
  return true;
}

bool Decoder::smem() {
  if (!begin(map_.smem[bits(w0_, 18, 8)], Encoding::smem) || !second_word()) return false;
  if (row_->has(flag::memory)) {
    out_.glc = bit(w0_, 16);
  } else if (row_->operands[1].field == Field::none && bit(w0_, 17)) {
    return false;  // s_memtime, s_dcache_inv and the like have no offset
  }
  out_.offset_immediate = bit(w0_, 17);
  out_.offset_register = bit(w0_, 14) || !out_.offset_immediate;
  if (out_.offset_immediate) out_.offset = static_cast<int32_t>(w1_ << 11) >> 11;
  return operands();
}

bool Decoder::ds() {
  if (!begin(map_.ds[bits(w0_, 17, 8)], Encoding::ds) || !second_word()) return false;
  accumulation_ = bit(w0_, 25);
  if (accumulation_ && (!map_.layout.accumulation_bit || row_->operands[0].field == Field::none)) return false;
  if (row_->has(flag::no_gds) && bit(w0_, 16)) return false;
  out_.gds = bit(w0_, 16) && (map_.layout.gds_bit || row_->has(flag::gds_only));
  if (row_->has(flag::gds_only) && !out_.gds) return false;
  if (row_->has(flag::two_offsets)) {
    out_.offset = static_cast<int32_t>(bits(w0_, 0, 8));
    out_.offset1 = static_cast<uint8_t>(bits(w0_, 8, 8));
  } else {
    out_.offset = static_cast<int32_t>(bits(w0_, 0, 16));
  }
  // Fields that the instruction does not use are zero.
  uint32_t used = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::ds_addr) used |= 0x000000FF;
    if (spec.field == Field::ds_data0) used |= 0x0000FF00;
    if (spec.field == Field::ds_data1) used |= 0x00FF0000;
    if (spec.field == Field::ds_dst) used |= 0xFF000000;
  }
  if (used == 0 && !row_->has(flag::gws) && bits(w0_, 0, 17) != 0) return false;  // ds_nop
  return (w1_ & ~used) == 0 && operands();
}

bool Decoder::flat() {
  const unsigned opcode = bits(w0_, 18, 7);
  bool known = false;
  switch (bits(w0_, 14, 2)) {
    case 0:
      known = begin(map_.flat[opcode], Encoding::flat);
      break;
    case 1:
      known = begin(map_.scratch[opcode], Encoding::scratch);
      break;
    case 2:
      known = begin(map_.global[opcode], Encoding::global);
      break;
    default:
      break;
  }
  if (!known || !second_word()) return false;
  const Layout& layout = map_.layout;
  const bool segment = out_.encoding != Encoding::flat;
  out_.glc = bit(w0_, 16);
  out_.slc = bit(w0_, 17);
  out_.scc = layout.scc_bit && bit(w0_, 25);
  if (bit(w0_, 13) && !(layout.scratch_vaddr_bit && out_.encoding == Encoding::scratch)) {
    if (!layout.flat_lds_bit || !row_->has(flag::lds_bit)) return false;
    out_.lds = true;
  }
  if (out_.glc && row_->feature == target::Feature::atomic_fadd_no_rtn_insts && !layout.fadd_returns) return false;
  if (row_->has(flag::float_atomic) && bit(w0_, 25) && !layout.cache_levels) return false;
  accumulation_ = bit(w1_, 23);
  if (accumulation_ && (!layout.accumulation_bit || out_.lds || row_->has(flag::to_lds))) return false;
  if (segment) {
    out_.offset = static_cast<int32_t>(w0_ << 19) >> 19;
  } else {
    out_.offset = static_cast<int32_t>(bits(w0_, 0, 13));
    if (bits(w1_, 16, 7) != 0) return false;
  }
  return operands();
}

bool Decoder::buffer() {
  const bool typed = bit(w0_, 27);
  if (typed ? !begin(map_.mtbuf[bits(w0_, 15, 4)], Encoding::mtbuf)
            : !begin(map_.mubuf[bits(w0_, 18, 7)], Encoding::mubuf)) {
    return false;
  }
  if (!second_word()) return false;
  const Layout& layout = map_.layout;
  out_.offset = static_cast<int32_t>(bits(w0_, 0, 12));
  out_.offen = bit(w0_, 12);
  out_.idxen = bit(w0_, 13);
  out_.glc = bit(w0_, 14);
  if (typed) {
    out_.data_format = static_cast<uint8_t>(bits(w0_, 19, 4));
    out_.number_format = static_cast<uint8_t>(bits(w0_, 23, 3));
    out_.slc = bit(w1_, 22);
    out_.scc = layout.scc_bit && bit(w1_, 21);
  } else {
    out_.scc = layout.scc_bit && bit(w0_, 15);
    out_.lds = bit(w0_, 16);
    out_.slc = bit(w0_, 17);
    const bool can_be_lds =
        row_->has(flag::lds_bit | flag::from_lds) || (row_->has(flag::wide_lds_bit) && layout.wide_lds_loads);
    if (out_.lds && !can_be_lds) return false;
    if (row_->has(flag::from_lds) && (!out_.lds || out_.offen || out_.idxen)) return false;
    if (row_->operands[0].field == Field::none) return cache_control();
    if (row_->has(flag::float_atomic) && out_.scc && !layout.cache_levels) return false;
  }
  if (out_.glc && row_->feature == target::Feature::atomic_fadd_no_rtn_insts && !layout.fadd_returns) return false;
  if (layout.tfe_bit) {
    out_.tfe = bit(w1_, 23);
    if (out_.tfe && (typed || out_.lds || row_->has(flag::atomic))) return false;
  } else {
    accumulation_ = bit(w1_, 23);
    if (accumulation_ && out_.lds) return false;
  }
  return operands();
}

/// buffer_wbl2, buffer_inv, ...: nothing but, on gfx940, how far they reach.
bool Decoder::cache_control() {
  if (out_.offen || out_.idxen || out_.lds || bit(w1_, 23)) return false;
  const bool levels = row_->has(flag::cache_bits);
  if (!levels && (out_.glc || bit(w0_, 15))) return false;
  if (!levels || !map_.layout.cache_levels) out_.glc = out_.scc = false;
  out_.slc = false;
  out_.offset = 0;
  return true;
}

bool Decoder::mimg() {
  if (!begin(map_.mimg[bits(w0_, 18, 7)], Encoding::mimg) || !second_word() || bit(w0_, 0)) return false;
  out_.dmask = static_cast<uint8_t>(bits(w0_, 8, 4));
  out_.unorm = bit(w0_, 12);
  out_.glc = bit(w0_, 13);
  out_.da = bit(w0_, 14);
  out_.a16 = bit(w0_, 15);
  if (map_.layout.tfe_bit) {
    out_.tfe = bit(w0_, 16);
  } else {
    accumulation_ = bit(w0_, 16);
  }
  out_.lwe = bit(w0_, 17);
  out_.slc = bit(w0_, 25);
  out_.d16 = bit(w1_, 31);
  out_.scc = map_.layout.scc_bit && bit(w0_, 7);
  if (out_.d16 && !row_->has(flag::d16_bit)) return false;
  if (!row_->has(flag::sampler) && bits(w1_, 21, 5) != 0) return false;
  return operands();
}

bool Decoder::exp() {
  if (!begin(map_.exp[0], Encoding::exp) || !second_word()) return false;
  out_.export_target = static_cast<uint8_t>(bits(w0_, 4, 6));
  out_.compressed = bit(w0_, 10);
  out_.done = bit(w0_, 11);
  out_.valid_mask = bit(w0_, 12);
  return operands();
}

bool Decoder::vop3() {
  if (!begin(map_.vop3[bits(w0_, 16, 10)], Encoding::vop3) || !second_word()) return false;
  if (row_->operands[0].field == Field::none && bits(w0_, 0, 8) != 0) return false;  // v_nop
  return operands() && vop3_modifiers();
}

/// v_mfma_ld_scale_b32 and a matrix instruction behind it that says so are one instruction of 16 bytes.
bool Decoder::scaled_matrix() {
  constexpr unsigned scaled = 1;  // in the place of abid
  if (bytes_.size() < 16) return false;
  uint32_t w1 = 0, w2 = 0, w3 = 0;
  if (!word_at(4, w1) || !word_at(8, w2) || !word_at(12, w3)) return false;
  if (bits(w2, 23, 9) != 0b110100111 || bits(w2, 11, 4) != scaled) return false;
  const Opcode opcode = map_.scaled[bits(w2, 16, 7)];
  if (opcode == Opcode::invalid) return false;
  scale0_ = w0_;
  scale1_ = w1;
  w0_ = w2;
  w1_ = w3;
  begin(opcode, Encoding::vop3p);
  out_.size = 16;
  out_.cbsz = static_cast<uint8_t>(bits(w0_, 8, 3));
  out_.blgp = static_cast<uint8_t>(bits(w1_, 29, 3));
  if (!operands()) return false;
  for (unsigned i = 0; i < 2; ++i) {
    Operand& scale = out_.operands[4 + i];
    scale.op_sel = bit(scale0_, 11 + i);
    scale.op_sel_hi = bit(scale1_, 27 + i);
  }
  return true;
}

bool Decoder::vop3p() {
  const Opcode opcode = map_.vop3p[bits(w0_, 16, 7)];
  if (opcode == Opcode::v_mfma_ld_scale_b32) {
    const uint32_t w0 = w0_;
    if (scaled_matrix()) return true;
    out_ = {};  // an instruction of its own, then
    w0_ = w0;
  }
  if (!begin(opcode, Encoding::vop3p) || !second_word()) return false;
  if (row_->has(flag::matrix)) return matrix_modifiers() && operands();
  return operands() && vop3p_modifiers();
}

support::Result<Instruction> decode(std::span<const uint8_t> bytes, const target::Processor& processor) {
  support::Result<Instruction> result;
  const OpcodeMap& map = opcode_map_of(processor);
  if (map.empty) {
    return support::fail(support::ErrorKind::unsupported, "the instructions of {} are not implemented", processor.name);
  }
  Decoder decoder(bytes, map, *result);
  if (decoder.run()) return result;
  if (decoder.truncated()) {
    return support::fail(support::ErrorKind::illegal_instruction, "the bytes end in the middle of an instruction");
  }
  return support::fail(support::ErrorKind::illegal_instruction, "no {} instruction has these bytes", processor.name);
}

}  // namespace Atoll::isa
