// Compiled with -O3 -march=native. Each vector lane is a body, and several vectors go through all bodies together, so
// that the latencies of one hide behind the others; positions and sums stay in registers. The reciprocal square root is
// the host's estimate, made better by a step of Newton's method: as exact as the GPU's.
#include "nbody_native.h"

#include <immintrin.h>

#include <array>
#include <cmath>

namespace Atoll::bench {

namespace {

#if defined(__AVX512F__)
constexpr size_t width = 16;
#else
constexpr size_t width = 8;
#endif
constexpr size_t vectors = 4;
using Vector = float __attribute__((vector_size(width * sizeof(float))));

Vector estimate_rsqrt(Vector x) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(_mm512_rsqrt14_ps(reinterpret_cast<__m512>(x)));
#elif defined(__AVX__)
  return reinterpret_cast<Vector>(_mm256_rsqrt_ps(reinterpret_cast<__m256>(x)));
#else
  Vector y;
  for (size_t lane = 0; lane < width; ++lane) y[lane] = 1 / std::sqrt(x[lane]);
  return y;
#endif
}

Vector rsqrt(Vector x) {
  const Vector y = estimate_rsqrt(x);
  return y * (1.5f - 0.5f * x * y * y);
}

}  // namespace

// Unlike the kernel of the GPU, the loop may be contracted: the compiler is free to make the best of it.
#pragma clang fp contract(fast)

void native_nbody(const float* bodies, float* accelerations, size_t count, size_t begin, size_t end) {
  static_assert(native_nbody_step % (width * vectors) == 0);
  for (size_t first = begin; first < end; first += width * vectors) {
    std::array<Vector, vectors> x{}, y{}, z{}, sum_x{}, sum_y{}, sum_z{};
    for (size_t v = 0; v < vectors; ++v) {
      for (size_t lane = 0; lane < width; ++lane) {
        const float* self = bodies + 4 * (first + v * width + lane);
        x[v][lane] = self[0];
        y[v][lane] = self[1];
        z[v][lane] = self[2];
      }
    }
    for (size_t j = 0; j < count; ++j) {
      const float* other = bodies + 4 * j;
#pragma clang loop unroll(full)
      for (size_t v = 0; v < vectors; ++v) {
        const Vector dx = other[0] - x[v], dy = other[1] - y[v], dz = other[2] - z[v];
        const Vector inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
        const Vector pull = other[3] * inverse * inverse * inverse;
        sum_x[v] += dx * pull;
        sum_y[v] += dy * pull;
        sum_z[v] += dz * pull;
      }
    }
    for (size_t v = 0; v < vectors; ++v) {
      for (size_t lane = 0; lane < width; ++lane) {
        float* out = accelerations + 4 * (first + v * width + lane);
        out[0] = sum_x[v][lane];
        out[1] = sum_y[v][lane];
        out[2] = sum_z[v][lane];
        out[3] = 0;
      }
    }
  }
}

const char* native_vector_unit() {
#if defined(__AVX512F__)
  return "AVX-512";
#elif defined(__AVX__)
  return "AVX2";
#else
  return "portable";
#endif
}

}  // namespace Atoll::bench
