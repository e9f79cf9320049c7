// isa: the decoder's operands: registers, inline constants, literals, and where each encoding has them.
#include <algorithm>
#include <array>

#include "isa/constants.h"
#include "isa/decoder.h"

namespace Atoll::isa {

bool Decoder::scalar_register(Operand& operand, unsigned number) const {
  const SourceCode& code = map_.sources[number];
  if (code.kind != OperandKind::scalar) return false;
  const unsigned words = class_.words, align = class_.scalar_alignment;
  operand.kind = OperandKind::scalar;
  operand.words = class_.words;
  operand.reg = code.reg;
  // The low bits of a tuple's number are ignored. A tuple may reach over what the encoding names, up to s105.
  const auto within = [&](unsigned first, unsigned end) {
    operand.reg = static_cast<uint16_t>(first + ((code.reg - first) & ~(align - 1)));
    return operand.reg + words <= end;
  };
  if (code.reg < scalar::vcc_lo) return within(scalar::s0, scalar::vcc_lo);
  if (code.reg >= scalar::ttmp0 && code.reg < scalar::m0) return within(scalar::ttmp0, scalar::m0);
  if (code.reg == scalar::null) return true;
  if (code.reg == scalar::m0) return words == 1;
  return words == 1 || (words == 2 && code.reg % 2 == 0);
}

bool Decoder::vector_register(Operand& operand, unsigned index) const {
  if (!class_.half) return vgpr(operand, index);
  operand.half = true;
  if (wide() || out_.encoding == Encoding::vinterp) return vgpr(operand, index);
  operand.op_sel = (index & 0x80) != 0;
  return vgpr(operand, index & 0x7F);
}

bool Decoder::literal(Operand& operand, DataType type, bool wide) {
  if (out_.extension == Extension::none) {
    if (!further_word(out_.literal)) return false;
    out_.extension = Extension::literal;
  }
  if (out_.extension != Extension::literal) return false;
  // Instructions of more than one word have literals of 32 bits alone (llvm-project issue 214953).
  if (wide && format_->size != 4) return false;
  if (wide && !out_.wide_literal) {
    out_.wide_literal = true;
    if (!further_word(out_.literal_high)) return false;
  }
  const bool all = wide && words_of(type) == 2;
  immediate(operand, all ? uint64_t{out_.literal_high} << 32 | out_.literal : literal_constant(out_.literal, type));
  operand.is_literal = true;
  return true;
}

bool Decoder::scalar_source(Operand& operand, unsigned number, DataType type) {
  const SourceCode& code = map_.sources[number];
  switch (code.kind) {
    case OperandKind::none:
      return false;
    case OperandKind::scalar:
      return scalar_register(operand, number);
    case OperandKind::constant:
      if (code.literal) return class_.literal && literal(operand, type, code.wide);
      immediate(operand, code.float_index >= 0 ? inline_floats(*row_, type)[static_cast<size_t>(code.float_index)]
                                               : integer_constant(code.integer, type));
      return true;
    case OperandKind::lds_direct:
    case OperandKind::flat_scratch_base_hi:
      operand.kind = code.kind;
      return class_.words == 1;
    default:
      operand.kind = code.kind;
      return true;
  }
}

// --- Operands ---------------------------------------------------------------------------------------------------

bool Decoder::operands() {
  unsigned count = 0;
  if (row_->has(flag::matrix_formats) && row_->has(flag::wmma)) {  // they decide the sources' widths
    out_.cbsz = static_cast<uint8_t>(get(Bits::op_sel));
    out_.blgp = static_cast<uint8_t>(get(Bits::op_sel_hi) | get(Bits::op_sel_hi2) << 2);
  }
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::none) break;
    if (spec.field == Field::flat_return && !out_.glc) continue;
    Operand& to = out_.operands[count];
    to.type = spec.type;
    to.op_sel_hi = out_.encoding != Encoding::vop3p && is_packed(spec.type);  // whole
    if (!operand(to, spec.field, spec.type)) return false;
    if (to.kind == OperandKind::none) continue;  // this form of the instruction has it not
    if (writes(*row_, spec.field, out_.glc)) ++out_.destinations;
    ++count;
  }
  out_.operand_count = static_cast<uint8_t>(count);
  return true;
}

bool Decoder::operand(Operand& operand, Field field, DataType type) {
  set_class(*row_, field, type);
  if (field < Field::matrix_dst) return vector_operand(operand, field, type);
  if (field < Field::sdst) return matrix_operand(operand, field);
  if (field < Field::sdata) return scalar_operand(operand, field);
  return memory_operand(operand, field, type);
}

/// The code of src0, which an SDWA or DPP word has in place of the instruction.
unsigned Decoder::source0() const {
  switch (out_.extension) {
    case Extension::dpp16:
      return bits(extension_, dpp16::src0) + code::vgpr;
    case Extension::dpp8:
      return bits(extension_, dpp8::src0) + code::vgpr;
    case Extension::sdwa:
      return bits(extension_, 0, 8) + (bit(extension_, 23) && map_.layout.scalar_sdwa ? 0 : code::vgpr);
    default:
      return get(Bits::src0);
  }
}

/// By what it is to the instruction.
bool Decoder::vector_operand(Operand& operand, Field field, DataType type) {
  switch (field) {
    case Field::vdst:
    case Field::agpr_dst:
    case Field::lane_dst:
    case Field::cmp_dst:
    case Field::carry_out:
      return vector_destination(operand, field);
    case Field::wmma_dst:
    case Field::wmma_src0:
    case Field::wmma_src1:
    case Field::wmma_acc:
    case Field::wmma_acc_f16:
    case Field::wmma_index:
      return wmma_operand(operand, field);
    case Field::message_code:
    case Field::literal:
    case Field::interp_slot:
    case Field::attribute:
      return vector_constant(operand, field, type);
    default:
      return vector_source(operand, field);
  }
}

bool Decoder::vector_destination(Operand& operand, Field field) {
  switch (field) {
    case Field::vdst:
      return vector_register(operand, get(Bits::vdst));
    case Field::agpr_dst:
      return vgpr(operand, get(Bits::vdst), true);
    case Field::lane_dst:
      return scalar_destination(operand, get(Bits::vdst));
    case Field::carry_out:
      if (wide()) return scalar_register(operand, get(Bits::sdst));
      vcc(operand);
      return true;
    default:
      return comparison_destination(operand);
  }
}

bool Decoder::comparison_destination(Operand& operand) const {
  const bool sdwa = out_.extension == Extension::sdwa;
  if (map_.layout.exec_compares && row_->has(flag::exec_out)) {
    operand.kind = OperandKind::scalar;
    operand.reg = scalar::exec_lo;
    operand.words = map_.lane_mask_words;
    // VOP3's destination field counts for nothing: clang wrote 0 there until it wrote the code of EXEC.
    return !sdwa || !bit(extension_, 15);
  }
  if (wide()) return scalar_destination(operand, get(Bits::vdst));
  if (sdwa && bit(extension_, 15) && class_.scalar) return scalar_register(operand, bits(extension_, 8, 7));
  vcc(operand);
  return true;
}

bool Decoder::vector_source(Operand& operand, Field field) {
  switch (field) {
    case Field::src0:
    case Field::src0_dst:
    case Field::vgpr_src0:
    case Field::agpr_src0:
      return first_source(operand, field);
    case Field::src1:
    case Field::vgpr_src1:
      return second_source(operand, field);
    case Field::src2:
      return source(operand, get(Bits::src2));
    case Field::vgpr_src2:
      return vgpr_source(operand, get(Bits::src2));
    case Field::carry_in:
      if (wide()) return scalar_destination(operand, get(Bits::src2));
      vcc(operand);
      return true;
    case Field::vcc_in:
      vcc(operand);
      return true;
    default:
      return false;
  }
}

bool Decoder::first_source(Operand& operand, Field field) {
  const unsigned number = source0();
  if (field == Field::src0 || (out_.extension == Extension::sdwa && field == Field::vgpr_src0))
    return source(operand, number);
  if (field == Field::vgpr_src0 && number == code::lds_direct && class_.words == 1) {
    operand.kind = OperandKind::lds_direct;
    return true;
  }
  if (field == Field::agpr_src0) return number >= code::vgpr && vgpr(operand, number - code::vgpr, true);
  return vgpr_source(operand, number);
}

bool Decoder::second_source(Operand& operand, Field field) {
  const unsigned number = get(Bits::src1);
  if (wide()) {
    return field == Field::src1 ? source(operand, number) : vgpr_source(operand, number);
  }
  if (out_.extension == Extension::sdwa && bit(extension_, 31) && map_.layout.scalar_sdwa)
    return scalar_source(operand, number, class_.type);
  if (out_.encoding == Encoding::vinterp) return vgpr_source(operand, number);
  return vector_register(operand, number);
}

bool Decoder::wmma_operand(Operand& operand, Field field) {
  switch (field) {
    case Field::wmma_dst:
      return vgpr(operand, get(Bits::vdst));
    case Field::wmma_src0:
    case Field::wmma_src1: {
      const unsigned number = get(field == Field::wmma_src0 ? Bits::src0 : Bits::src1);
      return number >= code::vgpr && vgpr(operand, number - code::vgpr);
    }
    case Field::wmma_index: {
      const unsigned number = get(Bits::src2);
      return number >= code::vgpr && vgpr(operand, number - code::vgpr);
    }
    default: {  // the accumulator
      const unsigned number = get(Bits::src2);
      if (number >= code::vgpr) return vgpr(operand, number - code::vgpr);
      operand.type = class_.type;
      class_.words = static_cast<uint8_t>(words_of(class_.type));
      class_.literal = true;  // LLVM's disassembler reads one, its assembler has inline constants alone
      return number >= code::constants && scalar_source(operand, number, operand.type);
    }
  }
}

bool Decoder::vector_constant(Operand& operand, Field field, DataType type) {
  switch (field) {
    case Field::message_code:
      immediate(operand, get(Bits::src0));
      return true;
    case Field::literal:
      return (type == DataType::f64 || !out_.wide_literal) && literal(operand, type, type == DataType::f64);
    case Field::interp_slot:
      immediate(operand, get(Bits::slot));
      return true;
    default:                                                                   // an attribute
      if (is(Bits::high) && row_->encoding == Encoding::vintrp) return false;  // floats have no upper half
      immediate(operand, get(Bits::attribute) | get(Bits::channel) << 6 | get(Bits::high) << 8);
      return true;
  }
}

/// Which of a matrix instruction's registers are AGPRs: its dedicated bits where the files are unified, always
/// destination and accumulator before.
bool Decoder::matrix_operand(Operand& operand, Field field) {
  const bool accumulator = !class_.vgpr || is(Bits::accumulation);
  switch (field) {
    case Field::matrix_dst:
      return vgpr(operand, get(Bits::vdst), accumulator);
    case Field::matrix_src0:
    case Field::matrix_src1: {
      const bool first = field == Field::matrix_src0;
      const unsigned number = get(first ? Bits::src0 : Bits::src1);
      return number >= code::vgpr &&
             vgpr(operand, number - code::vgpr, bit(get(Bits::source_accumulation), first ? 0 : 1));
    }
    case Field::scale_src0:
      return source(operand, bits(scale1_, 0, 9));
    case Field::scale_src1:
      return source(operand, bits(scale1_, 9, 9));
    default:
      break;
  }
  const unsigned number = get(Bits::src2);
  if (number >= code::vgpr) return vgpr(operand, number - code::vgpr, accumulator);
  if (number < code::constants) return false;
  operand.type = class_.type;
  return scalar_source(operand, number, operand.type) && operand.kind == OperandKind::constant;
}

bool Decoder::scalar_operand(Operand& operand, Field field) {
  switch (field) {
    case Field::sdst:
    case Field::sdst_in:
      return scalar_register(operand, get(Bits::vdst));
    case Field::ssrc0:
    case Field::ssrc1: {
      const unsigned number = get(field == Field::ssrc0 ? Bits::src0 : Bits::src1);
      // LLVM's disassembler reads literals that its assembler rejects.
      if (row_->has(flag::register_source | flag::fork)) class_.literal = true;
      return number < code::vgpr && scalar_source(operand, number, class_.type);
    }
    default:
      return false;
  }
}

bool Decoder::memory_operand(Operand& operand, Field field, DataType type) {
  switch (field) {
    case Field::sdata:
      return scalar_register(operand, get(Bits::sdata));
    case Field::sdata_imm:
    case Field::prefetch_length:
      immediate(operand, get(Bits::sdata));
      return operand.value < 1u << map_.layout.smem_immediate_bits;
    case Field::sbase:
      return scalar_register(operand, get(Bits::sbase) * 2);
    case Field::soffset:
      if (!out_.offset_register) return true;
      return scalar_register(operand, map_.layout.null_soffset || is(Bits::soffset_enable) ? get(Bits::soffset)
                                                                                           : get(Bits::offset) & 0x7F);
    case Field::ds_addr:  // LLVM's disassembler accepts odd registers of global wave sync
      return vgpr(operand, get(Bits::addr));
    case Field::ds_data0:
      return vgpr(operand, get(Bits::data0), accumulation_);
    case Field::ds_data1:
      return vgpr(operand, get(Bits::data1), accumulation_);
    case Field::ds_dst:
      return vgpr(operand, get(Bits::vdst), accumulation_);
    case Field::lds_address:
      return vgpr(operand, get(Bits::vdst));
    case Field::lds_data_address:
      return vgpr(operand, get(Bits::data0));
    case Field::flat_dst:
    case Field::flat_return:
    case Field::flat_address:
    case Field::flat_data:
    case Field::flat_base:
    case Field::tensor_base:
      return flat_operand(operand, field);
    case Field::buffer_data:
    case Field::buffer_address:
    case Field::buffer_resource:
    case Field::buffer_offset:
      return buffer_operand(operand, field);
    default:
      return image_operand(operand, field, type);
  }
}

bool Decoder::flat_operand(Operand& operand, Field field) {
  const unsigned base = get(Bits::saddr);
  const bool no_base = base == map_.layout.flat_saddr_none;
  switch (field) {
    case Field::flat_dst:
      if (out_.lds) return true;  // the data goes to LDS
      [[fallthrough]];
    case Field::flat_return:
      return vgpr(operand, get(Bits::vdst), accumulation_);
    case Field::flat_data:
      return vgpr(operand, get(Bits::data0), accumulation_);
    case Field::flat_address:
      if (out_.encoding == Encoding::scratch) {
        const bool there = can(Bits::vaddr_enable)         ? is(Bits::vaddr_enable)
                           : map_.layout.scratch_vaddr_bit ? is(Bits::lds)
                                                           : base == map_.layout.flat_saddr_none;
        operand.type = DataType::b32;
        operand.kind = OperandKind::off;
        return !there || vgpr(operand, get(Bits::addr));
      }
      if ((out_.encoding == Encoding::global || map_.layout.flat_bases) && !no_base) {
        operand.type = DataType::u32;
        set_class(*row_, field, operand.type, true);
      }
      return vgpr(operand, get(Bits::addr));
    case Field::tensor_base:
      return scalar_register(operand, base);
    case Field::flat_base:
      operand.kind = OperandKind::off;
      return no_base ||
             (map_.layout.scratch_none != 0 && base == map_.layout.scratch_none &&
              out_.encoding == Encoding::scratch) ||
             scalar_register(operand, base);
    default:
      return false;
  }
}

bool Decoder::buffer_operand(Operand& operand, Field field) {
  switch (field) {
    case Field::buffer_data:
      return out_.lds || vgpr(operand, get(Bits::data0), accumulation_);
    case Field::buffer_address:
      operand.kind = OperandKind::off;
      return class_.off || vgpr(operand, get(Bits::addr));
    case Field::buffer_resource:
      return resource(operand, Bits::resource);
    case Field::buffer_offset:
      return scalar_source(operand, get(Bits::soffset), class_.type);
    default:
      return false;
  }
}

/// A buffer or image resource or sampler: its field counts groups of four registers, from GFX12 on registers.
bool Decoder::resource(Operand& operand, Bits field) const {
  const unsigned number = get(field);
  return number < code::vgpr && scalar_register(operand, format_->at(field).count > 5 ? number : number * 4);
}

}  // namespace Atoll::isa
