// observe: checks whether an access to the kernarg segment stays within the argument that it indexes.
//
// Explicit and hidden arguments are adjacent in the segment, so an index past the end of an array passed by value reads
// another argument. Compilers index only structures and arrays; they load all other arguments at fixed offsets. Hence
// an access is out of bounds
// - if lanes read different offsets and one of them is in padding, in a pointer or number, or inside a hidden argument;
// - if a scalar load's address is computed from the explicit arguments and is outside every structure. Accesses at
//   fixed offsets are always in bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/observer.h"
#include "object/code_object.h"

namespace Atoll::observe {

struct LeftArgument {
  unsigned lane = 0;   ///< first lane that is out of bounds
  uint64_t count = 0;  ///< number of such lanes
  /// The indexed argument; null if no lane reads one.
  const object::KernelArgument* argument = nullptr;
};

/// Returns how an access to the segment at `kernarg` leaves its argument, or nullopt if it is in bounds.
std::optional<LeftArgument> left_argument(const object::KernelMetadata& kernel, uint64_t kernarg,
                                          const machine::AccessEvent& access);

}  // namespace Atoll::observe
