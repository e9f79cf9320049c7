// isa: classes of operands by field, encoding and extension (operand_class.h).
//
// Sources: the ISA guides' microcode formats for what a field holds; LLVM 22's register classes and operand types, with
// which the test compares, for alignment and literals.
#include "isa/operand_class.h"

#include <algorithm>

namespace Atoll::isa {

namespace {

class Classifier {
 public:
  Classifier(const OpcodeMap& map, const InstructionRow& row, const Instruction& form, DataType type, bool based)
      : map_(map), row_(row), form_(form), based_(based) {
    class_.type = type;
  }

  OperandClass of(Field field) {
    if (field < Field::matrix_dst) {
      vector_operand(field);
    } else if (field < Field::sdst) {
      matrix_operand(field);
    } else if (field < Field::sdata) {
      scalar_operand(field);
    } else if (field < Field::image_data) {
      memory_operand(field);
    } else {
      image_operand(field);
    }
    class_.vector_alignment = static_cast<uint8_t>(vector_alignment(map_.layout, class_.words));
    class_.scalar_alignment = static_cast<uint8_t>(scalar_alignment(class_.words));
    // Where tuples are aligned, what goes to global wave sync is too, though it is one register.
    const bool is_even = row_.has(flag::gws) && form_.encoding == Encoding::ds && field == Field::ds_addr;
    if (is_even && map_.layout.even_tuples) class_.vector_alignment = 2;
    return class_;
  }

 private:
  bool is_vop3() const { return form_.encoding == Encoding::vop3 || form_.encoding == Encoding::vop3p; }
  bool is_dual() const { return form_.encoding == Encoding::vopd || form_.encoding == Encoding::vopd3; }
  bool has_dpp() const { return form_.extension == Extension::dpp16 || form_.extension == Extension::dpp8; }
  bool has_sdwa() const { return form_.extension == Extension::sdwa; }
  bool has_scalar_sdwa() const { return has_sdwa() && map_.layout.scalar_sdwa; }

  unsigned words() const { return class_.type == DataType::lane_mask ? map_.lane_mask_words : words_of(class_.type); }
  unsigned wmma_words() const { return std::max(1u, words_of(class_.type) / map_.lane_mask_words); }

  void width(unsigned words) { class_.words = static_cast<uint8_t>(words); }

  void vgprs(unsigned words) {
    class_.vgpr = true;
    width(words);
  }

  /// VGPRs of a VALU instruction, which are halves where these have names.
  void vector_register() {
    class_.half = map_.layout.true16 && is_half(class_.type) && form_.encoding != Encoding::vop3p;
    vgprs(class_.half ? 1 : words());
  }

  void scalars(unsigned words) {
    class_.scalar = true;
    width(words);
  }

  void lane_mask(bool any_register) {
    class_.lane_mask = true;
    class_.scalar = any_register;
    class_.vcc = !any_register;
    width(map_.lane_mask_words);
  }

  void constants(bool literal) {
    class_.inline_constant = class_.special = true;
    class_.literal = literal;
    // Instructions of more than one word have literals of 32 bits alone (llvm-project issue 214953).
    const bool is_one_word = !is_vop3() && !is_dual();
    class_.wide_literal = literal && map_.layout.wide_literals && is_one_word && words_of(class_.type) == 2;
  }

  /// Returns whether a source of this encoding may be a literal.
  bool vector_literals() const {
    if (form_.extension != Extension::none && form_.extension != Extension::literal) return false;
    return is_vop3() ? map_.layout.vector_literals : !row_.has(flag::no_literal);
  }

  /// A source of 9 bits.
  void source(bool literal) {
    scalars(words());
    constants(literal);
    if (!row_.has(flag::scalar_selects)) vector_register();
  }

  void vector_operand(Field field) {
    switch (field) {
      case Field::vdst:
      case Field::src0_dst:
      case Field::vgpr_src1:
      case Field::vgpr_src2:
        return vector_register();
      case Field::agpr_dst:
      case Field::agpr_src0:
        class_.agpr = true;
        return width(words());
      case Field::lane_dst:
        return scalars(words());
      case Field::carry_out:
      case Field::carry_in:
        return lane_mask(is_vop3() || form_.encoding == Encoding::vopd3);
      case Field::vcc_in:
        return lane_mask(false);
      case Field::cmp_dst:
        return lane_mask(is_vop3() || has_scalar_sdwa());
      case Field::src0:
      case Field::vgpr_src0:
        return first_source(field);
      case Field::src1:
        return second_source();
      case Field::src2:
        if (is_dual() || (has_dpp() && row_.has(flag::neg_accumulator))) return vector_register();
        return source(vector_literals());
      case Field::literal:
        class_.literal = true;
        class_.wide_literal = class_.type == DataType::f64;
        return;
      case Field::message_code:
      case Field::interp_slot:
      case Field::attribute:
        class_.immediate = true;
        return;
      default:
        return wmma_operand(field);
    }
  }

  void first_source(Field field) {
    if (has_dpp() || (has_sdwa() && !map_.layout.scalar_sdwa)) return vector_register();
    const bool is_single = form_.extension <= Extension::literal && words() == 1 && !is_dual();
    if (field == Field::src0 || has_sdwa()) {
      source(form_.encoding != Encoding::vopd3 && vector_literals());
    } else {
      vector_register();
    }
    class_.lds_direct = is_single && (field == Field::src0 || !is_vop3());
  }

  void second_source() {
    const bool takes_scalars =
        has_scalar_sdwa() || (is_vop3() && (!has_dpp() || map_.layout.has_scalar_dpp_source(row_)));
    if (takes_scalars) return source(is_vop3() && vector_literals());
    vector_register();
  }

  void wmma_operand(Field field) {
    switch (field) {
      case Field::wmma_src0:
      case Field::wmma_src1:
        if (row_.has(flag::matrix_formats)) {
          // LLVM assumes the widest format for both if either is unknown.
          const bool known = form_.cbsz <= 4 && form_.blgp <= 4;
          return vgprs(known ? wmma_words_of_format(field == Field::wmma_src0 ? form_.cbsz : form_.blgp) : 16);
        }
        return vgprs(map_.layout.split_matrices ? wmma_words() : words());
      case Field::wmma_index:
        return vgprs(class_.type == DataType::b64 ? 2 : 1);
      case Field::wmma_acc:
      case Field::wmma_acc_f16:
        vgprs(wmma_words());
        class_.type = type_of_accumulator_constant(field, class_.words);
        class_.inline_constant = true;
        return;
      default:
        return vgprs(wmma_words());
    }
  }

  /// Matrix instructions: where the register files are unified each operand may be in either.
  void matrix_operand(Field field) {
    switch (field) {
      case Field::matrix_dst:
        class_.agpr = true;
        class_.vgpr = map_.layout.accumulation_bit;
        return width(words());
      case Field::matrix_src0:
      case Field::matrix_src1:
        class_.vgpr = class_.agpr = true;
        if (row_.has(flag::matrix_formats)) {
          return width(words_of_matrix_format(field == Field::matrix_src0 ? form_.cbsz : form_.blgp));
        }
        return width(words());
      case Field::scale_src0:
      case Field::scale_src1:
        return source(false);
      default:
        class_.agpr = class_.inline_constant = true;
        class_.vgpr = map_.layout.accumulation_bit;
        width(words());
        class_.type = field == Field::matrix_acc_f64   ? DataType::f64
                      : field == Field::matrix_acc_i32 ? DataType::i32
                                                       : DataType::f32;
        return;
    }
  }

  void scalar_operand(Field field) {
    scalars(words());
    if (field != Field::ssrc0 && field != Field::ssrc1) return;
    if (row_.has(flag::register_source)) return;
    if (row_.has(flag::m0_source)) {
      class_.m0 = class_.inline_constant = true;
      class_.scalar = false;
      return;
    }
    // Lane numbers of v_readlane and v_writelane are in vector instructions.
    const bool is_vector = form_.encoding == Encoding::vop3 || form_.encoding == Encoding::vop2;
    const bool may_be_literal = !row_.has(flag::no_literal | flag::fork);
    constants(may_be_literal && (!is_vector || map_.layout.vector_literals));
  }

  /// Data registers: VGPRs, or AGPRs where memory instructions can name them.
  void data(unsigned words) {
    vgprs(words);
    class_.agpr = map_.layout.accumulation_bit;
  }

  void memory_operand(Field field) {
    const unsigned status = form_.tfe ? 1 : 0;
    switch (field) {
      case Field::sdata:
      case Field::sbase:
      case Field::soffset:
      case Field::tensor_base:
        return scalars(words());
      case Field::sdata_imm:
      case Field::prefetch_length:
        class_.immediate = true;
        return;
      case Field::ds_addr:
        return vgprs(words());
      case Field::ds_data0:
      case Field::ds_data1:
      case Field::ds_dst:
        return data(words());
      case Field::lds_address:
      case Field::lds_data_address:
        return vgprs(1);
      case Field::flat_dst:
        if (form_.lds) return;
        [[fallthrough]];
      case Field::flat_return:
        data((row_.has(flag::wmma) ? wmma_words() : words()) + status);
        class_.agpr &= !row_.has(flag::to_lds);
        return;
      case Field::flat_data:
        data(words());
        class_.agpr &= !row_.has(flag::to_lds);
        return;
      case Field::flat_address:
        class_.off = form_.encoding == Encoding::scratch;
        return vgprs(class_.off || based_ ? 1 : 2);
      case Field::flat_base:
        class_.off = true;
        return scalars(words());
      default:
        return buffer_operand(field, status);
    }
  }

  void buffer_operand(Field field, unsigned status) {
    switch (field) {
      case Field::buffer_data: {
        if (form_.lds) return;
        const unsigned components = map_.d16_components[static_cast<size_t>(form_.opcode)];
        return data((components != 0 && map_.layout.unpacked_d16 ? components : words()) + status);
      }
      case Field::buffer_address: {
        const bool is_pair = form_.addr64 || (form_.offen && form_.idxen);
        class_.off = !is_pair && !form_.offen && !form_.idxen;
        if (!class_.off) vgprs(is_pair ? 2 : 1);
        return;
      }
      case Field::buffer_resource:
        return scalars(4);
      default:  // the offset, whose field has codes of registers alone from GFX12 on
        scalars(words());
        if (!map_.layout.temporal_hints) constants(false);
        return;
    }
  }

  /// The widths of an image's data and address follow from dmask and dim (ImageParts); here they are 0.
  void image_operand(Field field) {
    switch (field) {
      case Field::image_data:
        return data(row_.has(flag::ray) ? words() : 0);
      case Field::image_address:
        return vgprs(0);
      case Field::image_resource:
      case Field::image_sampler:
      case Field::tensor_group0:
      case Field::tensor_group1:
        return scalars(words());
      case Field::tensor_group2:
      case Field::tensor_group3:
        class_.off = true;
        return scalars(words());
      default:  // sources of exports
        class_.off = true;
        return vgprs(1);
    }
  }

  const OpcodeMap& map_;
  const InstructionRow& row_;
  const Instruction& form_;
  const bool based_;
  OperandClass class_;
};

}  // namespace

OperandClass operand_class(const OpcodeMap& map, const InstructionRow& row, const Instruction& form, Field field,
                           DataType type, bool based) {
  return Classifier(map, row, form, type, based).of(field);
}

OperandClass operand_class(const OpcodeMap& map, const Instruction& instruction, unsigned operand) {
  const InstructionRow& row = map.row(instruction.opcode);
  const OperandSpec spec = spec_of(instruction, operand);
  if (spec.field == Field::none) {  // the base of FLAT, which no row has
    return operand_class(map, row, instruction, Field::flat_base, DataType::b64);
  }
  const Operand* base = operand_of(instruction, Field::flat_base);
  const bool is_flat_based = instruction.encoding == Encoding::flat &&
                             instruction.operands[instruction.operand_count - 1u].kind == OperandKind::scalar;
  const bool based = is_flat_based || (base != nullptr && base->kind == OperandKind::scalar);
  return operand_class(map, row, instruction, spec.field, spec.type, based);
}

}  // namespace Atoll::isa
