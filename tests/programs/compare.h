// Comparisons that say what differs, for programs that check themselves. A program ends with `return check::result();`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

/// Counts a failure when a condition does not hold.
#define EXPECT(condition)                                                        \
  do {                                                                           \
    if (!(condition)) check::failed(__FILE__, __LINE__, "expected " #condition); \
  } while (false)

namespace check {

inline int failures = 0;

/// At most the first few failures are printed, so that a broken kernel does not fill the log.
inline void failed(const char* file, int line, const std::string& what) {
  if (++failures <= 20) std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

inline int result() {
  if (failures != 0) std::fprintf(stderr, "%d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}

template <typename T>
std::string text(T value) {
  char buffer[64];
  if constexpr (std::is_floating_point_v<T>) {
    std::snprintf(buffer, sizeof buffer, "%.17g (%a)", static_cast<double>(value), static_cast<double>(value));
  } else if constexpr (std::is_signed_v<T>) {
    std::snprintf(buffer, sizeof buffer, "%lld", static_cast<long long>(value));
  } else {
    std::snprintf(buffer, sizeof buffer, "%llu (%#llx)", static_cast<unsigned long long>(value),
                  static_cast<unsigned long long>(value));
  }
  return buffer;
}

/// Equal, with every NaN equal to every other.
template <typename T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) && std::isnan(b)) return true;
    return a == b && std::signbit(a) == std::signbit(b);
  }
  return a == b;
}

/// Every element is the same, bit for bit.
template <typename T>
void equal(const char* what, const std::vector<T>& got, const std::vector<T>& want) {
  if (got.size() != want.size()) {
    failed(what, 0, "got " + std::to_string(got.size()) + " elements instead of " + std::to_string(want.size()));
    return;
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (!same(got[i], want[i])) failed(what, static_cast<int>(i), "got " + text(got[i]) + ", want " + text(want[i]));
  }
}

template <typename T>
void equal(const char* what, T got, T want) {
  equal(what, std::vector<T>{got}, std::vector<T>{want});
}

/// How far `got` is from the exact value `want`, in units in the last place of T at `want`.
template <typename T>
double ulps(T got, long double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : HUGE_VAL;
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded) || std::isinf(got)) {
    // An exact value next to the largest finite one may overflow in one of the two.
    const long double limit = std::numeric_limits<T>::max() * (1 - 16 * std::numeric_limits<T>::epsilon());
    return got == rounded || (std::fabs(want) > limit && std::signbit(want) == std::signbit(got)) ? 0 : HUGE_VAL;
  }
  int exponent = 0;
  std::frexp(want, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

/// The same numbers in every run (SplitMix64, Steele et al. 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [low, high).
  double between(double low, double high) { return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53); }

 private:
  uint64_t state_;
};

}  // namespace check
