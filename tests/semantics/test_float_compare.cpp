// Comparisons against the host's, classification against the host's fpclassify.
#include <gtest/gtest.h>

#include <cmath>

#include "semantics/evaluate.h"
#include "semantics/reference.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;

template <typename T>
bool holds(unsigned predicate, T a, T b) {
  const bool less = a < b, equal = a == b, greater = a > b, unordered = std::isnan(a) || std::isnan(b);
  // Opcodes: bit 0 less, bit 1 equal, bit 2 greater, bit 3 unordered; in the upper eight the name says what is not so,
  // but the bits still say what is.
  return (predicate & 1 && less) || (predicate & 2 && equal) || (predicate & 4 && greater) ||
         (predicate & 8 && unordered);
}

template <typename T>
void expect_predicates(const Opcode (&compare)[16], const Opcode (&compare_exec)[16], const std::vector<Values>& lists,
                       T (*decode)(uint64_t)) {
  for (unsigned predicate = 0; predicate < 16; ++predicate) {
    SCOPED_TRACE(predicate);
    const Evaluation result = evaluate(compare[predicate], lists);
    for (size_t i = 0; i < lists[0].size(); ++i) {
      ASSERT_EQ(result.mask[i], holds(predicate, decode(lists[0][i]), decode(lists[1][i])))
          << decode(lists[0][i]) << " " << decode(lists[1][i]);
    }
    EXPECT_EQ(evaluate(compare_exec[predicate], lists).mask, result.mask);
  }
}

#define PREDICATES(prefix, type)                                                                                       \
  {Opcode::prefix##_f_##type,   Opcode::prefix##_lt_##type,  Opcode::prefix##_eq_##type,  Opcode::prefix##_le_##type,  \
   Opcode::prefix##_gt_##type,  Opcode::prefix##_lg_##type,  Opcode::prefix##_ge_##type,  Opcode::prefix##_o_##type,   \
   Opcode::prefix##_u_##type,   Opcode::prefix##_nge_##type, Opcode::prefix##_nlg_##type, Opcode::prefix##_ngt_##type, \
   Opcode::prefix##_nle_##type, Opcode::prefix##_neq_##type, Opcode::prefix##_nlt_##type, Opcode::prefix##_tru_##type}

float half_to_float(uint64_t value) {
  return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(value)));
}

TEST(FloatCompare, PredicatesAreTrueForTheOrderingsTheirOpcodeNames) {
  auto singles = pairs(edges32());
  append_random(singles, 32, 5000, 3);
  expect_predicates<float>(PREDICATES(v_cmp, f32), PREDICATES(v_cmpx, f32), singles, as_float);
  auto doubles = pairs(edges64());
  append_random(doubles, 64, 5000, 4);
  expect_predicates<double>(PREDICATES(v_cmp, f64), PREDICATES(v_cmpx, f64), doubles, as_double);
  auto halves = pairs(edges16());
  append_random(halves, 16, 5000, 5);
  expect_predicates<float>(PREDICATES(v_cmp, f16), PREDICATES(v_cmpx, f16), halves, half_to_float);
}

TEST(FloatCompare, FlushedDenormalsEqualZero) {
  Conditions flush;
  flush.mode.denormals32 = Denormals::flush_in_out;
  EXPECT_TRUE(evaluate(Opcode::v_cmp_eq_f32, {{0x00000001}, {0x80000000}}, flush).mask[0]);
  EXPECT_FALSE(evaluate(Opcode::v_cmp_eq_f32, {{0x00000001}, {0x80000000}}).mask[0]);
}

template <typename T>
unsigned class_of(T a, bool signalling) {
  switch (std::fpclassify(a)) {
    case FP_NAN:
      return signalling ? 0 : 1;
    case FP_INFINITE:
      return std::signbit(a) ? 2 : 9;
    case FP_NORMAL:
      return std::signbit(a) ? 3 : 8;
    case FP_SUBNORMAL:
      return std::signbit(a) ? 4 : 7;
    default:
      return std::signbit(a) ? 5 : 6;
  }
}

template <typename Classify>
void expect_classes(Opcode opcode, const Values& values, Classify classify, const Conditions& conditions) {
  for (unsigned bit = 0; bit < 10; ++bit) {
    const Evaluation only = evaluate(opcode, {values, Values(values.size(), 1u << bit)}, conditions);
    const Evaluation except = evaluate(opcode, {values, Values(values.size(), ~(1u << bit))}, conditions);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(only.mask[i], classify(values[i]) == bit) << std::hex << values[i];
      ASSERT_EQ(except.mask[i], classify(values[i]) != bit) << std::hex << values[i];
    }
  }
}

TEST(FloatCompare, ClassesAreToldApartWhateverTheDenormalMode) {
  Conditions flush;
  flush.mode.denormals32 = flush.mode.denormals16_64 = Denormals::flush_in_out;
  for (const Conditions& conditions : {Conditions{}, flush}) {
    const auto single = [](uint64_t value) { return class_of(as_float(value), is_signalling(as_float(value))); };
    const auto twice = [](uint64_t value) { return class_of(as_double(value), is_signalling(as_double(value))); };
    expect_classes(Opcode::v_cmp_class_f32, edges32(), single, conditions);
    expect_classes(Opcode::v_cmpx_class_f32, edges32(), single, conditions);
    expect_classes(Opcode::v_cmp_class_f64, edges64(), twice, conditions);
    expect_classes(Opcode::v_cmpx_class_f64, edges64(), twice, conditions);
    Values halves;
    for (uint32_t value = 0; value < 65536; ++value) halves.push_back(value);
    expect_classes(
        Opcode::v_cmp_class_f16, halves,
        [](uint64_t value) -> unsigned {
          const bool negative = value & 0x8000;
          const uint64_t size = value & 0x7FFF;
          if (size > 0x7C00) return size & 0x200 ? 1 : 0;
          if (size == 0x7C00) return negative ? 2 : 9;
          if (size >= 0x400) return negative ? 3 : 8;
          if (size > 0) return negative ? 4 : 7;
          return negative ? 5 : 6;
        },
        conditions);
  }
}

}  // namespace
}  // namespace Atoll::semantics::test
