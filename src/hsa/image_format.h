// hsa: image formats: what a channel order and a channel type make together, in a table, and elements' bytes.
// Source: HSA PRM, "Image channel order", "Image channel type"; data formats and selectors of GFX9's resource words
// from the Vega ISA manual, "Buffer resource descriptor", "Image resource descriptor".
#pragma once

#include <hsa/hsa_ext_image.h>

#include <array>
#include <cstdint>
#include <optional>

namespace Atoll::hsa {

/// How a resource word names the place of a component that is read: a constant or a component in memory.
enum class Select : uint8_t { zero = 0, one = 1, x = 4, y = 5, z = 6, w = 7 };

struct ImageFormat {
  uint32_t bytes;                ///< of an element
  uint8_t data_format;           ///< of the resource words: the components' sizes
  uint8_t number_format;         ///< of the resource words: how their bits are numbers
  std::array<Select, 4> select;  ///< what red, green, blue and alpha are read from
  uint32_t capabilities;         ///< hsa_ext_image_capability_t
  hsa_ext_image_channel_type32_t type;
  std::array<uint8_t, 4> widths;  ///< bits of the components from the lowest on; 0 where there is none
};

/// A format of images of a geometry; nothing when a GPU has none such.
std::optional<ImageFormat> find_image_format(hsa_ext_image_format_t format, hsa_ext_image_geometry_t geometry);

/// Whether images may be copied between: the same, but for being in the sRGB form or not.
bool same_elements(hsa_ext_image_format_t a, hsa_ext_image_format_t b);

/// The bytes of an element whose components are `data`: red, green, blue and alpha (depth: one), each a float, an
/// int32_t or a uint32_t as the channel type is read by kernels.
std::array<uint8_t, 16> encode_element(const ImageFormat& format, const void* data);

}  // namespace Atoll::hsa
