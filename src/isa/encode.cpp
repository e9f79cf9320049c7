// isa: the encoder.
//
// It goes the decoder's way back (decode.cpp) with the same tables: a row's operands name the fields to write, the
// formats (format.h) say where those are, a CodeMap has the opcode's value and the codes of registers and constants.
// The base words come first, then the SDWA, DPP or literal word after them.
//
// Fields that an instruction does not use have the values that LLVM's assembler gives them, as tests/isa observes them.
#include "isa/encode.h"

#include <algorithm>

#include "isa/decoder.h"
#include "isa/encoder.h"

namespace Atoll::isa {

std::string_view encoding_name(Encoding encoding) {
  constexpr std::array<std::string_view, static_cast<size_t>(Encoding::count)> names{
      "SOP1",   "SOP2",    "SOPK",  "SOPC",  "SOPP",    "SMEM",    "VOP1",   "VOP2", "VOPC",
      "VOP3",   "VOP3P",   "VOPD",  "VOPD3", "VINTERP", "VINTRP",  "LDSDIR", "DS",   "FLAT",
      "GLOBAL", "SCRATCH", "MUBUF", "MTBUF", "MIMG",    "VSAMPLE", "EXP"};
  return encoding < Encoding::count ? names[static_cast<size_t>(encoding)] : "unknown encoding";
}

bool Encoder::put(Bits field, uint32_t value, std::string_view what) {
  const BitRange range = format_->at(field);
  if (range.count == 0 && value == 0) return true;
  if (range.count == 0) return fail("{} has no {} on {}", encoding_name(in_.encoding), what, processor_.name);
  const uint32_t most = (1u << range.count) - 1;
  if (value > most) return fail("{} has to be from 0 to {}, but is {}", what, most, value);
  set(range, value);
  return true;
}

bool Encoder::put_signed(Bits field, int32_t value, std::string_view what) {
  const BitRange range = format_->at(field);
  if (range.count == 0 && value == 0) return true;
  if (range.count == 0) return fail("{} has no {} on {}", encoding_name(in_.encoding), what, processor_.name);
  const int32_t end = int32_t{1} << (range.count - 1);
  if (value < -end || value >= end) return fail("{} has to be from {} to {}, but is {}", what, -end, end - 1, value);
  set(range, static_cast<uint32_t>(value));
  return true;
}

bool Encoder::further_word(uint32_t word) {
  if (count_ == max_words) return fail("the instruction is too long");
  words_[count_++] = word;
  return true;
}

bool Encoder::begin() {
  const auto encoding = static_cast<size_t>(in_.encoding);
  if (in_.opcode >= Opcode::count || in_.second >= Opcode::count || in_.encoding >= Encoding::count ||
      in_.operand_count > in_.operands.size()) {
    error_ = "there is no such instruction";
    return false;
  }
  format_ = codes_.formats[encoding];
  const bool is_dual = in_.encoding == Encoding::vopd || in_.encoding == Encoding::vopd3;
  const uint16_t value =
      is_dual ? codes_.code_of_half(map_.duals(in_.encoding).x, in_.opcode) : codes_.value(in_.opcode, in_.encoding);
  if (is_dual && value == CodeMap::none) {
    return fail("it cannot be the first half of a dual instruction");
  }
  if (format_ == nullptr || value == CodeMap::none) {
    return fail("{} has no {} form of it", processor_.name, encoding_name(in_.encoding));
  }
  row_ = &map_.row(in_.opcode);
  if (in_.extension > Extension::literal) {
    const bool extensible =
        in_.encoding == Encoding::vop1 || in_.encoding == Encoding::vop2 || in_.encoding == Encoding::vopc || wide();
    if (!extensible || row_->has(flag::matrix)) return fail("SDWA and DPP are not possible");
  }
  const BitRange opcode = format_->at(Bits::opcode);
  words_[0] = static_cast<uint32_t>(format_->prefix) << (32 - format_->prefix_bits);
  set(opcode, value);
  if (can(Bits::opcode_high) && !is_dual) set(Bits::opcode_high, value >> opcode.count);
  if (can(Bits::segment)) {
    const bool first = in_.encoding == Encoding::flat || in_.encoding == Encoding::mubuf;
    const bool second = in_.encoding == Encoding::scratch || in_.encoding == Encoding::mtbuf;
    set(Bits::segment, first ? 0 : second ? 1 : 2);
  }
  count_ = format_->size / 4;
  return true;
}

bool Encoder::run() {
  if (!begin()) return false;
  bool good = false;
  switch (in_.encoding) {
    case Encoding::sop1:
    case Encoding::sop2:
    case Encoding::sopk:
    case Encoding::sopc:
    case Encoding::sopp:
      good = scalar_alu();
      break;
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
      good = vop1_or_vop2_or_vopc();
      break;
    case Encoding::vop3:
      good = vop3();
      break;
    case Encoding::vop3p:
      good = vop3p();
      break;
    case Encoding::vopd:
    case Encoding::vopd3:
      good = dual();
      break;
    case Encoding::vintrp:
      good = operands() && no_modifiers();
      break;
    case Encoding::vinterp:
      good = vinterp();
      break;
    case Encoding::ldsdir:
      good = ldsdir();
      break;
    case Encoding::smem:
      good = smem();
      break;
    case Encoding::ds:
      good = ds();
      break;
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
      good = flat();
      break;
    case Encoding::mubuf:
    case Encoding::mtbuf:
      good = buffer();
      break;
    case Encoding::mimg:
    case Encoding::vsample:
      good = image();
      break;
    case Encoding::exp:
      good = exp();
      break;
    case Encoding::count:
      break;
  }
  return good && (!has_literal_ || further_word(static_cast<uint32_t>(literal_))) &&
         (!wide_literal_ || further_word(static_cast<uint32_t>(literal_ >> 32)));
}

Encoded Encoder::bytes() const {
  Encoded encoded;
  encoded.size = static_cast<uint8_t>(count_ * 4);
  for (unsigned i = 0; i < encoded.size; ++i) {
    encoded.bytes[i] = static_cast<uint8_t>(words_[i / 4] >> (8 * (i % 4)));
  }
  return encoded;
}

bool Encoder::scalar_alu() {
  if (!operands()) return false;
  if (row_->has(flag::gpr_index_imm) && in_.immediate > 15) {
    return fail("the mode has to be from 0 to 15, but is {}", in_.immediate);
  }
  if (row_->has(flag::gpr_index_imm) && in_.encoding == Encoding::sopc) set(Bits::src1, in_.immediate);
  if (in_.encoding == Encoding::sopp && in_.immediate != 0 && !row_->has(flag::any_immediate)) {
    return fail("it has no immediate");
  }
  if (can(Bits::simm16)) set(Bits::simm16, in_.immediate);
  return no_modifiers();
}

bool Encoder::vop1_or_vop2_or_vopc() {
  if (row_->operands[0].field == Field::none) {  // v_nop, v_illegal
    if (in_.extension == Extension::none) return operands();
    return fail("there are no operands to modify");
  }
  if (!operands()) return false;
  return in_.extension == Extension::none || in_.extension == Extension::literal ? no_modifiers() : extension();
}

bool Encoder::vop3() {
  if (!operands() || !vop3_modifiers()) return false;
  return in_.extension == Extension::none || in_.extension == Extension::literal || extension();
}

bool Encoder::vop3p() {
  if (row_->has(flag::matrix)) return matrix();
  if (row_->has(flag::scaled)) return scaled_wmma();
  if (row_->operands[0].field == Field::scale_src0) return operands() && wmma_scales(0);
  if (!operands() || !vop3p_modifiers()) return false;
  return in_.extension == Extension::none || in_.extension == Extension::literal || extension();
}

bool Encoder::vinterp() {
  if (!operands() || !put(Bits::wait_exp, in_.wait_exp, "wait_exp")) return false;
  set(Bits::clamp, in_.clamp ? 1 : 0);
  uint32_t op_sel = in_.op_sel_dst || in_.operands[0].op_sel ? 0b1000 : 0, neg = 0;
  for (unsigned i = 0; i < 3; ++i) {
    if (in_.operands[1 + i].op_sel) op_sel |= 1u << i;
    if (in_.operands[1 + i].neg) neg |= 1u << i;
  }
  if (op_sel != 0 && std::ranges::none_of(row_->operands, [](const OperandSpec& spec) { return is_half(spec.type); })) {
    return fail("op_sel is not possible");
  }
  set(Bits::op_sel, op_sel);
  set(Bits::neg, neg);
  return true;
}

bool Encoder::ldsdir() {
  if (!operands() || !put(Bits::wait_vdst, in_.wait_exp, "wait_vdst")) return false;
  return put(Bits::wait_vm_vsrc, in_.wait_vm_vsrc ? 1 : 0, "wait_vm_vsrc");
}

support::Result<Encoded> encode(const Instruction& instruction, const target::Processor& processor,
                                unsigned wave_size) {
  const CodeMap& codes = code_map_of(processor, wave_size);
  if (codes.map.empty) {
    return support::fail(support::ErrorKind::unsupported, "the instructions of {} are not implemented", processor.name);
  }
  Encoder encoder(instruction, codes, processor);
  if (encoder.run()) return encoder.bytes();
  return std::unexpected(support::Error{support::ErrorKind::invalid_argument, encoder.error()});
}

}  // namespace Atoll::isa
