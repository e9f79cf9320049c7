// isa: the decoder's operands: registers, inline constants, literals, and where each encoding has them.
#include <algorithm>
#include <array>
#include <bit>

#include "isa/decoder.h"
#include "isa/inline_floats.h"

namespace Atoll::isa {

namespace {

/// An integer constant as that type sees it: bit patterns for floats, sign-extended for signed integers.
uint64_t integer_constant(int64_t value, DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::bf16:
    case DataType::u16:
    case DataType::b16:
      return static_cast<uint16_t>(value);
    case DataType::i16:
    case DataType::i32:
    case DataType::f64:
    case DataType::b64:
    case DataType::i64:
    case DataType::u64:
      return static_cast<uint64_t>(value);
    default:
      return static_cast<uint32_t>(value);
  }
}

/// A 32-bit literal as that type sees it: the upper half of a double; extended by sign or zero to 64-bit integers.
uint64_t literal_constant(uint32_t value, DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::bf16:
    case DataType::u16:
    case DataType::b16:
      return static_cast<uint16_t>(value);
    case DataType::i16:
      return static_cast<uint64_t>(int64_t{static_cast<int16_t>(value)});
    case DataType::i32:
    case DataType::i64:
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)});
    case DataType::f64:
      return uint64_t{value} << 32;
    default:
      return value;
  }
}

}  // namespace

bool Decoder::scalar_register(Operand& operand, unsigned number, unsigned words) {
  operand.kind = OperandKind::scalar;
  operand.words = static_cast<uint8_t>(words);
  const unsigned align = words >= 4 ? 4 : words;
  if (number <= code::last_sgpr) {
    // The low bits of a tuple's number are ignored. A tuple may reach over what the encoding names, up to s105.
    number &= ~(align - 1);
    operand.reg = static_cast<uint16_t>(scalar::s0 + number);
    return number + words <= scalar::vcc_lo;
  }
  if (number >= code::ttmp && number < code::m0) {
    const unsigned index = (number - code::ttmp) & ~(align - 1);
    operand.reg = static_cast<uint16_t>(scalar::ttmp0 + index);
    return index + words <= 16;
  }
  if (number == code::null) {
    operand.reg = scalar::null;
    return true;
  }
  if (words > 2 || (words == 2 && (number & 1) != 0)) return false;
  switch (number) {
    case code::flat_scratch:
    case code::flat_scratch + 1:
      operand.reg = static_cast<uint16_t>(scalar::flat_scratch_lo + (number - code::flat_scratch));
      return true;
    case code::xnack_mask:
    case code::xnack_mask + 1:
      operand.reg = static_cast<uint16_t>(scalar::xnack_mask_lo + (number - code::xnack_mask));
      return true;
    case code::vcc:
    case code::vcc + 1:
      operand.reg = static_cast<uint16_t>(scalar::vcc_lo + (number - code::vcc));
      return true;
    case code::m0:
      operand.reg = scalar::m0;
      return words == 1;
    case code::exec:
    case code::exec + 1:
      operand.reg = static_cast<uint16_t>(scalar::exec_lo + (number - code::exec));
      return true;
    default:
      return false;
  }
}

bool Decoder::literal(Operand& operand, DataType type) {
  uint32_t value = 0;
  if (!word_at(4, value)) return false;
  out_.size = 8;
  out_.extension = Extension::literal;
  out_.literal = value;
  immediate(operand, literal_constant(value, type));
  operand.is_literal = true;
  return true;
}

bool Decoder::scalar_source(Operand& operand, unsigned number, DataType type, bool literal_allowed) {
  if (number < code::zero) return scalar_register(operand, number, words_of(type));
  if (number <= code::plus_64) {
    immediate(operand, integer_constant(static_cast<int64_t>(number) - code::zero, type));
    return true;
  }
  if (number <= code::minus_16) {
    immediate(operand, integer_constant(int64_t{code::plus_64} - static_cast<int64_t>(number), type));
    return true;
  }
  if (number >= code::float_first && number <= code::float_last) {
    immediate(operand, inline_floats(type)[number - code::float_first]);
    return true;
  }
  if (number >= code::shared_base && number <= code::pops_exiting_wave_id) {
    constexpr std::array kinds{OperandKind::shared_base, OperandKind::shared_limit, OperandKind::private_base,
                               OperandKind::private_limit, OperandKind::pops_exiting_wave_id};
    operand.kind = kinds[number - code::shared_base];
    return true;
  }
  switch (number) {
    case code::vccz:
      operand.kind = OperandKind::vccz;
      return true;
    case code::execz:
      operand.kind = OperandKind::execz;
      return true;
    case code::scc:
      operand.kind = OperandKind::scc;
      return true;
    case code::lds_direct:
      operand.kind = OperandKind::lds_direct;
      return words_of(type) == 1;
    case code::literal:
      return literal_allowed && literal(operand, type);
    default:
      return false;
  }
}

// --- Operands ---------------------------------------------------------------------------------------------------

bool Decoder::writes(Field field) const {
  switch (field) {
    case Field::vdst:
    case Field::agpr_dst:
    case Field::carry_out:
    case Field::cmp_dst:
    case Field::lane_dst:
    case Field::src0_dst:
    case Field::matrix_dst:
    case Field::sdst:
    case Field::ds_dst:
    case Field::flat_dst:
    case Field::flat_return:
      return true;
    case Field::sdata:
    case Field::buffer_data:
    case Field::image_data:
      return row_->has(flag::atomic) ? out_.glc : row_->has(flag::load) || !row_->has(flag::store);
    default:
      return false;
  }
}

bool Decoder::operands() {
  unsigned count = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::none) break;
    if (spec.field == Field::flat_return && !out_.glc) continue;
    Operand& to = out_.operands[count];
    to.type = spec.type;
    if (!operand(to, spec.field, spec.type)) return false;
    if (to.kind == OperandKind::none) continue;  // this form of the instruction has it not
    if (writes(spec.field)) ++out_.destinations;
    ++count;
  }
  out_.operand_count = static_cast<uint8_t>(count);
  return true;
}

bool Decoder::operand(Operand& operand, Field field, DataType type) {
  if (field < Field::matrix_dst) return vector_operand(operand, field, type);
  if (field < Field::sdst) return matrix_operand(operand, field, type);
  if (field < Field::sdata) return scalar_operand(operand, field, type);
  return memory_operand(operand, field, type);
}

bool Decoder::vector_operand(Operand& operand, Field field, DataType type) {
  const unsigned words = words_of(type);
  const bool wide = out_.encoding == Encoding::vop3 || out_.encoding == Encoding::vop3p;
  switch (field) {
    case Field::vdst:
      if (wide) return vgpr(operand, bits(w0_, 0, 8), words);
      if (out_.encoding == Encoding::vintrp) return vgpr(operand, bits(w0_, 18, 8), words);
      return vgpr(operand, bits(w0_, 17, 8), words);
    case Field::agpr_dst:
      return vgpr(operand, wide ? bits(w0_, 0, 8) : bits(w0_, 17, 8), words, true);
    case Field::lane_dst: {
      const unsigned number = wide ? bits(w0_, 0, 8) : bits(w0_, 17, 8);
      return number < code::zero && scalar_register(operand, number, words);
    }
    case Field::cmp_dst:
      if (wide) return bits(w0_, 0, 8) < code::zero && scalar_register(operand, bits(w0_, 0, 8), 2);
      if (out_.extension == Extension::sdwa && bit(w1_, 15)) return scalar_register(operand, bits(w1_, 8, 7), 2);
      vcc(operand);
      return true;
    case Field::carry_out:
      if (wide) return scalar_register(operand, bits(w0_, 8, 7), 2);
      vcc(operand);
      return true;
    case Field::carry_in:
      if (wide) return bits(w1_, 18, 9) < code::zero && scalar_register(operand, bits(w1_, 18, 9), 2);
      vcc(operand);
      return true;
    case Field::vcc_in:
      vcc(operand);
      return true;
    case Field::src0:
    case Field::src0_dst:
    case Field::vgpr_src0:
    case Field::agpr_src0: {
      unsigned number = wide ? bits(w1_, 0, 9) : bits(w0_, 0, 9);
      if (out_.extension == Extension::dpp16) number = bits(w1_, 0, 8) + code::vgpr;
      if (out_.extension == Extension::sdwa) number = bits(w1_, 0, 8) + (bit(w1_, 23) ? 0 : code::vgpr);
      if (out_.extension == Extension::sdwa && number == code::literal) return false;
      if (field == Field::src0) return source(operand, number, type, !wide && !row_->has(flag::no_literal));
      if (field == Field::vgpr_src0 && number == code::lds_direct && words == 1) {
        operand.kind = OperandKind::lds_direct;
        return true;
      }
      return number >= code::vgpr && vgpr(operand, number - code::vgpr, words, field == Field::agpr_src0);
    }
    case Field::src1:
    case Field::vgpr_src1:
      if (wide) {
        const unsigned number = bits(w1_, 9, 9);
        if (field == Field::src1) return source(operand, number, type, false);
        return number >= code::vgpr && vgpr(operand, number - code::vgpr, words);
      }
      if (out_.encoding == Encoding::vintrp) return vgpr(operand, bits(w0_, 0, 8), words);
      if (out_.extension == Extension::sdwa && bit(w1_, 31)) {
        const unsigned number = bits(w0_, 9, 8);
        return number != code::literal && scalar_source(operand, number, type, false);
      }
      return vgpr(operand, bits(w0_, 9, 8), words);
    case Field::src2:
      return source(operand, bits(w1_, 18, 9), type, false);
    case Field::vgpr_src2: {
      const unsigned number = bits(w1_, 18, 9);
      return number >= code::vgpr && vgpr(operand, number - code::vgpr, words);
    }
    case Field::literal:
      return literal(operand, type);
    case Field::interp_slot:
      immediate(operand, wide ? bits(w1_, 9, 9) : bits(w0_, 0, 8));
      return true;
    case Field::attribute:
      if (wide) {
        if (row_->encoding == Encoding::vintrp && bit(w1_, 8)) return false;  // floats have no upper half
        immediate(operand, bits(w1_, 0, 9));
      } else {
        immediate(operand, bits(w0_, 10, 6) | bits(w0_, 8, 2) << 6);
      }
      return true;
    default:
      break;
  }
  return false;
}

/// Which of a matrix instruction's registers are AGPRs: its dedicated bits where the files are unified, always
/// destination and accumulator before.
bool Decoder::matrix_operand(Operand& operand, Field field, DataType type) {
  const bool accumulator = !map_.layout.accumulation_bit || bit(w0_, 15);
  unsigned words = words_of(type);
  switch (field) {
    case Field::matrix_dst:
      return vgpr(operand, bits(w0_, 0, 8), words, accumulator);
    case Field::matrix_src0:
    case Field::matrix_src1: {
      const bool first = field == Field::matrix_src0;
      const unsigned number = bits(w1_, first ? 0 : 9, 9);
      if (row_->has(flag::matrix_formats)) {  // fp8 and bf8, fp6 and bf6, fp4
        constexpr std::array<uint8_t, 8> words_of_format{8, 8, 6, 6, 4, 8, 8, 8};
        words = words_of_format[first ? out_.cbsz : out_.blgp];
      }
      return number >= code::vgpr && vgpr(operand, number - code::vgpr, words, bit(w1_, first ? 27 : 28));
    }
    case Field::scale_src0:
      return source(operand, bits(scale1_, 0, 9), type, false);
    case Field::scale_src1:
      return source(operand, bits(scale1_, 9, 9), type, false);
    default:
      break;
  }
  const unsigned number = bits(w1_, 18, 9);
  if (number >= code::vgpr) return vgpr(operand, number - code::vgpr, words, accumulator);
  if (number < code::zero) return false;
  operand.type = field == Field::matrix_acc_f64   ? DataType::f64
                 : field == Field::matrix_acc_i32 ? DataType::i32
                                                  : DataType::f32;
  return scalar_source(operand, number, operand.type, false) && operand.kind == OperandKind::constant;
}

bool Decoder::scalar_operand(Operand& operand, Field field, DataType type) {
  const bool vector = out_.encoding == Encoding::vop3;  // lane numbers of v_readlane, v_writelane
  switch (field) {
    case Field::sdst:
    case Field::sdst_in:
      return scalar_register(operand, bits(w0_, 16, 7), words_of(type));
    case Field::ssrc0:
      if (vector) return bits(w1_, 0, 9) < code::literal && scalar_source(operand, bits(w1_, 0, 9), type, false);
      return scalar_source(operand, bits(w0_, 0, 8), type, true);
    case Field::ssrc1:
      if (vector) return bits(w1_, 9, 9) < code::literal && scalar_source(operand, bits(w1_, 9, 9), type, false);
      return scalar_source(operand, bits(w0_, 8, 8), type, true);
    default:
      return false;
  }
}

bool Decoder::memory_operand(Operand& operand, Field field, DataType type) {
  const unsigned words = words_of(type);
  switch (field) {
    case Field::sdata:
      return scalar_register(operand, bits(w0_, 6, 7), words);
    case Field::sdata_imm:
      immediate(operand, bits(w0_, 6, 7));
      return true;
    case Field::sbase:
      return scalar_register(operand, bits(w0_, 0, 6) * 2, words);
    case Field::soffset: {
      const bool immediate_offset = bit(w0_, 17), register_offset = bit(w0_, 14);
      if (register_offset) return scalar_register(operand, bits(w1_, 25, 7), words);
      return immediate_offset || scalar_register(operand, bits(w1_, 0, 7), words);
    }
    case Field::ds_addr:
      return vgpr(operand, bits(w1_, 0, 8), words);
    case Field::ds_data0:
      return vgpr(operand, bits(w1_, 8, 8), words, accumulation_);
    case Field::ds_data1:
      return vgpr(operand, bits(w1_, 16, 8), words, accumulation_);
    case Field::ds_dst:
      return vgpr(operand, bits(w1_, 24, 8), words, accumulation_);
    case Field::flat_dst:
    case Field::flat_return:
    case Field::flat_address:
    case Field::flat_data:
    case Field::flat_base:
      return flat_operand(operand, field, type);
    case Field::buffer_data:
    case Field::buffer_address:
    case Field::buffer_resource:
    case Field::buffer_offset:
      return buffer_operand(operand, field, type);
    default:
      return image_operand(operand, field, type);
  }
}

bool Decoder::flat_operand(Operand& operand, Field field, DataType type) {
  constexpr unsigned no_base = 0x7F;
  const unsigned base = bits(w1_, 16, 7);
  switch (field) {
    case Field::flat_dst:
      if (out_.lds) return true;  // the data goes to LDS
      return vgpr(operand, bits(w1_, 24, 8), words_of(type), accumulation_);
    case Field::flat_return:
      return vgpr(operand, bits(w1_, 24, 8), words_of(type), accumulation_);
    case Field::flat_data:
      return vgpr(operand, bits(w1_, 8, 8), words_of(type), accumulation_);
    case Field::flat_address:
      if (out_.encoding == Encoding::scratch) {
        const bool there = map_.layout.scratch_vaddr_bit ? bit(w0_, 13) : base == no_base;
        operand.type = DataType::b32;
        operand.kind = OperandKind::off;
        return !there || vgpr(operand, bits(w1_, 0, 8), 1);
      }
      if (out_.encoding == Encoding::global && base != no_base) {
        operand.type = DataType::u32;
        return vgpr(operand, bits(w1_, 0, 8), 1);
      }
      return vgpr(operand, bits(w1_, 0, 8), 2);
    case Field::flat_base:
      operand.kind = OperandKind::off;
      return base == no_base || scalar_register(operand, base, words_of(type));
    default:
      return false;
  }
}

bool Decoder::buffer_operand(Operand& operand, Field field, DataType type) {
  switch (field) {
    case Field::buffer_data:
      if (out_.lds) return true;
      return vgpr(operand, bits(w1_, 8, 8), words_of(type) + (out_.tfe ? 1 : 0), accumulation_);
    case Field::buffer_address:
      operand.kind = OperandKind::off;
      if (out_.offen && out_.idxen) return vgpr(operand, bits(w1_, 0, 8), 2);
      return (!out_.offen && !out_.idxen) || vgpr(operand, bits(w1_, 0, 8), 1);
    case Field::buffer_resource:
      return scalar_register(operand, bits(w1_, 16, 5) * 4, 4);
    case Field::buffer_offset:
      return scalar_source(operand, bits(w1_, 24, 8), type, false);
    default:
      return false;
  }
}

bool Decoder::image_operand(Operand& operand, Field field, DataType type) {
  switch (field) {
    case Field::image_data: {
      const auto components = static_cast<unsigned>(std::popcount(out_.dmask));
      unsigned words = row_->has(flag::gather4) ? 4 : std::max(1u, components);
      if (out_.d16) words = (words + 1) / 2;
      words += out_.tfe ? 1 : 0;
      if (row_->has(flag::atomic)) {  // data, compare value and data for cmpswap, and what tfe and dmask add
        const unsigned usual = words_of(type), most = usual == 2 ? 5 : 3;
        if (words < usual || words > most) words = usual;
      }
      if (row_->has(flag::gather4) && words == 3) words = 2;  // as LLVM prints what no instruction means
      return vgpr(operand, bits(w1_, 8, 8), words, accumulation_);
    }
    case Field::image_address:
      return vgpr(operand, bits(w1_, 0, 8), words_of(type));
    case Field::image_resource:
      return scalar_register(operand, bits(w1_, 16, 5) * 4, words_of(type));
    case Field::image_sampler:
      return scalar_register(operand, bits(w1_, 21, 5) * 4, words_of(type));
    case Field::export_src0:
    case Field::export_src1:
    case Field::export_src2:
    case Field::export_src3: {
      const unsigned index = static_cast<unsigned>(field) - static_cast<unsigned>(Field::export_src0);
      operand.kind = OperandKind::off;
      const unsigned from = out_.compressed ? index / 2 : index;
      return !bit(w0_, index) || vgpr(operand, bits(w1_, from * 8, 8), 1);
    }
    default:
      return false;
  }
}

}  // namespace Atoll::isa
