// semantics: what each instruction does, as pure functions of register values, written once.
//
// A vector instruction is a function over a chunk of lanes: clang vector types, one element per lane.
//
//     LANES(v_add_f32, F32, (F32 a, F32 b)) { return a + b; }
//
// The chunk function knows nothing of registers, EXEC, modifiers or encodings. From its signature alone,
// row.h makes the function that the interpreter calls (all lanes of a wave, masked by EXEC), and the same
// source compiled to bitcode is what the compiled engine inlines. Sources arrive with neg, abs, sext, SDWA
// selects, DPP and op_sel already applied; clamp, omod and the destination selects follow afterwards.
//
// This file: the vector types, the floating-point mode, and small operations on lanes.
#pragma once

#include <cstdint>

#include "semantics/host_isa.h"

namespace Atoll::semantics {

inline constexpr unsigned chunk_lanes = 16;  ///< lanes of one chunk function call
inline constexpr unsigned wave_lanes = 64;   ///< lanes of one register row

template <typename T>
using Lanes = T __attribute__((ext_vector_type(chunk_lanes)));

using U8 = Lanes<uint8_t>;
using I8 = Lanes<int8_t>;
using U16 = Lanes<uint16_t>;
using I16 = Lanes<int16_t>;
using F16 = Lanes<_Float16>;
using U32 = Lanes<uint32_t>;
using I32 = Lanes<int32_t>;
using F32 = Lanes<float>;
using U64 = Lanes<uint64_t>;
using I64 = Lanes<int64_t>;
using F64 = Lanes<double>;

/// A bit per lane of the chunk, lane 0 lowest: carries, compare results, v_cndmask's selector.
struct Mask {
  uint16_t bits;
};

/// The wave's floating-point state as the MODE register holds it (ISA guide, "MODE register").
enum class Round : uint8_t { nearest_even, plus_infinity, minus_infinity, toward_zero };
enum class Denormals : uint8_t { flush_in_out = 0, allow_in = 1, allow_out = 2, allow_in_out = 3 };
/// The formats of 8-bit floats that a GPU has: gfx942's own, or those of the Open Compute Project.
enum class Fp8Format : uint8_t { fnuz, ocp };
struct FloatMode {
  Round round32 = Round::nearest_even;
  Round round16_64 = Round::nearest_even;
  Denormals denormals32 = Denormals::allow_in_out;
  Denormals denormals16_64 = Denormals::allow_in_out;
  bool dx10_clamp = true;  ///< clamp turns NaN into 0
  bool ieee = true;        ///< min, max and friends quiet signalling NaNs
  // The GPU's, no part of MODE. In one byte, so that the whole has eight.
  Fp8Format eight_bit : 4 = Fp8Format::fnuz;
  bool has_ieee_mode : 1 = true;  ///< MODE has the bits of the two fields before
  uint8_t unused : 3 = 0;         ///< names the byte's other bits, so that two modes are equal if their bytes are
  /// FP16_OVFL: a half or an 8-bit float that overflows becomes the largest number. The infinity of a half stays where
  /// it comes from an infinite source or a division by zero (AMDGPU backend user guide, compute_pgm_rsrc1).
  bool clamps_overflow = false;
  /// Compared as one word: waves compare theirs whenever they begin to run.
  friend bool operator==(const FloatMode& a, const FloatMode& b) {
    return __builtin_bit_cast(uint64_t, a) == __builtin_bit_cast(uint64_t, b);
  }
};

ATOLL_HOST_ISA_BEGIN

/// Same bits, other element type (or other element count).
template <typename To, typename From>
[[gnu::always_inline]] inline To bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, value);
}

/// Element-wise conversion as C++ does it (widening, truncation, int to float).
template <typename To, typename From>
[[gnu::always_inline]] inline To convert(From value) {
  return __builtin_convertvector(value, To);
}

/// The lanes of a comparison result (all ones or all zeros, any element width) as a Mask.
template <typename Comparison>
[[gnu::always_inline]] inline Mask mask_of(Comparison lanes) {
  using Bits = bool __attribute__((ext_vector_type(chunk_lanes)));
  return Mask{__builtin_bit_cast(uint16_t, __builtin_convertvector(lanes, Bits))};
}

/// A Mask as lanes of all ones and all zeros, ready for select().
[[gnu::always_inline]] inline I32 lanes_of(Mask mask) {
  using Bits = bool __attribute__((ext_vector_type(chunk_lanes)));
  return -__builtin_convertvector(__builtin_bit_cast(Bits, mask.bits), I32);
}

/// Lane-wise `condition ? yes : no`.
template <typename Condition, typename T>
[[gnu::always_inline]] inline T select(Condition condition, T yes, T no) {
  return condition ? yes : no;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
