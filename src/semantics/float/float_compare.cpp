// semantics: floating-point comparisons and classification (V_CMP_*, V_CMPX_*).
//
// V_CMPX yields the same lanes as V_CMP; that EXEC follows them is the engine's part. So do V_CMPS and V_CMPSX of GFX6
// and GFX7, which differ in the exceptions of quiet NaNs.
#include "semantics/entries.h"
#include "semantics/float/float_lanes.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

// The sixteen predicates in the order of their opcodes. Names that begin with n are true for unordered operands: nge
// is "not greater or equal", which is not the same as lt when there is a NaN.
#define PREDICATES(X)          \
  X(f, a != a && a == a)       \
  X(lt, a < b)                 \
  X(eq, a == b)                \
  X(le, a <= b)                \
  X(gt, a > b)                 \
  X(lg, (a < b) | (a > b))     \
  X(ge, a >= b)                \
  X(o, (a == a) & (b == b))    \
  X(u, (a != a) | (b != b))    \
  X(nge, ~(a >= b))            \
  X(nlg, ~((a < b) | (a > b))) \
  X(ngt, ~(a > b))             \
  X(nle, ~(a <= b))            \
  X(neq, a != b)               \
  X(nlt, ~(a < b))             \
  X(tru, a == a || a != a)

#define DEFINE(name, condition)                                                                   \
  LANES(v_cmp_##name##_f32, Mask, (F32 a, [[maybe_unused]] F32 b)) { return mask_of(condition); } \
  LANES(v_cmp_##name##_f64, Mask, (F64 a, [[maybe_unused]] F64 b)) { return mask_of(condition); } \
  LANES(v_cmp_##name##_f16, Mask, (F16 half_a, F16 half_b)) { return v_cmp_##name##_f32(widen(half_a), widen(half_b)); }
PREDICATES(DEFINE)
#undef DEFINE

/// Each lane of `a` is of one of ten classes; whether the bit of `wanted` with its number is set. From 0: signalling
/// NaN, quiet NaN, -infinity, -normal, -denormal, -0, +0, +denormal, +normal, +infinity.
template <typename T>
[[gnu::always_inline]] inline Mask of_class(T a, U32 wanted) {
  using B = BitsOf<T>;
  using F = Format<T>;
  const B word = bits<B>(a);
  const B magnitude = word & ~B(F::sign);
  const auto one = [](auto condition) { return bits<B>(condition) & B(1); };
  // 0: zero, 1: denormal, 2: normal, 3: infinity.
  const B kind = one(magnitude != 0) + one(magnitude >= B(F::fraction + 1)) + one(magnitude >= B(F::exponent));
  B number = select((word & B(F::sign)) != 0, B(5) - kind, B(6) + kind);
  number = select(magnitude > B(F::exponent), one((word & B(F::quiet)) != 0), number);
  return mask_of((wanted >> convert<U32>(number) & 1) != 0);
}
LANES(v_cmp_class_f16, Mask, (F16 a, U32 wanted)) { return of_class(a, wanted); }
LANES(v_cmp_class_f32, Mask, (F32 a, U32 wanted)) { return of_class(a, wanted); }
LANES(v_cmp_class_f64, Mask, (F64 a, U32 wanted)) { return of_class(a, wanted); }

std::span<const VectorEntry> float_compare_entries() {
  using isa::Opcode;
#define BOTH(name, type)                                               \
  vector_entry<&v_cmp_##name##_##type>(Opcode::v_cmp_##name##_##type), \
      vector_entry<&v_cmp_##name##_##type>(Opcode::v_cmpx_##name##_##type),
#define BOTH_SIGNALLING(name, type)                                     \
  vector_entry<&v_cmp_##name##_##type>(Opcode::v_cmps_##name##_##type), \
      vector_entry<&v_cmp_##name##_##type>(Opcode::v_cmpsx_##name##_##type),
// Classification sees denormals as they are, whatever the mode.
#define BOTH_MODELESS(name, type)                                                     \
  vector_entry<&v_cmp_##name##_##type, Mode::ignored>(Opcode::v_cmp_##name##_##type), \
      vector_entry<&v_cmp_##name##_##type, Mode::ignored>(Opcode::v_cmpx_##name##_##type),
#define EVERY_TYPE(name, condition) \
  BOTH(name, f16) BOTH(name, f32) BOTH(name, f64) BOTH_SIGNALLING(name, f32) BOTH_SIGNALLING(name, f64)
  static constexpr VectorEntry entries[] = {
      // clang-format off
      PREDICATES(EVERY_TYPE)
      BOTH_MODELESS(class, f16) BOTH_MODELESS(class, f32) BOTH_MODELESS(class, f64)
      // clang-format on
  };
#undef BOTH
#undef BOTH_SIGNALLING
#undef BOTH_MODELESS
#undef EVERY_TYPE
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
