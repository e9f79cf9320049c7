// assembler: operands of memory instructions and exports (instruction_parser.h).
#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "assembler/instruction/instruction_parser.h"
#include "assembler/syntax/parser.h"
#include "isa/immediate_names.h"
#include "isa/table.h"

namespace Atoll::assembler {

using isa::DataType;
using isa::Encoding;
using isa::Field;
using isa::Instruction;
using isa::Opcode;
using isa::Operand;
using isa::OperandKind;
using isa::OperandSpec;
namespace flag = isa::flag;
namespace scalar = isa::scalar;

/// Data of that many registers, VGPRs or, where memory instructions can have them, AGPRs.
bool InstructionParser::data(const OperandText& text, unsigned words, Operand& to) {
  if (text.is == OperandText::Kind::registers && text.kind == OperandKind::agpr && map_.layout.accumulation_bit) {
    if (text.words != words) return refuse_operand(text, "an AGPR", words);
    if (text.reg % isa::vector_alignment(map_.layout, words) != 0) {
      return refuse(text.place, "agpr tuples must be 64 bit aligned");
    }
    to.kind = OperandKind::agpr;
    to.reg = text.reg;
    to.words = text.words;
    return true;
  }
  return vgpr(text, words, to);
}

bool InstructionParser::memory_operand(const OperandSpec& spec, const OperandText& text, Operand& to) {
  const unsigned words = class_.words;
  const bool off = text.is == OperandText::Kind::registers && text.kind == OperandKind::off;
  const auto no_address = [&] {
    to.kind = OperandKind::off;
    return true;
  };
  switch (spec.field) {
    case Field::sdata:
    case Field::soffset:
      return scalar_register(text, words, to);
    case Field::sbase:
      return resource(text, words, to);
    case Field::sdata_imm:
    case Field::prefetch_length:
      return immediate_value(text, 0, (1 << map_.layout.smem_immediate_bits) - 1, to);
    case Field::ds_addr:
    case Field::lds_address:
    case Field::lds_data_address:
      return vgpr(text, words, to);
    case Field::tensor_base:
      return scalar_register(text, words, to);
    case Field::tensor_group0:
    case Field::tensor_group1:
    case Field::tensor_group2:
    case Field::tensor_group3:
      return resource(text, words, to);
    case Field::ds_dst:
    case Field::ds_data0:
    case Field::ds_data1:
    case Field::flat_data:
    case Field::flat_dst:
    case Field::flat_return:
    case Field::buffer_data:
      return data(text, words, to);
    case Field::flat_address: {
      if (form_->encoding == Encoding::scratch) {
        to.type = DataType::b32;
        return off ? no_address() : vgpr(text, words, to);
      }
      const bool narrow = (form_->encoding != Encoding::flat || map_.layout.flat_bases) && text.words == 1;
      if (narrow) to.type = DataType::u32;
      return vgpr(text, narrow ? 1 : words, to);
    }
    case Field::flat_base:
      return flat_base(text, words, to);
    case Field::buffer_address:
      if (class_.off) return off ? no_address() : refuse_operand(text, "off without offen and idxen");
      return vgpr(text, words, to);
    case Field::buffer_resource:
      return resource(text, words, to);
    case Field::buffer_offset:
      return scalar_source(text, spec.type, class_.literal, to);
    default:
      return image_operand(spec, text, to);
  }
}

/// The scalar base of GLOBAL and SCRATCH. The address before it has 64 bits without a base, 32 with one.
bool InstructionParser::flat_base(const OperandText& text, unsigned words, Operand& to) {
  const bool off = text.is == OperandText::Kind::registers && text.kind == OperandKind::off;
  const Operand* address = form_->encoding != Encoding::scratch ? operand_of(Field::flat_address) : nullptr;
  if (address != nullptr && (address->words == 2) != off) {
    return refuse_operand(text,
                          off ? "a pair of SGPRs after an address of 32 bits" : "'off' after an address of 64 bits");
  }
  if (!off && text.kind == OperandKind::scalar && text.reg == scalar::exec_hi) {
    return refuse(text.place, "the base cannot be exec_hi");
  }
  if (!off) return scalar_register(text, words, to);
  to.kind = OperandKind::off;
  return true;
}

const Operand* InstructionParser::operand_of(Field field) const {
  const Instruction& in = result_.instruction;
  unsigned position = 0;
  for (const OperandSpec& spec : row_->operands) {
    if (spec.field == Field::none || position == in.operand_count) break;
    if (leaves_out(spec)) continue;
    if (spec.field == field) return &in.operands[position];
    ++position;
  }
  return nullptr;
}

/// A descriptor, which null can be none of.
bool InstructionParser::resource(const OperandText& text, unsigned words, Operand& to) {
  const bool is_null =
      text.is == OperandText::Kind::registers && text.reg == scalar::null && text.kind == OperandKind::scalar;
  return is_null && words > 2 ? refuse_operand(text, "an SGPR", words) : scalar_register(text, words, to);
}

/// Before there was dim, an address could have any size that some dimension needs, and 4 or 8 for those below.
bool InstructionParser::image_address_fits(const OperandText& text) {
  const isa::ImageParts& parts = map_.image_parts[static_cast<size_t>(form_->opcode)];
  // As 16 bits each, one coordinate, its gradients and the level of detail fill two registers.
  const unsigned least = parts.gradients ? parts.extra + 2u : parts.least(), most = parts.most();
  if (text.words >= least && (text.words <= most || (most < 8 && text.words == std::bit_ceil(most)))) return true;
  return refuse(text.place, "the instruction's address cannot have that many registers");
}

bool InstructionParser::image_operand(const OperandSpec& spec, const OperandText& text, Operand& to) {
  const unsigned words = class_.words;
  Instruction& out = result_.instruction;
  const bool is_register = text.is == OperandText::Kind::registers;
  switch (spec.field) {
    case Field::image_data:
      if (!is_register) return refuse_operand(text, "a VGPR");
      return data(text, row_->has(flag::ray) ? words : text.words, to);
    case Field::image_address: {
      if (!is_register || text.kind != OperandKind::vgpr) return refuse_operand(text, "a VGPR");
      if (!map_.layout.dimensions) return vgpr(text, text.words, to) && image_address_fits(text);
      // From GFX12 on there are four or five fields for addresses, each of one register, before it there is one and a
      // word with four. Where there is a tuple at all it is in the last of them.
      const isa::Format& format = *mnemonics_.codes().formats[static_cast<size_t>(form_->encoding)];
      const bool fields = format.has(isa::Bits::address1);
      const unsigned tuple_at = fields ? 3 : 4;
      if (!text.list || address_count_ == 1) {
        if (text.words > 1 && fields) {
          return refuse(text.place, "the registers of the address must be listed, as [v0, v1]");
        }
        return vgpr(text, text.words, to);
      }
      if (address_count_ > out.addresses.size()) return refuse(text.place, "too many addresses");
      unsigned total = 0;
      for (unsigned i = 0; i < address_count_; ++i) {
        const bool last = i + 1 == address_count_;
        const bool tuple = map_.layout.address_tuples && ((last && i == tuple_at) || row_->has(flag::ray));
        if (address_words_[i] != 1 && !tuple) {
          return refuse(text.place, "each address must be one register");
        }
        out.addresses[i] = addresses_[i];
        total += address_words_[i];
      }
      out.address_count = static_cast<uint8_t>(address_count_);
      to.kind = OperandKind::vgpr;
      to.reg = text.reg;
      to.words = static_cast<uint8_t>(total);
      return true;
    }
    case Field::image_resource:
    case Field::image_sampler:
      return resource(text, words, to);
    case Field::export_src0:
    case Field::export_src1:
    case Field::export_src2:
    case Field::export_src3:
      if (is_register && text.kind == OperandKind::off) {
        to.kind = OperandKind::off;
        return true;
      }
      return vgpr(text, 1, to);
    default:
      return refuse(text.place, "invalid operand for instruction");
  }
}

/// mrt0, pos1, param3, prim, null ...
bool InstructionParser::export_target() {
  if (!lexer().is(TokenKind::identifier)) return error("expected an export target, as mrt0");
  const Place place = lexer().place();
  const auto found = isa::export_target_named(word(), map_.generation);
  if (!found) return error(place, fmt::format("{} has no such export target", unit_.processor().name));
  said_.export_target = *found;
  lexer().accept(TokenKind::comma);
  return true;
}

}  // namespace Atoll::assembler
