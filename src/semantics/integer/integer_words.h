// semantics: 64-bit integers as pairs of 32-bit words.
//
// A 64-bit value lies in two registers, so its words come as two vectors. Working on these as they are is several
// times quicker than interleaving them into 64-bit lanes and taking those apart again, which is what U64 and I64
// operands mean. They remain the better choice for what is hard to split, like a 64-bit division.
#pragma once

#include "semantics/host_isa.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

using Words = Pair<U32>;

/// All ones in the lanes where a 64-bit sum overflowed its words.
struct WordsSum {
  Words value;
  I32 carry;
};

[[gnu::always_inline]] inline WordsSum add_words(Words a, Words b) {
  const U32 lo = a.lo + b.lo;
  const I32 carry = lo < a.lo;
  const U32 partial = a.hi + b.hi;
  const U32 hi = partial - bits<U32>(carry);  // minus minus one
  return {{lo, hi}, (partial < a.hi) | (hi < partial)};
}

/// Shifts by 0 to 63. A shift by 32 or more is one by the rest, with the words moved over.
[[gnu::always_inline]] inline Words shift_left(Words a, U32 amount) {
  const U32 rest = amount & 31u;
  const U32 lo = a.lo << rest, hi = a.hi << rest | a.lo >> 1u >> (31u - rest);
  const I32 moved = (amount & 32u) != 0u;
  return {select(moved, U32(0u), lo), select(moved, lo, hi)};
}
[[gnu::always_inline]] inline Words shift_right(Words a, U32 amount) {
  const U32 rest = amount & 31u;
  const U32 lo = a.lo >> rest | a.hi << 1u << (31u - rest), hi = a.hi >> rest;
  const I32 moved = (amount & 32u) != 0u;
  return {select(moved, hi, lo), select(moved, U32(0u), hi)};
}
[[gnu::always_inline]] inline Words shift_right_signed(Words a, U32 amount) {
  const U32 rest = amount & 31u;
  const U32 lo = a.lo >> rest | a.hi << 1u << (31u - rest);
  const U32 hi = bits<U32>(bits<I32>(a.hi) >> bits<I32>(rest)), sign = bits<U32>(bits<I32>(a.hi) >> 31);
  const I32 moved = (amount & 32u) != 0u;
  return {select(moved, hi, lo), select(moved, sign, hi)};
}

[[gnu::always_inline]] inline I32 equal(Words a, Words b) { return (a.lo == b.lo) & (a.hi == b.hi); }
[[gnu::always_inline]] inline I32 less(Words a, Words b) { return (a.hi < b.hi) | ((a.hi == b.hi) & (a.lo < b.lo)); }
[[gnu::always_inline]] inline I32 less_signed(Words a, Words b) {
  return (bits<I32>(a.hi) < bits<I32>(b.hi)) | ((a.hi == b.hi) & (a.lo < b.lo));
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
