// engine: what the files of image instructions share: which registers an address is in and what its parts are, and
// components in registers.
//
// The parts of an address stand in this order: offsets, bias, reference value, gradients, coordinates, level or clamp.
// Each fills registers of its own; 16-bit coordinates (A16) share them two by two with the level, and so do, for each
// direction by itself, 16-bit gradients.
// Sources: ISA guides, "Image Instructions"; for 16-bit addresses, what LLVM's code generator packs
// (SIISelLowering.cpp).
#pragma once

#include <array>
#include <cstdint>

#include "engine/interpreter/micro_op.h"
#include "engine/interpreter/vector.h"
#include "engine/memory/gather_scatter.h"
#include "semantics/image/image_operation.h"
#include "semantics/image/image_sampling.h"

namespace Atoll::engine {

/// What is said of an image by the instruction and by its resource.
struct ImageAccess {
  const isa::Instruction& instruction;
  const semantics::ImageOperation& operation;
  semantics::ImageResource resource;
  /// Of which type the address is: by the instruction from GFX10 on, by the resource before.
  semantics::ImageType address_type;
  bool has_half_gradients;
  bool has_unpacked_halves;  ///< 16-bit components fill registers of their own

  ImageAccess(const isa::Instruction& in, const semantics::ImageResource& of, const target::Processor& processor);
  /// Registers of the address's word; 256 and more where there is none such.
  unsigned address_register(unsigned word) const;
  unsigned address_words() const;
  /// Which components the instruction names; at least one.
  unsigned mask() const { return instruction.dmask == 0 ? 1U : instruction.dmask; }
};

/// A lane's address.
struct ImageAddress {
  std::array<uint32_t, 5> coordinates{};  ///< as they are: integers or floats; 16-bit ones are widened
  uint32_t level = 0;                     ///< level, level of detail or clamp
  std::array<std::array<float, 3>, 2> gradients{};
  std::array<int8_t, 3> offset{};
  float bias = 0, reference = 0;
};
/// `are_floats`: coordinates and level are.
ImageAddress read_address(const ImageAccess& access, const Row* vgprs, unsigned lane, bool are_floats);

/// Coordinates by their meaning, out of those of read_address().
struct ImageCoordinates {
  std::array<uint32_t, 3> at{};
  uint32_t layer = 0, sample = 0;
};
ImageCoordinates coordinates_of(const ImageAccess& access, const ImageAddress& address);

/// Up to four components of each lane, and what follows them.
struct ImageData {
  unsigned count = 0;  ///< of components
  std::array<std::array<uint32_t, 4>, semantics::wave_lanes> of;

  /// Of a lane's components those that are in the mask, one after the other.
  void keep(unsigned lane, unsigned mask, const std::array<uint32_t, 4>& components) {
    count = 0;
    for (unsigned i = 0; i < 4; ++i) {
      if ((mask >> i & 1) != 0) of[lane][count++] = components[i];
    }
  }
};
/// Components into the instruction's registers, and 0 into the register of tfe: nothing is missing.
void write_data(const ImageAccess& access, uint64_t lanes, const ImageData& data, Row* rows);
/// A component of a store.
uint32_t read_data(const ImageAccess& access, const Row* rows, unsigned lane, unsigned i);

/// image_sample*, image_gather4*, image_get_lod. False: the wave has stopped at a fault.
bool sample(Wave& wave, const MicroOp& op, Run& run, const ImageAccess& access);

/// Ends the wave for what `words` say is wrong with the instruction.
void image_fault(Wave& wave, const MicroOp& op, const std::string& words);

}  // namespace Atoll::engine
