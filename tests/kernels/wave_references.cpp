// What the kernels of waves.c, wave_matrices.c and deep_matrices.c give, one lane after the other. Sources: the "Vega"
// to "RDNA4" ISA guides' descriptions of the instructions that the builtins are named after.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "kernels/references.h"

namespace Atoll::test {
namespace {

/// Calls `function(first item)` for each wave.
template <typename Function>
void each_wave(const Launch& launch, Function function) {
  for (unsigned first = 0; first < launch.items; first += launch.wave_size) function(first);
}

void ballots(const Launch& launch) {
  each_wave(launch, [&](unsigned first) {
    uint64_t odd = 0, active = 0, second_bit = 0, active_odd = 0;
    for (unsigned lane = 0; lane < launch.wave_size; ++lane) {
      const uint64_t bit = uint64_t{1} << lane;
      const unsigned word = launch.in[first + lane];
      if (word % 2 != 0) odd |= bit;
      if (launch.in[first + lane + 1] % 3 != 0) continue;
      active |= bit;
      if ((word & 2) != 0) second_bit |= bit;
      if (lane % 2 != 0) active_odd |= bit;
    }
    for (unsigned lane = 0; lane < launch.wave_size; ++lane) {
      unsigned* out = launch.out + (first + lane) * 4;
      const bool is_active = (active >> lane & 1) != 0;
      const uint64_t inner = is_active ? second_bit ^ (lane % 2 != 0 ? active_odd << 1 : 0) : 0;
      out[0] = static_cast<unsigned>(odd);
      out[1] = static_cast<unsigned>(odd >> 32) ^ static_cast<unsigned>(std::popcount(odd));
      out[2] = static_cast<unsigned>(inner);
      out[3] = static_cast<unsigned>(inner >> 32);
    }
  });
}

void compaction(const Launch& launch) {
  each_wave(launch, [&](unsigned first) {
    unsigned count = 0;
    for (unsigned lane = 0; lane < launch.wave_size; ++lane) {
      launch.out[(first + lane) * 4 + 1] = count;
      if (launch.in[first + lane] % 5 < 2) launch.out[(first + count++) * 4] = launch.in[first + lane];
    }
  });
}

/// The lane whose word `ds_bpermute_b32` has for `lane` ("RDNA1" to "RDNA3" ISA guides, "LDS": a wave of 64 is done in
/// two halves, each by itself).
unsigned reached(const Launch& launch, unsigned lane, unsigned wanted) {
  const target::Generation generation = launch.processor->generation;
  const bool halves =
      launch.wave_size == 64 && generation >= target::Generation::gfx10 && generation < target::Generation::gfx12;
  return halves ? lane / 32 * 32 + wanted % 32 : wanted % launch.wave_size;
}

void shuffles_of_lanes(const Launch& launch) {
  each_wave(launch, [&](unsigned first) {
    const unsigned* in = launch.in + first;
    std::vector<unsigned> sums(launch.wave_size);
    for (unsigned lane = 0; lane < launch.wave_size; ++lane) sums[lane] = in[lane + 2];
    for (unsigned distance = 1; distance < launch.wave_size; distance *= 2) {
      const std::vector<unsigned> before = sums;
      for (unsigned lane = distance; lane < launch.wave_size; ++lane) {
        sums[lane] += before[reached(launch, lane, lane - distance)];
      }
    }
    for (unsigned lane = 0; lane < launch.wave_size; ++lane) {
      unsigned* out = launch.out + (first + lane) * 4;
      out[0] = in[reached(launch, lane, in[lane]) + 1];
      out[1] = in[lane ^ 21];
      out[2] = sums[lane];
    }
  });
}

void swizzles(const Launch& launch) {
  for (unsigned item = 0; item < launch.items; ++item) {
    launch.out[item * 4] = launch.in[item ^ 1];
    launch.out[item * 4 + 1] = launch.in[item ^ 16];
    launch.out[item * 4 + 2] = launch.in[item & ~7u];
    launch.out[item * 4 + 3] = launch.in[item ^ 3];
  }
}

void data_parallel_primitives(const Launch& launch) {
  for (unsigned item = 0; item < launch.items; ++item) {
    const unsigned lane = item % launch.wave_size, in_row = lane % 16, row = lane / 16, row_begin = item - in_row;
    const unsigned* in = launch.in;
    unsigned* out = launch.out + item * 4;
    out[0] = in[item ^ 3] + in[row_begin + 15 - in_row];
    out[1] = in_row >= 3 ? in[item - 3] : 9;
    const unsigned shifted = row % 2 != 0 ? 9 : in_row + 5 < 16 ? in[item + 5] : 0;
    out[2] = shifted ^ (in_row < 8 ? in[row_begin + (in_row + 6) % 16] : 0);
    for (unsigned i = 0; i <= in_row; ++i) out[3] += in[row_begin + i + 1];
  }
}

void waterfall(const Launch& launch) {
  each_wave(launch, [&](unsigned first) {
    std::vector<bool> done(launch.wave_size);
    unsigned rounds = 0;
    for (unsigned lane = 0; lane < launch.wave_size; ++lane) {
      if (done[lane]) continue;
      ++rounds;
      const unsigned chosen = launch.in[first + lane] % 6;
      for (unsigned other = lane; other < launch.wave_size; ++other) {
        if (launch.in[first + other] % 6 != chosen) continue;
        done[other] = true;
        unsigned* out = launch.out + (first + other) * 4;
        out[0] = launch.in[chosen] + rounds;
        out[1] = launch.in[first + 14];
        out[2] = launch.in[first + launch.in[7] % launch.wave_size];
      }
    }
  });
}

void permlanes(const Launch& launch) {
  for (unsigned item = 0; item < launch.items; ++item) {
    const unsigned in_row = item % 16, row_begin = item - in_row, in_eight = item % 8;
    launch.out[item * 4] = launch.in[row_begin + (in_row < 8 ? in_row : 15 - in_row)];
    launch.out[item * 4 + 1] = launch.in[(row_begin ^ 16) + (in_row ^ 8)];
    launch.out[item * 4 + 2] = launch.in[item - in_eight + (0xFAC688u >> 3 * in_eight & 7)];
  }
}

void permlane64(const Launch& launch) {
  for (unsigned item = 0; item < launch.items; ++item) launch.out[item * 4] = launch.in[item ^ 32];
}

unsigned byte(unsigned word, unsigned i) { return word >> 8 * i & 0xFF; }
unsigned apart(unsigned a, unsigned b) { return a > b ? a - b : b - a; }
unsigned bytes_apart(unsigned a, unsigned b, bool masked) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 4; ++i) sum += masked && byte(b, i) == 0 ? 0 : apart(byte(a, i), byte(b, i));
  return sum;
}
int64_t signed_bits(uint64_t value, unsigned width) {
  return width == 0 ? 0 : static_cast<int64_t>(value << (64 - width)) >> (64 - width);
}

void words(const Launch& launch) {
  for (unsigned item = 0; item < launch.items; ++item) {
    const unsigned a = launch.in[item], b = launch.in[item + 1], c = launch.in[item + 2];
    const uint64_t ab = uint64_t{a} << 32 | b, ba = uint64_t{b} << 32 | a;
    unsigned chosen = 0, middle = 0;
    for (unsigned i = 0; i < 4; ++i) {
      chosen |= static_cast<unsigned>(ab >> (byte(c, i) & 7) * 8 & 0xFF) << 8 * i;
      middle |= (byte(a, i) + byte(b, i) + byte(c, i) % 2) / 2 << 8 * i;
    }
    unsigned* out = launch.out + item * 4;
    out[0] = chosen ^ static_cast<unsigned>(ab >> c % 4 * 8) ^ static_cast<unsigned>(ba >> (c >> 3) % 32);
    const auto field = static_cast<int64_t>(static_cast<int>(b)) >> c % 32;
    out[1] = (a >> b % 32 & ((1u << c % 32) - 1)) +
             static_cast<unsigned>(signed_bits(static_cast<uint64_t>(field), a % 32)) * 3;
    out[2] = (bytes_apart(a, b, false) + c) ^ middle ^ (apart(a >> 16, b >> 16) + apart(a & 0xFFFF, b & 0xFFFF) + 7);
    out[3] = bytes_apart(a, b & 0xFF00FFFF, true) + c + (bytes_apart(a, c, false) << 16) + b +
             static_cast<unsigned>(signed_bits(a, 24) * signed_bits(b, 24)) + (a & 0xFFFFFF) * (c & 0xFFFFFF);
  }
}

unsigned bits(float value) { return std::bit_cast<unsigned>(value); }

/// To half precision toward 0.
unsigned truncated_half(float value) {
  const auto half = static_cast<_Float16>(value);
  const unsigned rounded = std::bit_cast<uint16_t>(half);
  return std::abs(static_cast<float>(half)) > std::abs(value) ? rounded - 1 : rounded;
}

void float_builtins(const Launch& launch) {
  for (unsigned item = 0; item < launch.items; ++item) {
    const unsigned* in = launch.in + item;
    unsigned* out = launch.out + item * 4;
    const float a = static_cast<float>(static_cast<int>(in[0])) / 4096.0f;
    const float b = static_cast<float>(static_cast<int>(in[1])) / 3.0f, c = static_cast<float>(in[2] >> 8);
    const double d = static_cast<double>(static_cast<int>(in[3])) * 1e-5;
    int exponent = 0, wide_exponent = 0, ignored = 0;
    std::frexp(b, &exponent);
    std::frexp(d, &wide_exponent);
    out[0] = bits(std::max(std::min(a, b), std::min(std::max(a, b), c))) ^ bits(std::frexp(a, &ignored));
    out[1] = static_cast<unsigned>(exponent) + static_cast<unsigned>(wide_exponent) * 1000;
    out[2] = bits(std::min(a - std::floor(a), 0x1.FFFFFEp-1f)) ^ (a != 0 ? 1u : 0u) ^ (d < 0 ? 2u : 0u);
    out[3] = (truncated_half(a * 0.001f) | truncated_half(c * 0.001f) << 16) ^ std::min(in[0] % 300, 255u) << 16;
  }
}

void dots(const Launch& launch) {
  for (unsigned item = 0; item < launch.items; ++item) {
    const unsigned a = launch.in[item], b = launch.in[item + 1], c = launch.in[item + 2];
    unsigned bytes = c, nibbles = c >> 4, signed_bytes = c;
    for (unsigned i = 0; i < 4; ++i) {
      bytes += byte(a, i) * byte(b, i);
      signed_bytes += static_cast<unsigned>(signed_bits(byte(a, i), 8) * signed_bits(byte(b, i), 8));
    }
    for (unsigned i = 0; i < 8; ++i) nibbles += (a >> 4 * i & 15) * (b >> 4 * i & 15);
    launch.out[item * 4] = bytes;
    launch.out[item * 4 + 1] = nibbles;
    launch.out[item * 4 + 2] =
        bits(static_cast<float>(static_cast<int>(a % 30) * 3 - static_cast<int>(b % 20) * 2) + 0.5f);
    launch.out[item * 4 + 3] = signed_bytes;
  }
}

// --- wave_matrices.c ------------------------------------------------------------------------------------------------

/// `offset`: added to each element of B.
template <int offset>
void product(const Launch& launch) {
  const auto element = [&](unsigned tile, unsigned of, unsigned row, unsigned k) {
    return static_cast<int>((launch.in[(tile * 97 + of * 301 + row * 33 + k) % 1024] >> 9) % 5) - 2;
  };
  for (unsigned tile = 0; tile < launch.items / launch.wave_size; ++tile) {
    for (unsigned row = 0; row < 16; ++row) {
      for (unsigned column = 0; column < 16; ++column) {
        int sum = 0;
        for (unsigned k = 0; k < 32; ++k) sum += element(tile, 0, row, k) * (element(tile, 1, column, k) + offset);
        launch.out[tile * 256 + row * 16 + column] = static_cast<unsigned>(sum);
      }
    }
  }
}

// --- deep_matrices.c ------------------------------------------------------------------------------------------------

/// Likewise. Two tiles that follow each other have the factor B of the first.
template <int offset>
void deep_product(const Launch& launch) {
  const auto element = [&](unsigned tile, unsigned of, unsigned row, unsigned k) {
    return static_cast<int>((launch.in[(tile * 97 + of * 301 + row * 33 + k) % 1024] >> 9) % 5) - 2;
  };
  for (unsigned tile = 0; tile < launch.items / launch.wave_size * 2; ++tile) {
    for (unsigned row = 0; row < 16; ++row) {
      for (unsigned column = 0; column < 16; ++column) {
        int sum = 0;
        for (unsigned k = 0; k < 128; ++k) {
          sum += element(tile, 0, row, k) * (element(tile / 2 * 2, 1, column, k) + offset);
        }
        launch.out[tile * 256 + row * 16 + column] = static_cast<unsigned>(sum);
      }
    }
  }
}

#define ENTRY(name) {#name, name}
constexpr Kernel of_waves[] = {
    ENTRY(ballots),   ENTRY(compaction), ENTRY(shuffles_of_lanes), ENTRY(swizzles), ENTRY(data_parallel_primitives),
    ENTRY(waterfall), ENTRY(words),      ENTRY(float_builtins)};
constexpr Kernel of_permlanes[] = {ENTRY(permlanes)};
constexpr Kernel of_permlane64[] = {ENTRY(permlane64)};
constexpr Kernel of_dots[] = {ENTRY(dots)};
constexpr Kernel of_gfx11_matrices[] = {{"wave_matrix_f16", product<0>},      {"wave_matrix_bf16", product<0>},
                                        {"wave_matrix_f16_sums", product<0>}, {"wave_matrix_bf16_sums", product<0>},
                                        {"wave_matrix_i8", product<130>},     {"wave_matrix_i4", product<0>}};
constexpr Kernel of_deep_matrices[] = {{"deep_matrix_f32", deep_product<0>},  {"deep_matrix_f16", deep_product<0>},
                                       {"deep_matrix_bf16", deep_product<0>}, {"deep_matrix_i8", deep_product<130>},
                                       {"deep_matrix_fp8", deep_product<0>},  {"deep_matrix_scaled", deep_product<0>}};
constexpr Kernel of_gfx12_matrices[] = {{"wave_matrix_f16", product<0>},      {"wave_matrix_bf16", product<0>},
                                        {"wave_matrix_f16_sums", product<0>}, {"wave_matrix_bf16_sums", product<0>},
                                        {"wave_matrix_i8", product<130>},     {"wave_matrix_fp8", product<0>},
                                        {"wave_matrix_bf8", product<0>}};

}  // namespace

std::span<const Kernel> wave_kernels() { return of_waves; }
std::span<const Kernel> permlane_kernels() { return of_permlanes; }
std::span<const Kernel> permlane64_kernels() { return of_permlane64; }
std::span<const Kernel> dot_kernels() { return of_dots; }
std::span<const Kernel> gfx11_matrix_kernels() { return of_gfx11_matrices; }
std::span<const Kernel> gfx12_matrix_kernels() { return of_gfx12_matrices; }
std::span<const Kernel> deep_matrix_kernels() { return of_deep_matrices; }

}  // namespace Atoll::test
