// Matrix products of 1024 x 1024 elements with matrix instructions, run by Atoll, beside OpenBLAS's sgemm on the same
// threads. Prints a Markdown table of the medians; ends with 1 when a result differs from sgemm's.
//
//     matrix_comparison CODE_OBJECT... [ELEMENTS]
//
// The code objects are matrix_kernels.cl, compiled for the GPUs. All elements are small integers, so that every product
// and every sum is exact in every type, whatever the order: the results must agree in every bit.
#include <cblas.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "atoll/atoll.h"
#include "measure.h"

using namespace Atoll;
using namespace Atoll::bench;

namespace {

constexpr uint32_t size = 1024, tile = 64, wave = 64;

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

Buffer buffer_of(const Gpu& gpu, const std::vector<std::byte>& bytes) {
  Buffer buffer = value_of(gpu.allocate_bytes(bytes.size()));
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

double gigaflops(double seconds) { return 2.0 * size * size * size / seconds * 1e-9; }

class Comparison {
 public:
  Comparison() { multiply(); }

  /// A row of the table: one GPU's product of matrices of one type.
  void compare(const Gpu& gpu, const Code& code, const std::string& processor, const std::string& type) {
    const bool ocp = processor == "gfx950";
    const Buffer left = buffer_of(gpu, encode(a_, type, ocp)), right = buffer_of(gpu, encode(b_, type, ocp));
    const TypedBuffer<uint32_t> result = value_of(gpu.allocate<uint32_t>(size * size));
    const LaunchShape shape{.grid = {size / tile * wave, size / tile, 1}, .block = {wave, 1, 1}};
    const auto launch = [&] {
      value_of(gpu.launch_with(code, "product_" + type, shape, std::vector<Argument>{left, right, result}));
    };
    launch();
    check(processor, type, result);
    const Contestant contestants[] = {{.run = [this] { multiply(); }}, {.run = launch}};
    const std::vector<double> seconds = median_seconds(contestants);
    ratios_.push_back(seconds[1] / seconds[0]);
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.0f} | {:.2f} |\n", processor, type, seconds[0] * 1e3, seconds[1] * 1e3,
               gigaflops(seconds[1]), ratios_.back());
  }

  bool all_agree() const { return all_agree_; }
  double largest_ratio() const { return std::ranges::max(ratios_); }

 private:
  void multiply() {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, size, size, size, 1, a_.data(), size, b_.data(), size, 0,
                expected_.data(), size);
  }

  void check(const std::string& processor, const std::string& type, const TypedBuffer<uint32_t>& result) {
    for (uint32_t place = 0; place < size * size; ++place) {
      const uint32_t word = result.span()[place];
      const float value = type == "i8" ? static_cast<float>(std::bit_cast<int32_t>(word)) : std::bit_cast<float>(word);
      if (value == expected_[place]) continue;
      fmt::print(stderr, "matrix_comparison: {} of {}: row {} column {} is {}, not {}\n", type, processor, place / size,
                 place % size, value, expected_[place]);
      all_agree_ = false;
      return;
    }
  }

  const std::vector<float> a_ = small_integers(1), b_ = small_integers(2);
  std::vector<float> expected_ = std::vector<float>(size * size);
  std::vector<double> ratios_;
  bool all_agree_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc), types{"f32", "f16", "bf16", "i8", "fp8"};
  if (!files.empty() && std::ranges::find(types, files.back()) != types.end()) {
    types = {files.back()};
    files.pop_back();
  }
  if (files.empty()) die("usage: matrix_comparison CODE_OBJECT... [ELEMENTS]");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // each row as soon as it is measured
  wait_for_compiled_code();

  Comparison comparison;
  fmt::print("OpenBLAS (for {}) and Atoll on {} threads; medians of 11 runs, results compared.\n\n",
             openblas_get_corename(), openblas_get_num_threads());
  fmt::print(
      "| GPU | elements | sgemm, ms | Atoll, ms | GFLOP/s | of sgemm's time |\n"
      "| --- | --- | ---: | ---: | ---: | ---: |\n");
  for (const std::string& file : files) {
    const std::string target = value_of(Gpu::create_for_file(file)).target_id();
    const std::string processor = target.substr(0, target.find(':'));
    const auto threads = static_cast<unsigned>(openblas_get_num_threads());
    const Gpu gpu = value_of(Gpu::create(target, {.threads = threads, .engine = "compiled"}));
    const Code code = value_of(gpu.load_file(file));
    const std::vector<std::string> kernels = code.kernels();
    for (const std::string& type : types) {
      if (std::ranges::find(kernels, "product_" + type) != kernels.end())
        comparison.compare(gpu, code, processor, type);
    }
  }
  fmt::print("\n");
  print_goal("the slowest matrix product, of sgemm's time", comparison.largest_ratio(), "at most", 4);
  return comparison.all_agree() ? 0 : 1;
}
