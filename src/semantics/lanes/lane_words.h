// semantics: operands of several registers that are neither one number of 64 bits nor two numbers.
#pragma once

#include "semantics/host_isa.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

/// `count` registers of each lane.
template <unsigned count>
struct LaneWords {
  U32 word[count];
};

namespace row {
template <unsigned count>
struct Access<LaneWords<count>> {
  static constexpr unsigned words = count;
  [[gnu::always_inline]] static LaneWords<count> load(const Row* rows, unsigned chunk) {
    LaneWords<count> value;
    for (unsigned i = 0; i < count; ++i) value.word[i] = Access<U32>::load(rows + i, chunk);
    return value;
  }
  [[gnu::always_inline]] static void store(Row* rows, unsigned chunk, const LaneWords<count>& value, uint16_t active) {
    for (unsigned i = 0; i < count; ++i) Access<U32>::store(rows + i, chunk, value.word[i], active);
  }
};
}  // namespace row

/// Field `i` of `width` bits, the first in the lowest bits; what stands above it may stand above the result's.
template <unsigned width, unsigned count>
[[gnu::always_inline]] inline U32 get_field(const LaneWords<count>& fields, unsigned i) {
  const unsigned word = i * width / 32, shift = i * width % 32;
  U32 field = fields.word[word] >> shift;
  if (shift + width > 32) field |= fields.word[word + 1] << (32 - shift);
  return field;
}
/// Sets a field that is 0.
template <unsigned width, unsigned count>
[[gnu::always_inline]] inline void put_field(LaneWords<count>& fields, unsigned i, U32 field) {
  const unsigned word = i * width / 32, shift = i * width % 32;
  fields.word[word] |= field << shift;
  if (shift + width > 32) fields.word[word + 1] |= field >> (32 - shift);
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
