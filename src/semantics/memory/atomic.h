// semantics: what each memory atomic computes from the value in memory and its data operands.
//
// These are pure functions of values; that no other access comes between the read and the write is for the engine
// to see to (a compare-exchange loop, or the host's own atomic where it has one). Which operation an opcode is, and
// how wide, stands in memory_access.h.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "semantics/lanes/lanes.h"
#include "target/float_atomics.h"

namespace Atoll::semantics {

/// In the comments: `old` is the value in memory, `data` and `data2` are the data operands in the order of the
/// instruction's registers.
enum class AtomicOperation : uint8_t {
  none,
  swap,           ///< data
  compare_swap,   ///< old == data2 ? data : old (FLAT, BUFFER, SMEM: the new value comes first)
  compare_store,  ///< old == data ? data2 : old (DS: the compare value comes first)
  add,
  subtract,
  reverse_subtract,  ///< data - old
  signed_min,
  unsigned_min,
  signed_max,
  unsigned_max,
  bit_and,
  bit_or,
  bit_xor,
  increment,             ///< old >= data ? 0 : old + 1
  decrement,             ///< old == 0 || old > data ? data : old - 1
  mask_or,               ///< (old & ~data) | data2
  wrap,                  ///< old >= data ? old - data : old + data2
  subtract_clamp,        ///< old < data ? 0 : old - data
  conditional_subtract,  ///< old >= data ? old - data : old
  float_add,             ///< f32 or f64, by width; rounds to nearest even
  float_min,             ///< a number wins over NaN, as compilers rely on (LLVM's atomicrmw fmin)
  float_max,             ///
  float_compare_store,   ///< compare_store, but comparing as floating point: -0 == 0, NaN equals nothing
  float_compare_swap,    ///< the same of compare_swap
  packed_add_f16,        ///< two halves, each on its own
  packed_add_bf16,
};

/// Whether an operation takes two data operands.
constexpr bool has_two_operands(AtomicOperation operation) {
  using enum AtomicOperation;
  return operation == compare_swap || operation == compare_store || operation == float_compare_store ||
         operation == float_compare_swap || operation == mask_or || operation == wrap;
}
/// Whether an operation computes in floating point, and so cares for denormals.
constexpr bool is_floating_point(AtomicOperation operation) {
  using enum AtomicOperation;
  return operation >= float_add && operation <= packed_add_bf16;
}

constexpr bool is_packed_sum(AtomicOperation operation) {
  return operation == AtomicOperation::packed_add_f16 || operation == AtomicOperation::packed_add_bf16;
}

/// How an atomic on LDS treats denormals: sums of f32 and of packed 16-bit floats follow MODE, and so do comparisons;
/// sums of f64 keep denormals. Source: "Denormal (Subnormal) Handling" in the CDNA3 ISA guide.
constexpr Denormals lds_atomic_denormals(AtomicOperation operation, unsigned bytes, const FloatMode& mode) {
  if (operation == AtomicOperation::float_add && bytes == 8) return Denormals::allow_in_out;
  return bytes == 4 && !is_packed_sum(operation) ? mode.denormals32 : mode.denormals16_64;
}

/// Returns how an atomic on memory treats denormals. Sums of f32 flush or not by GPU, all other sums keep denormals,
/// and comparisons follow MODE where the GPU does so. The CDNA3 and RDNA3 guides say that sums of f32 flush; compilers
/// rely on the opposite (target/float_atomics.h).
constexpr Denormals memory_atomic_denormals(AtomicOperation operation, unsigned bytes, const FloatMode& mode,
                                            const target::Processor& processor) {
  if (is_packed_sum(operation)) return Denormals::allow_in_out;
  if (operation == AtomicOperation::float_add) {
    const bool keeps = bytes == 8 || target::memory_sums_keep_denormals(processor);
    return keeps ? Denormals::allow_in_out : Denormals::flush_in_out;
  }
  if (!target::memory_compares_use_mode(processor)) return Denormals::allow_in_out;
  return bytes == 4 ? mode.denormals32 : mode.denormals16_64;
}

namespace atomic {

template <typename Word>
struct FloatOf;
template <>
struct FloatOf<uint32_t> {
  using type = float;
};
template <>
struct FloatOf<uint64_t> {
  using type = double;
};

/// `value` with a denormal turned into a zero of its sign.
template <std::floating_point Float>
Float flushed(Float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(Float{0}, value) : value;
}
constexpr bool flushes_inputs(Denormals denormals) {
  return denormals == Denormals::flush_in_out || denormals == Denormals::allow_out;
}
constexpr bool flushes_outputs(Denormals denormals) {
  return denormals == Denormals::flush_in_out || denormals == Denormals::allow_in;
}

/// The sum's NaN as the GPU chooses it, where `sum` of the operands is one: the first operand that is a NaN, made
/// quiet, else the positive default NaN (x86's is negative).
template <std::floating_point Float>
Float nan_of_sum(Float a, Float b) {
  using Word = std::conditional_t<sizeof(Float) == 8, uint64_t, uint32_t>;
  constexpr Word quiet = Word{1} << (sizeof(Float) == 8 ? 51 : 22);
  constexpr Word default_nan = sizeof(Float) == 8 ? Word(0x7FF8'0000'0000'0000) : Word(0x7FC0'0000);
  if (a != a) return std::bit_cast<Float>(std::bit_cast<Word>(a) | quiet);
  if (b != b) return std::bit_cast<Float>(std::bit_cast<Word>(b) | quiet);
  return std::bit_cast<Float>(default_nan);
}

template <std::floating_point Float>
Float add(Float a, Float b, Denormals denormals) {
  if (flushes_inputs(denormals)) a = flushed(a), b = flushed(b);
  const Float sum = a + b;
  if (sum != sum) return nan_of_sum(a, b);
  return flushes_outputs(denormals) ? flushed(sum) : sum;
}

/// The sum of halves in single precision and rounded once more. Double rounding is exact here: a single has more than
/// twice the bits of a half.
inline uint32_t add_f16(uint32_t a, uint32_t b, Denormals denormals) {
  constexpr uint32_t sign = 0x8000, exponent = 0x7C00;
  const auto flush = [](uint32_t half) { return (half & exponent) == 0 ? half & sign : half; };
  const auto wide = [&](uint32_t word) {
    uint32_t half = word & 0xFFFF;
    if (flushes_inputs(denormals)) half = flush(half);
    return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(half)));
  };
  const float exact = add(wide(a), wide(b), Denormals::allow_in_out);
  const uint32_t sum = std::bit_cast<uint16_t>(static_cast<_Float16>(exact));
  return flushes_outputs(denormals) ? flush(sum) : sum;
}

/// A bfloat16 is the upper half of a single, and so are its denormals.
inline uint32_t add_bf16(uint32_t a, uint32_t b, Denormals denormals) {
  const auto wide = [](uint32_t brain) { return std::bit_cast<float>(brain << 16); };
  const float exact = add(wide(a), wide(b), denormals);
  const auto word = std::bit_cast<uint32_t>(exact);
  return exact != exact ? word >> 16 : (word + 0x7FFF + (word >> 16 & 1)) >> 16;
}

}  // namespace atomic

/// The value that the operation leaves in memory. `Word` is uint32_t or uint64_t. `data2` counts only where
/// has_two_operands(), `denormals` only where is_floating_point().
template <typename Word>
Word atomic_result(AtomicOperation operation, Word old, Word data, Word data2,
                   Denormals denormals = Denormals::allow_in_out) {
  using Signed = std::make_signed_t<Word>;
  using Float = typename atomic::FloatOf<Word>::type;
  const auto as_float = [&](Word word) {
    const auto value = std::bit_cast<Float>(word);
    return atomic::flushes_inputs(denormals) ? atomic::flushed(value) : value;
  };
  const auto half = [](Word word, unsigned shift) { return static_cast<uint32_t>(word >> shift); };
  using enum AtomicOperation;
  switch (operation) {
    case none:
      return old;
    case swap:
      return data;
    case compare_swap:
      return old == data2 ? data : old;
    case compare_store:
      return old == data ? data2 : old;
    case add:
      return old + data;
    case subtract:
      return old - data;
    case reverse_subtract:
      return data - old;
    case signed_min:
      return static_cast<Signed>(data) < static_cast<Signed>(old) ? data : old;
    case unsigned_min:
      return data < old ? data : old;
    case signed_max:
      return static_cast<Signed>(data) > static_cast<Signed>(old) ? data : old;
    case unsigned_max:
      return data > old ? data : old;
    case bit_and:
      return old & data;
    case bit_or:
      return old | data;
    case bit_xor:
      return old ^ data;
    case increment:
      return old >= data ? 0 : old + 1;
    case decrement:
      return old == 0 || old > data ? data : old - 1;
    case mask_or:
      return (old & ~data) | data2;
    case wrap:
      return old >= data ? old - data : old + data2;
    case subtract_clamp:
      return old < data ? 0 : old - data;
    case conditional_subtract:
      return old >= data ? old - data : old;
    case float_add:
      return std::bit_cast<Word>(atomic::add(std::bit_cast<Float>(old), std::bit_cast<Float>(data), denormals));
    // A minimum or maximum is one of the two values as it was, whatever the comparison flushes.
    case float_min:
      return as_float(data) < as_float(old) || std::isnan(as_float(old)) ? data : old;
    case float_max:
      return as_float(data) > as_float(old) || std::isnan(as_float(old)) ? data : old;
    // A compare-and-swap whose comparison flushes also flushes what it stores.
    case float_compare_store:
      return std::bit_cast<Word>(as_float(as_float(old) == as_float(data) ? data2 : old));
    case float_compare_swap:
      return std::bit_cast<Word>(as_float(as_float(old) == as_float(data2) ? data : old));
    case packed_add_f16:
      return atomic::add_f16(half(old, 0), half(data, 0), denormals) |
             atomic::add_f16(half(old, 16), half(data, 16), denormals) << 16;
    case packed_add_bf16:
      return atomic::add_bf16(half(old, 0), half(data, 0), denormals) |
             atomic::add_bf16(half(old, 16), half(data, 16), denormals) << 16;
  }
  return old;
}

/// As above, as functions that translated code calls.
uint32_t atomic_result_32(AtomicOperation operation, uint32_t old, uint32_t data, uint32_t data2, Denormals denormals);
uint64_t atomic_result_64(AtomicOperation operation, uint64_t old, uint64_t data, uint64_t data2, Denormals denormals);

}  // namespace Atoll::semantics
