// observe: how a vector load places a memory element in a lane's registers: unchanged, widened, as half of a register,
// or converted from a buffer or image format. The order checker uses it to substitute another element.
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
  uint8_t words = 0;  ///< number of registers
  uint8_t bytes = 0;  ///< size of the element
  bool sign_extend = false;
  bool high_half = false, keeps_half = false;  ///< for values of at most 16 bits
  // For converted elements:
  std::optional<semantics::BufferFormat> format{};
  uint8_t components = 0;  ///< mask of the loaded components
  bool halves = false, packed = false;
  std::optional<uint32_t> buffer_word3{};                ///< set if the resource selects components
  std::optional<semantics::ComponentSelects> selects{};  ///< for images

  uint32_t dwords() const { return (bytes + 3u) / 4; }

  struct Registers {
    std::array<uint32_t, max_words> value{}, mask{};  ///< `mask`: the bits that are written
  };
  /// `element` has max_bytes bytes.
  Registers registers(const uint8_t* element) const;
};

/// Returns the shape of a vector memory load with elements of that size. Returns nullopt for other instructions and for
/// rare loads (transposing, to LDS, partially resident, several elements).
std::optional<LoadShape> load_shape(const machine::Wave& wave, const isa::Instruction& instruction, uint32_t bytes);

}  // namespace Atoll::observe
