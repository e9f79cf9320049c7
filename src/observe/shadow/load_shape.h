// observe: what a vector load makes of an element of memory in a lane's registers, so that the order checker can give
// it another one: as it is, widened, as half of a register, or converted from the format of a buffer or an image.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "isa/instruction.h"
#include "machine/wave/wave.h"
#include "semantics/image/image_resource.h"

namespace Atoll::observe {

struct LoadShape {
  static constexpr unsigned max_bytes = 16, max_words = 4;

  isa::OperandKind kind = isa::OperandKind::none;
  uint16_t reg = 0;
  uint8_t words = 0;  ///< registers
  uint8_t bytes = 0;  ///< of the element
  bool sign_extend = false;
  bool high_half = false, keeps_half = false;  ///< of a value of 16 bits or less
  // Converted:
  std::optional<semantics::BufferFormat> format{};
  uint8_t components = 0;  ///< a bit for each that is loaded
  bool halves = false, packed = false;
  std::optional<uint32_t> buffer_word3{};                ///< which selects components, where the resource does
  std::optional<semantics::ComponentSelects> selects{};  ///< of an image

  uint32_t dwords() const { return (bytes + 3u) / 4; }

  struct Registers {
    std::array<uint32_t, max_words> value{}, mask{};  ///< the mask has the bits that are written
  };
  /// `element`: of max_bytes.
  Registers registers(const uint8_t* element) const;
};

/// Of a load of vector memory whose elements have so many bytes; nothing where it is none, or a rare one (transposing,
/// to LDS, partially resident, of several elements).
std::optional<LoadShape> load_shape(const machine::Wave& wave, const isa::Instruction& instruction, uint32_t bytes);

}  // namespace Atoll::observe
