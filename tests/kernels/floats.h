// Floating point: what IEEE 754 says exactly, so that the host has the same bits.
#include "kernel.h"

typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef _Float16 half2 __attribute__((ext_vector_type(2)));

/// Single and double precision.
KERNEL(floats) {
  const float a = (float)(int)in[item] / 1000.0f, b = float_of((in[item + 7] & 0x807FFFFF) | 0x3F000000);
  const float quotient = a / b;
  const float sum = __builtin_fmaf(a, b, quotient) - a * 0.1f + (float)in[item + 9];
  const double c = number(in[item + 1]), d = number(in[item + 2]) + 0.5, e = c / d;
  const double f = __builtin_fma(c, d, e) + (double)sum + (double)(int64)((uint64)in[item] * in[item + 1]);
  out[item * 4] = bits_of(quotient);
  out[item * 4 + 1] = bits_of(sum) ^ (unsigned)(int)(a * 3) ^ (a < b ? 0x55u : 0xAAu);
  const uint64 g = bits_of_double(f) ^ (uint64)(int64)(c * 12345.678);
  out[item * 4 + 2] = (unsigned)g;
  out[item * 4 + 3] = (unsigned)(g >> 32);
}

/// Any two numbers of single precision, denormals too; but no NaN, whose bits differ from host to GPU.
KERNEL(any_floats) {
  unsigned sum = 0, flags = 0;
  for (unsigned i = 0; i < 8; ++i) {
    float a = float_of(in[item + i]), b = float_of(in[(item * 3 + i) % in_words]);
    if (i == 3) a = float_of(in[item + i] & 0x807FFFFF);  // a denormal
    if (a != a || b != b) continue;
    const float results[] = {a + b, a - b, a * b, b != 0 ? a / b : 1.0f};
    for (unsigned j = 0; j < 4; ++j) {
      if (results[j] == results[j]) sum = mixed(sum, bits_of(results[j]));
    }
    flags = flags << 4 | (a < b ? 1u : 0u) | (a >= b ? 2u : 0u) | (a == b ? 4u : 0u) | (a != -b ? 8u : 0u);
  }
  out[item * 4] = sum;
  out[item * 4 + 1] = flags;
}

KERNEL(doubles) {
  const double a = number(in[item]) * 1e10, b = number(in[item + 1]) * 1e-10 + 1e-300;
  const double c = __builtin_bit_cast(double, (uint64)(in[item + 2] & 0xBFFFFFFF) << 32 | in[item + 3]);
  const double root = __builtin_sqrt(__builtin_fabs(a)), quotient = a / b;
  const double d = __builtin_fma(c, root, quotient) - c * b;
  out[item * 4] = mixed64(0, bits_of_double(root)) ^ mixed64(1, bits_of_double(quotient));
  out[item * 4 + 1] = d == d ? mixed64(2, bits_of_double(d)) : 0;
  out[item * 4 + 2] = mixed64(3, bits_of_double(__builtin_floor(a)) ^ bits_of_double(__builtin_trunc(a * 3)) ^
                                     bits_of_double(__builtin_ceil(a / 7)) ^ bits_of_double(__builtin_rint(a)));
  out[item * 4 + 3] = bits_of((float)(a * b)) ^ (unsigned)(int)(a * 1e-7) ^ (c < d ? 1u : 0u) ^
                      mixed64(4, bits_of_double(__builtin_fmax(a, b) - __builtin_fmin(a, root)));
}

/// Half precision, alone and as vectors.
KERNEL(halves) {
  const _Float16 a = (_Float16)((float)(int)(in[item] & 0x3FFF) / 37.0f);
  const _Float16 b = (_Float16)((float)(int)(in[item + 1] & 0xFFF) / 119.0f + 0.25f);
  const _Float16 c = a * b, d = a / b, e = a - b, f = (_Float16)(a + b) * (_Float16)0.1f;
  out[item * 4] = __builtin_bit_cast(unsigned short, c) | (unsigned)__builtin_bit_cast(unsigned short, d) << 16;
  out[item * 4 + 1] = __builtin_bit_cast(unsigned short, e) | (unsigned)__builtin_bit_cast(unsigned short, f) << 16;
  const half2 x = {a, b}, y = {e, (_Float16)(float)(int)(in[item + 2] % 100)};
  half2 z = x * y;  // one after the other: within an expression, the host does not round
  z = z + x.yx;
  z = z - y;
  out[item * 4 + 2] = __builtin_bit_cast(unsigned, z);
  out[item * 4 + 3] = (unsigned)(int)c ^ (unsigned)(short)e << 8 ^ (a < b ? 1u : 0u) ^ bits_of((float)d) ^
                      (unsigned)bits_of_double((double)f);
}

/// To a whole number and to another type.
KERNEL(roundings) {
  const float a = (float)(int)in[item] / 77777.0f, b = (float)((int)in[item + 1] >> 20) * 0.5f;
  out[item * 4] = mixed(bits_of(__builtin_floorf(a)), bits_of(__builtin_ceilf(a))) ^ bits_of(__builtin_truncf(a)) ^
                  bits_of(__builtin_rintf(b)) * 3u;
  out[item * 4 + 1] = bits_of(__builtin_roundf(b)) ^ bits_of(__builtin_copysignf(a, b)) * 5u ^
                      bits_of(__builtin_fabsf(b) + __builtin_fminf(a, 3.0f) * __builtin_fmaxf(b, -7.0f));
  const double c = number(in[item + 2]);
  out[item * 4 + 2] = mixed64(0, bits_of_double(__builtin_round(c) + 0.0) + bits_of_double(c - __builtin_floor(c)));
}

/// Between all types, where the result is one of the type.
KERNEL(conversions) {
  const unsigned a = in[item];
  const uint64 b = (uint64)in[item + 1] << 32 | in[item + 2];
  const float c = (float)a, d = (float)(int)a, e = (float)b, f = (float)(int64)b;
  const double g = (double)a, h = (double)(int)a, k = (double)b, m = (double)(int64)b;
  unsigned sum = mixed(mixed(bits_of(c), bits_of(d)), mixed(bits_of(e), bits_of(f)));
  sum = mixed64(mixed64(sum, bits_of_double(g)), bits_of_double(h));
  out[item * 4] = mixed64(mixed64(sum, bits_of_double(k)), bits_of_double(m));
  const float n = d / 65536.0f;
  out[item * 4 + 1] = (unsigned)(int)n ^ (unsigned)(short)n << 3 ^ (unsigned)(unsigned char)(int)(n / 200) << 20 ^
                      (unsigned)(c * 0.5f) ^ (unsigned)(signed char)(n / 300);
  const int64 p = (int64)(h * 1234567.0), q = (int64)(f * 0.25f);
  out[item * 4 + 2] =
      mixed64(mixed64(0, (uint64)p), (uint64)q) ^ mixed64(1, (uint64)(k * 0.5)) ^ mixed64(2, (uint64)(e * 0.5f));
  out[item * 4 + 3] = bits_of((float)(h * 1e-3)) ^ bits_of((float)(k * 1e-9)) ^
                      __builtin_bit_cast(unsigned short, (_Float16)(n / 3)) ^
                      (unsigned)__builtin_bit_cast(unsigned short, (_Float16)(int)(a & 0x1FFF)) << 16;
}

/// Classes of numbers, including NaNs and infinities.
KERNEL(kinds_of_numbers) {
  unsigned flags = 0, orders = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned special[] = {0x7FC00000, 0x7F800000, 0xFF800000, 0x80000000, 0x00000001, 0x7F7FFFFF, 0, 0xFFA00000};
    const unsigned chosen = in[item + i] % 16;
    const float a = float_of(chosen < 8 ? special[chosen] : in[item + i]);
    const float b = float_of(special[in[item + i + 1] % 8]);
    const double c = (double)a * 2;
    flags = flags * 64 + (__builtin_isnan(a) ? 1u : 0u) + (__builtin_isinf(a) ? 2u : 0u) +
            (__builtin_isnormal(a) ? 4u : 0u) + (bits_of(a) >> 31) * 8u + (__builtin_isfinite(c) ? 16u : 0u) +
            (__builtin_isnan(c) ? 32u : 0u);
    orders = orders * 64 + (a < b ? 1u : 0u) + (a <= b ? 2u : 0u) + (a == b ? 4u : 0u) + (a != b ? 8u : 0u) +
             (__builtin_isunordered(a, b) ? 16u : 0u) + (__builtin_islessgreater(a, b) ? 32u : 0u) +
             (!(a > b) ? 64u : 0u) + (!(c >= (double)b) ? 128u : 0u);
  }
  out[item * 4] = flags;
  out[item * 4 + 1] = orders;
}

static inline float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

/// Vectors, for which some GPUs have packed instructions.
KERNEL(float_vectors) {
  float4 a, b;
  for (unsigned i = 0; i < 4; ++i) {
    a[i] = (float)((int)in[item + i] >> 16) / 64.0f;
    b[i] = (float)((int)in[item + i + 4] >> 18) / 32.0f + 0.125f;
  }
  const float4 cross = a.yzxw * b.zxyw - a.zxyw * b.yzxw;
  const float length = __builtin_sqrtf(dot(a, a) + 1);
  const float4 unit = a / length, mixture = unit * 0.25f + b * 0.75f;
  const float2 c = a.xy * b.zw + a.zw, d = c.yx - b.xz * c;
  out[item * 4] = bits_of(dot(unit, b)) ^ bits_of(cross.x) * 3u;
  out[item * 4 + 1] = mixed(bits_of(cross.y), bits_of(cross.z));
  out[item * 4 + 2] = mixed(bits_of(mixture.x), bits_of(mixture.w)) ^ mixed(bits_of(mixture.y), bits_of(mixture.z));
  out[item * 4 + 3] = mixed(bits_of(d.x), bits_of(d.y));
}

/// Loops that lanes leave one by one.
KERNEL(mandelbrot) {
  const float x0 = (float)(item % 24) / 8.0f - 2.25f, y0 = (float)(item / 24) / 6.0f - 0.75f;
  float x = 0, y = 0;
  unsigned steps = 0;
  while (x * x + y * y < 4 && steps < 100) {
    const float next = x * x - y * y + x0;
    y = 2 * x * y + y0;
    x = next;
    ++steps;
  }
  double u = 0, v = 0;
  const double u0 = (double)x0 + number(in[item] >> 20);
  unsigned double_steps = 0;
  while (u * u + v * v < 4 && double_steps < 100) {
    const double next = u * u - v * v + u0;
    v = 2 * u * v + (double)y0;
    u = next;
    ++double_steps;
  }
  out[item * 4] = steps;
  out[item * 4 + 1] = bits_of(x);
  out[item * 4 + 2] = double_steps;
  out[item * 4 + 3] = mixed64(0, bits_of_double(v));
}

/// Four equations: rows are exchanged by what their numbers are, so that the array is in scratch.
KERNEL(linear_system) {
  double m[4][5];
  for (unsigned row = 0; row < 4; ++row) {
    for (unsigned column = 0; column < 5; ++column) {
      m[row][column] = (double)(int)(in[(item * 20 + row * 5 + column) % in_words] >> 12) - 500000.0;
    }
  }
  for (unsigned step = 0; step < 4; ++step) {
    unsigned pivot = step;
    for (unsigned row = step + 1; row < 4; ++row) {
      if (__builtin_fabs(m[row][step]) > __builtin_fabs(m[pivot][step])) pivot = row;
    }
    for (unsigned column = 0; column < 5; ++column) {
      const double other = m[step][column];
      m[step][column] = m[pivot][column];
      m[pivot][column] = other;
    }
    if (m[step][step] == 0) m[step][step] = 1;
    for (unsigned row = step + 1; row < 4; ++row) {
      const double factor = m[row][step] / m[step][step];
      for (unsigned column = step; column < 5; ++column) m[row][column] -= factor * m[step][column];
    }
  }
  double x[4];
  for (unsigned step = 4; step-- > 0;) {
    double sum = m[step][4];
    for (unsigned column = step + 1; column < 4; ++column) sum -= m[step][column] * x[column];
    x[step] = sum / m[step][step];
  }
  for (unsigned i = 0; i < 4; ++i) out[item * 4 + i] = mixed64(i, bits_of_double(x[i]));
}

/// A Fourier transform of eight complex numbers.
KERNEL(fourier) {
  float re[8], im[8];
  for (unsigned i = 0; i < 8; ++i) {
    re[i] = (float)((int)in[item + i] >> 12);
    im[i] = (float)((int)in[item + i + 8] >> 14);
  }
  const float root = 0.70710678f;
  const float cosines[] = {1, root, 0, -root}, sines[] = {0, -root, -1, -root};
  for (unsigned half = 4; half > 0; half /= 2) {
    for (unsigned first = 0; first < 8; first += half * 2) {
      for (unsigned i = 0; i < half; ++i) {
        const unsigned a = first + i, b = a + half;
        const float dr = re[a] - re[b], di = im[a] - im[b], c = cosines[i * (4 / half)], s = sines[i * (4 / half)];
        re[a] += re[b];
        im[a] += im[b];
        re[b] = dr * c - di * s;
        im[b] = dr * s + di * c;
      }
    }
  }
  for (unsigned i = 0; i < 4; ++i) {
    out[item * 4 + i] = mixed(mixed(bits_of(re[i] + 0.0f), bits_of(im[i] + 0.0f)),
                              mixed(bits_of(re[i + 4] + 0.0f), bits_of(im[i + 4] + 0.0f)));
  }
}
