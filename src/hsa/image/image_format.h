// hsa: image formats: combinations of channel order and channel type, and the bytes of elements. Source: HSA PRM,
// "Image channel order", "Image channel type".
#pragma once

#include <hsa/hsa_ext_image.h>

#include <array>
#include <cstdint>
#include <optional>

#include "semantics/image/image_resource.h"

namespace Atoll::hsa {

struct ImageFormat {
  semantics::BufferFormat elements;
  semantics::ComponentSelects selects;  ///< sources of red, green, blue and alpha
  uint32_t capabilities;                ///< hsa_ext_image_capability_t
  bool is_depth;                        ///< has one channel, whatever the other components return

  uint32_t bytes() const { return elements.bytes; }  ///< of an element
};

/// Returns the format for images of a geometry; nullopt if unsupported.
std::optional<ImageFormat> find_image_format(hsa_ext_image_format_t format, hsa_ext_image_geometry_t geometry);

/// Returns whether images can be copied between: equal formats except for sRGB.
bool same_elements(hsa_ext_image_format_t a, hsa_ext_image_format_t b);

/// Encodes an element with components `data`: red, green, blue and alpha (depth: one), each a float, int32_t or
/// uint32_t as kernels read the channel type.
std::array<uint8_t, 16> encode_element(const ImageFormat& format, const void* data);

}  // namespace Atoll::hsa
