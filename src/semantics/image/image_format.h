// semantics: the formats of images. Those of buffers are among them (buffer_format.h says what a format is); to these
// come packed ones of 8 and 16 bits and those along the curve of sRGB.
//
// Until GFX9 an image resource has a data format and a number format, from GFX10 on one number for both. Formats that
// only graphics has (compressed blocks, depth with stencil, shared exponents, single bits) are not among these.
// Sources: Vega ISA guide, "Image Resource Descriptor"; the FMT and CFMT enumerations of ROCr's resource headers.
#pragma once

#include <cstdint>
#include <optional>

#include "semantics/memory/buffer_format.h"
#include "target/processor.h"

namespace Atoll::semantics {

/// How a resource names a format; from GFX10 on `data` is the one number, and `number` stays 0.
struct ImageFormatFields {
  uint16_t data = 0;
  uint8_t number = 0;
};

/// The format with these numbers on a generation; nothing where it has none of that number.
std::optional<BufferFormat> image_format(ImageFormatFields fields, target::Generation generation);

/// Its numbers there; nothing if there are none.
std::optional<ImageFormatFields> image_format_fields(const BufferFormat& format, target::Generation generation);

}  // namespace Atoll::semantics
