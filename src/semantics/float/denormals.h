// semantics: denormal numbers, by operations on normal numbers and integers alone.
//
// Intel's processors execute an operation with a denormal operand or result in microcode, which takes some 150 cycles:
// with 2% denormals among the elements, products of bf16 and f32 matrices took 12 to 49 times as long on a Xeon. This
// file has conversions, and chains of fused multiply-adds none of whose operations the host executes so:
//
// 1. Flushed factors, if sums are usual. MXCSR's DAZ bit makes the host read denormals as 0 at no cost (Intel SDM,
//    volume 1, 10.2.3.4). A product with a denormal is far below half of the last place of a sum that is not 0. So the
//    sum stays as it is either way. FlushedChain has the conditions: most follow from exponents alone.
// 2. Scaled factors, otherwise. Each slice of a source (its elements of one depth) exists in two versions. `up` is
//    multiplied by 2^24 (2^53 for doubles), so that denormals are normal numbers; `down` is divided by as much, with
//    substitutes for denormals. A step multiplies `up` of one source by `down` of the other, which is the same product.
//    If the slices of both sources have denormals, a second step adds the products of A's. The products of two
//    denormals are below half of the least number: a nonzero sum stays as it is. For a sum of 0 the substitute yields
//    an underflow (4.).
// 3. Scaling is exact if normal factors are from 2^-102 to 2^103. Otherwise denormals are computed lane by lane.
// 4. Sums are not scaled, so that they round as the GPU's do. A denormal result is an underflow for the host, which
//    MXCSR records: with FTZ set and the exception masked, it costs nothing (Intel SDM volume 1, 10.2.3.3). The chain
//    is then repeated with a check of each result. The lanes in question are computed in double precision, those of
//    doubles in integers.
//
// Nothing of this is needed if no product is denormal or has bits below 2^-126, and no C is denormal. Then a sum that
// is not 0 is normal: a C of 2^-102 or more has no bits below 2^-126 either, and a smaller one does not cancel a
// product of 2^-80 or more. may_be_denormal() is that test, by the least exponents of both sources.
#pragma once

#include <xmmintrin.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "semantics/float/float_lanes.h"
#include "semantics/host_isa.h"
#include "semantics/lanes/rare_lanes.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

/// The formats of a chain: F32 or F64.
template <typename T>
struct ChainFormat {
  using Bits = BitsOf<T>;
  using Word = typename Format<T>::Word;
  using Element = std::conditional_t<sizeof(T) == sizeof(F32), float, double>;
  static constexpr unsigned fraction_bits = Format<T>::fraction_bits;
  static constexpr Word sign = Format<T>::sign, exponent = Format<T>::exponent;
  static constexpr Word unit = Word{1} << fraction_bits;  ///< of the exponent; also the least normal number
  static constexpr Word shift = fraction_bits + 1;        ///< exponents between a factor and its scaled versions
};

template <typename T>
[[gnu::always_inline]] inline T load_lanes(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Lanes that are 0 or denormal.
template <typename T>
[[gnu::always_inline]] inline auto has_least_exponent(T a) {
  using F = ChainFormat<T>;
  return (bits<typename F::Bits>(a) & F::exponent) == 0;
}
template <typename T>
[[gnu::always_inline]] inline auto is_denormal(T a) {
  using F = ChainFormat<T>;
  return (bits<typename F::Bits>(magnitude(a)) - 1) < typename F::Bits(F::unit - 1);
}

template <typename T>
[[gnu::always_inline]] inline bool any_denormal(T a) {
  return any(is_denormal(a));
}

/// Single to double precision.
[[gnu::always_inline]] inline F64 widen_denormals(F32 a) {
  const I32 size = bits<I32>(magnitude(a));
  const I32 signed_size = select(bits<I32>(a) < 0, -size, size);
  const I64 denormal = convert<I64>(I32(is_denormal(a)));
  return select(denormal != 0, convert<F64>(signed_size) * 0x1p-149, convert<F64>(flush(a)));
}
/// Single to half precision, rounded to the nearest.
[[gnu::always_inline]] inline U16 narrow_to_half(F32 a) {
  const F32 size = magnitude(flush(a));
  const auto tiny = size < F32(0x1p-14f);
  const U32 rounded = bits<U32>(select(tiny, size, F32(0)) + 0.5f) - bits<U32>(F32(0.5f));  // multiples of 2^-24
  const U32 usual = convert<U32>(bits<U16>(narrow(select(tiny, F32(0), a))));
  return convert<U16>(select(tiny, rounded | (bits<U32>(a) >> 16 & 0x8000), usual));
}
/// Double to single precision, rounded to the nearest.
[[gnu::always_inline]] inline F32 narrow_denormals(F64 a) {
  constexpr double ones = 0x1.8p-97;  // a sum with this is a multiple of 2^-149
  const auto tiny = magnitude(a) < F64(0x1p-126);
  const U32 rounded = convert<U32>(bits<U64>(magnitude(select(tiny, a, F64(0))) + ones) - bits<U64>(F64(ones)));
  const U32 sign = convert<U32>(bits<U64>(a) >> 32) & Format<F32>::sign;
  const F32 usual = convert<F32>(select(tiny, F64(0), a));
  return bits<F32>(select(convert<I32>(I64(tiny)) != 0, rounded | sign, bits<U32>(usual)));
}

/// Whether there is a denormal among many numbers.
template <typename T>
class LeastSize {
 public:
  using Bits = BitsOf<T>;
  using F = ChainFormat<T>;
  /// Without the sign; 0 becomes the largest.
  [[gnu::always_inline]] void add(T a) {
    least_ = __builtin_elementwise_min(least_, bits<Bits>(a) + bits<Bits>(a) - 1);
  }
  [[gnu::always_inline]] bool has_denormal() const { return is_any_below(1); }
  /// Whether a number that is not 0 has a biased exponent below `exponent`.
  [[gnu::always_inline]] bool is_any_below(unsigned exponent) const {
    return any(least_ < (typename F::Word{exponent} << (F::fraction_bits + 1)) - 1);
  }

 private:
  Bits least_ = ~Bits(0);
};

constexpr unsigned exponent_of_zeros = 1u << 12;  ///< above all others

/// Finds the least biased exponent of elements that are not 0. That of denormals is 0.
template <typename T>
class LeastExponent {
 public:
  using F = ChainFormat<T>;
  [[gnu::always_inline]] void add(const typename F::Element* elements, unsigned count) {
    for (unsigned i = 0; i < count; i += chunk_lanes) {
      const auto size = bits<typename F::Bits>(magnitude(load_lanes<T>(elements + i)));
      least_ = __builtin_elementwise_min(least_, size - 1);  // 0 becomes the largest
    }
  }
  [[gnu::always_inline]] unsigned exponent() const {
    const typename F::Word size = __builtin_reduce_min(least_) + 1;
    return size == 0 ? exponent_of_zeros : static_cast<unsigned>(size >> F::fraction_bits);
  }

 private:
  typename F::Bits least_ = ~typename F::Bits(0);
};
template <typename T>
[[gnu::always_inline]] inline unsigned least_exponent(const typename ChainFormat<T>::Element* elements,
                                                      unsigned count) {
  LeastExponent<T> least;
  least.add(elements, count);
  return least.exponent();
}

/// The least sum of a product's biased exponents with which no sum of products is denormal or depends on bits that are.
/// A product's last bit is 2 * fraction_bits below its exponent.
template <typename T>
constexpr unsigned least_of_products = Format<T>::bias + 1 + 2 * Format<T>::fraction_bits;
/// Whether a sum of products may be denormal or depend on bits that are, by the least exponents of the sources.
template <typename T>
constexpr bool may_be_denormal(unsigned least_of_a, unsigned least_of_b) {
  return least_of_a + least_of_b < least_of_products<T>;
}

/// Sets the handling of denormals in MXCSR, and restores MXCSR at its end. Other exceptions are as before.
class DenormalScope {
 public:
  DenormalScope() = default;
  ~DenormalScope() {
    if (mode_ != Mode::usual) _mm_setcsr(before_);
  }
  DenormalScope(const DenormalScope&) = delete;
  DenormalScope& operator=(const DenormalScope&) = delete;

  /// Reads denormal operands as 0 from now on.
  void flush_operands() { enter(Mode::flushes_operands); }
  /// Flushes denormal results to 0 from now on, and records that there was one.
  void flush_results() { enter(Mode::flushes_results); }
  bool has_flushed_results() const { return (_mm_getcsr() & _MM_EXCEPT_UNDERFLOW) != 0; }
  void clear() { set(_MM_FLUSH_ZERO_ON | _MM_MASK_UNDERFLOW); }

 private:
  enum class Mode : uint8_t { usual, flushes_operands, flushes_results };

  void enter(Mode mode) {
    if (mode_ == mode) return;
    if (mode_ == Mode::usual) before_ = _mm_getcsr();
    mode_ = mode;
    if (mode == Mode::flushes_results) return clear();
    constexpr unsigned denormals_are_zeros = 1u << 6;
    set(denormals_are_zeros);
  }
  void set(unsigned flags) const { _mm_setcsr((before_ & ~_MM_EXCEPT_UNDERFLOW) | flags); }

  unsigned before_ = 0;
  Mode mode_ = Mode::usual;
};

// --- Some lanes, in integers or doubles -----------------------------------------------------------------------------

/// a * b + c, rounded once to the nearest, with integers alone.
template <typename T>
[[gnu::noinline]] inline typename Format<T>::Word fused_in_integers(typename Format<T>::Word a,
                                                                    typename Format<T>::Word b,
                                                                    typename Format<T>::Word c) {
  using F = Format<T>;
  using Word = typename F::Word;
  using Element = typename ChainFormat<T>::Element;
  __extension__ using Wide = unsigned __int128;
  constexpr int fraction_bits = F::fraction_bits, least = 1 - F::bias - fraction_bits;  // the last place of denormals
  // Infinities and NaNs depend on zeros and signs alone, so a denormal may be any other number.
  const auto is_special = [](Word word) { return (word & F::exponent) == F::exponent; };
  if (is_special(a) || is_special(b) || is_special(c)) {
    const auto any_number = [&](Word word) {
      if (is_special(word) || (word & ~F::sign) == 0) return std::bit_cast<Element>(word);
      return std::bit_cast<Element>(static_cast<Word>((word & F::sign) | Word{F::bias} << fraction_bits));
    };
    return std::bit_cast<Word>(static_cast<Element>(any_number(a) * any_number(b) + any_number(c)));
  }
  // A number is `size` times 2^place.
  struct Number {
    Wide size;
    int place;
    bool negative;
  };
  const auto number = [&](Word word) {
    const int exponent = static_cast<int>((word & F::exponent) >> fraction_bits);
    const Word fraction = word & F::fraction;
    return Number{.size = exponent == 0 ? fraction : fraction | Word{1} << fraction_bits,
                  .place = (exponent == 0 ? 0 : exponent - 1) + least,
                  .negative = (word & F::sign) != 0};
  };
  const auto places = [](Wide size) {
    const auto high = static_cast<uint64_t>(size >> 64);
    return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<uint64_t>(size));
  };
  const Number x = number(a), y = number(b), addend = number(c);
  Number large{.size = x.size * y.size, .place = x.place + y.place, .negative = x.negative != y.negative};
  if (large.size == 0) return addend.size != 0 || addend.negative == large.negative ? c : 0;
  Number small = addend;
  if (small.size != 0) {
    constexpr int top = 126;  // with room for a carry
    const auto normalize = [&](Number& n) {
      const int by = top - places(n.size);
      n.size <<= by;
      n.place -= by;
    };
    normalize(large);
    normalize(small);
    if (large.place < small.place || (large.place == small.place && large.size < small.size)) std::swap(large, small);
    const int distance = large.place - small.place;
    // A sticky bit keeps the bits that are shifted out. It lies at least 20 places below the rounding position.
    Wide shifted = distance > top ? 0 : small.size >> distance;
    if (distance > top || (shifted << distance) != small.size) shifted |= 1;
    large.size = large.negative == small.negative ? large.size + shifted : large.size - shifted;
    if (large.size == 0) return 0;
  }
  const Word sign = large.negative ? F::sign : 0;
  const int lost = std::max(places(large.size) - (fraction_bits + 1), least - large.place);
  Wide rounded = large.size;
  if (lost > 127) {
    rounded = 0;
  } else if (lost > 0) {
    rounded = large.size >> lost;
    const Wide rest = large.size - (rounded << lost), half = Wide{1} << (lost - 1);
    if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  } else {
    rounded <<= -lost;
  }
  const int place = large.place + lost;
  // The fraction's first bit adds 1 to the exponent of a normal number; so does a carry.
  if (place - least > static_cast<int>(F::exponent >> fraction_bits)) return sign | F::exponent;
  const Wide word = (static_cast<Wide>(place - least) << fraction_bits) + rounded;
  return sign | static_cast<Word>(word >= F::exponent ? Wide{F::exponent} : word);
}

/// Does fused_in_integers() for some lanes of doubles. The results of the others are in `usual`.
[[gnu::noinline]] inline F64 fused_in_integers(I64 lanes, F64 a, F64 b, F64 c, F64 usual) {
  const U64 a_bits = bits<U64>(a), b_bits = bits<U64>(b), c_bits = bits<U64>(c);
  U64 result = bits<U64>(usual);
  for (unsigned lane = 0; lane < chunk_lanes; ++lane) {
    if (lanes[lane] != 0) result[lane] = fused_in_integers<F64>(a_bits[lane], b_bits[lane], c_bits[lane]);
  }
  return bits<F64>(result);
}

/// a * b + c, rounded once to the nearest, in double precision: the product is exact, and the sum is rounded to odd.
[[gnu::noinline]] inline F32 fused_in_doubles(F32 a, F32 b, F32 c) {
  const F64 product = widen_denormals(a) * widen_denormals(b), addend = widen_denormals(c), sum = product + addend;
  return narrow_denormals(select(magnitude(sum) < infinity<F64>(), round_to_odd(sum, product, addend), sum));
}

// --- Scaled factors -------------------------------------------------------------------------------------------------

/// Replacement of a denormal for `down`: 0 or a small normal number, with either sign.
enum class Substitute : uint8_t { zero, small };

/// A source's elements, scaled, in chunks of 16.
template <typename T, unsigned max_elements>
class ScaledFactors {
 public:
  using F = ChainFormat<T>;
  using Bits = typename F::Bits;
  using Element = typename F::Element;

  void clear() {
    count_ = 0;
    is_exact_ = true;
  }
  /// Replaces the elements.
  template <Substitute substitute>
  [[gnu::always_inline]] void assign(const Element* elements, unsigned count) {
    clear();
    append<substitute>(elements, count);
  }
  /// Appends elements.
  template <Substitute substitute>
  [[gnu::always_inline]] void append(const Element* elements, unsigned count) {
    // A denormal becomes the fraction of a number, whose leading 1 is taken away again.
    constexpr typename F::Word leading = (F::shift + 1) << F::fraction_bits, shift = F::shift << F::fraction_bits;
    Bits least_normal = ~Bits(0), largest = Bits(0);
    for (unsigned i = 0; i < count; i += chunk_lanes) {
      const auto word = load_lanes<Bits>(elements + i);
      const Bits size = word & ~F::sign, sign = word & F::sign;
      least_normal = __builtin_elementwise_min(least_normal, size - F::unit);
      largest = __builtin_elementwise_max(largest, size);
      const auto least = size < F::unit;
      const T normalized = bits<T>(size | leading) - bits<T>(Bits(leading));
      const Bits up = select(least, bits<Bits>(normalized) | sign, word + shift);
      const Bits down = select(least, substitute == Substitute::zero ? sign : up, word - shift);
      std::memcpy(versions_[is_up] + count_ + i, &up, sizeof up);
      std::memcpy(versions_[!is_up] + count_ + i, &down, sizeof down);
      has_denormals_[(count_ + i) / chunk_lanes] = any(size - 1 < F::unit - 1);
    }
    count_ += count;
    constexpr auto exponents = static_cast<typename F::Word>(F::exponent >> F::fraction_bits);
    is_exact_ &= __builtin_reduce_min(least_normal) >= shift && __builtin_reduce_max(largest) < (exponents - F::shift)
                                                                                                    << F::fraction_bits;
  }

  /// Whether scaling is exact.
  bool is_exact() const { return is_exact_; }
  template <unsigned chunks>
  [[gnu::always_inline]] unsigned has_denormals(unsigned first) const {
    unsigned has = 0;
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < chunks; ++i) has |= has_denormals_[first / chunk_lanes + i];
    return has;
  }
  static constexpr unsigned is_up = 1;
  /// The elements, scaled up (1) or down (0).
  [[gnu::always_inline]] const Element* version(unsigned up) const { return versions_[0] + size_t{up} * stride; }

 private:
  static constexpr unsigned stride = max_elements + chunk_lanes;  // a part of a chunk is read as a whole one
  alignas(64) Element versions_[2][stride];
  uint8_t has_denormals_[max_elements / chunk_lanes];
  unsigned count_;
  bool is_exact_;
};

// --- Chains ---------------------------------------------------------------------------------------------------------

/// Factors that are multiplied with each other and added to the sums. `index`: of a sparse A, the depths of B that its
/// elements belong to, or null. Without initializers: most of an array of them remains unused.
template <typename Element>
struct ChainStep {
  const Element *a, *b;
  const uint8_t* index;
};

/// The part of both sources that a chain takes, from the elements `a` and `b` of each depth on. Of a sparse A, each
/// depth meets four of B, from 4 * (k / 2) on.
struct ChainPart {
  unsigned a = 0, b = 0, a_step, b_step, depth;
  const uint8_t* index = nullptr;
};

/// The steps of a chain, in order; `max_denormals`: elements of A at depths at which both sources have denormals.
template <typename T, unsigned max_depth, unsigned max_denormals>
class ChainSteps {
 public:
  using F = ChainFormat<T>;
  using Element = typename F::Element;
  using Step = ChainStep<Element>;

  void clear() { count_ = used_ = 0; }
  /// Appends the factors as they are.
  void append(const Element* a, const Element* b, const ChainPart& part) {
    for (unsigned k = 0; k < part.depth; ++k) {
      add(part, k, a + size_t{k} * part.a_step + part.a,
          b + (part.index == nullptr ? size_t{k} * part.b_step : 0) + part.b);
    }
  }
  /// Appends scaled factors, of so many chunks of each depth. B has numbers in the place of its denormals, A zeros.
  /// Which version a step takes is computed, as a branch would often be mispredicted.
  template <unsigned a_chunks, unsigned b_chunks, typename Scaled>
  [[gnu::always_inline]] void append(const Scaled& a, const Scaled& b, const ChainPart& part) {
    for (unsigned k = 0; k < part.depth; ++k) {
      const unsigned of_a = k * part.a_step + part.a;
      unsigned of_b = part.b, b_has = 0;
      if (part.index == nullptr) {
        of_b += k * part.b_step;
        b_has = b.template has_denormals<b_chunks>(of_b);
      } else {
        for (unsigned row = k / 2 * 4; row < k / 2 * 4 + 4; ++row) {
          b_has |= b.template has_denormals<b_chunks>(row * part.b_step + part.b);
        }
      }
      const unsigned a_has = a.template has_denormals<a_chunks>(of_a), a_is_up = a_has & ~b_has & 1;
      add(part, k, a.version(a_is_up) + of_a, b.version(a_is_up ^ 1) + of_b);
      if ((a_has & b_has) != 0) [[unlikely]] {
        add(part, k, denormals_alone<a_chunks>(a.version(1) + of_a, a.version(0) + of_a), b.version(0) + of_b);
      }
    }
  }
  std::span<const Step> all() const { return {steps_, count_}; }

 private:
  void add(const ChainPart& part, unsigned k, const Element* a, const Element* b) {
    const uint8_t* const index = part.index == nullptr ? nullptr : part.index + size_t{k} * part.a_step;
    steps_[count_++] = {.a = a, .b = b, .index = index};
  }
  /// A's denormals, scaled up, and zeros for all others.
  template <unsigned chunks>
  [[gnu::noinline]] const Element* denormals_alone(const Element* up, const Element* down) {
    Element* const first = alone_ + used_;
    used_ += chunks * chunk_lanes;
    for (unsigned i = 0; i < chunks * chunk_lanes; i += chunk_lanes) {
      const auto word = load_lanes<typename F::Bits>(up + i);
      const auto alone = select(has_least_exponent(load_lanes<T>(down + i)), word, word & F::sign);
      std::memcpy(first + i, &alone, sizeof alone);
    }
    return first;
  }

  Step steps_[2 * max_depth];  // NOLINT(*-member-init): the first count_ of them
  unsigned count_ = 0, used_ = 0;
  Element alone_[max_denormals + chunk_lanes];  // NOLINT(*-member-init): the first used_
};

/// The chain's sums; `layout` has the factors of each: a(step, i) and b(step, i), for i below Layout::sums. Returns
/// whether one of them was +0 after a step, if `finds_zeros`.
template <typename T, bool finds_zeros, typename Layout, typename Step>
[[gnu::noinline]] bool add_steps(const Layout& layout, std::span<const Step> steps, T* sums) {
  using Bits = typename ChainFormat<T>::Bits;
#if ATOLL_LEVEL_HAS(avx512)
  constexpr unsigned at_once = sizeof(T) == sizeof(F32) ? Layout::sums : 4;
#else
  constexpr unsigned at_once = 4;
#endif
  static_assert(Layout::sums % at_once == 0);
  Bits least[2] = {~Bits(0), ~Bits(0)};  // two, so that one does not wait for the other
  for (unsigned first = 0; first < Layout::sums; first += at_once) {
    T own[at_once];
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < at_once; ++i) own[i] = sums[first + i];
    for (const Step& step : steps) {
#pragma clang loop unroll(full)
      for (unsigned i = 0; i < at_once; ++i) {
        own[i] = fused(layout.a(step, first + i), layout.b(step, first + i), own[i]);
        if constexpr (finds_zeros) least[i % 2] = __builtin_elementwise_min(least[i % 2], bits<Bits>(own[i]));
      }
    }
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < at_once; ++i) sums[first + i] = own[i];
  }
  return finds_zeros && any(__builtin_elementwise_min(least[0], least[1]) == 0);
}

/// The same whatever the factors and sums are. Lanes that the host would execute in microcode, or whose result it has
/// flushed, are computed in double precision or integers.
template <typename T, typename Layout, typename Step>
[[gnu::noinline]] void add_steps_carefully(const Layout& layout, std::span<const Step> steps, T* sums) {
  for (const Step& step : steps) {
    for (unsigned i = 0; i < Layout::sums; ++i) {
      const T a = layout.a(step, i), b = layout.b(step, i), c = sums[i];
      const T usual_a = flush(a), usual_b = flush(b);
      const T sum = fused(usual_a, usual_b, flush(c));
      const auto rare =
          is_denormal(a) | is_denormal(b) | is_denormal(c) | ((sum == 0) & (usual_a != 0) & (usual_b != 0));
      sums[i] = sum;
      if (!any(rare)) [[likely]]
        continue;
      if constexpr (sizeof(T) == sizeof(F32)) {
        sums[i] = select(rare, fused_in_doubles(a, b, c), sum);
      } else {
        sums[i] = fused_in_integers(rare, a, b, c, sum);
      }
    }
  }
}

/// Adds the products of a chain to its sums, which are C before. `is_exact`: factors and sums are normal numbers, 0 or
/// special.
template <typename T, typename Layout, typename Step>
inline void add_chain(const Layout& layout, std::span<const Step> steps, bool is_exact, DenormalScope& scope, T* sums) {
  LeastSize<T> least_c;
  for (unsigned i = 0; i < Layout::sums; ++i) least_c.add(sums[i]);
  scope.flush_results();
  if (is_exact && !least_c.has_denormal()) {
    T before[Layout::sums];
    std::memcpy(before, sums, sizeof before);
    add_steps<T, false>(layout, steps, sums);
    if (!scope.has_flushed_results()) [[likely]]
      return;
    scope.clear();
    std::memcpy(sums, before, sizeof before);
  }
  add_steps_carefully(layout, steps, sums);
}

// --- Flushed factors ------------------------------------------------------------------------------------------------

/// Biased exponents of a source's elements.
struct Exponents {
  unsigned least_normal = exponent_of_zeros;  ///< of normal numbers
  unsigned largest = 0;                       ///< that of zeros and denormals is 0

  void add(const Exponents& other) {
    least_normal = std::min(least_normal, other.least_normal);
    largest = std::max(largest, other.largest);
  }
};

/// Finds them.
template <typename T>
class ExponentRange {
 public:
  using F = ChainFormat<T>;
  [[gnu::always_inline]] void add(const typename F::Element* elements, unsigned count) {
    for (unsigned i = 0; i < count; i += chunk_lanes) {
      const auto size = bits<typename F::Bits>(magnitude(load_lanes<T>(elements + i)));
      least_ = __builtin_elementwise_min(least_, size - F::unit);  // zeros and denormals become the largest
      largest_ = __builtin_elementwise_max(largest_, size);
    }
  }
  [[gnu::always_inline]] Exponents exponents() const {
    const typename F::Word above_unit = __builtin_reduce_min(least_);
    Exponents exponents;
    if (above_unit < F::sign)
      exponents.least_normal = static_cast<unsigned>((above_unit + F::unit) >> F::fraction_bits);
    exponents.largest = static_cast<unsigned>(__builtin_reduce_max(largest_) >> F::fraction_bits);
    return exponents;
  }

 private:
  typename F::Bits least_ = ~typename F::Bits(0), largest_ = typename F::Bits(0);
};
template <typename T>
[[gnu::always_inline]] inline Exponents exponents_of(const typename ChainFormat<T>::Element* elements, unsigned count) {
  ExponentRange<T> range;
  range.add(elements, count);
  return range.exponents();
}

/// A chain in which denormal factors may be 0.
///
/// Its products of normal numbers are whole multiples of a unit. `tiny` is a power of two above the sum of the sizes of
/// all other products. C is below `tiny`, or a whole multiple of the unit. The unit is at least 2^27 * tiny (2^56 *
/// tiny for doubles). Then a sum is either a multiple of the unit, also after rounding, or tiny: below 2 * tiny.
///
/// - A tiny number is below a quarter of the last place of a multiple of the unit, so the sum of both is the latter. It
///   is the same whether denormals are 0 or not.
/// - A product of normal numbers that is added to a tiny sum is the result, if it has no more bits than the format.
///   Products of sources of 11 bits have not. So only sums that are tiny in the end depend on denormals.
/// - Products of f32 and f64 have more bits. They may lie half-way between two numbers, where a tiny sum decides. So no
///   sum may be tiny: C is a multiple of the unit other than 0, and no sum is 0 after a step.
template <typename T>
class FlushedChain {
  using F = Format<T>;
  using Word = typename F::Word;
  using Bits = BitsOf<T>;

 public:
  /// Conditions that are never met.
  FlushedChain() = default;
  /// `has_exact_products`: sources have no more than 11 significant bits.
  FlushedChain(const Exponents& a, const Exponents& b, bool has_exact_products)
      : has_exact_products_(has_exact_products) {
    constexpr int steps_bits = std::countr_zero(max_steps), margin = F::fraction_bits + 4, bias = F::bias;
    constexpr int of_special = F::exponent >> F::fraction_bits;
    const int largest = static_cast<int>(std::max(a.largest, b.largest));
    // A product with a denormal is below 2^(largest + 1 - bias) * 2^(1 - bias).
    const int tiny = std::max(largest + 2 + steps_bits - bias, 1), unit = tiny + margin;
    const int of_c = unit + static_cast<int>(F::fraction_bits);
    const unsigned fraction_of_products = has_exact_products ? 2 * 10u : 2 * F::fraction_bits;
    is_possible_ = largest < of_special && of_c < of_special &&
                   a.least_normal + b.least_normal >= static_cast<unsigned>(unit + bias) + fraction_of_products;
    if (!is_possible_) return;
    const auto number = [](int exponent) { return static_cast<Word>(exponent) << F::fraction_bits; };
    unit_ = number(unit);
    least_c_ = number(of_c);
    // Sizes from `tiny` to `least_c_` are excluded, which are the largest when that is subtracted.
    first_excluded_ = (has_exact_products ? number(tiny) : 0) - least_c_;
  }

  bool is_possible() const { return is_possible_; }
  /// The least size of numbers of C that are not tiny, as bits.
  Word least_c() const { return least_c_; }

  /// Whether C meets the conditions.
  template <size_t count>
  [[gnu::always_inline]] bool takes(const T (&c)[count]) const {
    Bits largest = Bits(0);
#pragma clang loop unroll(full)
    for (size_t i = 0; i < count; ++i) {
      largest = __builtin_elementwise_max(largest, bits<Bits>(magnitude(c[i])) - least_c_);
    }
    return !any(largest >= first_excluded_);
  }
  /// Whether the final sums are independent of denormals, if products are exact.
  template <size_t count>
  [[gnu::always_inline]] bool yields(const T (&sums)[count]) const {
    Bits least = ~Bits(0);
#pragma clang loop unroll(full)
    for (size_t i = 0; i < count; ++i) least = __builtin_elementwise_min(least, bits<Bits>(magnitude(sums[i])));
    return !any(least < unit_);
  }
  /// Adds the products to C. Returns false if the result could depend on denormals; sums are as before then.
  template <typename Layout, typename Step>
  bool add(const Layout& layout, std::span<const Step> steps, DenormalScope& scope, T (&sums)[Layout::sums]) const {
    if (!is_possible_ || steps.size() > max_steps || !takes(sums)) return false;
    T before[Layout::sums];
    std::memcpy(before, sums, sizeof before);
    scope.flush_operands();
    const bool has_zeros =
        has_exact_products_ ? add_steps<T, false>(layout, steps, sums) : add_steps<T, true>(layout, steps, sums);
    if (has_exact_products_ ? yields(sums) : !has_zeros) [[likely]]
      return true;
    std::memcpy(sums, before, sizeof before);
    return false;
  }

 private:
  static constexpr unsigned max_steps = 256;
  bool is_possible_ = false, has_exact_products_ = false;
  Word unit_ = 0, least_c_ = 0, first_excluded_ = 0;
};

/// NaNs become the default one. A comparison of denormals would be one more operation in microcode.
template <typename T>
[[gnu::always_inline]] inline T with_default_nan(T sum) {
  using F = Format<T>;
  const auto nan = bits<BitsOf<T>>(magnitude(sum)) > BitsOf<T>(F::exponent);
  return select(nan, pattern<T>(F::default_nan), sum);
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
