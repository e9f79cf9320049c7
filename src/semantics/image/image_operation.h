// semantics: what an image instruction does, as its name says it: "image_sample_c_d_cl_o_g16" compares, has gradients,
// clamps the level of detail, has offsets, and its gradients are of 16 bits.
// Source: ISA guides, "Vector Memory Image Instructions": opcodes and the order of the address's parts.
#pragma once

#include <cstdint>

#include "isa/opcode.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::semantics {

struct ImageOperation {
  enum class Kind : uint8_t { none, load, store, resource_info, atomic, sample, gather, lod, msaa_load };
  /// Where a sample's level of detail comes from.
  enum class Lod : uint8_t { steps_of_quad, gradients, address, zero };

  Kind kind = Kind::none;
  Lod lod = Lod::steps_of_quad;
  bool has_level = false;     ///< load_mip and store_mip, resource_info: the address ends with a level
  bool packed = false;        ///< elements move as they are, in whole registers
  bool sign_extends = false;  ///< of packed ones that fill no register
  // Parts of a sample's address, in their order.
  bool offset = false, bias = false, compares = false, half_gradients = false, clamps = false;
  bool in_a_row = false;  ///< gather4h
  AtomicOperation atomic = AtomicOperation::none;
};

const ImageOperation& image_operation(isa::Opcode opcode);

}  // namespace Atoll::semantics
