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
  if (out_.encoding == Encoding::vopd) return dual();
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

/// Whether it can have a DPP word. In VOPC and VOP3 that follows from the operands.
bool Decoder::dpp_allowed() const {
  if (!map_.layout.dpp) return false;
  const bool implied = out_.encoding == Encoding::vop3 || out_.encoding == Encoding::vopc;
  if (implied ? !map_.layout.vector_dpp || row_->has(flag::no_dpp) : !row_->has(flag::dpp)) return false;
  if (map_.layout.wide_dpp || (map_.layout.wide_row_share && out_.extension == Extension::dpp16)) return true;
  return std::ranges::none_of(row_->operands, [](const OperandSpec& spec) {
    return words_of(spec.type) > 1 && spec.type != DataType::lane_mask;
  });
}

/// The SDWA or DPP word, if src0's code says that there is one.
bool Decoder::extension() {
  switch (get(Bits::src0)) {
    case code::sdwa:
      out_.extension = Extension::sdwa;
      return map_.layout.sdwa && row_->has(flag::sdwa) && further_word(extension_) && sdwa_word();
    case code::dpp:
      out_.extension = Extension::dpp16;
      return dpp_allowed() && further_word(extension_) && dpp16_word();
    case code::dpp8:
    case code::dpp8_fetch_inactive:
      if (!map_.layout.fetch_inactive) return true;
      out_.extension = Extension::dpp8;
      return dpp_allowed() && further_word(extension_) && dpp8_word(get(Bits::src0) == code::dpp8_fetch_inactive);
    default:
      return true;
  }
}

bool Decoder::vop3() {
  if (row_->operands[0].field == Field::none && get(Bits::vdst) != 0) return false;  // v_nop
  if (map_.layout.vector_dpp && !extension()) return false;
  return operands() && vop3_modifiers();
}

/// v_mfma_ld_scale_b32 and a matrix instruction behind it that says so are one instruction of 16 bytes.
bool Decoder::scaled_matrix() {
  constexpr unsigned scaled = 1;  // in the place of abid
  if (bytes_.size() < 16 || !need(16)) return false;
  const std::array<uint32_t, most_words> own = words_;
  words_ = {own[2], own[3]};
  const Opcode opcode =
      map_.formats[words_[0] >> 23] == format_ && get(Bits::abid) == scaled ? map_.scaled[get(Bits::opcode)] : Opcode{};
  if (!begin(opcode)) {
    words_ = own;
    return false;
  }
  scale0_ = own[0];
  scale1_ = own[1];
  out_.size = 16;
  out_.cbsz = static_cast<uint8_t>(get(Bits::cbsz));
  out_.blgp = static_cast<uint8_t>(get(Bits::blgp));
  if (!operands()) {
    words_ = own;
    return false;
  }
  for (unsigned i = 0; i < 2; ++i) {
    Operand& scale = out_.operands[4 + i];
    scale.op_sel = bit(scale0_, 11 + i);
    scale.op_sel_hi = bit(scale1_, 27 + i);
  }
  return true;
}

bool Decoder::vop3p() {
  if (out_.opcode == Opcode::v_mfma_ld_scale_b32) {
    if (scaled_matrix()) return true;
    out_ = {};  // an instruction of its own, then
    out_.size = format_->size;
    out_.encoding = Encoding::vop3p;
    begin(Opcode::v_mfma_ld_scale_b32);
  }
  if (row_->has(flag::matrix)) return matrix_modifiers() && operands();
  if (map_.layout.vector_dpp && !extension()) return false;
  return operands() && vop3p_modifiers();
}

/// VOPD: two instructions of VOP2's kind, which may share a literal.
bool Decoder::dual() {
  const Opcode y = map_.dual[get(Bits::opcode_high)];
  if (map_.lane_mask_words != 1) return false;  // not in wave64
  if (y == Opcode::invalid || !begin(map_.dual[get(Bits::opcode)])) return false;
  if ((y == Opcode::v_mov_b32 && is(Bits::src1_y)) || (out_.opcode == Opcode::v_mov_b32 && is(Bits::src1)))
    return false;
  out_.second = y;
  unsigned count = 0;
  const auto half = [&](const InstructionRow& row, unsigned dst, unsigned first, unsigned second) {
    for (const OperandSpec& spec : row.operands) {
      if (spec.field == Field::none) break;
      Operand& operand = out_.operands[count++];
      operand.type = spec.type;
      bool good = true;
      if (spec.field == Field::vdst) {
        good = vgpr(operand, dst, 1);
      } else if (spec.field == Field::src0) {
        good = source(operand, first, spec.type, true);
      } else if (spec.field == Field::src1) {
        good = vgpr(operand, second, 1);
      } else if (spec.field == Field::literal) {
        constant_before_ = true;
        good = !out_.wide_literal && literal(operand, spec.type);
      } else {
        vcc(operand);
      }
      if (!good) return false;
    }
    return true;
  };
  const unsigned dst = get(Bits::vdst);
  if (!half(*row_, dst, get(Bits::src0), get(Bits::src1))) return false;
  out_.destinations = 1;
  out_.second_operands = static_cast<uint8_t>(count);
  const unsigned other = get(Bits::vdst_y) << 1 | (~dst & 1);
  if (!half(map_.row(y), other, get(Bits::src0_y), get(Bits::src1_y))) return false;
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
  Decoder decoder(bytes, map, *result);
  if (decoder.run()) return result;
  if (decoder.truncated()) {
    return support::fail(support::ErrorKind::illegal_instruction, "the bytes end in the middle of an instruction");
  }
  return support::fail(support::ErrorKind::illegal_instruction, "no {} instruction has these bytes", processor.name);
}

}  // namespace Atoll::isa
