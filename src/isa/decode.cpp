// isa: the decoder.
//
// The first word's leading bits tell the format (format.h), which says where the fields are, among them the opcode. An
// OpcodeMap, made once for each processor out of the instruction table, maps opcodes to rows; a row's operands name
// the fields to read. What formats with the same fields do differently from one generation to another is in Layout.
// Each step reads from a bounds-checked buffer and answers whether the bits mean something; the first that do not make
// the whole an error.
//
// Sources: the vendor's ISA guides, chapter "Microcode Formats"; the LLVM disassembler's decisions about fields that
// are not used (ignored or refused), as tests/isa observes them.
#include "isa/decode.h"

#include <algorithm>

#include "isa/decoder.h"

namespace Atoll::isa {

bool Decoder::run() {
  if (!need(4)) return false;
  format_ = map_.formats[words_[0] >> 23];
  if (format_ == nullptr) return false;
  if (can(Bits::segment)) format_ = map_.segments[get(Bits::segment)];
  if (format_ == nullptr || !need(format_->size)) return false;
  out_.size = format_->size;
  out_.encoding = format_->encoding;
  const BitRange opcode = format_->at(Bits::opcode);
  const unsigned value = get(Bits::opcode) | get(Bits::opcode_high) << opcode.count;
  if (out_.encoding == Encoding::vopd || out_.encoding == Encoding::vopd3) return dual();
  if (is(Bits::zero) || !begin(map_.at(out_.encoding, value))) return false;
  switch (out_.encoding) {
    case Encoding::sop1:
    case Encoding::sop2:
    case Encoding::sopk:
    case Encoding::sopc:
    case Encoding::sopp:
      return scalar_alu();
    case Encoding::vop1:
    case Encoding::vopc:
      return vop1_or_vopc();
    case Encoding::vop2:
      if (row_->operands[0].field == Field::none) return words_[0] == 0;  // v_illegal
      return extension() && operands();
    case Encoding::vop3:
      return vop3();
    case Encoding::vop3p:
      return vop3p();
    case Encoding::vintrp:
      return operands();
    case Encoding::vinterp:
      return vinterp();
    case Encoding::ldsdir:
      return ldsdir();
    case Encoding::smem:
      return smem();
    case Encoding::ds:
      return ds();
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
      return flat();
    case Encoding::mubuf:
    case Encoding::mtbuf:
      return buffer();
    case Encoding::mimg:
    case Encoding::vsample:
      return image();
    case Encoding::exp:
      return exp();
    case Encoding::vopd:
    case Encoding::vopd3:
    case Encoding::count:
      break;
  }
  return false;
}

bool Decoder::scalar_alu() {
  switch (out_.encoding) {
    case Encoding::sopc:
      if (row_->has(flag::gpr_index_imm)) out_.immediate = static_cast<uint16_t>(get(Bits::src1));
      break;
    case Encoding::sopp:
      out_.immediate = static_cast<uint16_t>(get(Bits::simm16));
      if (!row_->has(flag::any_immediate) && out_.immediate != 0) return false;
      break;
    case Encoding::sopk:
      out_.immediate = static_cast<uint16_t>(get(Bits::simm16));
      break;
    default:
      break;
  }
  return operands();
}

bool Decoder::vop1_or_vopc() {
  if (row_->operands[0].field == Field::none && (words_[0] & 0x01FE01FF) != 0) return false;  // v_nop: no operands
  return extension() && operands();
}

/// The SDWA or DPP word, if src0's code says that there is one.
bool Decoder::extension() {
  switch (get(Bits::src0)) {
    case code::sdwa:
      out_.extension = Extension::sdwa;
      return map_.layout.sdwa && row_->has(flag::sdwa) && further_word(extension_) && sdwa_word();
    case code::dpp:
      out_.extension = Extension::dpp16;
      return map_.has_dpp(*row_, out_.encoding, false) && further_word(extension_) && dpp16_word();
    case code::dpp8:
    case code::dpp8_fetch_inactive:
      if (!map_.layout.fetch_inactive) return true;
      out_.extension = Extension::dpp8;
      return map_.has_dpp(*row_, out_.encoding, true) && further_word(extension_) &&
             dpp8_word(get(Bits::src0) == code::dpp8_fetch_inactive);
    default:
      return true;
  }
}

bool Decoder::vop3() {
  if (row_->operands[0].field == Field::none && get(Bits::vdst) != 0) return false;  // v_nop
  if (map_.layout.vector_dpp && !extension()) return false;
  return operands() && vop3_modifiers();
}

/// Scales and a matrix instruction after them are one instruction of 16 bytes; on GFX9 if the second says so.
bool Decoder::scaled_matrix() {
  constexpr unsigned scaled = 1;  // in the place of abid
  if (bytes_.size() < 16 || !need(16)) return false;
  const unsigned words = words_of(row_->operands[0].type);
  const bool wmma = row_->operands[0].field == Field::scale_src0;
  const std::array<uint32_t, max_words> own = words_;
  words_ = {own[2], own[3]};
  const bool matrix = map_.formats[words_[0] >> 23] == format_ && (wmma || get(Bits::abid) == scaled);
  if (!begin(matrix ? map_.scaled[words - 1][get(Bits::opcode)] : Opcode::invalid)) {
    words_ = own;
    return false;
  }
  scale0_ = own[0];
  scale1_ = own[1];
  out_.size = 16;
  out_.cbsz = static_cast<uint8_t>(get(Bits::cbsz));
  out_.blgp = static_cast<uint8_t>(get(Bits::blgp));
  const bool good = operands() && (!wmma || (vop3p_modifiers() && scales(4)));
  if (!good) {
    words_ = own;
    return false;
  }
  if (wmma) return true;
  for (unsigned i = 0; i < 2; ++i) {
    Operand& scale = out_.operands[4 + i];
    scale.op_sel = bit(scale0_, 11 + i);
    scale.op_sel_hi = bit(scale1_, 27 + i);
  }
  return true;
}

/// What the words with the scales of WMMA say of them; the scales are the operands from there on.
bool Decoder::scales(unsigned position) {
  constexpr uint32_t unused0 = 0x9400, unused1 = 0x97FC0000, first_vgpr = code::vgpr << 18;
  if ((scale0_ & unused0) != 0 || (scale1_ & unused1) != first_vgpr) return false;
  Operand &first = out_.operands[position], &second = out_.operands[position + 1];
  first.op_sel = bit(scale0_, 11);
  second.op_sel = bit(scale1_, 27);
  out_.scale_formats = {static_cast<uint8_t>(bits(scale1_, 29, 2)), static_cast<uint8_t>(bits(scale0_, 8, 2))};
  out_.matrix_reuse = static_cast<uint8_t>(bits(scale0_, 13, 2));
  return true;
}

bool Decoder::vop3p() {
  const Opcode alone = out_.opcode;
  const bool wmma_scales = row_->operands[0].field == Field::scale_src0;
  if (wmma_scales || alone == Opcode::v_mfma_ld_scale_b32) {
    if (scaled_matrix()) return true;
    out_ = {};  // an instruction of its own, then
    out_.size = format_->size;
    out_.encoding = Encoding::vop3p;
    begin(alone);
  }
  if (wmma_scales) {
    scale0_ = words_[0];
    scale1_ = words_[1];
    return !is(Bits::vdst) && operands() && scales(0);
  }
  if (row_->has(flag::matrix)) return matrix_modifiers() && operands();
  if (map_.layout.vector_dpp && !extension()) return false;
  return operands() && vop3p_modifiers();
}

/// VOPD and VOPD3: two instructions of VOP2's kind, which may share a literal.
bool Decoder::dual() {
  const bool third = out_.encoding == Encoding::vopd3;
  const DualHalves& halves = map_.duals(out_.encoding);
  const Opcode y = halves.y[get(Bits::opcode_high)];
  if (map_.lane_mask_words != 1) return false;  // not in wave64
  if (y == Opcode::invalid || !begin(halves.x[get(Bits::opcode)])) return false;
  out_.second = y;
  unsigned count = 0;
  const auto half = [&](const InstructionRow& row, unsigned dst, const std::array<unsigned, 3>& fields, unsigned neg) {
    unsigned used = 0, negatable = 0;
    const bool floats = row.has(flag::neg | flag::neg_any);
    for (const OperandSpec& spec : row.operands) {
      if (spec.field == Field::none) break;
      if (row.has(flag::bitop3) && spec.field == Field::src2) {  // the truth table of two
        out_.immediate = static_cast<uint16_t>(fields[2]);
        used |= 0b100;
        break;
      }
      Operand& operand = out_.operands[count++];
      operand.type = spec.type;
      operand.op_sel_hi = is_packed(spec.type);
      const int index = spec.field == Field::carry_in ? 2 : source_index(spec.field);
      bool good = true;
      set_class(row, spec.field, spec.type);
      if (spec.field == Field::vdst) {
        good = vgpr(operand, dst);
      } else if (spec.field == Field::src0) {
        class_.literal = true;  // LLVM's disassembler reads one in VOPD3, too, which its assembler rejects
        good = source(operand, fields[0]);
      } else if (spec.field == Field::src1 || spec.field == Field::src2) {
        good = vgpr(operand, fields[static_cast<size_t>(index)]);
      } else if (spec.field == Field::literal) {
        good = literal(operand, spec.type);
      } else if (third) {
        good = scalar_destination(operand, fields[2]);
      } else {
        vcc(operand);
      }
      if (!good) return false;
      if (index < 0) continue;
      used |= 1u << index;
      if (!floats || spec.field == Field::carry_in) continue;
      negatable |= 1u << index;
      operand.neg = bit(neg, static_cast<unsigned>(index));
    }
    for (unsigned i = 1; i < fields.size(); ++i) {
      if (!bit(used, i) && fields[i] != 0) return false;
    }
    return (neg & ~negatable) == 0;
  };
  const unsigned dst = get(Bits::vdst);
  if (!half(*row_, dst, {get(Bits::src0), get(Bits::src1), get(Bits::src2)}, third ? get(Bits::neg) : 0)) return false;
  out_.destinations = 1;
  out_.second_operands = static_cast<uint8_t>(count);
  const unsigned other = third ? get(Bits::vdst_y) : get(Bits::vdst_y) << 1 | (~dst & 1);
  if (!half(map_.row(y), other, {get(Bits::src0_y), get(Bits::src1_y), get(Bits::src2_y)}, get(Bits::neg_y))) {
    return false;
  }
  out_.operand_count = static_cast<uint8_t>(count);
  return true;
}

bool Decoder::vinterp() {
  out_.wait_exp = static_cast<uint8_t>(get(Bits::wait_exp));
  out_.clamp = is(Bits::clamp);
  if (!operands()) return false;
  unsigned op_sel = get(Bits::op_sel);
  const unsigned neg = get(Bits::neg);
  if (std::ranges::none_of(row_->operands, [](const OperandSpec& spec) { return is_half(spec.type); })) {
    op_sel = 0;
  }
  for (unsigned i = 0; i < 3; ++i) {
    Operand& source = out_.operands[1 + i];
    source.op_sel = bit(op_sel, i);
    source.neg = bit(neg, i);
  }
  out_.op_sel_dst = out_.operands[0].op_sel = bit(op_sel, 3);
  return true;
}

bool Decoder::ldsdir() {
  out_.wait_exp = static_cast<uint8_t>(get(Bits::wait_vdst));
  out_.wait_vm_vsrc = is(Bits::wait_vm_vsrc);
  return operands();
}

support::Result<Instruction> decode(std::span<const uint8_t> bytes, const target::Processor& processor,
                                    unsigned wave_size) {
  support::Result<Instruction> result;
  const OpcodeMap& map = opcode_map_of(processor, wave_size);
  if (map.empty) {
    return support::fail(support::ErrorKind::unsupported, "the instructions of {} are not implemented", processor.name);
  }
  result->generation = processor.generation;
  result->lane_mask_words = map.lane_mask_words;
  Decoder decoder(bytes, map, *result);
  if (decoder.run()) return result;
  if (decoder.truncated()) {
    return support::fail(support::ErrorKind::illegal_instruction, "the bytes end in the middle of an instruction");
  }
  return support::fail(support::ErrorKind::illegal_instruction, "no {} instruction has these bytes", processor.name);
}

}  // namespace Atoll::isa
