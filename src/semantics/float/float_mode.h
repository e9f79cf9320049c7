// semantics: rounding, denormal and overflow modes other than the usual ones.
//
// Chunk functions are written for the mode that nearly every wave runs in: round to nearest even, denormals kept,
// halves overflow to infinity. In any other mode the row function hands its call to run_in_mode(), which flushes the
// denormals of the sources, sets the host's rounding direction, calls back, flushes the result and clamps it, all from
// the operand types that the chunk function declares. It also restores signaling NaNs where MODE.IEEE is 0. No chunk
// function depends on it. Code that is translated for such a
// mode has run_in_mode() inlined, with the mode and the operand types as constants.
#pragma once

#include "semantics/lanes/lanes.h"
#include "semantics/registry.h"

namespace Atoll::semantics {

/// Whether the mode applies to an operation over floating-point types; some have a behaviour of their own.
enum class Mode : uint8_t {
  applies,
  ignored,
  never_overflows  ///< applies; an infinite half is what the operation means
};

ATOLL_HOST_ISA_BEGIN

/// Whether arithmetic makes signaling NaNs quiet. Where MODE has IEEE, clearing that bit makes all operations but
/// conversions to halves pass them on (measured on gfx90a, gfx950 and gfx1100: llvm/llvm-project#208733).
[[gnu::always_inline]] constexpr bool quiets(const FloatMode& mode) { return mode.ieee || !mode.has_ieee_mode; }

/// The mode that chunk functions are written for.
[[gnu::always_inline]] inline bool is_plain(const FloatMode& mode) {
  return quiets(mode) && mode.round32 == Round::nearest_even && mode.round16_64 == Round::nearest_even &&
         mode.denormals32 == Denormals::allow_in_out && mode.denormals16_64 == Denormals::allow_in_out &&
         !mode.clamps_overflow;
}

[[gnu::always_inline]] constexpr bool is_single(Floating type) {
  return type == Floating::single || type == Floating::single_pair;
}

/// How an operation rounds. A conversion to an integer rounds as its source's type does.
[[gnu::always_inline]] constexpr Round round_of(const FloatUse& use, const FloatMode& mode) {
  return is_single(use.dst != Floating::none ? use.dst : use.src[0]) ? mode.round32 : mode.round16_64;
}

/// Does `call` in a mode by calling `plain` with the denormals dealt with and the host rounding as the mode says.
void run_in_mode(VectorCall& call, VectorFunction plain, const FloatUse& use, const FloatMode& mode);

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
