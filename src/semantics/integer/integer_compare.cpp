// semantics: integer compares of the vector ALU.
//
// v_cmp_ and v_cmpx_ compute the same mask; that v_cmpx_ writes it to EXEC too is a matter of its destinations.
#include "semantics/entries.h"
#include "semantics/integer/integer_words.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

// The eight predicates of one type; `f` and `t` are the constants. What COMPARES defines, COMPARE_ENTRIES lists.
#define COMPARES(type, T)                                              \
  LANES(v_cmp_f_##type, Mask, (T, T)) { return Mask{0}; }              \
  LANES(v_cmp_lt_##type, Mask, (T a, T b)) { return mask_of(a < b); }  \
  LANES(v_cmp_eq_##type, Mask, (T a, T b)) { return mask_of(a == b); } \
  LANES(v_cmp_le_##type, Mask, (T a, T b)) { return mask_of(a <= b); } \
  LANES(v_cmp_gt_##type, Mask, (T a, T b)) { return mask_of(a > b); }  \
  LANES(v_cmp_ne_##type, Mask, (T a, T b)) { return mask_of(a != b); } \
  LANES(v_cmp_ge_##type, Mask, (T a, T b)) { return mask_of(a >= b); } \
  LANES(v_cmp_t_##type, Mask, (T, T)) { return Mask{0xFFFF}; }

COMPARES(i16, I16)
COMPARES(u16, U16)
COMPARES(i32, I32)
COMPARES(u32, U32)
// As above, for 64 bits, from `less` and `equal`.
#define COMPARES_OF_WORDS(type, less)                                                \
  LANES(v_cmp_f_##type, Mask, (Words, Words)) { return Mask{0}; }                    \
  LANES(v_cmp_lt_##type, Mask, (Words a, Words b)) { return mask_of(less(a, b)); }   \
  LANES(v_cmp_eq_##type, Mask, (Words a, Words b)) { return mask_of(equal(a, b)); }  \
  LANES(v_cmp_le_##type, Mask, (Words a, Words b)) { return mask_of(~less(b, a)); }  \
  LANES(v_cmp_gt_##type, Mask, (Words a, Words b)) { return mask_of(less(b, a)); }   \
  LANES(v_cmp_ne_##type, Mask, (Words a, Words b)) { return mask_of(~equal(a, b)); } \
  LANES(v_cmp_ge_##type, Mask, (Words a, Words b)) { return mask_of(~less(a, b)); }  \
  LANES(v_cmp_t_##type, Mask, (Words, Words)) { return Mask{0xFFFF}; }

COMPARES_OF_WORDS(i64, less_signed)
COMPARES_OF_WORDS(u64, less)

#define COMPARE_ENTRY(predicate) \
  ENTRY(v_cmp_##predicate), vector_entry<&v_cmp_##predicate>(isa::Opcode::v_cmpx_##predicate)
#define COMPARE_ENTRIES(type)                                                                            \
  COMPARE_ENTRY(f_##type), COMPARE_ENTRY(lt_##type), COMPARE_ENTRY(eq_##type), COMPARE_ENTRY(le_##type), \
      COMPARE_ENTRY(gt_##type), COMPARE_ENTRY(ne_##type), COMPARE_ENTRY(ge_##type), COMPARE_ENTRY(t_##type)

std::span<const VectorEntry> integer_compare_entries() {
  static constexpr VectorEntry entries[] = {COMPARE_ENTRIES(i16), COMPARE_ENTRIES(u16), COMPARE_ENTRIES(i32),
                                            COMPARE_ENTRIES(u32), COMPARE_ENTRIES(i64), COMPARE_ENTRIES(u64)};
  return entries;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
