// semantics: the data formats of formatted buffer access (buffer_load_format, tbuffer_load_format and their stores),
// and what they and the formats of images (image_format.h) share: how elements in memory become components.
//
// A data format says how many components there are and which bits hold them; a number format says what the bits
// mean. MTBUF instructions name both; for MUBUF they stand in the buffer resource (Vega ISA guide, "Buffer resource
// descriptor" and "Memory buffer load data format"). Components travel through registers as 32-bit words: floats for
// the normalized, scaled and float formats, integers for the integer ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "target/processor.h"

namespace Atoll::semantics {

enum class NumberFormat : uint8_t {
  unorm,    ///< unsigned integer, as a fraction of its largest value
  snorm,    ///< the same, signed: -1 to 1
  uscaled,  ///< unsigned integer, as a float
  sscaled,
  uint,
  sint,
  snorm_nz,  ///< reserved since GFX6
  floating,  ///< of 32, 16, 11 or 10 bits
  srgb,      ///< of images alone: as unorm, but X, Y and Z are stored along the curve of sRGB
};

constexpr bool is_integer(NumberFormat number) { return number == NumberFormat::uint || number == NumberFormat::sint; }

struct BufferFormat {
  uint8_t components = 0;          ///< 1 to 4: X, Y, Z, W
  uint8_t bytes = 0;               ///< of the whole element
  std::array<uint8_t, 4> width{};  ///< bits of each component; X lies lowest
  NumberFormat number = NumberFormat::unorm;

  friend bool operator==(const BufferFormat&, const BufferFormat&) = default;
};

/// The format of the two 4- and 3-bit fields; nothing if the hardware has no such format.
std::optional<BufferFormat> buffer_format(uint8_t data_format, uint8_t number_format);

/// As above where one number means both, from GFX10 on (isa/buffer_formats.h).
std::optional<BufferFormat> unified_buffer_format(unsigned format, target::Generation generation);

/// Its number there; nothing if it has none.
std::optional<unsigned> unified_format_number(const BufferFormat& format, target::Generation generation);

/// The four components of the element at `memory` (`format.bytes` readable bytes, any alignment): those that the
/// format lacks are 0, and W is 1.
std::array<uint32_t, 4> read_components(const BufferFormat& format, const uint8_t* memory);

/// The inverse: values outside the format's range go to its nearest end, NaN to 0.
void write_components(const BufferFormat& format, const std::array<uint32_t, 4>& components, uint8_t* memory);

/// W of formats without it, and the constant 1 of a resource's selectors.
uint32_t one(NumberFormat number);

/// The components in the order that the resource's DST_SEL fields ask for (four fields of 3 bits from bit 0 of its
/// word 3: 0 and 1 are constants, 4 to 7 are X to W). Applies to loads.
std::array<uint32_t, 4> select_components(const BufferFormat& format, const std::array<uint32_t, 4>& components,
                                          uint32_t resource_word3);

/// Between the 32-bit and the 16-bit form (D16 instructions): floats are rounded to nearest even, integers keep
/// their low bits and are extended by the format's sign.
uint16_t narrow_component(const BufferFormat& format, uint32_t component);
uint32_t widen_component(const BufferFormat& format, uint16_t component);

}  // namespace Atoll::semantics
