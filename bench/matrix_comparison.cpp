// Matrix products of 1024 x 1024 elements with matrix instructions, run by Atoll, beside OpenBLAS's sgemm on the same
// threads. Prints a Markdown table of the medians; ends with 1 when a result differs from sgemm's.
//
//     matrix_comparison [--denormals] CODE_OBJECT... [ELEMENTS]
//
// With --denormals: products of normally distributed numbers, beside products of the same numbers with denormals in the
// place of 2%. The code objects are matrix_kernels.cl, compiled for the GPUs. Each product is measured with two kinds
// of numbers:
// - small integers: every product and every sum is exact in every type, whatever the order, and the results must agree
//   in every bit;
// - normally distributed ones, of which sums round as the GPU does it, which may take longer: the results must be near.
#include <cblas.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "atoll/atoll.h"
#include "measure.h"
#include "whole_host.h"

using namespace Atoll;
using namespace Atoll::bench;

namespace {

constexpr uint32_t size = 1024, tile = 64;
constexpr int rounds = 21;

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

/// The number without what the type has no bits for. Of FP8 without the smallest, too, which are denormal or 0.
float truncated(float value, const std::string& type) {
  if (type == "f16") return static_cast<float>(static_cast<_Float16>(value));
  if (type == "bf16") return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xFFFF'0000);
  constexpr float integers_in_one = 16;
  if (type == "i8") return std::clamp(std::trunc(value * integers_in_one), -127.0f, 127.0f);
  if (type != "fp8") return value;
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  constexpr int smallest = -5;
  return exponent < smallest ? 0 : std::ldexp(std::trunc(fraction * 16) / 16, exponent);
}

/// Normally distributed, about 0.
std::vector<float> normal_numbers(uint32_t seed, const std::string& type) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> values(size * size);
  for (float& value : values) value = truncated(distribution(random), type);
  return values;
}

/// A number in FP8, whose exponent has this bias, that truncated() leaves as it is.
uint8_t fp8_of(float value, int bias) {
  if (value == 0) return 0;
  if (std::fabs(value) < std::ldexp(1.0f, 1 - bias)) {
    const auto fraction = static_cast<uint8_t>(std::ldexp(std::fabs(value), bias + 2));
    return static_cast<uint8_t>(fraction | (value < 0 ? 0x80 : 0));
  }
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

/// The numbers, with denormals of the type in the place of 2%.
std::vector<float> with_denormals(std::vector<float> values, uint32_t seed, const std::string& type, bool ocp) {
  struct Denormals {
    unsigned fraction_bits;
    int last_place;  ///< the power of two
  };
  const Denormals denormals = type == "f32"    ? Denormals{23, -149}
                              : type == "bf16" ? Denormals{7, -133}
                              : type == "f16"  ? Denormals{10, -24}
                                               : Denormals{3, ocp ? -9 : -10};
  std::mt19937 random(seed);
  for (float& value : values) {
    if (random() % 50 != 0) continue;
    const auto fraction = static_cast<float>(1 + random() % ((1u << denormals.fraction_bits) - 1));
    value = std::copysign(std::ldexp(fraction, denormals.last_place), value);
  }
  return values;
}

/// Zeros in the place of numbers that are denormal in single precision, with which OpenBLAS would be slow.
std::vector<float> without_denormals(std::vector<float> values) {
  for (float& value : values) value = std::fabs(value) < 0x1p-126f ? 0 : value;
  return values;
}

Buffer buffer_of(const Gpu& gpu, const std::vector<std::byte>& bytes) {
  Buffer buffer = value_of(gpu.allocate_bytes(bytes.size()));
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

bool is_radeon(const std::string& processor) { return !processor.starts_with("gfx9"); }

double gigaflops(double seconds) { return 2.0 * size * size * size / seconds * 1e-9; }

/// C = A times B, by sgemm.
struct Product {
  std::vector<float> a, b, c = std::vector<float>(size * size);

  void multiply() {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, size, size, size, 1, a.data(), size, b.data(), size, 0,
                c.data(), size);
  }
};

/// A product on a GPU.
class Launch {
 public:
  Launch(const Gpu& gpu, const Code& code, const std::string& type, bool ocp, const Product& product)
      : gpu_(gpu),
        code_(code),
        kernel_("product_" + type),
        wave_(value_of(code.describe(kernel_)).required_block[0]),
        left_(buffer_of(gpu, encode(product.a, type, ocp))),
        right_(buffer_of(gpu, encode(product.b, type, ocp))),
        result_(value_of(gpu.allocate_bytes(size * size * sizeof(uint32_t)))) {}

  void run() const {
    const LaunchShape shape{.grid = {size / tile * wave_, size / tile, 1}, .block = {wave_, 1, 1}};
    value_of(gpu_.launch_with(code_, kernel_, shape, std::vector<Argument>{left_, right_, result_}));
  }

  float result(uint32_t place) const {
    uint32_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(result_.data()) + place * sizeof word, sizeof word);
    return kernel_ == "product_i8" ? static_cast<float>(std::bit_cast<int32_t>(word)) : std::bit_cast<float>(word);
  }

 private:
  const Gpu& gpu_;
  const Code& code_;
  std::string kernel_;
  uint32_t wave_;
  Buffer left_, right_, result_;
};

class Comparison {
 public:
  explicit Comparison(WholeHost& host) : host_(host) {}

  /// A row of the table: one GPU's product of matrices of one type.
  void compare(const Gpu& gpu, const Code& code, const std::string& processor, const std::string& type) {
    const bool ocp = processor == "gfx950" || processor.starts_with("gfx12");
    Product integers{small_integers(1), small_integers(2)}, normal{normal_numbers(1, type), normal_numbers(2, type)};
    const Launch exact(gpu, code, type, ocp, integers), rounded(gpu, code, type, ocp, normal);
    const std::string name = type + " of " + processor;
    check(name, integers, exact, 0);
    // Of 1,024 products, which are about 1 each.
    check(name, normal, rounded, type == "i8" ? 0 : 0.005f);
    Turns turns({{.run = [&] { integers.multiply(); }, .rounds = rounds},
                 {.run = [&] { exact.run(); }, .rounds = rounds},
                 {.run = [&] { rounded.run(); }, .rounds = rounds}});
    turns.take_part(0, 1, [&] { host_.wait(); });
    const std::vector<double> seconds = turns.medians();
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.0f} | {:.2f} | {:.2f} | {:.0f} | {:.2f} |\n", processor, type,
               seconds[0] * 1e3, seconds[1] * 1e3, gigaflops(seconds[1]), seconds[1] / seconds[0], seconds[2] * 1e3,
               gigaflops(seconds[2]), seconds[2] / seconds[0]);
    double& largest = is_radeon(processor) ? largest_on_radeons_ : largest_on_instincts_;
    largest = std::max({largest, seconds[1] / seconds[0], seconds[2] / seconds[0]});
  }

  /// Compares the time of products of inputs without and with denormals.
  void compare_denormals(const Gpu& gpu, const Code& code, const std::string& processor, const std::string& type) {
    const bool ocp = processor == "gfx950" || processor.starts_with("gfx12");
    Product normal{normal_numbers(1, type), normal_numbers(2, type)};
    const Product some{with_denormals(normal.a, 3, type, ocp), with_denormals(normal.b, 4, type, ocp)};
    Product flushed{without_denormals(some.a), without_denormals(some.b)};
    const Launch usual(gpu, code, type, ocp, normal), denormal(gpu, code, type, ocp, some);
    const std::string name = type + " of " + processor;
    check(name, normal, usual, 0.005f);
    check(name + " with denormals", flushed, denormal, 0.005f);
    Turns turns({{.run = [&] { usual.run(); }, .rounds = rounds}, {.run = [&] { denormal.run(); }, .rounds = rounds}});
    turns.take_part(0, 1, [&] {
      if (!counts_processor_time()) host_.wait();
    });
    const std::vector<double> seconds = turns.medians();
    const double ratio = seconds[1] / seconds[0];
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} |\n", processor, type, seconds[0] * 1e3, seconds[1] * 1e3, ratio);
    largest_with_denormals_ = std::max(largest_with_denormals_, ratio);
  }

  bool all_agree() const { return all_agree_; }
  void print_goals() const {
    if (largest_on_instincts_ != 0)
      print_goal("the slowest matrix product of Instincts, of sgemm's time", largest_on_instincts_, "at most", 4);
    if (largest_on_radeons_ != 0)
      print_goal("the slowest matrix product of Radeons, of sgemm's time", largest_on_radeons_, "at most", 3);
    if (largest_with_denormals_ != 0) {
      print_goal("matrix products with 2% denormals, of the time without", largest_with_denormals_, "at most", 1.5);
    }
  }

 private:
  void check(const std::string& name, Product& product, const Launch& launch, float allowed) {
    product.multiply();
    launch.run();
    for (uint32_t place = 0; place < size * size; ++place) {
      const float value = launch.result(place), expected = product.c[place];
      if (std::fabs(value - expected) <= allowed) continue;
      fmt::print(stderr, "matrix_comparison: {}: row {} column {} is {}, not {}\n", name, place / size, place % size,
                 value, expected);
      all_agree_ = false;
      return;
    }
  }

  WholeHost& host_;
  double largest_on_instincts_ = 0, largest_on_radeons_ = 0, largest_with_denormals_ = 0;
  bool all_agree_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc), types{"f32", "f16", "bf16", "i8", "fp8"};
  const bool denormals = !files.empty() && files.front() == "--denormals";
  if (denormals) {
    files.erase(files.begin());
    std::erase(types, "i8");
  }
  if (!files.empty() && std::ranges::find(types, files.back()) != types.end()) {
    types = {files.back()};
    files.pop_back();
  }
  if (files.empty()) die("usage: matrix_comparison [--denormals] CODE_OBJECT... [ELEMENTS]");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // each row as soon as it is measured
  wait_for_compiled_code();

  const auto threads = static_cast<unsigned>(openblas_get_num_threads());
  WholeHost host(threads);
  Comparison comparison(host);
  if (denormals) {
    fmt::print("Atoll on {} threads; medians of {} runs, which take turns.\n\n", threads, rounds);
    fmt::print(
        "| GPU | elements | normal numbers, ms | 2% denormals, ms | of the time without |\n"
        "| --- | --- | ---: | ---: | ---: |\n");
  } else {
    fmt::print("OpenBLAS (for {}) and Atoll on {} threads; medians of {} runs, results compared.\n\n",
               openblas_get_corename(), threads, rounds);
    fmt::print(
        "| GPU | elements | sgemm, ms | small integers, ms | GFLOP/s | of sgemm's time | normal numbers, ms | GFLOP/s "
        "| of sgemm's time |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  }
  for (const std::string& file : files) {
    const std::string target = value_of(Gpu::create_for_file(file)).target_id();
    const std::string processor = target.substr(0, target.find(':'));
    const Gpu gpu = value_of(Gpu::create(target, {.threads = threads, .engine = "compiled"}));
    const Code code = value_of(gpu.load_file(file));
    const std::vector<std::string> kernels = code.kernels();
    for (const std::string& type : types) {
      if (std::ranges::find(kernels, "product_" + type) == kernels.end()) continue;
      if (denormals) {
        comparison.compare_denormals(gpu, code, processor, type);
      } else {
        comparison.compare(gpu, code, processor, type);
      }
    }
  }
  host.print_late_rounds();
  comparison.print_goals();
  return comparison.all_agree() ? 0 : 1;
}
