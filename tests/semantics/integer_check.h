// Tests of the semantics room: comparing an integer vector instruction, lane by lane, with a scalar reference.
//
// check() runs the instruction over a grid of edge values and over random ones, with full, partial and empty EXEC
// masks and, where the instruction takes it, with and without clamp. It compares every lane's result with the
// reference's, and sees to it that inactive lanes keep their registers and have clear mask bits.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "semantics/registry.h"

namespace Atoll::semantics::test {

using Int128 = __int128;

/// What one lane of an instruction sees.
struct Lane {
  std::array<std::array<uint32_t, 4>, 4> src{};  ///< words of each source
  std::array<uint32_t, 4> old{};                 ///< words of the destination before
  bool mask_in = false;
  bool clamp = false;
  unsigned number = 0;

  uint32_t u32(unsigned i) const { return src[i][0]; }
  int32_t i32(unsigned i) const { return static_cast<int32_t>(src[i][0]); }
  uint16_t u16(unsigned i) const { return static_cast<uint16_t>(src[i][0]); }
  int16_t i16(unsigned i) const { return static_cast<int16_t>(src[i][0]); }
  uint64_t u64(unsigned i) const { return src[i][0] | uint64_t{src[i][1]} << 32; }
  int64_t i64(unsigned i) const { return static_cast<int64_t>(u64(i)); }
  uint8_t byte(unsigned i, unsigned which) const {
    return static_cast<uint8_t>(src[i][which / 4] >> (8 * (which % 4)));
  }
  uint16_t half(unsigned i, unsigned which) const { return static_cast<uint16_t>(src[i][0] >> (16 * which)); }
};

/// What it should yield.
struct Outcome {
  std::array<uint32_t, 4> words{};
  bool mask = false;

  Outcome() = default;
  Outcome(uint64_t value, bool mask_ = false)
      : words{static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)}, mask(mask_) {}
};

using Reference = std::function<Outcome(const Lane&)>;

void check(isa::Opcode opcode, const Reference& reference);

/// An exact result in `bits` bits: saturated if the lane has clamp, else wrapped.
uint64_t unsigned_result(const Lane& lane, Int128 exact, unsigned bits);
uint64_t signed_result(const Lane& lane, Int128 exact, unsigned bits);

}  // namespace Atoll::semantics::test
