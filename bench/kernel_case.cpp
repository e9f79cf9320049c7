#include "kernel_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <type_traits>

namespace Atoll::bench {

namespace {

template <typename T>
KernelValue buffer(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  const Elements elements = std::is_same_v<T, float>    ? Elements::floats
                            : std::is_same_v<T, double> ? Elements::doubles
                                                        : Elements::words;
  return {true, {bytes, bytes + values.size() * sizeof(T)}, elements};
}

/// A buffer that the kernel writes.
template <typename T>
KernelValue room_for(size_t count) {
  return buffer(std::vector<T>(count));
}

template <typename T>
KernelValue number(T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  return {false, {bytes, bytes + sizeof value}};
}

std::vector<float> ramp(size_t count, float step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 1024) * step - 1;
  return values;
}

std::vector<uint32_t> noise(size_t count) {
  std::vector<uint32_t> values(count);
  uint32_t state = 1;
  for (uint32_t& value : values) value = state = state * 1664525u + 1013904223u;
  return values;
}

std::vector<float> twiddles(size_t points) {
  std::vector<float> values;
  for (size_t k = 0; k < points / 2; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(points);
    values.push_back(static_cast<float>(std::cos(angle)));
    values.push_back(static_cast<float>(std::sin(angle)));
  }
  return values;
}

std::vector<double> option_prices(size_t count) {
  std::vector<double> prices(count);
  for (size_t i = 0; i < count; ++i) prices[i] = 10 + static_cast<double>(i) * 0x1p-12;
  return prices;
}

template <typename T>
bool agree_as(double tolerance, const std::vector<std::byte>& got, const std::vector<std::byte>& want) {
  for (size_t i = 0; i + sizeof(T) <= want.size(); i += sizeof(T)) {
    T a{}, b{};
    std::memcpy(&a, &got[i], sizeof a);
    std::memcpy(&b, &want[i], sizeof b);
    if (!(std::fabs(a - b) <= static_cast<T>(tolerance) * std::max(T{1}, std::fabs(b)))) return false;
  }
  return true;
}

/// Bodies: x, y, z and mass, each from 0 to 1.
std::vector<float> random_bodies(size_t count) {
  std::vector<float> places(count * 4);
  const std::vector<uint32_t> random = noise(places.size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<float>(random[i]) * 0x1p-32f;
  return places;
}

/// Replaces 2% of the numbers that are not 0. Returns whether there were any.
template <typename T>
bool insert_denormals(std::vector<std::byte>& bytes) {
  const size_t count = bytes.size() / sizeof(T);
  const std::vector<uint32_t> random = noise(count);
  bool found = false;
  for (size_t i = 0; i < count; ++i) {
    T value{};
    std::memcpy(&value, &bytes[i * sizeof value], sizeof value);
    if (value == 0) continue;
    found = true;
    if ((random[i] >> 8) % 50 != 0) continue;
    value = std::numeric_limits<T>::denorm_min() * static_cast<T>(1 + random[i] % (1u << 20));
    std::memcpy(&bytes[i * sizeof value], &value, sizeof value);
  }
  return found;
}

}  // namespace

std::optional<KernelCase> with_denormals(const KernelCase& work) {
  KernelCase some = work;
  bool found = false;
  for (KernelValue& value : some.arguments) {
    if (!value.is_buffer) continue;
    if (value.elements == Elements::floats) found |= insert_denormals<float>(value.bytes);
    if (value.elements == Elements::doubles) found |= insert_denormals<double>(value.bytes);
  }
  if (!found) return std::nullopt;
  return some;
}

KernelCase nbody_case(uint32_t count) {
  // The GPU's reciprocal square root is an approximation.
  return {.kernel = "nbody",
          .size = std::to_string(count) + " bodies",
          .arguments = {buffer(random_bodies(count)), room_for<float>(count * 4), number(count)},
          .result = 1,
          .elements = Elements::floats,
          .tolerance = 1e-3,
          .grid = {count, 1},
          .block = {256, 1}};
}

std::vector<KernelCase> kernel_cases() {
  constexpr uint32_t vector_size = 1u << 22, matrix = 256, picture = 512, hashed = 1u << 18, words = 1u << 20,
                     points = 1u << 20, square = 2048, options = 1u << 18, messages = 1u << 17;
  std::vector<KernelCase> list;
  list.push_back({.kernel = "saxpy",
                  .size = "4,194,304 elements",
                  .arguments = {number(1.5f), buffer(ramp(vector_size, 0.25f)), buffer(ramp(vector_size, 0.5f))},
                  .result = 2,
                  .grid = {vector_size, 1},
                  .block = {256, 1}});
  list.push_back({.kernel = "sgemm",
                  .size = "256 x 256",
                  .arguments = {buffer(ramp(matrix * matrix, 0.01f)), buffer(ramp(matrix * matrix, 0.02f)),
                                room_for<float>(matrix * matrix), number<int32_t>(matrix)},
                  .result = 2,
                  .grid = {matrix, matrix},
                  .block = {16, 16}});
  list.push_back(nbody_case(2048));
  list.push_back({.kernel = "mandelbrot",
                  .size = "512 x 512, 256 steps",
                  .arguments = {room_for<int32_t>(picture * picture), number<int32_t>(picture), number<int32_t>(256)},
                  .result = 0,
                  .grid = {picture, picture},
                  .block = {16, 16}});
  list.push_back({.kernel = "hash",
                  .size = "262,144 words, 64 rounds",
                  .arguments = {buffer(noise(hashed)), room_for<uint32_t>(hashed), number<int32_t>(64)},
                  .result = 1,
                  .grid = {hashed, 1},
                  .block = {256, 1}});
  list.push_back({.kernel = "histogram",
                  .size = "4,194,304 bytes",
                  .arguments = {buffer(noise(words)), room_for<uint32_t>(256), number<int32_t>(words)},
                  .result = 1,
                  .grid = {16384, 1},
                  .block = {256, 1}});
  list.push_back({.kernel = "fft",
                  .size = "1,024 times 1,024 points",
                  .arguments = {buffer(ramp(2 * points, 0.01f)), room_for<float>(2 * points), buffer(twiddles(1024))},
                  .result = 1,
                  .grid = {points / 4, 1},
                  .block = {256, 1}});
  list.push_back({.kernel = "scan",
                  .size = "4,096 times 1,024 words",
                  .arguments = {buffer(noise(vector_size)), room_for<uint32_t>(vector_size)},
                  .result = 1,
                  .grid = {vector_size / 4, 1},
                  .block = {256, 1}});
  list.push_back({.kernel = "bitonic_sort",
                  .size = "512 times 1,024 words",
                  .arguments = {buffer(noise(points / 2)), room_for<uint32_t>(points / 2)},
                  .result = 1,
                  .grid = {points / 8, 1},
                  .block = {256, 1}});
  list.push_back(
      {.kernel = "stencil",
       .size = "2,048 x 2,048",
       .arguments = {buffer(ramp(square * square, 0.01f)), room_for<float>(square * square), number<int32_t>(square)},
       .result = 1,
       .grid = {square, square},
       .block = {64, 4}});
  // log, exp and sqrt are the device library's on one side and pocl's on the other.
  list.push_back({.kernel = "black_scholes",
                  .size = "262,144 prices",
                  .arguments = {buffer(option_prices(options)), room_for<double>(2 * options), number(40.0),
                                number(1.5), number(0.03), number(0.25)},
                  .result = 1,
                  .elements = Elements::doubles,
                  .tolerance = 1e-12,
                  .grid = {options, 1},
                  .block = {256, 1}});
  list.push_back({.kernel = "sha256",
                  .size = "131,072 blocks",
                  .arguments = {buffer(noise(messages * 16)), room_for<uint32_t>(messages * 8), number(messages)},
                  .result = 1,
                  .grid = {messages, 1},
                  .block = {256, 1}});
  return list;
}

bool agree(const KernelCase& work, const std::vector<std::byte>& got, const std::vector<std::byte>& want) {
  if (got.size() != want.size()) return false;
  switch (work.elements) {
    case Elements::words:
      return got == want;
    case Elements::floats:
      return agree_as<float>(work.tolerance, got, want);
    case Elements::doubles:
      return agree_as<double>(work.tolerance, got, want);
  }
  return false;
}

}  // namespace Atoll::bench
