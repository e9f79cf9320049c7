// Matrix products of 1024 x 1024 elements with matrix instructions, run by Atoll, beside OpenBLAS's sgemm on the same
// threads. Prints a Markdown table of the medians; ends with 1 when a result differs from sgemm's.
//
//     matrix_comparison CODE_OBJECT...
//
// The code objects are matrix_kernels.cl, compiled for the GPUs. All elements are small integers, so that every product
// and every sum is exact in every type, whatever the order: the results must agree in every bit.
#include <cblas.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "atoll/atoll.h"

namespace {

constexpr uint32_t size = 1024, tile = 64, wave = 64;
constexpr int runs = 7;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "matrix_comparison: %s\n", what.c_str());
  std::exit(2);
}

template <typename T>
T value_of(Atoll::Expected<T> expected) {
  if (!expected) die(expected.error().message);
  return std::move(*expected);
}

/// Whole numbers from -4 to 4.
std::vector<float> small_integers(uint32_t seed) {
  std::vector<float> values(size * size);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int>((seed >> 24) % 9) - 4);
  }
  return values;
}

template <typename T>
void append(std::vector<std::byte>& to, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

/// A small integer in FP8, whose exponent has this bias.
uint8_t fp8_of(float value, int bias) {
  if (value == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent) * 2 - 1;
  const int code = (exponent - 1 + bias) << 3 | static_cast<int>(fraction * 8);
  return static_cast<uint8_t>(code | (value < 0 ? 0x80 : 0));
}

std::vector<std::byte> encode(const std::vector<float>& values, const std::string& type, bool ocp) {
  constexpr int ocp_bias = 7, fnuz_bias = 8;
  std::vector<std::byte> bytes;
  for (const float value : values) {
    if (type == "f32") append(bytes, value);
    if (type == "f16") append(bytes, static_cast<_Float16>(value));
    if (type == "bf16") append(bytes, static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
    if (type == "i8") append(bytes, static_cast<int8_t>(value));
    if (type == "fp8") append(bytes, fp8_of(value, ocp ? ocp_bias : fnuz_bias));
  }
  return bytes;
}

/// The median of the seconds that `run` takes, after one run that does not count.
template <typename Run>
double median_seconds(Run run) {
  run();
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

Atoll::Buffer buffer_of(const Atoll::Gpu& gpu, const std::vector<std::byte>& bytes) {
  Atoll::Buffer buffer = value_of(gpu.allocate_bytes(bytes.size()));
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

double gigaflops(double seconds) { return 2.0 * size * size * size / seconds * 1e-9; }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) die("usage: matrix_comparison CODE_OBJECT...");
  const std::vector<float> a = small_integers(1), b = small_integers(2);
  std::vector<float> expected(size * size);
  const double native = median_seconds([&] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, size, size, size, 1, a.data(), size, b.data(), size, 0,
                expected.data(), size);
  });
  std::printf("OpenBLAS %s on %d threads: sgemm in %.2f ms (%.0f GFLOP/s); medians of %d runs, results compared.\n\n",
              openblas_get_corename(), openblas_get_num_threads(), native * 1e3, gigaflops(native), runs);
  std::printf("| GPU | elements | Atoll, ms | GFLOP/s | times sgemm |\n| --- | --- | ---: | ---: | ---: |\n");

  bool all_agree = true;
  for (int i = 1; i < argc; ++i) {
    const Atoll::Gpu gpu = value_of(Atoll::Gpu::create_for_file(argv[i]));
    const Atoll::Code code = value_of(gpu.load_file(argv[i]));
    const std::string target = gpu.target_id();
    const std::string processor = target.substr(0, target.find(':'));
    const std::vector<std::string> kernels = code.kernels();
    for (const std::string type : {"f32", "f16", "bf16", "i8", "fp8"}) {
      const std::string kernel = "product_" + type;
      if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) continue;
      const bool ocp = processor == "gfx950";
      const Atoll::Buffer left = buffer_of(gpu, encode(a, type, ocp)), right = buffer_of(gpu, encode(b, type, ocp));
      const Atoll::TypedBuffer<uint32_t> result = value_of(gpu.allocate<uint32_t>(size * size));
      const Atoll::LaunchShape shape{.grid = {size / tile * wave, size / tile, 1}, .block = {wave, 1, 1}};
      const double seconds = median_seconds(
          [&] { value_of(gpu.launch_with(code, kernel, shape, std::vector<Atoll::Argument>{left, right, result})); });
      std::printf("| %s | %s | %.2f | %.0f | %.2f |\n", processor.c_str(), type.c_str(), seconds * 1e3,
                  gigaflops(seconds), seconds / native);
      std::fflush(stdout);
      for (uint32_t place = 0; place < size * size; ++place) {
        const uint32_t word = result.span()[place];
        const float value =
            type == "i8" ? static_cast<float>(std::bit_cast<int32_t>(word)) : std::bit_cast<float>(word);
        if (value == expected[place]) continue;
        std::fprintf(stderr, "matrix_comparison: %s of %s: row %u column %u is %g, not %g\n", kernel.c_str(),
                     processor.c_str(), place / size, place % size, static_cast<double>(value),
                     static_cast<double>(expected[place]));
        all_agree = false;
        break;
      }
    }
  }
  return all_agree ? 0 : 1;
}
