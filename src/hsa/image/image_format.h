// hsa: image formats: what a channel order and a channel type make together, and elements' bytes.
// Source: HSA PRM, "Image channel order", "Image channel type".
#pragma once

#include <hsa/hsa_ext_image.h>

#include <array>
#include <cstdint>
#include <optional>

#include "semantics/image/image_resource.h"

namespace Atoll::hsa {

struct ImageFormat {
  semantics::BufferFormat elements;
  semantics::ComponentSelects selects;  ///< what red, green, blue and alpha are read from
  uint32_t capabilities;                ///< hsa_ext_image_capability_t
  bool is_depth;                        ///< has one channel, whatever is read of others

  uint32_t bytes() const { return elements.bytes; }  ///< of an element
};

/// A format of images of a geometry; nothing when there is none such.
std::optional<ImageFormat> find_image_format(hsa_ext_image_format_t format, hsa_ext_image_geometry_t geometry);

/// Whether images may be copied between: the same, but for being in the sRGB form or not.
bool same_elements(hsa_ext_image_format_t a, hsa_ext_image_format_t b);

/// The bytes of an element whose components are `data`: red, green, blue and alpha (depth: one), each a float, an
/// int32_t or a uint32_t as the channel type is read by kernels.
std::array<uint8_t, 16> encode_element(const ImageFormat& format, const void* data);

}  // namespace Atoll::hsa
