// engine: addresses and data of image instructions in registers (image.h).
#include <bit>

#include "engine/image/image.h"
#include "support/half.h"

namespace Atoll::engine {

namespace {

using semantics::ImageType;
using target::Generation;

using support::half_value;

/// Coordinates of an address: those in a layer, the layer or face, the sample.
unsigned coordinate_count(ImageType type) {
  return semantics::dimensions(type) + (semantics::is_array(type) ? 1 : 0) + (semantics::is_multisampled(type) ? 1 : 0);
}

/// Until GFX9 the resource has the type, and the instruction says whether the address has a layer.
ImageType type_of_address(const isa::Instruction& instruction, ImageType of_resource) {
  if (instruction.generation >= Generation::gfx10) {
    return static_cast<ImageType>(instruction.dim + static_cast<unsigned>(ImageType::one_d));
  }
  if (instruction.da) return of_resource;
  switch (of_resource) {
    case ImageType::one_d_array:
      return ImageType::one_d;
    case ImageType::two_d_array:
      return ImageType::two_d;
    case ImageType::two_d_msaa_array:
      return ImageType::two_d_msaa;
    default:
      return of_resource;
  }
}

bool has_level(const semantics::ImageOperation& operation) {
  return operation.has_level || operation.clamps || operation.lod == semantics::ImageOperation::Lod::address;
}

bool has_coordinates(const semantics::ImageOperation& operation) {
  return operation.kind != semantics::ImageOperation::Kind::resource_info;
}

bool has_gradients(const semantics::ImageOperation& operation) {
  return operation.lod == semantics::ImageOperation::Lod::gradients;
}

unsigned gradient_words(const ImageAccess& access) {
  const unsigned count = semantics::dimensions(access.address_type);
  return access.has_half_gradients ? (count + 1) / 2 : count;
}

/// Reads an address word by word.
class Reader {
 public:
  Reader(const ImageAccess& access, const Row* vgprs, unsigned lane) : access_(access), vgprs_(vgprs), lane_(lane) {}

  uint32_t word() { return vgprs_[access_.address_register(next_++)][lane_]; }
  /// The next of parts that may be packed.
  uint32_t part(bool packed) {
    if (!packed) return word();
    if (!has_upper_) {
      upper_ = word();
      has_upper_ = true;
      return upper_ & 0xFFFF;
    }
    has_upper_ = false;
    return upper_ >> 16;
  }
  void end_of_parts() { has_upper_ = false; }

 private:
  const ImageAccess& access_;
  const Row* vgprs_;
  unsigned lane_, next_ = 0;
  uint32_t upper_ = 0;
  bool has_upper_ = false;
};

}  // namespace

ImageAccess::ImageAccess(const isa::Instruction& in, const semantics::ImageResource& of,
                         const target::Processor& processor)
    : instruction(in),
      operation(semantics::image_operation(in.opcode)),
      resource(of),
      address_type(type_of_address(in, of.type)),
      // GFX9 has one bit for all of an address.
      has_half_gradients(operation.half_gradients || (in.a16 && in.generation < Generation::gfx10)),
      has_unpacked_halves(processor.has(target::Feature::unpacked_d16)) {}

unsigned ImageAccess::address_register(unsigned word) const {
  const unsigned count = instruction.address_count;
  if (word < count) return instruction.addresses[word];
  if (count != 0) return instruction.addresses[count - 1] + (word - count + 1);  // the last is the first of several
  return instruction.operands[1].reg + word;
}

unsigned ImageAccess::address_words() const {
  unsigned words = (operation.offset ? 1 : 0) + (operation.bias ? 1 : 0) + (operation.compares ? 1 : 0);
  if (has_gradients(operation)) words += 2 * gradient_words(*this);
  const unsigned parts =
      (has_coordinates(operation) ? coordinate_count(address_type) : 0) + (has_level(operation) ? 1 : 0);
  return words + (instruction.a16 ? (parts + 1) / 2 : parts);
}

ImageAddress read_address(const ImageAccess& access, const Row* vgprs, unsigned lane, bool are_floats) {
  const semantics::ImageOperation& operation = access.operation;
  const bool packed = access.instruction.a16;
  Reader reader(access, vgprs, lane);
  ImageAddress address;
  if (operation.offset) {
    const uint32_t word = reader.word();
    for (unsigned axis = 0; axis < 3; ++axis) {  // 6 bits each, signed
      address.offset[axis] = static_cast<int8_t>(static_cast<int32_t>(word << (26 - 8 * axis)) >> 26);
    }
  }
  if (operation.bias) {
    const uint32_t word = reader.word();
    address.bias = packed ? half_value(word) : std::bit_cast<float>(word);
  }
  if (operation.compares) address.reference = std::bit_cast<float>(reader.word());
  if (has_gradients(operation)) {
    for (auto& direction : address.gradients) {
      for (unsigned axis = 0; axis < semantics::dimensions(access.address_type); ++axis) {
        const uint32_t part = reader.part(access.has_half_gradients);
        direction[axis] = access.has_half_gradients ? half_value(part) : std::bit_cast<float>(part);
      }
      reader.end_of_parts();
    }
  }
  const auto widened = [&](uint32_t part) {
    return packed && are_floats ? std::bit_cast<uint32_t>(half_value(part)) : part;
  };
  if (has_coordinates(operation)) {
    for (unsigned i = 0; i < coordinate_count(access.address_type); ++i) {
      address.coordinates[i] = widened(reader.part(packed));
    }
  }
  if (has_level(operation)) address.level = widened(reader.part(packed));
  return address;
}

ImageCoordinates coordinates_of(const ImageAccess& access, const ImageAddress& address) {
  const ImageType type = access.address_type, of_image = access.resource.type;
  ImageCoordinates result;
  unsigned next = 0;
  for (unsigned axis = 0; axis < semantics::dimensions(type); ++axis) result.at[axis] = address.coordinates[next++];
  if (semantics::is_array(type)) result.layer = address.coordinates[next++];
  if (semantics::is_multisampled(type)) result.sample = address.coordinates[next++];
  // A slice of a 3D image by an array's address, and a layer of an array by a 3D image's.
  if (semantics::is_array(type) && of_image == ImageType::three_d) {
    result.at[2] = result.layer;
    result.layer = 0;
  } else if (type == ImageType::three_d && semantics::is_array(of_image)) {
    result.layer = result.at[2];
  }
  if (!semantics::is_array(of_image)) result.layer = 0;
  for (unsigned axis = semantics::dimensions(of_image); axis < 3; ++axis) result.at[axis] = 0;
  return result;
}

void write_data(const ImageAccess& access, uint64_t lanes, const ImageData& data, Row* rows) {
  const isa::Instruction& instruction = access.instruction;
  const semantics::BufferFormat& format = access.resource.format;
  const bool halves = instruction.d16, packed = halves && !access.has_unpacked_halves;
  const unsigned words = packed ? (data.count + 1) / 2 : data.count;
  for_each_lane(lanes, [&](unsigned lane) {
    const auto& components = data.of[lane];
    const auto component = [&](unsigned i) {
      return halves ? semantics::narrow_component(format, components[i]) : components[i];
    };
    for (unsigned word = 0; word < words; ++word) {
      uint32_t value = component(packed ? 2 * word : word);
      if (packed && 2 * word + 1 < data.count) value |= component(2 * word + 1) << 16;
      rows[word][lane] = value;
    }
    if (instruction.tfe) rows[words][lane] = 0;
  });
}

uint32_t read_data(const ImageAccess& access, const Row* rows, unsigned lane, unsigned i) {
  if (!access.instruction.d16) return rows[i][lane];
  if (access.has_unpacked_halves) {
    return semantics::widen_component(access.resource.format, static_cast<uint16_t>(rows[i][lane]));
  }
  return semantics::widen_component(access.resource.format, static_cast<uint16_t>(rows[i / 2][lane] >> i % 2 * 16));
}

}  // namespace Atoll::engine
