// isa: the encoder's operands: where each encoding has them, and what users call them.
#include <algorithm>
#include <array>

#include "isa/decoder.h"
#include "isa/encoder.h"

namespace Atoll::isa {

namespace {
constexpr uint32_t last_attribute = 32;  // of interpolation
}

/// Returns the name of the field's operand for messages.
std::string_view Encoder::role(Field field) const {
  switch (field) {
    case Field::src0:
    case Field::vgpr_src0:
    case Field::agpr_src0:
    case Field::src0_dst:
    case Field::wmma_src0:
    case Field::matrix_src0:
    case Field::ssrc0:
      return "the first source";
    case Field::src1:
    case Field::vgpr_src1:
    case Field::wmma_src1:
    case Field::matrix_src1:
    case Field::ssrc1:
      return "the second source";
    case Field::src2:
    case Field::vgpr_src2:
      return "the third source";
    case Field::wmma_acc:
    case Field::wmma_acc_f16:
    case Field::matrix_acc_f32:
    case Field::matrix_acc_f64:
    case Field::matrix_acc_i32:
      return "the accumulator";
    case Field::carry_out:
      return "the carry-out";
    case Field::carry_in:
    case Field::vcc_in:
      return "the carry-in";
    case Field::literal:
      return "the constant";
    case Field::message_code:
      return "the message";
    case Field::interp_slot:
      return "the slot";
    case Field::attribute:
      return "the attribute";
    case Field::wmma_index:
      return "the index";
    case Field::prefetch_length:
      return "the length";
    case Field::scale_src0:
      return "the first scale";
    case Field::scale_src1:
      return "the second scale";
    case Field::sdst_in:
      return "the source";
    case Field::sdata:
    case Field::sdata_imm:
    case Field::flat_data:
    case Field::buffer_data:
    case Field::image_data:
    case Field::ds_data0:
      return "the data";
    case Field::ds_data1:
      return "the second data";
    case Field::sbase:
    case Field::flat_base:
      return "the base";
    case Field::soffset:
    case Field::buffer_offset:
      return "the offset";
    case Field::ds_addr:
    case Field::flat_address:
    case Field::buffer_address:
    case Field::image_address:
      return "the address";
    case Field::buffer_resource:
    case Field::image_resource:
      return "the resource";
    case Field::image_sampler:
      return "the sampler";
    case Field::export_src0:
      return "the first source";
    case Field::export_src1:
      return "the second source";
    case Field::export_src2:
      return "the third source";
    case Field::export_src3:
      return "the fourth source";
    default:
      return "the destination";
  }
}

/// The operand in that field, or nullptr.
const Operand* Encoder::find(Field field) const {
  unsigned position = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::none || position == in_.operand_count) break;
    if (is_absent(in_, spec.field)) continue;
    if (spec.field == field) return &in_.operands[position];
    ++position;
  }
  return nullptr;
}

bool Encoder::operands() {
  unsigned position = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::none) break;
    if (is_absent(in_, spec.field)) continue;
    if (position == in_.operand_count) return fail("{} is missing", role(spec.field));
    if (!operand(in_.operands[position], spec.field, spec.type)) return false;
    ++position;
  }
  if (flat_has_base() && position + 1 == in_.operand_count) {
    unsigned code = 0;
    const Operand& base = in_.operands[position];
    const bool exec_possible = row_->has(flag::atomic) || !row_->has(flag::memory);
    if (base.reg == scalar::null || (base.reg == scalar::exec_lo && !exec_possible))
      return wrong(Field::flat_base, "cannot be null or exec");
    set_class(*row_, Field::flat_base, DataType::b64);
    if (!scalar_register(base, Field::flat_base, code)) return false;
    set(Bits::saddr, code);
    return true;
  }
  return position == in_.operand_count || fail("it has {} operands, not {}", position, in_.operand_count);
}

bool Encoder::operand(const Operand& operand, Field field, DataType type) {
  set_class(*row_, field, type);
  if (field < Field::matrix_dst) return vector_operand(operand, field, type);
  if (field < Field::sdst) return matrix_operand(operand, field);
  if (field < Field::sdata) return scalar_operand(operand, field);
  return memory_operand(operand, field);
}

/// src0, which an SDWA or DPP word has in place of the instruction.
bool Encoder::put_source0(unsigned code, Field field) {
  switch (in_.extension) {
    case Extension::dpp16:
    case Extension::dpp8:
      if (code < code::vgpr) return wrong(field, "has to be a vector register with DPP");
      extension_ |= code & 0xFF;
      return true;
    case Extension::sdwa:
      if (code < code::vgpr && !layout_.scalar_sdwa) {
        return wrong(field, "has to be a vector register with SDWA on {}", processor_.name);
      }
      extension_ |= (code & 0xFF) | (code < code::vgpr ? 1u << 23 : 0);
      return true;
    default:
      set(Bits::src0, code);
      return true;
  }
}

bool Encoder::put_source1(unsigned code, Field field) {
  if (wide()) {
    const bool dpp = in_.extension == Extension::dpp16 || in_.extension == Extension::dpp8;
    if (dpp && code < code::vgpr && !layout_.has_scalar_dpp_source(*row_)) {
      return wrong(field, "has to be a vector register with DPP on {}", processor_.name);
    }
    set(Bits::src1, code);
    return true;
  }
  if (code < code::vgpr) {
    if (in_.extension != Extension::sdwa || !layout_.scalar_sdwa) {
      return wrong(field, "has to be a vector register in {}", encoding_name(in_.encoding));
    }
    extension_ |= 1u << 31;
  }
  set(Bits::src1, code & 0xFF);
  return true;
}

/// By what it is to the instruction.
bool Encoder::vector_operand(const Operand& operand, Field field, DataType type) {
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

bool Encoder::vector_destination(const Operand& operand, Field field) {
  unsigned code = 0;
  switch (field) {
    case Field::vdst:
      if (!vector_register(operand, field, code)) return false;
      break;
    case Field::agpr_dst:
      if (!vgpr(operand, field, code, true)) return false;
      break;
    case Field::lane_dst:
      // A lane that is read does not go to M0; the result of scalar arithmetic may, but not to EXEC.
      if (operand.reg == scalar::m0 && !row_->has(flag::neg)) return wrong(field, "cannot be m0");
      if ((operand.reg & ~1) == scalar::exec_lo && row_->has(flag::neg)) return wrong(field, "cannot be exec");
      if (!scalar_register(operand, field, code)) return false;
      break;
    case Field::carry_out:
      if (!wide()) return vcc(operand, field);
      if (!scalar_register(operand, field, code)) return false;
      set(Bits::sdst, code);
      return true;
    default:
      return comparison_destination(operand, field);
  }
  set(Bits::vdst, code);
  return true;
}

bool Encoder::comparison_destination(const Operand& operand, Field field) {
  unsigned code = 0;
  if (layout_.exec_compares && row_->has(flag::exec_out)) {
    if (wide()) set(Bits::vdst, codes_.code_of_register(scalar::exec_lo));
    return true;
  }
  if (wide()) {
    if (!scalar_register(operand, field, code)) return false;
    set(Bits::vdst, code);
    return true;
  }
  const bool is_vcc = operand.kind == OperandKind::scalar && operand.reg == scalar::vcc_lo;
  if (!class_.scalar || is_vcc) return vcc(operand, field);
  if (!scalar_register(operand, field, code)) return false;
  extension_ |= code << 8 | 1u << 15;
  return true;
}

bool Encoder::vector_source(const Operand& operand, Field field) {
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
    case Field::vgpr_src2:
    case Field::carry_in:
      return third_source(operand, field);
    case Field::vcc_in:
      return vcc(operand, field);
    default:
      return wrong(field, "cannot be encoded");
  }
}

bool Encoder::first_source(const Operand& operand, Field field) {
  unsigned code = 0;
  if (field == Field::src0) return source(operand, field, code) && put_source0(code, field);
  if (field == Field::agpr_src0) {
    return vgpr(operand, field, code, true) && put_source0(code + code::vgpr, field);
  }
  const bool is_lds_direct = operand.kind == OperandKind::lds_direct && class_.words == 1;
  if (field == Field::vgpr_src0 && is_lds_direct && in_.extension != Extension::sdwa) {
    if (codes_.code_of_kind(operand.kind) == CodeMap::none) {
      return wrong(field, "cannot be src_lds_direct on {}", processor_.name);
    }
    return put_source0(code::lds_direct, field);
  }
  return vector_register(operand, field, code) && put_source0(code + code::vgpr, field);
}

bool Encoder::second_source(const Operand& operand, Field field) {
  unsigned code = 0;
  if (field == Field::vgpr_src1) {
    if (!vector_register(operand, field, code)) return false;
    set(Bits::src1, in_.encoding == Encoding::vintrp ? code : code + code::vgpr);
    return true;
  }
  const bool takes_scalars = wide() || (in_.extension == Extension::sdwa && layout_.scalar_sdwa);
  if (!takes_scalars && operand.kind != OperandKind::vgpr) {
    return wrong(field, "has to be a vector register in {}", encoding_name(in_.encoding));
  }
  return source(operand, field, code) && put_source1(code, field);
}

bool Encoder::third_source(const Operand& operand, Field field) {
  unsigned code = 0;
  switch (field) {
    case Field::src2:
      if (!source(operand, field, code)) return false;
      break;
    case Field::vgpr_src2:
      if (!vector_register(operand, field, code)) return false;
      code += code::vgpr;
      break;
    default:  // a carry
      if (!wide()) return vcc(operand, field);
      if (!scalar_register(operand, field, code)) return false;
      break;
  }
  set(Bits::src2, code);
  return true;
}

bool Encoder::vector_constant(const Operand& operand, Field field, DataType type) {
  unsigned code = 0;
  switch (field) {
    case Field::message_code:
      if (!immediate(operand, field, 0xFF, code)) return false;
      set(Bits::src0, code);
      return true;
    case Field::literal:
      return literal(operand, field, type, type == DataType::f64);
    case Field::interp_slot:
      if (!immediate(operand, field, 2, code)) return false;
      set(Bits::slot, code);
      return true;
    default:  // an attribute
      if (!immediate(operand, field, 0x1FF, code)) return false;
      if ((code & 63) > last_attribute) return wrong(field, "has to be attr0 to attr{}", last_attribute);
      set(Bits::attribute, code & 63);
      set(Bits::channel, code >> 6 & 3);
      return put(Bits::high, code >> 8, "high");
  }
}

bool Encoder::scalar_operand(const Operand& operand, Field field) {
  unsigned code = 0;
  switch (field) {
    case Field::sdst:
    case Field::sdst_in:
      if (!scalar_register(operand, field, code)) return false;
      set(Bits::vdst, code);
      return true;
    case Field::ssrc0:
    case Field::ssrc1:
      if (row_->has(flag::register_source | flag::fork)) class_.literal = true;  // what the decoder reads
      if (!scalar_source(operand, field, code)) return false;
      set(field == Field::ssrc0 ? Bits::src0 : Bits::src1, code);
      return true;
    default:
      return wrong(field, "cannot be encoded");
  }
}

}  // namespace Atoll::isa
