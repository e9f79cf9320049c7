// isa: the encoder.
//
// It goes the decoder's way back (decode.cpp) with the same tables: a row's operands name the fields to write, the
// formats (format.h) say where those are, a CodeMap has the opcode's value and the codes of registers and constants.
// The base words come first, then the SDWA, DPP or literal word behind them.
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
  if (count_ == most_words) return fail("the instruction is too long");
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
  const uint16_t value = in_.encoding == Encoding::vopd ? codes_.code_of_half(map_.vopd.x, in_.opcode)
                                                        : codes_.value(in_.opcode, in_.encoding);
  if (in_.encoding == Encoding::vopd && value == CodeMap::none) {
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
  if (can(Bits::opcode_high) && in_.encoding != Encoding::vopd) set(Bits::opcode_high, value >> opcode.count);
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
    case Encoding::vopd3:
    case Encoding::count:
      break;
  }
  return good && (!has_literal_ || further_word(literal_)) && (!wide_literal_ || further_word(in_.literal_high));
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
  if (!operands() || !vop3p_modifiers()) return false;
  return in_.extension == Extension::none || in_.extension == Extension::literal || extension();
}

bool Encoder::matrix() {
  if (row_->has(flag::scaled)) return scaled_matrix();
  if (row_->has(flag::sparse) && in_.blgp != 0) return fail("blgp is not possible");
  if (row_->has(flag::matrix_formats) && in_.abid != 0) return fail("abid is not possible");
  return put(Bits::cbsz, in_.cbsz, "cbsz") && put(Bits::abid, in_.abid, "abid") && put(Bits::blgp, in_.blgp, "blgp") &&
         operands() && accumulator_apart();
}

/// The accumulator is the destination or has no register in common with it, where they are more than four. (LLVM does
/// not ask that of those whose sources have formats.)
bool Encoder::accumulator_apart() {
  const Operand &dst = in_.operands[0], &accumulator = in_.operands[3];
  const bool other =
      row_->has(flag::sparse | flag::matrix_formats) || in_.operand_count < 4 || dst.kind != accumulator.kind;
  if (other || dst.words <= 4 || dst.reg == accumulator.reg) return true;
  return dst.reg + dst.words <= accumulator.reg || accumulator.reg + accumulator.words <= dst.reg ||
         fail("the accumulator has to be the destination or to have no register in common with it");
}

/// v_mfma_ld_scale_b32 with the scales, and the matrix instruction behind it, which says so.
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

/// One half of a dual instruction, whose operands begin at `position`.
bool Encoder::dual_half(const InstructionRow& row, unsigned position, Bits first, Bits second, DualRegisters& used) {
  bool literal_before = false;
  for (const OperandSpec& spec : row.operands) {
    if (spec.field == Field::none) break;
    if (position >= in_.operand_count) return fail("{} is missing", role(spec.field));
    const Operand& operand = in_.operands[position++];
    unsigned number = 0;
    switch (spec.field) {
      case Field::vdst:
        if (!vgpr(operand, spec.field, 1, used.dst)) return false;
        if (row.has(flag::reads_dst)) used.sources[2] = static_cast<int>(used.dst);
        break;
      case Field::src0:
        if (!source(operand, spec.field, spec.type, true, number)) return false;
        if (number >= code::vgpr) {
          used.sources[0] = static_cast<int>(number - code::vgpr);
        } else if (operand.kind != OperandKind::constant && operand.reg != scalar::null) {
          used.scalar = static_cast<int>(number);
        }
        set(first, number);
        break;
      case Field::src1:
        if (!vgpr(operand, spec.field, 1, number)) return false;
        used.sources[literal_before ? 2 : 1] = static_cast<int>(number);
        set(second, number);
        break;
      case Field::literal:
        literal_before = true;
        if (!literal(operand, spec.field, spec.type)) return false;
        break;
      default:
        if (!vcc(operand, spec.field)) return false;
        used.vcc = true;
        break;
    }
  }
  return true;
}

bool Encoder::dual() {
  if (map_.lane_mask_words != 1) return fail("dual instructions need waves of 32 lanes");
  const uint16_t y = codes_.code_of_half(map_.vopd.y, in_.second);
  if (y == CodeMap::none) return fail("{} cannot be half of a dual instruction", map_.name(in_.second));
  set(Bits::opcode_high, y);
  DualRegisters used_x, used_y;
  if (!dual_half(*row_, 0, Bits::src0, Bits::src1, used_x) ||
      !dual_half(map_.row(in_.second), in_.second_operands, Bits::src0_y, Bits::src1_y, used_y)) {
    return false;
  }
  if ((used_x.dst & 1) == (used_y.dst & 1)) {
    return fail("one destination has to be an even register and the other an odd one");
  }
  // Both halves read at once, from different banks (ISA guides, "VOPD", restrictions).
  const bool moves = in_.opcode == Opcode::v_mov_b32 && in_.second == Opcode::v_mov_b32;
  const bool apart = !moves || !layout_.moves_share_banks;
  constexpr std::array<int, 3> banks{4, 4, 2};
  constexpr std::array<std::string_view, 3> names{"first", "second", "third"};
  for (size_t i = 0; apart && i < banks.size(); ++i) {
    const int first = used_x.sources[i], second = used_y.sources[i];
    if (first < 0 || second < 0 || first % banks[i] != second % banks[i]) continue;
    return fail("the {} sources of both halves have to be registers whose numbers differ modulo {}", names[i],
                banks[i]);
  }
  const int vcc = static_cast<int>(codes_.code_of_register(scalar::vcc_lo));
  const bool reads_vcc = used_x.vcc || used_y.vcc;
  int scalars = (has_literal_ ? 1 : 0) + (reads_vcc ? 1 : 0);
  for (const int code : {used_x.scalar, used_y.scalar == used_x.scalar ? -1 : used_y.scalar}) {
    if (code >= 0 && !(reads_vcc && code == vcc)) ++scalars;
  }
  if (scalars > 2) return fail("both halves together can read two scalar values, not {}", scalars);
  set(Bits::vdst, used_x.dst);
  set(Bits::vdst_y, used_y.dst >> 1);
  return true;
}

support::Result<Encoded> encode(const Instruction& instruction, const target::Processor& processor,
                                unsigned wave_size) {
  const CodeMap& codes = code_map_of(processor, wave_size);
  if (codes.map.empty) {
    return support::fail(support::ErrorKind::unsupported, "the instructions of {} are not implemented", processor.name);
  }
  if (!codes.map.layout.encoded) {
    return support::fail(support::ErrorKind::unsupported, "instructions of {} can be read, but not encoded",
                         processor.name);
  }
  Encoder encoder(instruction, codes, processor);
  if (encoder.run()) return encoder.bytes();
  return std::unexpected(support::Error{support::ErrorKind::invalid_argument, encoder.error()});
}

}  // namespace Atoll::isa
