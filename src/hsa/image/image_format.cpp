// hsa: the tables of image formats.
#include "hsa/image/image_format.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace Atoll::hsa {

namespace {

using semantics::NumberFormat;
using Select = semantics::ComponentSelect;

struct ChannelType {
  hsa_ext_image_channel_type32_t type;
  uint8_t bits;  ///< of each component; 0: packed
  NumberFormat number;
  semantics::BufferFormat packed{};
};
constexpr ChannelType channel_types[] = {
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8, 8, NumberFormat::snorm},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16, 16, NumberFormat::snorm},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, 8, NumberFormat::unorm},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16, 16, NumberFormat::unorm},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555, 0, NumberFormat::unorm, {4, 2, {5, 5, 5, 1}}},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565, 0, NumberFormat::unorm, {3, 2, {5, 6, 5}}},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010, 0, NumberFormat::unorm, {4, 4, {10, 10, 10, 2}}},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8, 8, NumberFormat::sint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16, 16, NumberFormat::sint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32, 32, NumberFormat::sint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8, 8, NumberFormat::uint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16, 16, NumberFormat::uint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32, 32, NumberFormat::uint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT, 16, NumberFormat::floating},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, 32, NumberFormat::floating},
};

/// Bits of hsa_ext_image_channel_type32_t values.
template <typename... Types>
constexpr uint32_t set_of(Types... types) {
  return (0U | ... | (1U << types));
}
constexpr uint32_t norms = set_of(HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8, HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16,
                                  HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16);
constexpr uint32_t floats = set_of(HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT, HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT);
constexpr uint32_t integers =
    set_of(HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8, HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16,
           HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32, HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8,
           HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16, HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32);
constexpr uint32_t bytes = set_of(HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8,
                                  HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8, HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8);
constexpr uint32_t packed =
    set_of(HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565,
           HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010);

constexpr uint32_t layout_invariant = HSA_EXT_IMAGE_CAPABILITY_ACCESS_INVARIANT_DATA_LAYOUT;
constexpr uint32_t read_only = HSA_EXT_IMAGE_CAPABILITY_READ_ONLY | layout_invariant;
constexpr uint32_t read_or_write = read_only | HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY;
constexpr uint32_t every_access = read_or_write | HSA_EXT_IMAGE_CAPABILITY_READ_WRITE;

constexpr Select zero = Select::zero, one = Select::one, x = Select::x, y = Select::y, z = Select::z, w = Select::w;

struct ChannelOrder {
  hsa_ext_image_channel_order32_t order;
  std::string_view stored;             ///< which of r, g, b, a are in memory, from the lowest address or bit on
  semantics::ComponentSelects select;  ///< what they are read from
  uint32_t types;
  uint32_t capabilities;
};
constexpr ChannelOrder channel_orders[] = {
    {HSA_EXT_IMAGE_CHANNEL_ORDER_A, "a", {zero, zero, zero, x}, norms | integers | floats, every_access},
    {HSA_EXT_IMAGE_CHANNEL_ORDER_R, "r", {x, zero, zero, one}, norms | integers | floats, every_access},
    {HSA_EXT_IMAGE_CHANNEL_ORDER_RG, "rg", {x, y, zero, one}, norms | integers | floats, every_access},
    {HSA_EXT_IMAGE_CHANNEL_ORDER_RA, "ra", {x, zero, zero, y}, norms | integers | floats, every_access},
    {HSA_EXT_IMAGE_CHANNEL_ORDER_RGB, "bgr", {z, y, x, one}, packed, every_access},
    {HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA, "rgba", {x, y, z, w}, norms | integers | floats, every_access},
    {HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA, "bgra", {z, y, x, w}, bytes, every_access},
    {HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB, "argb", {y, z, w, x}, bytes, every_access},
    {HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA, "rgba", {x, y, z, w}, set_of(HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8), read_only},
    {HSA_EXT_IMAGE_CHANNEL_ORDER_INTENSITY, "r", {x, x, x, x}, norms | floats, every_access},
    {HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE, "r", {x, x, x, one}, norms | floats, every_access},
    {HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH,
     "r",
     {x, zero, zero, zero},
     set_of(HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16, HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT),
     read_or_write},
};

bool is_srgb(hsa_ext_image_channel_order32_t order) {
  return order >= HSA_EXT_IMAGE_CHANNEL_ORDER_SRGB && order <= HSA_EXT_IMAGE_CHANNEL_ORDER_SBGRA;
}

}  // namespace

std::optional<ImageFormat> find_image_format(hsa_ext_image_format_t format, hsa_ext_image_geometry_t geometry) {
  const auto* order = std::ranges::find(channel_orders, format.channel_order, &ChannelOrder::order);
  const auto* type = std::ranges::find(channel_types, format.channel_type, &ChannelType::type);
  if (order == std::end(channel_orders) || type == std::end(channel_types)) return std::nullopt;
  if ((order->types >> type->type & 1) == 0) return std::nullopt;
  const bool of_depth = order->order == HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH;
  switch (geometry) {
    case HSA_EXT_IMAGE_GEOMETRY_2DDEPTH:
    case HSA_EXT_IMAGE_GEOMETRY_2DADEPTH:
      if (!of_depth) return std::nullopt;
      break;
    case HSA_EXT_IMAGE_GEOMETRY_1DB:  // buffer resources know neither sRGB nor 555 and 565
      if (is_srgb(order->order) || type->packed.bytes == 2) return std::nullopt;
      break;
    default:
      break;
  }
  ImageFormat found{
      .elements = type->packed, .selects = order->select, .capabilities = order->capabilities, .is_depth = of_depth};
  if (type->bits != 0) {
    found.elements.components = static_cast<uint8_t>(order->stored.size());
    found.elements.bytes = static_cast<uint8_t>(order->stored.size() * type->bits / 8);
    std::fill_n(found.elements.width.begin(), order->stored.size(), type->bits);
  }
  found.elements.number = is_srgb(order->order) ? NumberFormat::srgb : type->number;
  return found;
}

bool same_elements(hsa_ext_image_format_t a, hsa_ext_image_format_t b) {
  const auto plain = [](hsa_ext_image_channel_order32_t order) -> uint32_t {
    switch (order) {
      case HSA_EXT_IMAGE_CHANNEL_ORDER_SRGB:
        return HSA_EXT_IMAGE_CHANNEL_ORDER_RGB;
      case HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBX:
        return HSA_EXT_IMAGE_CHANNEL_ORDER_RGBX;
      case HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA:
        return HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA;
      case HSA_EXT_IMAGE_CHANNEL_ORDER_SBGRA:
        return HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA;
      default:
        return order;
    }
  };
  return a.channel_type == b.channel_type && plain(a.channel_order) == plain(b.channel_order);
}

std::array<uint8_t, 16> encode_element(const ImageFormat& format, const void* data) {
  std::array<uint32_t, 4> components{};
  std::memcpy(components.data(), data, format.is_depth ? sizeof(uint32_t) : sizeof components);
  std::array<uint8_t, 16> element{};
  semantics::write_components(format.elements, semantics::unselect_components(format.selects, components),
                              element.data());
  return element;
}

}  // namespace Atoll::hsa
