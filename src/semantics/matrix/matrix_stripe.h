// semantics: four registers of a matrix instruction's D, done at a time: a stripe (matrix.cpp says how it is filled).
//
// With 32 columns it is eight rows of a block, with 16 a whole block, with 4 all blocks. Each of its 16 chunks of 16
// lanes begins with C, takes up products while the depth goes by, and is D in the end. How products are summed up is in
// a file for each kind: in chains and pairs (matrix.cpp), exactly (mfma_exact.cpp), aligned (mfma_aligned.cpp).
#pragma once

#include <cstdint>
#include <cstring>

#include "semantics/float/denormals.h"
#include "semantics/float/float_lanes.h"
#include "semantics/lanes/rare_lanes.h"
#include "semantics/matrix/mfma.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

constexpr unsigned stripe_rows = 4;                        ///< registers of a stripe
constexpr unsigned row_chunks = wave_lanes / chunk_lanes;  ///< chunks of a register

template <typename T>
[[gnu::always_inline]] inline T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Where a stripe's rows and columns are, seen from its first element of A and B.
template <unsigned columns>
struct Stripe {
  /// The element of A for chunk `chunk` of register `row`: the same for all lanes, but for that 4 columns have 4 lanes
  /// each of all blocks; A is laid out for these by expand_blocks().
  template <typename T>
  [[gnu::always_inline]] static Lanes<T> a(const T* a, unsigned row, unsigned chunk) {
    if constexpr (columns == 4) return load<Lanes<T>>(a + row * wave_lanes + chunk * chunk_lanes);
    return Lanes<T>(a[a_row(row, chunk)]);
  }
  static constexpr unsigned a_row(unsigned row, unsigned chunk) {
    return columns == 32 ? chunk / 2 * stripe_rows + row : chunk * stripe_rows + row;
  }
  template <typename T>
  [[gnu::always_inline]] static Lanes<T> b(const T* b, unsigned chunk) {
    return load<Lanes<T>>(b + b_column(chunk));
  }
  static constexpr unsigned b_column(unsigned chunk) {
    return columns == 32 ? chunk % 2 * chunk_lanes : columns == 16 ? 0 : chunk * chunk_lanes;
  }
};

/// A and B from a stripe's first element on; the steps lead from one depth to the next.
struct Factors {
  const float *a, *b;
  unsigned a_step, b_step, depth;
  const uint8_t* index = nullptr;                  ///< of a sparse A: which depths of B its elements belong to
  int a_least_exponent = 0, b_least_exponent = 0;  ///< of elements that are aligned, which denormals have
  const uint8_t* a_alignment = nullptr;            ///< if all elements have one (matrix_sources.h), ...
  const uint32_t* b_alignment = nullptr;           ///< ... of B's, one in each byte
  /// If not 0, a power of two of which all their products are whole multiples, whose sums are below 2^22 of it.
  float unit = 0;
  /// If denormals of a source are 0 in `a` and `b` (mfma_aligned.cpp): the elements as they are.
  const float *a_denormals = nullptr, *b_denormals = nullptr;
};

/// Initial values of the sums, and the processing of their results.
enum class Use : uint8_t {
  floats,    ///< begin with C, and are D
  integers,  ///< begin with 0, are added to C as integers
  partial    ///< begin with 0 and are left in D, to be scaled and added
};

struct Target {
  Row* d;
  const Row* c;  ///< of the same stripe; null: the constant
  uint32_t constant;
  bool flush_c;
  bool may_be_denormal = false;  ///< C or D
};

/// A function that does a stripe.
using StripeFunction = void (*)(const Factors&, const Target&);

/// The sums of some chunks of each of a stripe's registers.
template <unsigned chunks>
struct Sums {
  F32 of[stripe_rows][chunks];
};

template <Use use>
[[gnu::always_inline]] inline F32 first_sum(const Target& t, unsigned row, unsigned chunk) {
  if constexpr (use != Use::floats) return F32(0);
  const F32 c = t.c != nullptr ? load<F32>(&t.c[row][chunk * chunk_lanes]) : bits<F32>(U32(t.constant));
  return t.flush_c ? select(has_least_exponent(c), F32(0), c) : c;
}

template <Use use, unsigned chunks>
[[gnu::always_inline]] inline void store_sums(const Target& t, unsigned first_chunk, Sums<chunks>& sums) {
  const auto store = [&](unsigned row, unsigned i, auto value) __attribute__((always_inline)) {
    std::memcpy(&t.d[row][(first_chunk + i) * chunk_lanes], &value, sizeof value);
  };
  if (use == Use::floats && t.may_be_denormal) {
    for (auto& row : sums.of) {
      for (F32& sum : row) sum = with_default_nan(sum);
    }
  } else if constexpr (use == Use::floats) {
    // Two sums at a time, for which a host has one comparison.
    I32 nans = I32(0);
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < chunks; ++i) {
#pragma clang loop unroll(full)
      for (unsigned row = 0; row < stripe_rows; row += 2) {
        const F32 a = sums.of[row][i], b = sums.of[row + 1][i];
        nans |= (a != a) | (b != b);
      }
    }
    if (any(nans)) [[unlikely]] {
      for (auto& row : sums.of) {
        for (F32& sum : row) sum = select(sum == sum, sum, pattern<F32>(Format<F32>::default_nan));
      }
    }
  }
#pragma clang loop unroll(full)
  for (unsigned row = 0; row < stripe_rows; ++row) {
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < chunks; ++i) {
      if constexpr (use == Use::integers) {
        const U32 c = t.c != nullptr ? load<U32>(&t.c[row][(first_chunk + i) * chunk_lanes]) : U32(t.constant);
        store(row, i, c + bits<U32>(convert<I32>(sums.of[row][i])));
      } else {
        store(row, i, sums.of[row][i]);
      }
    }
  }
}

/// A stripe, `chunks` of each register at a time; add(f, chunk, sums) adds the products to those from `chunk` on.
template <Use use, unsigned chunks, typename Add>
[[gnu::always_inline]] inline void sum_up_stripe(const Factors& f, const Target& t, Add add) {
  for (unsigned chunk = 0; chunk < row_chunks; chunk += chunks) {
    Sums<chunks> sums;
#pragma clang loop unroll(full)
    for (unsigned row = 0; row < stripe_rows; ++row) {
#pragma clang loop unroll(full)
      for (unsigned i = 0; i < chunks; ++i) sums.of[row][i] = first_sum<use>(t, row, chunk + i);
    }
    add(f, chunk, sums);
    store_sums<use>(t, chunk, sums);
  }
}

/// The functions that add `group` products to what there is already, rounding once (2 or 4), or aligned (4, 8 or 16, of
/// which the even and the odd are apart).
StripeFunction exact_stripe(unsigned columns, unsigned group);
StripeFunction aligned_stripe(unsigned columns, unsigned group);

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
