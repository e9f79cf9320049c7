// observe: whether an access to the kernarg segment stays within the argument that it indexes.
//
// Explicit and hidden arguments lie side by side in the segment, so an index past an array that is passed by value
// reads another argument. Only structures and arrays are indexed: code loads all others at fixed offsets. Hence an
// access leaves its argument
// - where lanes read different offsets and one of them is in padding, in a pointer or a number, or inside of a hidden
//   argument;
// - where a scalar load's address is computed from the explicit arguments and leads to none of the structures.
// Fixed offsets are always those that the compiler means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/observer.h"
#include "object/code_object.h"

namespace Atoll::observe {

struct LeftArgument {
  unsigned lane = 0;   ///< the first that leaves it
  uint64_t count = 0;  ///< lanes that do
  /// The argument that is indexed; null where no lane reads one.
  const object::KernelArgument* argument = nullptr;
};

/// Returns how an access to the segment at `kernarg` leaves the argument that it indexes, or nothing.
std::optional<LeftArgument> left_argument(const object::KernelMetadata& kernel, uint64_t kernarg,
                                          const machine::AccessEvent& access);

}  // namespace Atoll::observe
