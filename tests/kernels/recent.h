// Features that clang compiles without a library since version 18.
#include "kernel.h"

/// Powers of two: a number taken apart and put together.
KERNEL(powers_of_two) {
  const float a = (float)(int)in[item] / 77777.0f;
  const double b = number(in[item + 1]);
  const int by = (int)(in[item + 2] % 300) - 150;
  out[item * 4] = bits_of(__builtin_ldexpf(a, by));
  out[item * 4 + 1] = mixed64(0, bits_of_double(__builtin_ldexp(b, by * 8)));
  int exponent = 0;
  out[item * 4 + 2] = bits_of(__builtin_frexpf(a, &exponent));
  out[item * 4 + 3] = (unsigned)exponent;
}

/// Roots, which the compiler rounds correctly since then.
KERNEL(roots) {
  for (unsigned i = 0; i < 4; ++i) {
    const float a = float_of(in[item + i] & (i == 3 ? 0x007FFFFF : 0x7F7FFFFF));
    out[item * 4 + i] = bits_of(__builtin_sqrtf(a));
  }
}
