// semantics: see float_mode.h.
#include "semantics/float_mode.h"

#include <xmmintrin.h>

#include <cstring>

namespace Atoll::semantics {
ATOLL_LEVEL_BEGIN

namespace {

unsigned words(Floating type) { return type == Floating::twice || type == Floating::single_pair ? 2 : 1; }

bool is_single(Floating type) { return type == Floating::single || type == Floating::single_pair; }

/// All ones where the lane is active.
uint32_t lane_mask(uint64_t active, unsigned lane) { return 0u - static_cast<uint32_t>(active >> lane & 1); }

/// Where all bits of `exponent` are 0, those of `fraction` become 0, too.
void flush_field(Row& row, uint32_t exponent, uint32_t fraction, uint64_t active) {
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const uint32_t tiny = (row[lane] & exponent) == 0 ? fraction & lane_mask(active, lane) : 0;
    row[lane] &= ~tiny;
  }
}

/// Denormals in the active lanes become zeros of the same sign.
void flush(Row* rows, Floating type, uint64_t active) {
  switch (type) {
    case Floating::none:
      break;
    case Floating::half_pair:
      flush_field(rows[0], 0x7C00'0000, 0x03FF'0000, active);
      [[fallthrough]];
    case Floating::half:
      flush_field(rows[0], 0x7C00, 0x03FF, active);
      break;
    case Floating::single_pair:
      flush_field(rows[1], 0x7F80'0000, 0x007F'FFFF, active);
      [[fallthrough]];
    case Floating::single:
      flush_field(rows[0], 0x7F80'0000, 0x007F'FFFF, active);
      break;
    case Floating::twice:
      for (unsigned lane = 0; lane < wave_lanes; ++lane) {
        const uint32_t tiny = (rows[1][lane] & 0x7FF0'0000) == 0 ? lane_mask(active, lane) : 0;
        rows[0][lane] &= ~tiny;
        rows[1][lane] &= ~(tiny & 0x000F'FFFF);
      }
      break;
  }
}

/// The MXCSR rounding field (Intel SDM volume 1, 10.2.3) of a rounding mode.
unsigned rounding_control(Round round) {
  switch (round) {
    case Round::nearest_even:
      return _MM_ROUND_NEAREST;
    case Round::plus_infinity:
      return _MM_ROUND_UP;
    case Round::minus_infinity:
      return _MM_ROUND_DOWN;
    case Round::toward_zero:
      return _MM_ROUND_TOWARD_ZERO;
  }
  return _MM_ROUND_NEAREST;
}

}  // namespace

void run_in_mode(VectorCall& call, VectorFunction plain, const FloatUse& use) {
  const FloatMode mode = call.mode;
  const auto flushes = [&](Floating type, Denormals kept) {
    if (type == Floating::none) return false;
    const auto denormals = static_cast<uint8_t>(is_single(type) ? mode.denormals32 : mode.denormals16_64);
    return (denormals & static_cast<uint8_t>(kept)) == 0;
  };

  // The sources, copied where they must change: the call may not touch them.
  alignas(64) Row copies[4][2];
  VectorCall inner = call;
  for (unsigned i = 0; i < 4; ++i) {
    if (!flushes(use.src[i], Denormals::allow_in)) continue;
    std::memcpy(copies[i], call.src[i], words(use.src[i]) * sizeof(Row));
    flush(copies[i], use.src[i], call.exec);
    inner.src[i] = copies[i];
  }
  // The old destination can change in place: its active lanes are about to be overwritten.
  if (flushes(use.old, Denormals::allow_in)) flush(call.dst[0], use.old, call.exec);

  inner.mode_applied = true;
  // A conversion to an integer rounds as its source's type does.
  const Floating rounded = use.dst != Floating::none ? use.dst : use.src[0];
  const Round round = is_single(rounded) ? mode.round32 : mode.round16_64;
  // The arithmetic is behind a call through a pointer, which the compiler cannot move it across.
  const unsigned control = _mm_getcsr();
  _mm_setcsr((control & ~_MM_ROUND_MASK) | rounding_control(round));
  plain(inner);
  _mm_setcsr(control);

  if (flushes(use.dst, Denormals::allow_out)) flush(call.dst[0], use.dst, call.exec);
  call.mask_out = inner.mask_out;
}

ATOLL_LEVEL_END
}  // namespace Atoll::semantics
