// semantics: rounding and denormal modes other than the usual ones.
//
// Chunk functions are written for the mode that nearly every wave runs in: round to nearest even, denormals kept. In
// any other mode the row function hands its call to run_in_mode(), which flushes the denormals of the sources, sets the
// host's rounding direction, calls back, and flushes the result, all from the operand types that the chunk function
// declares. No chunk function knows of it.
#pragma once

#include "semantics/lanes.h"
#include "semantics/registry.h"

namespace Atoll::semantics {

/// How an operand holds floating-point numbers: half precision in the low half of a register or in both, single
/// precision in a register or in each of two, double precision in two.
enum class Floating : uint8_t { none, half, half_pair, single, single_pair, twice };

/// The operands of a vector function that the mode concerns.
struct FloatUse {
  Floating src[4]{};
  Floating old = Floating::none;  ///< the destination's old value, where it is a source
  Floating dst = Floating::none;

  constexpr bool any() const {
    bool found = old != Floating::none || dst != Floating::none;
    for (const Floating source : src) found |= source != Floating::none;
    return found;
  }
};

/// Whether the mode applies to an operation over floating-point types; some have a behaviour of their own.
enum class Mode : uint8_t { applies, ignored };

ATOLL_LEVEL_BEGIN

/// The mode that chunk functions are written for.
[[gnu::always_inline]] inline bool is_plain(const FloatMode& mode) {
  return mode.round32 == Round::nearest_even && mode.round16_64 == Round::nearest_even &&
         mode.denormals32 == Denormals::allow_in_out && mode.denormals16_64 == Denormals::allow_in_out;
}

/// Does `call` in its mode by calling `plain` with the denormals dealt with and the host rounding as the mode says.
void run_in_mode(VectorCall& call, VectorFunction plain, const FloatUse& use);

ATOLL_LEVEL_END
}  // namespace Atoll::semantics
