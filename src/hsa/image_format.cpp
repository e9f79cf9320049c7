// hsa: the tables of image formats, and the conversions of a store to an image.
#include "hsa/image_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

namespace Atoll::hsa {

namespace {

// IMG_NUM_FORMAT_*.
constexpr uint8_t unorm = 0, snorm = 1, uint = 4, sint = 5, floating = 7, srgb = 9;

struct ChannelType {
  hsa_ext_image_channel_type32_t type;
  uint8_t bits;  ///< of each component; 0: packed
  uint8_t number_format;
  std::array<uint8_t, 4> packed;  ///< bits of packed components from the lowest on
  uint8_t packed_format;          ///< IMG_DATA_FORMAT_*
};
constexpr ChannelType channel_types[] = {
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8, 8, snorm, {}, 0},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16, 16, snorm, {}, 0},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, 8, unorm, {}, 0},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16, 16, unorm, {}, 0},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555, 0, unorm, {5, 5, 5}, 17},  // 1_5_5_5
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565, 0, unorm, {5, 6, 5}, 16},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010, 0, unorm, {10, 10, 10}, 9},  // 2_10_10_10
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8, 8, sint, {}, 0},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16, 16, sint, {}, 0},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32, 32, sint, {}, 0},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8, 8, uint, {}, 0},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16, 16, uint, {}, 0},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32, 32, uint, {}, 0},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT, 16, floating, {}, 0},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, 32, floating, {}, 0},
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
  std::string_view stored;       ///< which of r, g, b, a are in memory, from the lowest address or bit on
  std::array<Select, 4> select;  ///< what they are read from
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

/// IMG_DATA_FORMAT_* of components of one size.
uint8_t data_format(size_t components, uint8_t bits) {
  switch (components * 100 + bits) {
    case 108:
      return 1;
    case 116:
      return 2;
    case 208:
      return 3;
    case 132:
      return 4;
    case 216:
      return 5;
    case 408:
      return 10;
    case 232:
      return 11;
    case 416:
      return 12;
    default:  // four of 32
      return 14;
  }
}

/// To 16 bits, rounded to the nearest and to even.
uint16_t half_of(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

/// A component as `width` bits.
uint32_t encode(uint32_t number_format, unsigned width, const uint8_t* component, bool with_curve) {
  const uint32_t mask = width == 32 ? UINT32_MAX : (1U << width) - 1;
  if (number_format == uint || number_format == sint) {
    uint32_t bits = 0;
    std::memcpy(&bits, component, sizeof bits);
    if (number_format == uint) return std::min(bits, mask);
    const auto highest = static_cast<int32_t>(mask >> 1);
    return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(bits), -highest - 1, highest)) & mask;
  }
  float value = 0;
  std::memcpy(&value, component, sizeof value);
  if (number_format == floating) return width == 16 ? half_of(value) : std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) value = 0;
  if (number_format == snorm) {
    const auto scale = static_cast<float>(mask >> 1);
    return static_cast<uint32_t>(static_cast<int32_t>(std::nearbyint(std::clamp(value, -1.0F, 1.0F) * scale))) & mask;
  }
  value = std::clamp(value, 0.0F, 1.0F);
  if (with_curve) value = value <= 0.0031308F ? value * 12.92F : 1.055F * std::pow(value, 1 / 2.4F) - 0.055F;
  return static_cast<uint32_t>(std::nearbyint(value * static_cast<float>(mask)));
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
      if (is_srgb(order->order) || type->packed_format > 14) return std::nullopt;
      break;
    default:
      break;
  }
  ImageFormat found{.bytes = 0,
                    .data_format = type->packed_format,
                    .number_format = is_srgb(order->order) ? srgb : type->number_format,
                    .select = order->select,
                    .capabilities = order->capabilities,
                    .type = type->type,
                    .widths = type->packed};
  if (type->bits != 0) {
    found.data_format = data_format(order->stored.size(), type->bits);
    std::fill_n(found.widths.begin(), order->stored.size(), type->bits);
  }
  unsigned bits = 0;
  for (const uint8_t width : found.widths) bits += width;
  found.bytes = std::bit_ceil((bits + 7) / 8);
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
  const auto* components = static_cast<const uint8_t*>(data);
  std::array<uint8_t, 16> element{};
  unsigned bit = 0;
  for (unsigned i = 0; i < 4 && format.widths[i] != 0; ++i) {
    // The component that is read from here is the one to write here: the first of several.
    const auto here = static_cast<Select>(static_cast<unsigned>(Select::x) + i);
    const auto channel = static_cast<size_t>(std::ranges::find(format.select, here) - format.select.begin());
    const bool with_curve = format.number_format == srgb && channel != 3;
    const uint32_t number = format.number_format == srgb ? unorm : format.number_format;
    const uint64_t value =
        uint64_t{encode(number, format.widths[i], components + channel * sizeof(uint32_t), with_curve)} << bit % 8;
    for (unsigned byte = 0; byte * 8 < format.widths[i] + bit % 8; ++byte) {
      element[bit / 8 + byte] |= static_cast<uint8_t>(value >> byte * 8);
    }
    bit += format.widths[i];
  }
  return element;
}

}  // namespace Atoll::hsa
