// semantics: operations that do something else in few lanes: at NaNs, most of all.
//
// The interpreter looks after each operation whether there is such a lane. Translated code looks once for many
// operations, and does all of them again where it finds one. So in the bitcode the question is a call of a function
// that has no definition: the compiler puts in its place what it needs (compiler/llvm/slow_path.h).
#pragma once

#include "semantics/host_isa.h"
#include "semantics/lanes/lanes.h"

namespace Atoll::semantics {

#ifdef ATOLL_BITCODE
/// `result` holds the usual values and becomes the right ones; then follow the operands' addresses. `careful` is a
/// function of all these addresses that does it whatever the lanes are.
extern "C" void rare_lanes_single(void* result, uint16_t rare, const void* careful, ...);
extern "C" void rare_lanes_double(void* result, uint16_t rare, const void* careful, ...);
/// Marks words of two halves, of which those with a NaN in the result are rare. `rare` is not used.
extern "C" void rare_lanes_half_pair(void* result, uint16_t rare, const void* careful, ...);
#endif

ATOLL_HOST_ISA_BEGIN

/// Whether any lane of a comparison result is true.
template <typename Comparison>
[[gnu::always_inline]] inline bool any(Comparison lanes) {
  return __builtin_reduce_or(lanes) != 0;
}

#ifdef ATOLL_BITCODE
template <auto careful, typename T, typename... Operands>
[[gnu::noinline]] inline void by_address(T* result, const Operands*... operands) {
  *result = careful(*result, *operands...);
}
#endif

/// `usual`, which is right in all lanes but the `rare` ones, or careful(usual, operands...) if there are any. Lanes in
/// which an operand is a NaN must be rare.
template <auto careful, typename Rare, typename T, typename... Operands>
[[gnu::always_inline]] inline T unless(Rare rare, T usual, Operands... operands) {
#ifdef ATOLL_BITCODE
  if constexpr (sizeof(T) == sizeof(F32)) {
    rare_lanes_single(&usual, mask_of(rare).bits, reinterpret_cast<const void*>(&by_address<careful, T, Operands...>),
                      &operands...);
    return usual;
  } else if constexpr (sizeof(T) == sizeof(F64)) {
    rare_lanes_double(&usual, mask_of(rare).bits, reinterpret_cast<const void*>(&by_address<careful, T, Operands...>),
                      &operands...);
    return usual;
  }
#endif
  if (any(rare)) [[unlikely]]
    return careful(usual, operands...);
  return usual;
}

/// `usual`, words with two halves each, or careful(usual, operands...) if a half of it is a NaN. It is one wherever the
/// same half of an operand is.
template <auto careful, typename... Operands>
[[gnu::always_inline]] inline U32 unless_half_nan(U32 usual, Operands... operands) {
#ifdef ATOLL_BITCODE
  rare_lanes_half_pair(&usual, 0, reinterpret_cast<const void*>(&by_address<careful, U32, Operands...>), &operands...);
  return usual;
#else
  // The sum reaches a half's upper bit if its other bits exceed those of infinity.
  if (any((((usual & 0x7FFF7FFFu) + 0x03FF03FFu) & 0x80008000u) != 0)) [[unlikely]]
    return careful(usual, operands...);
  return usual;
#endif
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
