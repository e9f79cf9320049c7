// Compiled with -O3 -march=native. The loops are simple enough for the compiler's vectoriser; three of them move memory
// and do little else, `hash` computes and touches little memory.
#include "native_loops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

// As in kernels.cl: every sum of products that is to be fused is written so.
#pragma STDC FP_CONTRACT OFF

namespace Atoll::bench {

namespace {

template <typename T>
T number(const void* argument) {
  T value;
  std::memcpy(&value, argument, sizeof value);
  return value;
}

template <typename T>
T* buffer(void* argument) {
  return static_cast<T*>(argument);
}

constexpr size_t step = 1024;  ///< elements of a piece where they are in a row

void saxpy(const NativeArguments& arguments, size_t begin, size_t end) {
  const auto a = number<float>(arguments[0]);
  const float* __restrict x = buffer<const float>(arguments[1]);
  float* __restrict y = buffer<float>(arguments[2]);
  for (size_t i = begin * step; i < end * step; ++i) y[i] = std::fma(a, x[i], y[i]);
}

void stencil(const NativeArguments& arguments, size_t begin, size_t end) {
  const float* __restrict in = buffer<const float>(arguments[0]);
  float* __restrict out = buffer<float>(arguments[1]);
  const auto width = static_cast<size_t>(number<int32_t>(arguments[2]));
  for (size_t row = begin; row < end; ++row) {
    const float* const from = in + row * width;
    float* const to = out + row * width;
    if (row == 0 || row == width - 1) {
      std::copy_n(from, width, to);
      continue;
    }
    to[0] = from[0];
    for (size_t i = 1; i < width - 1; ++i) {
      const float sum = (from - width)[i] + from[i - 1] + from[i + 1] + from[i + width] - 4 * from[i];
      to[i] = std::fma(0.2f, sum, from[i]);
    }
    to[width - 1] = from[width - 1];
  }
}

void scan(const NativeArguments& arguments, size_t begin, size_t end) {
  const uint32_t* __restrict in = buffer<const uint32_t>(arguments[0]);
  uint32_t* __restrict out = buffer<uint32_t>(arguments[1]);
  for (size_t piece = begin; piece < end; ++piece) {
    uint32_t sum = 0;
    for (size_t i = piece * step; i < (piece + 1) * step; ++i) out[i] = sum += in[i];
  }
}

void hash(const NativeArguments& arguments, size_t begin, size_t end) {
  const uint32_t* __restrict in = buffer<const uint32_t>(arguments[0]);
  uint32_t* __restrict out = buffer<uint32_t>(arguments[1]);
  const auto rounds = number<int32_t>(arguments[2]);
  constexpr size_t lanes = 64;
  for (size_t first = begin * step; first < end * step; first += lanes) {
    std::array<uint32_t, lanes> value{}, state{};
    for (size_t i = 0; i < lanes; ++i) {
      value[i] = in[first + i];
      state[i] = 0x9e37'79b9u;
    }
    for (int32_t round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < lanes; ++i) {
        value[i] = std::rotl(value[i] * 0xcc9e'2d51u, 15);
        state[i] = std::rotl(state[i] ^ (value[i] * 0x1b87'3593u), 13) * 5 + 0xe654'6b64u;
        value[i] += state[i];
      }
    }
    for (size_t i = 0; i < lanes; ++i) out[first + i] = state[i];
  }
}

constexpr std::array<NativeLoop, 4> loops{
    {{"saxpy", step, saxpy}, {"hash", step, hash}, {"scan", step / 4, scan}, {"stencil", 2048, stencil}}};

}  // namespace

float multiply_and_add(int rounds) {
  constexpr size_t lanes = 128;  // enough vectors that none waits for itself
  std::array<float, lanes> sums{};
  for (size_t i = 0; i < lanes; ++i) sums[i] = static_cast<float>(i);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < lanes; ++i) sums[i] = std::fma(sums[i], 0.5f, 1.0f);
  }
  return sums[0] + sums[lanes - 1];
}

const NativeLoop* native_loop(std::string_view kernel) {
  const auto* const found = std::ranges::find(loops, kernel, &NativeLoop::kernel);
  return found == loops.end() ? nullptr : found;
}

}  // namespace Atoll::bench
