// semantics: reading and writing image resources (image_resource.h).
#include "semantics/image/image_resource.h"

#include <algorithm>
#include <bit>

#include "semantics/image/image_format.h"

namespace Atoll::semantics {

namespace {

using target::Generation;
using target::Processor;

/// Where a generation's resources have what. Sizes are less one.
struct Fields {
  DescriptorField base{0, 40};  ///< in units of 256 bytes
  DescriptorField min_lod;      ///< in units of 1/256
  DescriptorField data_format, number_format;
  DescriptorField width{62, 14}, height{78, 14};
  DescriptorField first_level{108, 4}, last_level{112, 4};  ///< of multisampled images the last is log2 of the samples
  DescriptorField layout{116, 5};
  DescriptorField type{124, 4};
  DescriptorField depth{128, 13};  ///< of 3D images; of others the last layer
  DescriptorField row_pitch;
  DescriptorField first_layer, last_layer;
  DescriptorField max_level;
  uint8_t linear = 0;               ///< the layout that is rows of elements
  bool pitch_shares_depth = false;  ///< one place is the row pitch of images that are neither arrays nor 3D
};

constexpr Fields of_gfx6{.min_lod = {40, 12},
                         .data_format = {52, 6},
                         .number_format = {58, 4},
                         .width = {64, 14},
                         .row_pitch = {141, 14},
                         .first_layer = {160, 13},
                         .last_layer = {173, 13},
                         .max_level = {},
                         .linear = 8};  // LINEAR_ALIGNED in the driver's table of tile modes

constexpr Fields of_gfx9 = [] {
  Fields fields = of_gfx6;
  fields.row_pitch = {141, 16};
  fields.last_layer = {};
  fields.max_level = {188, 4};
  fields.linear = 0;
  return fields;
}();

constexpr Fields of_gfx10 = [] {
  Fields fields;
  fields.min_lod = {40, 12};
  fields.data_format = {52, 9};
  fields.first_layer = {144, 13};
  fields.max_level = {164, 4};
  return fields;
}();

constexpr Fields of_gfx10_3 = [] {
  Fields fields = of_gfx10;
  fields.row_pitch = {128, 14};
  fields.pitch_shares_depth = true;
  return fields;
}();

constexpr Fields of_gfx11 = [] {
  Fields fields = of_gfx10_3;
  fields.min_lod = {187, 12};
  fields.data_format = {52, 8};
  fields.max_level = {48, 4};
  return fields;
}();

constexpr Fields of_gfx12 = [] {
  Fields fields = of_gfx11;
  fields.min_lod = {186, 13};
  fields.data_format = {49, 8};
  fields.width = {62, 16};
  fields.height = {78, 16};
  fields.first_level = {57, 5};
  fields.last_level = {111, 5};
  fields.depth = {128, 14};
  fields.row_pitch = {128, 16};
  fields.first_layer = {144, 14};
  fields.max_level = {44, 5};
  return fields;
}();

const Fields& fields_of(const Processor& processor) {
  const Generation generation = processor.generation;
  if (generation >= Generation::gfx12) return of_gfx12;
  if (generation >= Generation::gfx11) return of_gfx11;
  if (generation >= Generation::gfx10_3) return of_gfx10_3;
  if (generation >= Generation::gfx10) return of_gfx10;
  return generation >= Generation::gfx9 ? of_gfx9 : of_gfx6;
}

bool says_row_pitch(ImageType type, const Fields& fields) {
  if (fields.row_pitch.width == 0) return false;
  return !fields.pitch_shares_depth || !(is_array(type) || type == ImageType::three_d);
}

constexpr bool is_select(uint32_t value) { return value <= 1 || value >= 4; }

uint64_t row_bytes_of(uint32_t width, uint32_t element_bytes) {
  return (uint64_t{width} * element_bytes + image_row_alignment - 1) / image_row_alignment * image_row_alignment;
}

/// Sizes, layers and levels, in the fields of a resource whose type is read.
void read_extent(const Fields& fields, std::span<const uint32_t> words, ImageResource& resource) {
  const ImageType type = resource.type;
  resource.width = static_cast<uint32_t>(fields.width.get(words)) + 1;
  if (dimensions(type) > 1) resource.height = static_cast<uint32_t>(fields.height.get(words)) + 1;
  const auto depth = static_cast<uint32_t>(fields.depth.get(words));
  if (type == ImageType::three_d) resource.depth = depth + 1;
  if (is_array(type)) {
    resource.first_layer = static_cast<uint32_t>(fields.first_layer.get(words));
    const auto last = fields.last_layer.width != 0 ? static_cast<uint32_t>(fields.last_layer.get(words)) : depth;
    resource.last_layer = std::max(last, resource.first_layer);
  }
  const auto last_level = static_cast<uint8_t>(fields.last_level.get(words));
  if (is_multisampled(type)) {
    resource.samples = static_cast<uint8_t>(1U << std::min<unsigned>(last_level, 4));
  } else {
    resource.first_level = static_cast<uint8_t>(fields.first_level.get(words));
    resource.last_level = std::max(last_level, resource.first_level);
    resource.max_level = std::max(resource.last_level, static_cast<uint8_t>(fields.max_level.get(words)));
  }
  const uint32_t least = default_row_pitch(resource.width, resource.format.bytes);
  resource.row_pitch = least;
  if (says_row_pitch(type, fields)) {
    const auto pitch = static_cast<uint32_t>(fields.row_pitch.get(words)) + 1;
    if (pitch >= resource.width) resource.row_pitch = pitch;
  }
}

}  // namespace

uint32_t default_row_pitch(uint32_t width, uint32_t element_bytes) {
  return element_bytes == 0 ? width : static_cast<uint32_t>(row_bytes_of(width, element_bytes) / element_bytes);
}

bool says_row_pitch(ImageType type, const Processor& processor) { return says_row_pitch(type, fields_of(processor)); }

ImageResource::Level ImageResource::level(unsigned number) const {
  Level level{width, height, depth, 0, uint64_t{row_pitch} * format.bytes, 0};
  for (unsigned i = 0;; ++i) {
    level.slice_bytes = level.row_bytes * level.height;
    if (i == number) return level;
    level.offset += level.slice_bytes * level.depth;
    for (uint32_t* size : {&level.width, &level.height, &level.depth}) *size = std::max(*size / 2, 1U);
    level.row_bytes = row_bytes_of(level.width, format.bytes);
  }
}

uint64_t ImageResource::layer_bytes() const {
  const Level last = level(max_level);
  return last.offset + last.slice_bytes * last.depth;
}

support::Result<ImageResource> read_image_resource(std::span<const uint32_t> words, const Processor& processor) {
  using enum support::ErrorKind;
  const Fields& fields = fields_of(processor);
  ImageResource resource;
  resource.base = fields.base.get(words) << 8;
  const auto type = static_cast<uint8_t>(fields.type.get(words));
  if (type < static_cast<uint8_t>(ImageType::one_d)) {
    return support::fail(illegal_instruction, "the resource is of type {}, which is no image", type);
  }
  resource.type = static_cast<ImageType>(type);
  const ImageFormatFields numbers{static_cast<uint16_t>(fields.data_format.get(words)),
                                  static_cast<uint8_t>(fields.number_format.get(words))};
  const auto format = image_format(numbers, processor.generation);
  if (!format && processor.generation >= Generation::gfx10) {
    return support::fail(illegal_instruction, "there is no image format {}", numbers.data);
  }
  if (!format) {
    return support::fail(illegal_instruction, "there is no image format with data format {} and number format {}",
                         numbers.data, numbers.number);
  }
  resource.format = *format;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t select = words[3] >> (3 * i) & 7;
    if (!is_select(select)) return support::fail(illegal_instruction, "the resource selects component {}", select);
    resource.selects[i] = static_cast<ComponentSelect>(select);
  }
  const auto layout = static_cast<uint8_t>(fields.layout.get(words));
  if (layout != fields.linear) {
    return support::fail(unsupported, "the image is tiled (mode {}), and only linear images are executed", layout);
  }
  read_extent(fields, words, resource);
  resource.min_lod = static_cast<float>(fields.min_lod.get(words)) / 256;
  return resource;
}

std::optional<std::array<uint32_t, 8>> write_image_resource(const ImageResource& resource, const Processor& processor) {
  const Fields& fields = fields_of(processor);
  const auto format = image_format_fields(resource.format, processor.generation);
  if (!format || resource.base % image_row_alignment != 0) return {};
  std::array<uint32_t, 8> words{};
  bool fits = true;
  const auto put = [&](const DescriptorField& field, uint64_t value) { fits = field.set(words, value) && fits; };
  put(fields.base, resource.base >> 8);
  put(fields.data_format, format->data);
  put(fields.number_format, format->number);
  put(fields.width, resource.width - 1);
  put(fields.height, resource.height - 1);
  for (unsigned i = 0; i < 4; ++i) words[3] |= static_cast<uint32_t>(resource.selects[i]) << (3 * i);
  put(fields.layout, fields.linear);
  put(fields.type, static_cast<uint64_t>(resource.type));
  const bool is_3d = resource.type == ImageType::three_d;
  if (is_3d || is_array(resource.type)) put(fields.depth, is_3d ? resource.depth - 1 : resource.last_layer);
  if (says_row_pitch(resource.type, fields)) {
    put(fields.row_pitch, resource.row_pitch - 1);
  } else if (resource.row_pitch != default_row_pitch(resource.width, resource.format.bytes)) {
    return {};
  }
  put(fields.first_layer, resource.first_layer);
  if (fields.last_layer.width != 0) put(fields.last_layer, resource.last_layer);
  if (is_multisampled(resource.type)) {
    put(fields.last_level, static_cast<uint64_t>(std::countr_zero(resource.samples)));
  } else {
    put(fields.first_level, resource.first_level);
    put(fields.last_level, resource.last_level);
    if (fields.max_level.width != 0) put(fields.max_level, resource.max_level);
  }
  put(fields.min_lod, static_cast<uint64_t>(resource.min_lod * 256));
  return fits ? std::optional(words) : std::nullopt;
}

std::array<uint32_t, 4> select_components(const ImageResource& resource, const std::array<uint32_t, 4>& components) {
  std::array<uint32_t, 4> result{};
  for (unsigned i = 0; i < 4; ++i) {
    const auto select = static_cast<unsigned>(resource.selects[i]);
    result[i] = select >= 4 ? components[select - 4] : select == 1 ? one(resource.format.number) : 0;
  }
  return result;
}

std::array<uint32_t, 4> unselect_components(const ComponentSelects& selects,
                                            const std::array<uint32_t, 4>& components) {
  std::array<uint32_t, 4> result{};
  for (unsigned i = 4; i-- > 0;) {
    const auto select = static_cast<unsigned>(selects[i]);
    if (select >= 4) result[select - 4] = components[i];
  }
  return result;
}

}  // namespace Atoll::semantics
