// isa: the encoder's images, tensors and exports.
#include <algorithm>
#include <array>
#include <bit>

#include "isa/decoder.h"
#include "isa/encoder.h"
#include "isa/immediate_names.h"

namespace Atoll::isa {

/// Whether dmask, data and address of an image agree.
bool Encoder::image_sizes() {
  const Operand* address = find(Field::image_address);
  if (in_.address_count != 0 && address != nullptr) {
    const bool few = in_.address_count < address->words && !layout_.address_tuples;
    if (in_.address_count > address->words || few) {
      return fail("the address has {} registers, of which {} are named", address->words, in_.address_count);
    }
  }
  if (row_->has(flag::ray)) {
    const ImageParts& parts = map_.image_parts[static_cast<size_t>(in_.opcode)];
    const unsigned all = parts.words(0, in_.a16);
    const unsigned named = layout_.address_tuples ? parts.ray_groups(in_.a16) : all;
    const Operand* data = find(Field::image_data);
    if (data != nullptr && data->words != words_of(row_->operands[0].type)) {
      return fail("the data has to be {} registers wide", words_of(row_->operands[0].type));
    }
    const bool good = address != nullptr && address->words == all;
    return (good && (in_.address_count == 0 || in_.address_count == named)) ||
           fail("the address has to be {} registers, alone or in {} parts", all, named);
  }
  const auto components = static_cast<unsigned>(std::popcount(in_.dmask));
  if (row_->has(flag::gather4) && components != 1) return fail("dmask has to be one component");
  if (row_->has(flag::atomic) && in_.dmask != 1 && in_.dmask != 3 && in_.dmask != 15) {
    return fail("dmask has to be 0x1, 0x3 or 0xf");
  }
  unsigned words = row_->has(flag::gather4) ? 4 : std::max(1u, components);
  if (in_.d16 && !layout_.unpacked_d16) words = (words + 1) / 2;
  words += in_.tfe ? 1 : 0;
  if (const Operand* data = find(Field::image_data); data != nullptr && data->words != words) {
    return fail("the data has to be {} registers wide with that dmask, d16 and tfe, not {}", words, data->words);
  }
  if (!layout_.dimensions || address == nullptr) return true;
  unsigned expected = map_.image_parts[static_cast<size_t>(in_.opcode)].words(in_.dim, in_.a16);
  if (in_.address_count == 0) {  // one tuple
    if (expected > 12) expected = 16;
    if (address->words == 8 && expected >= 5 && expected <= 7) return true;
  }
  return address->words == expected ||
         fail("the address has to be {} registers wide with that dim and a16, not {}", expected, address->words);
}

bool Encoder::image() {
  if (row_->has(flag::tensor)) return tensor();
  if (row_->has(flag::ray)) {  // these are not in its text
    set(Bits::dmask, 15);
    set(Bits::r128, 1);
    set(Bits::unorm, 1);
    return put(Bits::a16, in_.a16 ? 1 : 0, "a16") && cache_policy() && operands() && image_sizes();
  }
  if (!put(Bits::dmask, in_.dmask, "dmask") || !put(Bits::dim, in_.dim, "dim")) return false;
  if (in_.d16 && !(row_->has(flag::d16_bit) && layout_.image_d16)) return fail("d16 is not possible");
  constexpr std::array<std::pair<Bits, std::string_view>, 6> names{{{Bits::unorm, "unorm"},
                                                                    {Bits::da, "da"},
                                                                    {Bits::r128, "r128"},
                                                                    {Bits::a16, "a16"},
                                                                    {Bits::lwe, "lwe"},
                                                                    {Bits::d16, "d16"}}};
  const std::array<bool, 6> values{in_.unorm, in_.da, in_.r128, in_.a16, in_.lwe, in_.d16};
  for (size_t i = 0; i < names.size(); ++i) {
    if (!put(names[i].first, values[i] ? 1 : 0, names[i].second)) return false;
  }
  if (!cache_policy()) return false;
  if (in_.tfe && !layout_.tfe_bit) return fail("tfe is not possible on {}", processor_.name);
  if (!operands() || !image_sizes()) return false;
  if (in_.tfe || (!layout_.tfe_bit && accumulation_ == 1)) set(Bits::tfe, 1);
  return true;
}

/// tensor_load_to_lds and the like, whose addresses are groups of a descriptor in SGPRs; the last two groups are null
/// for tensors of up to two dimensions.
bool Encoder::tensor() {
  set(Bits::dmask, 1);
  set(Bits::dim, 1);
  set(Bits::address4, layout_.flat_saddr_none);
  if (in_.operand_count == 2) {
    set(Bits::address2, layout_.flat_saddr_none);
    set(Bits::address3, layout_.flat_saddr_none);
  }
  if (in_.r128) return fail("r128 is not possible");
  return cache_policy() && operands();
}

bool Encoder::exp() {
  if (!is_export_target(in_.export_target, map_.generation)) {
    return fail("{} has no export target {}", processor_.name, in_.export_target);
  }
  if (!put(Bits::export_target, in_.export_target, "the target") ||
      !put(Bits::compressed, in_.compressed ? 1 : 0, "compr") || !put(Bits::done, in_.done ? 1 : 0, "done") ||
      !put(Bits::valid_mask, in_.valid_mask ? 1 : 0, "vm") ||
      !put(Bits::row_enable, in_.row_enable ? 1 : 0, "row_en")) {
    return false;
  }
  return operands();
}

bool Encoder::image_operand(const Operand& operand, Field field) {
  unsigned code = 0;
  switch (field) {
    case Field::image_data:
      class_.words = operand.words;
      class_.vector_alignment = static_cast<uint8_t>(vector_alignment(layout_, operand.words));
      return data(operand, field, Bits::data0);
    case Field::image_address: {
      if (in_.address_count == 0) {
        if (can(Bits::address1) && operand.words != 1) return wrong(field, "has to be a list of registers");
        if (!vgpr_tuple(operand, field, operand.words, code)) return false;
        set(Bits::addr, code);
        return true;
      }
      if (operand.kind != OperandKind::vgpr) return wrong(field, "has to be vector registers");
      set(Bits::addr, operand.reg);
      if (in_.address_count > in_.addresses.size()) return wrong(field, "has too many registers");
      if (can(Bits::address1)) {  // GFX12
        constexpr std::array further{Bits::address1, Bits::address2, Bits::address3, Bits::address4};
        for (unsigned i = 1; i < in_.address_count; ++i) {
          if (i > further.size() || !can(further[i - 1])) return wrong(field, "has too many registers");
          set(further[i - 1], in_.addresses[i]);
        }
        return true;
      }
      const unsigned more = (in_.address_count - 1u + 3) / 4;
      if (!put(Bits::nsa, more, "the number of words with addresses")) return false;
      for (unsigned word = 0; word < more; ++word) {
        uint32_t registers = 0;
        for (unsigned i = 0; i < 4 && 1 + 4 * word + i < in_.address_count; ++i) {
          registers |= uint32_t{in_.addresses[1 + 4 * word + i]} << (8 * i);
        }
        if (!further_word(registers)) return false;
      }
      return true;
    }
    case Field::image_resource:
      return resource(operand, field, Bits::resource);
    case Field::image_sampler:
      return resource(operand, field, Bits::sampler);
    case Field::tensor_group0:
    case Field::tensor_group1:
    case Field::tensor_group2:
    case Field::tensor_group3: {
      constexpr std::array places{Bits::addr, Bits::address1, Bits::address2, Bits::address3};
      if (!scalar_register(operand, field, code)) return false;
      set(places[static_cast<size_t>(field) - static_cast<size_t>(Field::tensor_group0)], code);
      return true;
    }
    case Field::export_src0:
    case Field::export_src1:
    case Field::export_src2:
    case Field::export_src3: {
      const unsigned index = static_cast<unsigned>(field) - static_cast<unsigned>(Field::export_src0);
      if (operand.kind == OperandKind::off) return true;
      if (!vgpr(operand, field, code)) return false;
      constexpr std::array places{Bits::src0, Bits::src1, Bits::src2, Bits::data0};
      if (!in_.compressed) {
        set(Bits::enable, 1u << index);
        set(places[index], code);
      } else if (index % 2 == 0) {  // each names two components
        set(Bits::enable, 3u << index);
        set(places[index / 2], code);
      }
      return true;
    }
    default:
      return wrong(field, "cannot be encoded");
  }
}

}  // namespace Atoll::isa
