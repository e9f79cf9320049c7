// engine: addresses and components of image instructions in registers.
//
// The parts of an address are in this order: offsets, bias, reference value, gradients, coordinates, level or clamp.
// Each part starts a new register, except that 16-bit coordinates (A16) are packed in pairs with the level. 16-bit
// gradients are packed in pairs per direction. Sources: ISA guides, "Image Instructions"; for 16-bit addresses, LLVM's
// code generator (SIISelLowering.cpp).
#pragma once

#include <array>
#include <cstdint>

#include "engine/interpreter/micro_op.h"
#include "engine/interpreter/vector.h"
#include "engine/memory/gather_scatter.h"
#include "semantics/image/image_operation.h"
#include "semantics/image/image_sampling.h"

namespace Atoll::engine {

/// The properties of an access from its instruction and its resource.
struct ImageAccess {
  const isa::Instruction& instruction;
  const semantics::ImageOperation& operation;
  semantics::ImageResource resource;
  /// Type of the address: from the instruction since GFX10, from the resource before.
  semantics::ImageType address_type;
  bool has_half_gradients;
  bool has_unpacked_halves;  ///< each 16-bit component uses a whole register

  ImageAccess(const isa::Instruction& in, const semantics::ImageResource& of, const target::Processor& processor);
  /// Returns the register of an address word; at least 256 if it does not exist.
  unsigned address_register(unsigned word) const;
  unsigned address_words() const;
  /// Returns the components that the instruction selects; at least one.
  unsigned mask() const { return instruction.dmask == 0 ? 1U : instruction.dmask; }
};

/// A lane's address.
struct ImageAddress {
  std::array<uint32_t, 5> coordinates{};  ///< unconverted integers or floats; 16-bit ones are widened
  uint32_t level = 0;                     ///< level, level of detail or clamp
  std::array<std::array<float, 3>, 2> gradients{};
  std::array<int8_t, 3> offset{};
  float bias = 0, reference = 0;
};
/// `are_floats`: coordinates and level are floats.
ImageAddress read_address(const ImageAccess& access, const Row* vgprs, unsigned lane, bool are_floats);

/// Coordinates by meaning, from the result of read_address().
struct ImageCoordinates {
  std::array<uint32_t, 3> at{};
  uint32_t layer = 0, sample = 0;
};
ImageCoordinates coordinates_of(const ImageAccess& access, const ImageAddress& address);

/// Up to four components per lane, and the texel-fail word.
struct ImageData {
  unsigned count = 0;  ///< of components
  std::array<std::array<uint32_t, 4>, semantics::wave_lanes> of;

  /// Stores the components in the mask consecutively.
  void keep(unsigned lane, unsigned mask, const std::array<uint32_t, 4>& components) {
    count = 0;
    for (unsigned i = 0; i < 4; ++i) {
      if ((mask >> i & 1) != 0) of[lane][count++] = components[i];
    }
  }
};
/// Writes components to the instruction's registers, and 0 to the register of TFE: no texel has failed.
void write_data(const ImageAccess& access, uint64_t lanes, const ImageData& data, Row* rows);
/// Reads a component of a store.
uint32_t read_data(const ImageAccess& access, const Row* rows, unsigned lane, unsigned i);

/// Executes image_sample*, image_gather4* and image_get_lod. Returns false if the wave has faulted.
bool sample(Wave& wave, const MicroOp& op, Run& run, const ImageAccess& access);

/// Faults the wave; `words` describe the problem.
void image_fault(Wave& wave, const MicroOp& op, const std::string& words);

}  // namespace Atoll::engine
