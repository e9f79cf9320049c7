// semantics: operations on the four bytes of a register, made for video: sums of absolute differences and linear
// interpolation.
//
// "Masked" (m) sums skip the bytes where the second source, the reference, is 0. "Quad" (q) sums compare the same four
// reference bytes with four windows into eight bytes, each one byte further. The clamp bit saturates each sum.
#include "semantics/entries.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

namespace {

template <typename T>
[[gnu::always_inline]] inline T absolute_difference(T a, T b) {
  return __builtin_elementwise_max(a, b) - __builtin_elementwise_min(a, b);
}

[[gnu::always_inline]] inline U32 add(U32 a, U32 b, Clamp clamp) {
  return clamp.on ? __builtin_elementwise_add_sat(a, b) : a + b;
}

[[gnu::always_inline]] inline U32 sum_of_differences(U32 a, U32 b) {
  U32 sum{};
  for (unsigned i = 0; i < 32; i += 8) sum += absolute_difference(a >> i & 0xFFu, b >> i & 0xFFu);
  return sum;
}
[[gnu::always_inline]] inline U32 masked_sum_of_differences(U32 a, U32 reference) {
  U32 sum{};
  for (unsigned i = 0; i < 32; i += 8) {
    const U32 byte = reference >> i & 0xFFu;
    sum += select(byte == 0u, U32(0u), absolute_difference(a >> i & 0xFFu, byte));
  }
  return sum;
}

/// Four sums into the four 16-bit accumulators of `c`.
template <typename Sum>
[[gnu::always_inline]] inline U64 four_packed_sums(U64 a, U32 b, U64 c, Clamp clamp, Sum sum) {
  U64 result{};
  for (unsigned i = 0; i < 4; ++i) {
    U32 total = sum(convert<U32>(a >> uint64_t{8 * i}), b) + convert<U32>(c >> uint64_t{16 * i} & uint64_t{0xFFFF});
    if (clamp.on) total = __builtin_elementwise_min(total, U32(0xFFFFu));
    result |= convert<U64>(total & 0xFFFFu) << uint64_t{16 * i};
  }
  return result;
}

}  // namespace

LANES(v_sad_u8, U32, (U32 a, U32 b, U32 c, Clamp clamp)) { return add(sum_of_differences(a, b), c, clamp); }
LANES(v_sad_hi_u8, U32, (U32 a, U32 b, U32 c, Clamp clamp)) { return add(sum_of_differences(a, b) << 16u, c, clamp); }
LANES(v_sad_u16, U32, (U32 a, U32 b, U32 c, Clamp clamp)) {
  return add(absolute_difference(a & 0xFFFFu, b & 0xFFFFu) + absolute_difference(a >> 16u, b >> 16u), c, clamp);
}
LANES(v_sad_u32, U32, (U32 a, U32 b, U32 c, Clamp clamp)) { return add(absolute_difference(a, b), c, clamp); }
LANES(v_msad_u8, U32, (U32 a, U32 b, U32 c, Clamp clamp)) { return add(masked_sum_of_differences(a, b), c, clamp); }

LANES(v_qsad_pk_u16_u8, U64, (U64 a, U32 b, U64 c, Clamp clamp)) {
  return four_packed_sums(a, b, c, clamp, [](U32 x, U32 y) { return sum_of_differences(x, y); });
}
LANES(v_mqsad_pk_u16_u8, U64, (U64 a, U32 b, U64 c, Clamp clamp)) {
  return four_packed_sums(a, b, c, clamp, [](U32 x, U32 y) { return masked_sum_of_differences(x, y); });
}
LANES(v_mqsad_u32_u8, Quad, (U64 a, U32 b, Quad c, Clamp clamp)) {
  Quad result;
  for (unsigned i = 0; i < 4; ++i) {
    result.words[i] = add(masked_sum_of_differences(convert<U32>(a >> uint64_t{8 * i}), b), c.words[i], clamp);
  }
  return result;
}

// Each byte: (a + b + (c & 1)) / 2, without overflow of the byte. The terms are the bits that a and b share, half
// of the bits that differ, and the bit that the halving lost if c rounds up.
LANES(v_lerp_u8, U32, (U32 a, U32 b, U32 c)) {
  const U32 different = a ^ b;
  return (a & b) + (different >> 1u & 0x7F7F7F7Fu) + (different & c & 0x01010101u);
}

std::span<const VectorEntry> integer_bytes_entries() {
  static constexpr VectorEntry entries[] = {
      ENTRY(v_sad_u8),         ENTRY(v_sad_hi_u8),       ENTRY(v_sad_u16),      ENTRY(v_sad_u32), ENTRY(v_msad_u8),
      ENTRY(v_qsad_pk_u16_u8), ENTRY(v_mqsad_pk_u16_u8), ENTRY(v_mqsad_u32_u8), ENTRY(v_lerp_u8),
  };
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
