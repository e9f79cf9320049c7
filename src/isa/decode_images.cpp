// isa: the decoder's operands of images and exports. How many registers an image's data and address have follows from
// the components that are asked for (dmask, d16, tfe) and, from GFX10 on, from the dimension and from what the
// instruction's name says that it takes (ImageParts).
#include <algorithm>
#include <array>
#include <bit>

#include "isa/decoder.h"

namespace Atoll::isa {

bool Decoder::image_operand(Operand& operand, Field field, DataType type) {
  switch (field) {
    case Field::image_data: {
      if (map_.layout.dimensions) return vgpr_tuple(operand, get(Bits::data0), image_.data, accumulation_);
      const unsigned words = image_data_words(type);
      return vgpr_tuple(operand, get(Bits::data0), words == 0 ? default_image_data_words(type) : words, accumulation_);
    }
    case Field::image_address:
      if (row_->has(flag::ray)) return ray_addresses(operand);
      if (map_.layout.dimensions) return image_addresses(operand);
      return vgpr_tuple(operand, get(Bits::addr), words_of(type));
    case Field::image_resource:
      return resource(operand, Bits::resource);
    case Field::image_sampler:
      return resource(operand, Bits::sampler);
    case Field::export_src0:
    case Field::export_src1:
    case Field::export_src2:
    case Field::export_src3: {
      const unsigned index = static_cast<unsigned>(field) - static_cast<unsigned>(Field::export_src0);
      operand.kind = OperandKind::off;
      const unsigned from = out_.compressed ? index / 2 : index;
      return !bit(get(Bits::enable), index) || vgpr(operand, bits(words_[1], from * 8, 8));
    }
    case Field::tensor_group0:
      return scalar_register(operand, get(Bits::addr));
    case Field::tensor_group1:
      return scalar_register(operand, get(Bits::address1));
    case Field::tensor_group2:
    case Field::tensor_group3: {
      const unsigned null = map_.layout.flat_saddr_none, third = get(Bits::address2), fourth = get(Bits::address3);
      if (third == null && fourth == null) return true;  // a tensor of up to two dimensions
      return scalar_register(operand, field == Field::tensor_group2 ? third : fourth);
    }
    default:
      return false;
  }
}

/// tensor_load_to_lds and the like, whose addresses are groups of a descriptor in SGPRs.
bool Decoder::tensor() {
  const bool fixed = out_.dmask == 1 && out_.dim == 1 && !out_.d16 && !out_.a16 && !accumulation_ && !is(Bits::data0) &&
                     !is(Bits::resource) && get(Bits::address4) == map_.layout.flat_saddr_none;
  return fixed && operands();
}

/// The registers of an image's data; 0 if LLVM has no such number. It prints the least, then.
unsigned Decoder::image_data_words(DataType type) const {
  if (row_->has(flag::ray)) return words_of(type);
  unsigned words = row_->has(flag::gather4) ? 4 : std::max(1u, static_cast<unsigned>(std::popcount(out_.dmask)));
  if (out_.d16 && !map_.layout.unpacked_d16) words = (words + 1) / 2;
  words += out_.tfe ? 1 : 0;
  if (row_->has(flag::atomic)) {  // data, compare value and data for cmpswap, and what tfe and dmask add
    const unsigned usual = words_of(type), most = usual == 2 ? 5 : 3;
    if (words < usual || words > most) return 0;
  }
  if (row_->has(flag::gather4) && !row_->has(flag::vsample) && words == 3) return 0;
  return words;
}

unsigned Decoder::default_image_data_words(DataType type) const {
  if (row_->has(flag::gather4)) return row_->has(flag::vsample) ? 4 : 2;
  return words_of(type);
}

/// How many registers data and address of an image have from GFX10 on. If LLVM has no such combination, it prints the
/// least data, and the least address or (NSA) all that could be.
bool Decoder::image_sizes() {
  const ImageParts& parts = map_.image_parts[static_cast<size_t>(out_.opcode)];
  const DataType type = row_->operands[0].type;
  unsigned places = 1;
  out_.addresses[0] = static_cast<uint8_t>(get(Bits::addr));
  if (can(Bits::address1)) {  // GFX12
    for (const Bits field : {Bits::address1, Bits::address2, Bits::address3, Bits::address4}) {
      if (!can(field)) continue;
      if (places >= parts.most() && is(field)) return false;  // it has no such address
      out_.addresses[places++] = static_cast<uint8_t>(get(field));
    }
  } else {
    if (get(Bits::nsa) * 4 > parts.most() + 2) return false;
    for (unsigned i = 0; i < get(Bits::nsa); ++i) {
      uint32_t word = 0;
      if (!further_word(word)) return false;
      for (unsigned byte = 0; byte < 4; ++byte) out_.addresses[places++] = static_cast<uint8_t>(word >> (8 * byte));
    }
  }
  image_.data = image_data_words(type);
  image_.address = parts.words(out_.dim, out_.a16);
  const bool tuples = map_.layout.address_tuples;
  // Tuples of addresses come in 1 to 4, 8, 12 and 16 registers for those with more.
  const unsigned rounded = places == 1 && parts.sampled ? (parts.most() + 3) / 4 * 4 : parts.most();
  bool known = image_.data != 0 && (image_.address <= parts.most() || image_.address == rounded);
  // The addresses of GFX12 are always named one by one, even if there is one alone.
  if (places > 1) known = known && (image_.address >= 2 || can(Bits::address1)) && (tuples || image_.address <= places);
  if (!known) {
    image_.data = default_image_data_words(type);
    image_.address = places > 1 ? std::min(places, parts.most()) : parts.least();
  }
  if (places > 1) out_.address_count = static_cast<uint8_t>(std::min(image_.address, places));
  if (out_.address_count == 1) out_.address_count = 0;
  return true;
}

/// image_bvh_intersect_ray and the like: nothing but 16-bit addresses is free to choose.
bool Decoder::ray() {
  const bool plain = out_.dmask == 15 && out_.r128 && (out_.unorm || !can(Bits::unorm)) && out_.dim == 0 && !out_.d16 &&
                     !out_.tfe && !out_.lwe && get(Bits::sampler) == 0;
  const bool cached = !out_.glc && !out_.slc && !out_.dlc && !out_.nv && out_.temporal_hint == 0 && out_.scope == 0;
  const ImageParts& parts = map_.image_parts[static_cast<size_t>(out_.opcode)];
  if (!plain || !cached || (out_.a16 && !parts.half_rays)) return false;
  const unsigned groups = parts.ray_groups(out_.a16), words = parts.words(0, out_.a16);
  unsigned places = 1;
  out_.addresses[0] = static_cast<uint8_t>(get(Bits::addr));
  if (can(Bits::address1)) {
    for (const Bits field : {Bits::address1, Bits::address2, Bits::address3, Bits::address4}) {
      if (places >= groups && is(field)) return false;
      if (places < groups) out_.addresses[places++] = static_cast<uint8_t>(get(field));
    }
  } else {
    const unsigned named = map_.layout.address_tuples ? groups : words;
    if (get(Bits::nsa) != 0 && get(Bits::nsa) != (named - 1 + 3) / 4) return false;
    for (unsigned i = 0; i < get(Bits::nsa); ++i) {
      uint32_t word = 0;
      if (!further_word(word)) return false;
      for (unsigned byte = 0; byte < 4 && places < named; ++byte) {
        out_.addresses[places++] = static_cast<uint8_t>(word >> (8 * byte));
      }
    }
  }
  image_.data = image_data_words(row_->operands[0].type);
  image_.address = words;
  if (places > 1) out_.address_count = static_cast<uint8_t>(places);
  return operands();
}

bool Decoder::ray_addresses(Operand& operand) {
  if (out_.address_count == 0) return vgpr_tuple(operand, out_.addresses[0], image_.address);
  const ImageParts& parts = map_.image_parts[static_cast<size_t>(out_.opcode)];
  for (unsigned i = 0; i < out_.address_count && map_.layout.address_tuples; ++i) {
    if (out_.addresses[i] + parts.rays[i] > 256) return false;
  }
  operand.kind = OperandKind::vgpr;
  operand.reg = out_.addresses[0];
  operand.words = static_cast<uint8_t>(image_.address);
  return true;
}

bool Decoder::image_addresses(Operand& operand) {
  const unsigned count = out_.address_count, words = image_.address;
  if (count == 0) return vgpr_tuple(operand, out_.addresses[0], words > 12 ? 16 : words);
  operand.kind = OperandKind::vgpr;
  operand.reg = out_.addresses[0];
  operand.words = static_cast<uint8_t>(words);
  return words == count || out_.addresses[count - 1] + (words - count + 1) <= 256;
}

}  // namespace Atoll::isa
