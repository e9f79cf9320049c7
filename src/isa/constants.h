// isa: constants of sources as an operand's type sees them: the floats that need no literal (ISA guides, "Inline
// constants"), integers, and literals.
#pragma once

#include <array>
#include <cstdint>

#include "isa/instruction.h"

namespace Atoll::isa {

/// 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1 / (2 pi), in order of their codes.
using InlineFloats = std::array<uint64_t, 9>;

inline constexpr InlineFloats inline_f16{0x3800, 0xB800, 0x3C00, 0xBC00, 0x4000, 0xC000, 0x4400, 0xC400, 0x3118};
/// inline_f16 in both halves.
inline constexpr InlineFloats inline_f16_twice{0x3800'3800, 0xB800'B800, 0x3C00'3C00, 0xBC00'BC00, 0x4000'4000,
                                               0xC000'C000, 0x4400'4400, 0xC400'C400, 0x3118'3118};
inline constexpr InlineFloats inline_bf16{0x3F00, 0xBF00, 0x3F80, 0xBF80, 0x4000, 0xC000, 0x4080, 0xC080, 0x3E22};
inline constexpr InlineFloats inline_f32{0x3F000000, 0xBF000000, 0x3F800000, 0xBF800000, 0x40000000,
                                         0xC0000000, 0x40800000, 0xC0800000, 0x3E22F983};
inline constexpr InlineFloats inline_f64{0x3FE0000000000000, 0xBFE0000000000000, 0x3FF0000000000000,
                                         0xBFF0000000000000, 0x4000000000000000, 0xC000000000000000,
                                         0x4010000000000000, 0xC010000000000000, 0x3FC45F306DC9C882};

/// The patterns that an operand of that type gets. Integers get those of floats of their width; packed integers those
/// of single floats, packed halves a half in the lower half.
constexpr const InlineFloats& inline_floats(DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::b16:
    case DataType::i16:
    case DataType::u16:
    case DataType::v2f16:
      return inline_f16;
    case DataType::bf16:
    case DataType::v2bf16:
      return inline_bf16;
    case DataType::f64:
    case DataType::b64:
    case DataType::i64:
    case DataType::u64:
      return inline_f64;
    default:
      return inline_f32;
  }
}

/// An integer as a type sees it: bit patterns for floats, sign-extended for signed integers, cut off where it is
/// narrower.
constexpr uint64_t integer_constant(int64_t value, DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::bf16:
    case DataType::u16:
    case DataType::b16:
      return static_cast<uint16_t>(value);
    case DataType::i16:
      return static_cast<uint64_t>(int64_t{static_cast<int16_t>(value)});
    case DataType::i32:
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)});
    case DataType::f64:
    case DataType::b64:
    case DataType::i64:
    case DataType::u64:
      return static_cast<uint64_t>(value);
    default:
      return static_cast<uint32_t>(value);
  }
}

/// A 32-bit literal as that type sees it: the upper half of a double; extended by zero to unsigned integers of 64 bits,
/// by sign to others.
constexpr uint64_t literal_constant(uint32_t value, DataType type) {
  if (type == DataType::f64) return uint64_t{value} << 32;
  if (type == DataType::b64 || type == DataType::u64) return value;
  return integer_constant(static_cast<int32_t>(value), type);
}

}  // namespace Atoll::isa
