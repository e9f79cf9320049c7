// Integer arithmetic of 8 to 64 bits with division, bit manipulation, and the IEEE operations of half, float and double
// with their conversions. The same templates run on the GPU and on the host; the results must be the same, bit for bit.
#include <hip/hip_fp16.h>

#include "check.h"

namespace {

// The numbers at which arithmetic goes wrong, and random ones of every magnitude.
template <typename T>
std::vector<T> integers(uint64_t seed) {
  std::vector<T> values{T(0),
                        T(1),
                        T(2),
                        T(3),
                        T(-1),
                        T(-2),
                        T(7),
                        T(10),
                        T(-10),
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::min(),
                        static_cast<T>(std::numeric_limits<T>::max() - 1),
                        static_cast<T>(0xffffffffu),
                        static_cast<T>(0x100000000u),
                        static_cast<T>(0x80000000u)};
  check::Random random(seed);
  while (values.size() < 640) values.push_back(static_cast<T>(random.next() >> (random.next() % (8 * sizeof(T)))));
  return values;
}

template <typename T>
constexpr int kIntegerResults = 16;

/// What is computed of each pair of integers.
template <typename T>
__host__ __device__ void integer_results(T a, T b, T* out) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr int bits = 8 * sizeof(T);
  const T divisor = b == 0 || (std::is_signed_v<T> && b == T(-1)) ? T(3) : b;
  const int shift = static_cast<int>(static_cast<Unsigned>(b) % bits);
  int i = 0;
  out[i++] = static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  out[i++] = static_cast<T>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
  out[i++] = static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  out[i++] = static_cast<T>(a / divisor);
  out[i++] = static_cast<T>(a % divisor);
  out[i++] = static_cast<T>(a / 10);
  out[i++] = static_cast<T>(a % 1000007);
  out[i++] = static_cast<T>(static_cast<Unsigned>(a) << shift);
  out[i++] = static_cast<T>(a >> shift);
  out[i++] = static_cast<T>((a & b) | (~a ^ b));
  out[i++] = a < b ? a : b;
  out[i++] = a > b ? a : b;
  out[i++] = static_cast<T>((a == b) + 2 * (a < b) + 4 * (a <= b));
  out[i++] = static_cast<T>(__builtin_popcountll(static_cast<uint64_t>(a)));
  out[i++] = static_cast<T>(static_cast<Unsigned>(a) << shift |
                            static_cast<Unsigned>(static_cast<Unsigned>(a) >> ((bits - shift) % bits)));
  out[i++] = static_cast<T>(a < 0 ? b : a);
}

template <typename T>
__global__ void integer_kernel(const T* a, const T* b, T* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) integer_results(a[i], b[i], out + i * kIntegerResults<T>);
}

template <typename T>
void check_integers(const char* what) {
  std::vector<T> values = integers<T>(1), a, b;
  const std::vector<T> others = integers<T>(2);
  for (size_t i = 0; i < 15; ++i) {  // all pairs of the special ones
    for (size_t j = 0; j < 15; ++j) {
      a.push_back(values[i]);
      b.push_back(values[j]);
    }
  }
  a.insert(a.end(), values.begin(), values.end());
  b.insert(b.end(), others.begin(), others.end());
  const int count = static_cast<int>(a.size());
  std::vector<T> want(a.size() * kIntegerResults<T>);
  for (int i = 0; i < count; ++i) integer_results(a[i], b[i], &want[i * kIntegerResults<T>]);
  const check::Device<T> device_a(a), device_b(b), out(want.size());
  integer_kernel<T><<<(count + 127) / 128, 128>>>(device_a.get(), device_b.get(), out.get(), count);
  check::finish();
  check::equal(what, out.read(), want);
}

// What HIP offers beyond the operators, against plain C++.
__global__ void intrinsics(const uint64_t* in, uint64_t* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const uint64_t a = in[i], b = in[(i * 7 + 1) % count];
  const auto low = static_cast<unsigned>(a);
  uint64_t* row = out + i * 12;
  row[0] = static_cast<uint64_t>(__clzll(static_cast<long long>(a)));
  row[1] = static_cast<uint64_t>(__clz(static_cast<int>(low)));
  row[2] = static_cast<uint64_t>(__ffsll(static_cast<unsigned long long>(a)));
  row[3] = __brevll(a);
  row[4] = __brev(low);
  row[5] = __umul64hi(a, b);
  row[6] = static_cast<uint64_t>(__mul64hi(static_cast<long long>(a), static_cast<long long>(b)));
  row[7] = __umulhi(low, static_cast<unsigned>(b));
  row[8] = __popc(low);
  row[9] = static_cast<uint64_t>(__mul24(static_cast<int>(low), static_cast<int>(b)));
  row[10] = __byte_perm(low, static_cast<unsigned>(b), 0x5140);
  row[11] = __sad(static_cast<int>(low >> 1), static_cast<int>(static_cast<unsigned>(b) >> 1), 5);
}

int64_t sign_extend_24(uint64_t value) { return static_cast<int64_t>(value << 40) >> 40; }

void check_intrinsics() {
  const std::vector<uint64_t> in = integers<uint64_t>(3);
  const int count = static_cast<int>(in.size());
  std::vector<uint64_t> want;
  for (int i = 0; i < count; ++i) {
    const uint64_t a = in[i], b = in[(i * 7 + 1) % count], low = a & 0xffffffff, low_b = b & 0xffffffff;
    uint64_t reversed = 0;
    for (int bit = 0; bit < 64; ++bit) reversed |= (a >> bit & 1) << (63 - bit);
    want.push_back(a == 0 ? 64 : __builtin_clzll(a));
    want.push_back(low == 0 ? 32 : __builtin_clzll(low) - 32);
    want.push_back(__builtin_ffsll(static_cast<long long>(a)));
    want.push_back(reversed);
    want.push_back(reversed >> 32);
    want.push_back(static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64));
    want.push_back(
        static_cast<uint64_t>((static_cast<__int128>(static_cast<int64_t>(a)) * static_cast<int64_t>(b)) >> 64));
    want.push_back(low * low_b >> 32);
    want.push_back(__builtin_popcountll(low));
    want.push_back(static_cast<uint64_t>(int64_t{static_cast<int32_t>(sign_extend_24(low) * sign_extend_24(low_b))}));
    want.push_back((low & 0xff) | (low_b & 0xff) << 8 | (low >> 8 & 0xff) << 16 | (low_b >> 8 & 0xff) << 24);
    const int64_t difference = static_cast<int64_t>(low >> 1) - static_cast<int64_t>(low_b >> 1);
    want.push_back(static_cast<uint32_t>(std::abs(difference) + 5));
  }
  const check::Device<uint64_t> device_in(in), out(want.size());
  intrinsics<<<(count + 63) / 64, 64>>>(device_in.get(), out.get(), count);
  check::finish();
  check::equal("intrinsics", out.read(), want);
}

template <typename T>
std::vector<T> reals(uint64_t seed) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{T(0),
                        T(-0.0),
                        T(1),
                        T(-1),
                        T(0.5),
                        T(3),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::max(),
                        Limits::lowest(),
                        Limits::min(),
                        Limits::denorm_min(),
                        -Limits::denorm_min(),
                        Limits::min() / 2,
                        Limits::epsilon()};
  check::Random random(seed);
  while (values.size() < 500) {
    const double mantissa = random.between(-2, 2);
    values.push_back(static_cast<T>(std::ldexp(mantissa, static_cast<int>(random.next() % 40) - 20)));
  }
  while (values.size() < 600) {  // next to the ends of the range
    const int exponent = random.next() % 2 ? Limits::max_exponent - 3 : Limits::min_exponent - 3;
    values.push_back(static_cast<T>(std::ldexp(random.between(-2, 2), exponent)));
  }
  return values;
}

constexpr int kRealResults = 14;

// IEEE 754 leaves no choice in any of these. (No a * b + c in one expression: the compiler would fuse it.)
template <typename T>
__host__ __device__ void real_results(T a, T b, T c, T* out) {
  int i = 0;
  out[i++] = a + b;
  out[i++] = a - b;
  out[i++] = a * b;
  out[i++] = static_cast<T>(fma(a, b, c));
  out[i++] = fmin(a, b);
  out[i++] = fmax(a, b);
  out[i++] = floor(a);
  out[i++] = ceil(a);
  out[i++] = trunc(a);
  out[i++] = rint(a);
  out[i++] = -a;
  out[i++] = a < b ? T(1) : T(2);
  out[i++] = copysign(a, b);
  out[i++] = fabs(a);
}

template <typename T>
__global__ void real_kernel(const T* a, const T* b, const T* c, T* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) real_results(a[i], b[i], c[i], out + i * kRealResults);
}

template <typename T>
void check_reals(const char* what) {
  const std::vector<T> special = reals<T>(4), others = reals<T>(5), third = reals<T>(6);
  std::vector<T> a, b, c;
  for (size_t i = 0; i < 16; ++i) {
    for (size_t j = 0; j < 16; ++j) {
      a.push_back(special[i]);
      b.push_back(special[j]);
      c.push_back(special[(i * 5 + j) % 16]);
    }
  }
  a.insert(a.end(), special.begin() + 16, special.end());
  b.insert(b.end(), others.rbegin(), others.rend() - 16);
  c.insert(c.end(), third.begin() + 16, third.end());
  const int count = static_cast<int>(a.size());
  std::vector<T> want(a.size() * kRealResults);
  for (int i = 0; i < count; ++i) {
    T* row = &want[i * kRealResults];
    real_results(a[i], b[i], c[i], row);
  }
  const check::Device<T> device_a(a), device_b(b), device_c(c), out(want.size());
  real_kernel<T><<<(count + 63) / 64, 64>>>(device_a.get(), device_b.get(), device_c.get(), out.get(), count);
  check::finish();
  std::vector<T> got = out.read();
  // Of fmin(0, -0) and fmax IEEE 754-2008 lets either zero come out.
  for (int i = 0; i < count; ++i) {
    for (const int column : {4, 5}) {
      T& value = got[i * kRealResults + column];
      if (value == 0 && want[i * kRealResults + column] == 0) value = want[i * kRealResults + column];
    }
  }
  check::equal(what, got, want);
}

// Division and square root of double are correctly rounded; those of float within the bounds that HIP's clang promises
// without -fhip-fp32-correctly-rounded-divide-sqrt (2.5 and 3 ulp, as OpenCL C; subnormal results may be flushed).
__global__ void divide(const double* a, const double* b, double* out, float* out32, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  out[2 * i] = a[i] / b[i];
  out[2 * i + 1] = sqrt(a[i]);
  const auto a32 = static_cast<float>(a[i]), b32 = static_cast<float>(b[i]);
  out32[2 * i] = a32 / b32;
  out32[2 * i + 1] = sqrtf(a32);
}

void check_division() {
  const std::vector<double> a = reals<double>(7);
  std::vector<double> b = reals<double>(8);
  std::swap(b[0], b[40]);
  std::swap(b[6], b[41]);
  std::swap(b[8], b[42]);
  const int count = static_cast<int>(a.size());
  const check::Device<double> device_a(a), device_b(b), out(2 * a.size());
  const check::Device<float> out32(2 * a.size());
  divide<<<(count + 63) / 64, 64>>>(device_a.get(), device_b.get(), out.get(), out32.get(), count);
  check::finish();
  std::vector<double> want;
  for (int i = 0; i < count; ++i) {
    want.push_back(a[i] / b[i]);
    want.push_back(std::sqrt(a[i]));
  }
  check::equal("double division and square root", out.read(), want);
  const std::vector<float> got32 = out32.read();
  for (int i = 0; i < count; ++i) {
    const auto a32 = static_cast<float>(a[i]), b32 = static_cast<float>(b[i]);
    const long double quotient = static_cast<long double>(a32) / b32;
    const long double root = std::sqrt(static_cast<long double>(a32));
    if (check::ulps(got32[2 * i], quotient) > 2.5) {
      check::failed("float division", i,
                    check::text(a32) + " / " + check::text(b32) + " gives " + check::text(got32[2 * i]));
    }
    if (check::ulps(got32[2 * i + 1], root) > 3) {
      check::failed("float square root", i, check::text(a32) + " gives " + check::text(got32[2 * i + 1]));
    }
  }
}

// Half precision: each operation on the host in float or double, where it is exact enough to round only once.
__global__ void halves(const _Float16* a, const _Float16* b, _Float16* out, __half2* pairs, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  out[6 * i] = a[i] + b[i];
  out[6 * i + 1] = a[i] - b[i];
  out[6 * i + 2] = a[i] * b[i];
  out[6 * i + 3] = a[i] / b[i];
  out[6 * i + 4] = static_cast<_Float16>(static_cast<float>(a[i]));
  out[6 * i + 5] = a[i] < b[i] ? a[i] : b[i];
  __half2 x, y;
  x.data = {a[i], b[i]};
  y.data = {b[i], a[(i + 1) % count]};
  pairs[2 * i] = __hadd2(x, y);
  pairs[2 * i + 1] = __hmul2(x, y);
}

void check_halves() {
  std::vector<_Float16> a, b;
  check::Random random(9);
  for (int i = 0; i < 4000; ++i) {
    uint16_t bits[2] = {static_cast<uint16_t>(random.next()), static_cast<uint16_t>(random.next())};
    if (i < 64) bits[0] = static_cast<uint16_t>(i % 8 << 10 | i / 8), bits[1] = static_cast<uint16_t>(i * 3);
    _Float16 values[2];
    std::memcpy(values, bits, sizeof bits);
    a.push_back(values[0]);
    b.push_back(values[1]);
  }
  const int count = static_cast<int>(a.size());
  const check::Device<_Float16> device_a(a), device_b(b), out(6 * a.size());
  const check::Device<__half2> pairs(2 * a.size());
  halves<<<(count + 63) / 64, 64>>>(device_a.get(), device_b.get(), out.get(), pairs.get(), count);
  check::finish();
  const std::vector<_Float16> got = out.read();
  const std::vector<__half2> got_pairs = pairs.read();
  std::vector<float> got_values, want;  // every half is a float
  for (int i = 0; i < count; ++i) {
    const auto x = static_cast<float>(a[i]), y = static_cast<float>(b[i]), z = static_cast<float>(a[(i + 1) % count]);
    const auto round = [](double value) { return static_cast<float>(static_cast<_Float16>(value)); };
    for (int k = 0; k < 6; ++k) got_values.push_back(static_cast<float>(got[6 * i + k]));
    for (const double value : {double{x} + y, double{x} - y, double{x} * y, double{x} / y, double{x}}) {
      want.push_back(round(value));
    }
    want.push_back(x < y ? x : y);
    for (int k = 0; k < 2; ++k) {
      got_values.push_back(static_cast<float>(got_pairs[2 * i + k].data[0]));
      got_values.push_back(static_cast<float>(got_pairs[2 * i + k].data[1]));
    }
    for (const double value : {double{x} + y, double{y} + z, double{x} * y, double{y} * z})
      want.push_back(round(value));
  }
  check::equal("half", got_values, want);
}

// Conversions between all of them; those from real to integer only where the value fits.
__global__ void conversions(const double* in, double* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const double value = in[i];
  double* row = out + i * 10;
  row[0] = static_cast<double>(static_cast<int32_t>(value));
  row[1] = static_cast<double>(static_cast<uint32_t>(fabs(value)));
  row[2] = static_cast<double>(static_cast<int64_t>(value * 4096));
  row[3] = static_cast<double>(static_cast<uint64_t>(fabs(value) * 4096));
  row[4] = static_cast<double>(static_cast<float>(value));
  row[5] = static_cast<double>(static_cast<float>(static_cast<int64_t>(value * 4096)));
  row[6] = static_cast<double>(static_cast<float>(static_cast<uint32_t>(fabs(value))));
  row[7] = static_cast<double>(static_cast<uint8_t>(static_cast<int>(value)));
  row[8] = static_cast<double>(static_cast<int16_t>(static_cast<int>(value)));
  row[9] = static_cast<double>(static_cast<float>(static_cast<int32_t>(value)));
}

void check_conversions() {
  std::vector<double> in{0, -0.0, 0.5, -0.5, 1.5, 2147483646.75, -2147483647.5, 16777217, 33554435, -16777219};
  check::Random random(10);
  while (in.size() < 700) in.push_back(random.between(-1, 1) * std::ldexp(1.0, static_cast<int>(random.next() % 32)));
  const int count = static_cast<int>(in.size());
  std::vector<double> want;
  for (const double value : in) {
    want.push_back(static_cast<double>(static_cast<int32_t>(value)));
    want.push_back(static_cast<double>(static_cast<uint32_t>(std::fabs(value))));
    want.push_back(static_cast<double>(static_cast<int64_t>(value * 4096)));
    want.push_back(static_cast<double>(static_cast<uint64_t>(std::fabs(value) * 4096)));
    want.push_back(static_cast<double>(static_cast<float>(value)));
    want.push_back(static_cast<double>(static_cast<float>(static_cast<int64_t>(value * 4096))));
    want.push_back(static_cast<double>(static_cast<float>(static_cast<uint32_t>(std::fabs(value)))));
    want.push_back(static_cast<double>(static_cast<uint8_t>(static_cast<int>(value))));
    want.push_back(static_cast<double>(static_cast<int16_t>(static_cast<int>(value))));
    want.push_back(static_cast<double>(static_cast<float>(static_cast<int32_t>(value))));
  }
  const check::Device<double> device_in(in), out(want.size());
  conversions<<<(count + 63) / 64, 64>>>(device_in.get(), out.get(), count);
  check::finish();
  check::equal("conversions", out.read(), want);
}

}  // namespace

int main() {
  check_integers<int8_t>("int8_t");
  check_integers<uint16_t>("uint16_t");
  check_integers<int32_t>("int32_t");
  check_integers<uint32_t>("uint32_t");
  check_integers<int64_t>("int64_t");
  check_integers<uint64_t>("uint64_t");
  check_intrinsics();
  check_reals<float>("float");
  check_reals<double>("double");
  check_division();
  check_halves();
  check_conversions();
  return check::result();
}
