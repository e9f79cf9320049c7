// Tests of the semantics room: comparing an instruction with a scalar reference.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "semantics/evaluate.h"

namespace Atoll::semantics::test {

template <typename T>
using WordOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T>
T from_bits(uint64_t value) {
  return std::bit_cast<T>(static_cast<WordOf<T>>(value));
}

template <typename T>
constexpr WordOf<T> quiet_bit() {
  return WordOf<T>{1} << (std::numeric_limits<T>::digits - 2);
}
template <typename T>
bool is_signalling(T a) {
  return std::isnan(a) && (word(a) & quiet_bit<T>()) == 0;
}
template <typename T>
T quieted(T nan) {
  return from_bits<T>(word(nan) | quiet_bit<T>());
}
/// Denormals become zeros of the same sign.
template <typename T>
T flushed(T a) {
  return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(T{0}, a) : a;
}

/// `compute` with the values at `index` of `count` sources.
template <typename T, size_t count, typename Compute>
T reference(const std::vector<Values>& lists, size_t index, Compute compute) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return compute(from_bits<T>(lists[I][index])...);
  }(std::make_index_sequence<count>());
}

/// Compares the instruction's result bits with the reference's, position by position.
template <typename T, size_t count, typename Compute>
void expect_bits(isa::Opcode opcode, const std::vector<Values>& lists, Compute compute,
                 const Conditions& conditions = {}) {
  const Evaluation result = evaluate(opcode, lists, conditions);
  ASSERT_EQ(result.dst.size(), lists[0].size());
  unsigned failures = 0;
  for (size_t i = 0; i < result.dst.size() && failures < 5; ++i) {
    const T expected = reference<T, count>(lists, i, compute);
    if (result.dst[i] == word(expected)) continue;
    ++failures;
    std::string operands;
    for (const Values& list : lists) {
      operands += " " + testing::PrintToString(from_bits<T>(list[i])) + " (" + std::to_string(list[i]) + ")";
    }
    ADD_FAILURE() << "opcode " << static_cast<unsigned>(opcode) << " of" << operands << ": "
                  << from_bits<T>(result.dst[i]) << " (" << result.dst[i] << ") rather than " << expected << " ("
                  << uint64_t{word(expected)} << ")";
  }
}

/// As expect_bits(), for arithmetic: where the reference gives a NaN, the result must be the first operand that is a
/// NaN, made quiet, or the positive default NaN.
template <typename T, size_t count, typename Compute>
void expect_result(isa::Opcode opcode, const std::vector<Values>& lists, Compute compute,
                   const Conditions& conditions = {}) {
  const auto checked = [&](auto... operands) {
    T result = compute(operands...);
    if (!std::isnan(result)) return result;
    result = std::numeric_limits<T>::quiet_NaN();
    bool decided = false;
    const auto consider = [&](T operand) {
      if (!decided && std::isnan(operand)) {
        result = quieted(operand);
        decided = true;
      }
    };
    (consider(operands), ...);
    return result;
  };
  expect_bits<T, count>(opcode, lists, checked, conditions);
}

}  // namespace Atoll::semantics::test
