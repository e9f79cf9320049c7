// What the kernels of brains.c give: bfloat16 is the upper half of single precision, in which each operation is done
// and rounded, to the nearest even, once more.
#include <bit>

#include "kernels/references.h"

namespace Atoll::test {
namespace {

unsigned bits(float value) { return std::bit_cast<unsigned>(value); }

float rounded(float value) {
  const unsigned word = bits(value);
  return std::bit_cast<float>((word + 0x7FFF + (word >> 16 & 1)) & 0xFFFF0000);
}
unsigned halves(float low, float high) { return bits(low) >> 16 | (bits(high) & 0xFFFF0000); }

void brains(const Launch& launch) {
  constexpr unsigned edges[] = {0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x00018000, 0x80000001, 0x3F807FFF};
  for (unsigned item = 0; item < launch.items; ++item) {
    const unsigned* in = launch.in + item;
    unsigned* out = launch.out + item * 4;
    const float a = rounded(static_cast<float>(static_cast<int>(in[0])) / 1000.0f);
    const float b = rounded(static_cast<float>(in[1] & 0xFFFF) / 3.0f + 1);
    const float c = rounded(a * b), d = rounded(a / b), e = rounded(a - b), f = rounded(rounded(a + b) * rounded(0.1f));
    out[0] = halves(c, d);
    out[1] = halves(e, f);
    out[2] = bits(d) ^ static_cast<unsigned>(static_cast<int>(c * 0.001f)) ^ (a < b ? 1u : 0u);
    out[3] = halves(rounded(std::bit_cast<float>(edges[in[2] % 6])), rounded(std::bit_cast<float>(in[0] & 0xBFFFFFFF)));
  }
}

void brain_vectors(const Launch& launch) {
  for (unsigned item = 0; item < launch.items; ++item) {
    const unsigned* in = launch.in + item;
    const float a[] = {rounded(static_cast<float>(in[0] & 0xFFF)), rounded(static_cast<float>(in[0] >> 20) * 0.25f)};
    const float b[] = {0.375f, rounded(static_cast<float>(static_cast<short>(in[1])))};
    float c[2], d[2], e[2];
    for (unsigned i = 0; i < 2; ++i) {
      c[i] = rounded(a[i] * b[i]);
      d[i] = rounded(c[i] + a[1 - i]);
      e[i] = rounded(d[i] - c[i]);
    }
    launch.out[item * 4] = halves(c[0], c[1]);
    launch.out[item * 4 + 1] = halves(d[0], d[1]);
    launch.out[item * 4 + 2] = halves(e[0], e[1]);
  }
}

constexpr Kernel of_brains[] = {{"brains", brains}, {"brain_vectors", brain_vectors}};

}  // namespace

std::span<const Kernel> brain_kernels() { return of_brains; }

}  // namespace Atoll::test
