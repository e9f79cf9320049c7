// The math library in float and double against the host's long double. The bounds, in ulp, are those of the OpenCL C
// specification ("Relative error as ULPs", full profile), to which the device library behind hipcc is written.
#include "check.h"

namespace {

constexpr int kCount = 2000;

// Each row: name, expression of x and y, bound, ranges of x and y. The same list makes the kernels and the references,
// where `std::` functions take T on the GPU and long double on the host.
#define FUNCTIONS(F)                                         \
  F(sin_small, sin(x), 4, -4, 4, 0, 1)                       \
  F(sin_large, sin(x), 4, -1e6, 1e6, 0, 1)                   \
  F(cos_small, cos(x), 4, -4, 4, 0, 1)                       \
  F(cos_large, cos(x), 4, -1e9, 1e9, 0, 1)                   \
  F(tan, tan(x), 5, -20, 20, 0, 1)                           \
  F(asin, asin(x), 4, -1, 1, 0, 1)                           \
  F(acos, acos(x), 4, -1, 1, 0, 1)                           \
  F(atan, atan(x), 5, -30, 30, 0, 1)                         \
  F(atan2, atan2(x, y), 6, -10, 10, -10, 10)                 \
  F(sinh, sinh(x), 4, -20, 20, 0, 1)                         \
  F(cosh, cosh(x), 4, -20, 20, 0, 1)                         \
  F(tanh, tanh(x), 5, -10, 10, 0, 1)                         \
  F(asinh, asinh(x), 4, -1e4, 1e4, 0, 1)                     \
  F(acosh, acosh(x), 4, 1, 1e4, 0, 1)                        \
  F(atanh, atanh(x), 5, -1, 1, 0, 1)                         \
  F(exp, exp(x), 3, -80, 80, 0, 1)                           \
  F(exp2, exp2(x), 3, -120, 120, 0, 1)                       \
  F(expm1, expm1(x), 3, -5, 5, 0, 1)                         \
  F(log, log(x), 3, 0, 1e5, 0, 1)                            \
  F(log_near_one, log(x), 3, 0.9, 1.1, 0, 1)                 \
  F(log2, log2(x), 3, 0, 1e5, 0, 1)                          \
  F(log10, log10(x), 3, 0, 1e5, 0, 1)                        \
  F(log1p, log1p(x), 2, -0.99, 100, 0, 1)                    \
  F(pow, pow(x, y), 16, 0, 50, -15, 15)                      \
  F(sqrt, sqrt(x), 3, 0, 1e6, 0, 1)                          \
  F(cbrt, cbrt(x), 2, -1e6, 1e6, 0, 1)                       \
  F(hypot, hypot(x, y), 4, -1e4, 1e4, -1e4, 1e4)             \
  F(fmod, fmod(x, y), 0, -1e3, 1e3, -7, 7)                   \
  F(remainder, remainder(x, y), 0, -1e3, 1e3, -7, 7)         \
  F(erf, erf(x), 16, -4, 4, 0, 1)                            \
  F(erfc, erfc(x), 16, -4, 8, 0, 1)                          \
  F(tgamma, tgamma(x), 16, 0.01, 30, 0, 1)                   \
  F(lgamma, lgamma(x), 16, 3, 1e3, 0, 1)                     \
  F(fdim, fdim(x, y), 0.5, -10, 10, -10, 10)                 \
  F(round, round(x), 0, -100, 100, 0, 1)                     \
  F(ldexp, ldexp(x, static_cast<int>(y)), 0, -1, 1, -20, 20) \
  F(logb, logb(x), 0, -1e10, 1e10, 0, 1)

#define KERNEL(name, expression, bound, x_low, x_high, y_low, y_high)           \
  template <typename T>                                                         \
  __global__ void name##_kernel(const T* xs, const T* ys, T* out) {             \
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);      \
    if (i >= kCount) return;                                                    \
    const T x = xs[i];                                                          \
    [[maybe_unused]] const T y = ys[i];                                         \
    out[i] = expression;                                                        \
  }                                                                             \
  long double name##_reference(long double x, [[maybe_unused]] long double y) { \
    using namespace std;                                                        \
    return expression;                                                          \
  }
FUNCTIONS(KERNEL)
#undef KERNEL

template <typename T>
void check_function(const char* name, void (*kernel)(const T*, const T*, T*),
                    long double (*reference)(long double, long double), double bound, double x_low, double x_high,
                    double y_low, double y_high) {
  check::Random random(static_cast<uint64_t>(std::strlen(name)) * 77 + name[0]);
  std::vector<T> x, y;
  for (int i = 0; i < kCount; ++i) {
    x.push_back(static_cast<T>(random.between(x_low, x_high)));
    y.push_back(static_cast<T>(random.between(y_low, y_high)));
    if (i % 8 == 0 && x_low <= 0 && x_high >= 1) x.back() *= T(0x1p-12);  // small arguments too
  }
  const check::Device<T> device_x(x), device_y(y), out(kCount);
  kernel<<<(kCount + 255) / 256, 256>>>(device_x.get(), device_y.get(), out.get());
  check::finish();
  const std::vector<T> got = out.read();
  double worst = 0;
  for (int i = 0; i < kCount; ++i) {
    const long double want = reference(x[i], y[i]);
    const double error = check::ulps(got[i], want);
    worst = std::max(worst, error);
    if (!(error <= std::max(bound, 0.5))) {
      check::failed(name, i,
                    "of " + check::text(x[i]) + ", " + check::text(y[i]) + ": got " + check::text(got[i]) + ", want " +
                        check::text(static_cast<double>(want)) + ", " + std::to_string(error) + " ulp");
    }
  }
  std::printf("%-14s %zu bits: %.2f of %.1f ulp\n", name, 8 * sizeof(T), worst, bound);
}

// At the edges of their domains the functions have values that C's Annex F lays down.
template <typename T>
__global__ void edges(T* out) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  volatile T zero = 0, one = 1;  // keeps the compiler from computing them
  int i = 0;
  out[i++] = exp(-infinity * one);
  out[i++] = exp(infinity * one);
  out[i++] = log(zero);
  out[i++] = log(-one);
  out[i++] = sqrt(-one);
  out[i++] = pow(zero, zero);
  out[i++] = pow(-one * 2, one * 3);
  out[i++] = atan2(zero, -one);
  out[i++] = sin(infinity * one);
  out[i++] = tanh(infinity * one);
  out[i++] = erf(-infinity * one);
  out[i++] = fmod(one, zero);
  out[i++] = hypot(infinity * one, zero / zero);
  out[i++] = one / zero;
  int exponent = 0;
  out[i++] = frexp(one * 48, &exponent);
  out[i++] = static_cast<T>(exponent);
  T whole = 0;
  out[i++] = modf(one * T(-3.75), &whole);
  out[i++] = whole;
  out[i++] = nextafter(one, zero);
  T sine = 0, cosine = 0;
  if constexpr (sizeof(T) == 4) {
    sincosf(zero, &sine, &cosine);
  } else {
    sincos(zero, &sine, &cosine);
  }
  out[i++] = sine;
  out[i++] = cosine;
  out[i++] = isnan(zero / zero) + 2 * isinf(one / zero) + 4 * isfinite(one) + 8 * signbit(-one);
}

template <typename T>
void check_edges() {
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> want{
      0,   infinity, -infinity, nan,     nan, 1,        -8, static_cast<T>(3.14159265358979323846L),      nan, 1, -1,
      nan, infinity, infinity,  T(0.75), 6,   T(-0.75), -3, T(1) - std::numeric_limits<T>::epsilon() / 2, 0,   1, 15};
  const check::Device<T> out(want.size());
  edges<T><<<1, 1>>>(out.get());
  check::finish();
  check::equal("edges", out.read(), want);
}

}  // namespace

int main() {
#define CHECK(name, expression, bound, x_low, x_high, y_low, y_high)                                         \
  check_function<float>(#name, name##_kernel<float>, name##_reference, bound, x_low, x_high, y_low, y_high); \
  check_function<double>(#name, name##_kernel<double>, name##_reference, bound, x_low, x_high, y_low, y_high);
  FUNCTIONS(CHECK)
#undef CHECK
  check_edges<float>();
  check_edges<double>();
  return check::result();
}
