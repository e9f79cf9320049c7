// semantics: multiplication by powers of two, rounded once.
#pragma once

#include "semantics/float/float_lanes.h"
#include "semantics/host_isa.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

/// 2^exponent for exponents from -1022 to 1023.
[[gnu::always_inline]] inline F64 power_of_two(I32 exponent) { return bits<F64>(convert<I64>(exponent + 1023) << 52); }
[[gnu::always_inline]] inline I32 limited(I32 value, int low, int high) {
  return __builtin_elementwise_min(__builtin_elementwise_max(value, I32(low)), I32(high));
}

/// a * 2^exponent, rounded once where the result is a denormal (C's ldexp). Past the limits the result is 0 or infinity
/// whatever `a` is.
[[gnu::always_inline]] inline F32 scale_by_power(F32 a, I32 exponent) {
  // Exact in double precision: 2^-149 * 2^-400 still is a normal number there.
  return convert<F32>(convert<F64>(a) * power_of_two(limited(exponent, -400, 400)));
}
[[gnu::always_inline]] inline F16 scale_by_power(F16 a, I32 exponent) {
  const I32 power = limited(exponent, -60, 60) + 127;
  const F32 wide = widen(a);
  return narrow(with_nan(wide * bits<F32>(power << 23), wide));
}
[[gnu::always_inline]] inline F64 scale_by_power(F64 a, I32 exponent) {
  // In up to three steps. A step down keeps 53 bits clear of the denormals, so that only the last one rounds.
  constexpr int up = 1023, down = -1022 + 53;
  I32 rest = limited(exponent, -2200, 2200);
  for (int step = 0; step < 2; ++step) {
    const I32 now = select(rest > up, I32(up), select(rest < -1022, I32(down), I32(0)));
    a *= power_of_two(now);
    rest -= now;
  }
  return a * power_of_two(limited(rest, -1022, 1023));
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
