// Public binaries of Catalyst's OpenCL 1.x, by AMD's compiler for Tahiti (GFX6): ATOLL_CATALYST_BINARIES names a copy
// of the repository Multi2Sim/m2s-bench-amdsdk-2.5-src. Each kernel runs with the arguments that its host program gives
// it, on less data, and the results are worked out on the host. Without the variable the tests are skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <numbers>
#include <numeric>
#include <random>

#include "atoll/atoll.h"
#include "library/catalyst_kernels.h"

namespace Atoll {
namespace {

template <typename T>
using List = std::vector<T>;
using Shape = LaunchShape;

class CatalystBinaries : public testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("ATOLL_CATALYST_BINARIES");
    if (folder == nullptr) GTEST_SKIP() << "ATOLL_CATALYST_BINARIES does not name a folder";
    folder_ = folder;
    auto created = Gpu::create("gfx600", {.timeout_seconds = 120});
    ASSERT_TRUE(created) << created.error().message;
    gpu_ = *created;
  }

  void load(const std::string& name) {
    auto code = gpu_.load_file(folder_ + "/" + name + "/" + name + "_Kernels.bin");
    ASSERT_TRUE(code) << code.error().message;
    code_ = *code;
  }

  template <typename... Args>
  void launch(const std::string& kernel, const Shape& shape, const Args&... arguments) {
    const auto done = gpu_.launch(code_, kernel, shape, arguments...);
    ASSERT_TRUE(done) << done.error().message;
  }

  template <typename T>
  TypedBuffer<T> buffer(const List<T>& values) {
    auto made = gpu_.allocate<T>(values.size()).value();
    made.write(values);
    return made;
  }
  template <typename T>
  TypedBuffer<T> zeroes(size_t count) {
    return gpu_.allocate<T>(count).value();
  }

  List<float> floats(size_t count, float from = 0, float to = 1) {
    std::uniform_real_distribution<float> each(from, to);
    List<float> list(count);
    for (float& value : list) value = each(random_);
    return list;
  }
  template <typename T = uint32_t>
  List<T> integers(size_t count, uint32_t below) {
    List<T> list(count);
    for (T& value : list) value = static_cast<T>(random_() % below);
    return list;
  }

  static void expect_near(const List<float>& got, const List<float>& expected, float relative) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], relative * std::max(1.0F, std::abs(expected[i]))) << "element " << i;
  }

  std::string folder_;
  Gpu gpu_;
  Code code_;
  std::mt19937 random_{7};
};

TEST_F(CatalystBinaries, BinarySearch) {
  load("BinarySearch");
  List<uint32_t> sorted(1024);
  std::iota(sorted.begin(), sorted.end(), 5);
  const auto in = buffer(sorted);
  const auto out = zeroes<uint32_t>(4);
  launch("binarySearch", {.grid = {256}, .block = {256}}, out, in, 405u, 0u, 1023u, 4u);
  EXPECT_EQ(out.read()[0], 400u);  // the segment that has 405
  EXPECT_EQ(out.read()[1], 403u);
  EXPECT_EQ(out.read()[3], 1u);
}

TEST_F(CatalystBinaries, BinomialOption) {
  load("BinomialOption");
  constexpr int steps = 254;
  const auto random = floats(16);
  const auto out = zeroes<float>(16);
  launch("binomial_options", {.grid = {4 * 255}, .block = {255}}, steps, buffer(random), out, LocalMemory{256 * 16},
         LocalMemory{256 * 16});
  List<float> expected;
  for (const float each : random) {
    const double s = (1 - each) * 5.0 + each * 30.0, x = (1 - each) * 1.0 + each * 100.0;
    const double dt = ((1 - each) * 0.25 + each * 10.0) / steps, vsdt = 0.3 * std::sqrt(dt);
    const double r = std::exp(0.02 * dt), u = std::exp(vsdt), d = 1 / u, pu = (r - d) / (u - d);
    List<double> value(steps + 1);
    for (int i = 0; i <= steps; ++i) value[i] = std::max(0.0, s * std::exp(vsdt * (2.0 * i - steps)) - x);
    for (int j = steps; j > 0; --j)
      for (int i = 0; i < j; ++i) value[i] = (pu * value[i] + (1 - pu) * value[i + 1]) / r;
    expected.push_back(static_cast<float>(value[0]));
  }
  expect_near(out.read(), expected, 2e-2F);
}

TEST_F(CatalystBinaries, BitonicSort) {
  load("BitonicSort");
  auto data = integers(1024, 100000);
  const auto in = buffer(data);
  for (uint32_t stage = 0; stage < 10; ++stage)
    for (uint32_t pass = 0; pass <= stage; ++pass)
      launch("bitonicSort", {.grid = {512}, .block = {256}}, in, stage, pass, 1024u, 1u);
  std::ranges::sort(data);
  EXPECT_EQ(in.read(), data);
}

TEST_F(CatalystBinaries, BlackScholes) {
  load("BlackScholes");
  const auto random = floats(64 * 4);
  const auto call = zeroes<float>(256), put = zeroes<float>(256);
  launch("blackScholes", {.grid = {8, 8}, .block = {8, 8}}, buffer(random), 8, call, put);
  List<float> calls, puts;
  const auto phi = [](double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; };
  for (const float in : random) {
    const auto mix = [&](double low, double high) { return low * in + high * (1 - in); };
    const double s = mix(10, 100), k = s, t = mix(1, 10), r = mix(0.01, 0.05), sigma = mix(0.01, 0.1);
    const double d1 = (std::log(s / k) + (r + sigma * sigma / 2) * t) / (sigma * std::sqrt(t));
    const double d2 = d1 - sigma * std::sqrt(t), discounted = k * std::exp(-r * t);
    calls.push_back(static_cast<float>(s * phi(d1) - discounted * phi(d2)));
    puts.push_back(static_cast<float>(discounted * phi(-d2) - s * phi(-d1)));
  }
  expect_near(call.read(), calls, 1e-3F);
  expect_near(put.read(), puts, 1e-3F);
}

TEST_F(CatalystBinaries, BoxFilter) {
  load("BoxFilter");
  constexpr int width = 32, height = 16, size = 5, k = (size - 1) / 2;
  const auto pixels = integers<uint8_t>(width * height * 4, 256);
  List<uint32_t> sums(pixels.size());  // summed area table
  const auto at = [](int x, int y, int c) { return static_cast<size_t>((x + y * width) * 4 + c); };
  const auto sum = [&](int x, int y, int c) { return x < 0 || y < 0 ? 0u : sums[at(x, y, c)]; };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 4; ++c)
        sums[at(x, y, c)] = pixels[at(x, y, c)] + sum(x - 1, y, c) + sum(x, y - 1, c) - sum(x - 1, y - 1, c);
  // The table is built by two passes of each direction: 5 * 5 < 32, so three.
  auto from = buffer(List<uint32_t>(pixels.begin(), pixels.end())), to = zeroes<uint32_t>(sums.size());
  launch("horizontalSAT0", {.grid = {width, height}, .block = {16, 16}}, buffer(pixels), to, 0, 2, width);
  for (const char* kernel : {"horizontalSAT", "verticalSAT"})
    for (int i = kernel[0] == 'h' ? 1 : 0; i < (kernel[0] == 'h' ? 5 : 4); ++i) {
      std::swap(from, to);
      launch(kernel, {.grid = {width, height}, .block = {16, 16}}, from, to, i, 2, width);
    }
  EXPECT_EQ(to.read(), sums);
  const auto out = zeroes<uint8_t>(pixels.size());
  launch("box_filter", {.grid = {width, height}, .block = {16, 16}}, to, out, uint32_t{size});
  const auto got = out.read();
  for (int y = k; y < height - k; ++y)
    for (int x = k; x < width - k; ++x)
      for (int c = 0; c < 4; ++c) {
        uint32_t all = 0;
        for (int j = -k; j <= k; ++j)
          for (int i = -k; i <= k; ++i) all += pixels[at(x + i, y + j, c)];
        ASSERT_EQ(got[at(x, y, c)], all / (size * size)) << x << ',' << y;
      }
}

TEST_F(CatalystBinaries, Dct) {
  load("DCT");
  constexpr uint32_t width = 64, block = 8;
  const auto in = floats(width * width, 0, 255);
  List<float> basis(block * block);
  for (uint32_t i = 0; i < block; ++i)
    for (uint32_t j = 0; j < block; ++j)
      basis[j * block + i] = static_cast<float>((j == 0 ? std::sqrt(1.0 / block) : std::sqrt(2.0 / block)) *
                                                std::cos((2 * i + 1) * j * std::numbers::pi / (2 * block)));
  const auto source = buffer(in), matrix = buffer(basis);
  for (const uint32_t inverse : {0u, 1u}) {
    const auto out = zeroes<float>(in.size());
    launch("DCT", {.grid = {width, width}, .block = {block, block}}, out, source, matrix,
           LocalMemory{block * block * 4}, width, block, inverse);
    // Two products of a block with the basis; the kernel keeps the first one transposed.
    List<float> expected(in.size());
    for (uint32_t by = 0; by < width; by += block)
      for (uint32_t bx = 0; bx < width; bx += block) {
        double first[block][block]{};
        const auto element = [&](uint32_t row, uint32_t column) {
          return double{basis[inverse != 0 ? column * block + row : row * block + column]};
        };
        for (uint32_t j = 0; j < block; ++j)
          for (uint32_t i = 0; i < block; ++i)
            for (uint32_t k = 0; k < block; ++k) first[j][i] += element(k, i) * in[(by + k) * width + bx + j];
        for (uint32_t j = 0; j < block; ++j)
          for (uint32_t i = 0; i < block; ++i) {
            double sum = 0;
            for (uint32_t k = 0; k < block; ++k) sum += first[i][k] * element(k, j);
            expected[(by + j) * width + bx + i] = static_cast<float>(sum);
          }
      }
    expect_near(out.read(), expected, 1e-3F);
  }
}

TEST_F(CatalystBinaries, DeviceFission) {
  load("DeviceFission");
  const auto in = floats(512);
  const auto out = zeroes<float>(512);
  launch("copy", {.grid = {512}, .block = {256}}, buffer(in), out);
  EXPECT_EQ(out.read(), in);
}

TEST_F(CatalystBinaries, DwtHaar1D) {
  load("DwtHaar1D");
  constexpr uint32_t length = 128, levels = 7;  // one wave: the kernel lets waves of a work-group race
  const auto in = floats(length, 0, 10);
  const auto coefficients = zeroes<float>(length), average = zeroes<float>(1);
  launch("dwtHaar1D", {.grid = {length / 2}, .block = {length / 2}}, buffer(in), coefficients, average,
         LocalMemory{length * 4}, levels, length, 0u, levels);
  List<double> data(in.begin(), in.end());
  for (double& each : data) each /= std::sqrt(double{length});
  List<float> expected(length);
  for (size_t half = length / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) {
      const double a = data[2 * i], b = data[2 * i + 1];
      expected[half + i] = static_cast<float>((a - b) / std::numbers::sqrt2);
      data[i] = (a + b) / std::numbers::sqrt2;
    }
  auto got = coefficients.read();
  got[0] = average.read()[0];
  expected[0] = static_cast<float>(data[0]);
  expect_near(got, expected, 1e-4F);
}

/// Eigenvalues below x of a symmetric tridiagonal matrix (Sturm).
uint32_t count_below(const List<float>& diagonal, const List<float>& beside, double x) {
  uint32_t count = 0;
  double before = diagonal[0] - x;
  count += before < 0 ? 1 : 0;
  for (size_t i = 1; i < diagonal.size(); ++i) {
    before = diagonal[i] - x - double{beside[i - 1]} * beside[i - 1] / before;
    count += before < 0 ? 1 : 0;
  }
  return count;
}

TEST_F(CatalystBinaries, EigenValue) {
  load("EigenValue");
  constexpr uint32_t width = 64;
  const auto diagonal = floats(width, 0, 10), beside = floats(width - 1, 0, 10);
  List<float> intervals;
  for (uint32_t i = 0; i < width; ++i)
    for (const float edge : {-20.0F + static_cast<float>(i), -19.0F + static_cast<float>(i)}) intervals.push_back(edge);
  const auto counts = zeroes<uint32_t>(width), unused = zeroes<uint32_t>(1);
  const auto diagonal_buffer = buffer(diagonal), beside_buffer = buffer(beside), interval_buffer = buffer(intervals);
  launch("calNumEigenValueInterval", {.grid = {width}, .block = {width}}, counts, interval_buffer, diagonal_buffer,
         beside_buffer, width);
  const auto got = counts.read();
  uint32_t differing = 0;
  for (uint32_t i = 0; i < width; ++i) {
    const uint32_t expected =
        count_below(diagonal, beside, intervals[2 * i + 1]) - count_below(diagonal, beside, intervals[2 * i]);
    differing += expected != got[i] ? 1 : 0;
  }
  EXPECT_LE(differing, 2u);  // an eigenvalue within a rounding error of an edge
  // Bisection until each interval with one eigenvalue is narrow: intervals from 0 to 63 have all but a few.
  const uint32_t total = std::accumulate(got.begin(), got.end(), 0u);
  const auto next = zeroes<float>(size_t{2} * width);
  launch("recalculateEigenIntervals", {.grid = {total}, .block = {total}}, next, interval_buffer, counts,
         diagonal_buffer, beside_buffer, width, 0.001F);
  const auto edges = next.read();
  for (uint32_t i = 0, index = 0, within = 0; i < total; ++i, ++within) {
    while (within >= got[index]) within = 0, ++index;
    const float low = intervals[2 * index], part = (intervals[2 * index + 1] - low) / static_cast<float>(got[index]);
    if (got[index] == 1) {
      EXPECT_EQ(edges[2 * i + 1] - edges[2 * i], 0.5F);
    } else {
      EXPECT_NEAR(edges[2 * i], low + part * static_cast<float>(within), 1e-4);
    }
  }
}

TEST_F(CatalystBinaries, Fft) {
  load("FFT");
  constexpr size_t points = 1024;
  const auto real = floats(points, -1, 1), imaginary = floats(points, -1, 1);
  const auto re = buffer(real), im = buffer(imaginary);
  launch("kfft", {.grid = {64}, .block = {64}}, re, im);
  const auto got_re = re.read(), got_im = im.read();
  double worst = 0;
  for (size_t k = 0; k < points; ++k) {
    double a = 0, b = 0;
    for (size_t n = 0; n < points; ++n) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k * n % points) / points;
      a += real[n] * std::cos(angle) - imaginary[n] * std::sin(angle);
      b += real[n] * std::sin(angle) + imaginary[n] * std::cos(angle);
    }
    worst = std::max({worst, std::abs(a - got_re[k]), std::abs(b - got_im[k])});
  }
  EXPECT_LT(worst, 0.05);
}

TEST_F(CatalystBinaries, FastWalshTransform) {
  load("FastWalshTransform");
  auto data = floats(1024, 0, 10);
  const auto in = buffer(data);
  for (int step = 1; step < 1024; step *= 2) {
    launch("fastWalshTransform", {.grid = {512}, .block = {256}}, in, step);
    for (int group = 0; group < 1024; group += 2 * step)
      for (int i = group; i < group + step; ++i) {
        const float a = data[i], b = data[i + step];
        data[i] = a + b;
        data[i + step] = a - b;
      }
  }
  EXPECT_EQ(in.read(), data);
}

TEST_F(CatalystBinaries, FloydWarshall) {
  load("FloydWarshall");
  constexpr uint32_t nodes = 64;
  auto distances = integers(nodes * nodes, 200);
  for (uint32_t i = 0; i < nodes; ++i) distances[i * nodes + i] = 0;
  const auto in = buffer(distances), path = zeroes<uint32_t>(nodes * nodes);
  for (uint32_t k = 0; k < nodes; ++k) {
    launch("floydWarshallPass", {.grid = {nodes * nodes}, .block = {nodes}}, in, path, nodes, k);
    for (uint32_t y = 0; y < nodes; ++y)
      for (uint32_t x = 0; x < nodes; ++x)
        distances[y * nodes + x] =
            std::min(distances[y * nodes + x], distances[y * nodes + k] + distances[k * nodes + x]);
  }
  EXPECT_EQ(in.read(), distances);
}

TEST_F(CatalystBinaries, Histogram) {
  load("Histogram");
  constexpr uint32_t bins = 256, group = 128;
  const auto data = integers(bins * group * 2, bins);
  const auto out = zeroes<uint32_t>(bins * 2);
  launch("histogram256", {.grid = {group * 2}, .block = {group}}, buffer(data), LocalMemory{bins * group}, out);
  List<uint32_t> expected(bins * 2);
  for (size_t i = 0; i < data.size(); ++i) ++expected[i / (bins * group) * bins + data[i]];
  EXPECT_EQ(out.read(), expected);
}

TEST_F(CatalystBinaries, HistogramAtomics) {
  load("HistogramAtomics");
  constexpr uint32_t groups = 2, vectors = 4;
  const auto data = integers(groups * 256 * vectors * 4, UINT32_MAX);
  const auto out = zeroes<uint32_t>(256 * groups);
  launch("histogramKernel", {.grid = {groups * 256}, .block = {256}}, buffer(data), out, vectors);
  launch("reduceKernel", {.grid = {256}, .block = {64}}, out, groups);
  List<uint32_t> expected(256);
  for (const uint32_t each : data)
    for (int byte = 0; byte < 4; ++byte) ++expected[each >> 8 * byte & 0xFF];
  EXPECT_EQ(List<uint32_t>(out.span().begin(), out.span().begin() + 256), expected);
}

TEST_F(CatalystBinaries, MatrixMultiplication) {
  load("MatrixMultiplication");
  constexpr uint32_t n = 64;
  const auto a = floats(n * n), b = floats(n * n);
  List<float> expected(n * n);
  for (uint32_t y = 0; y < n; ++y)
    for (uint32_t x = 0; x < n; ++x)
      for (uint32_t k = 0; k < n; ++k) expected[y * n + x] += a[y * n + k] * b[k * n + x];
  const auto left = buffer(a), right = buffer(b), out = zeroes<float>(n * n);
  launch("mmmKernel", {.grid = {n / 4, n / 4}, .block = {8, 8}}, left, right, out, n, n);
  expect_near(out.read(), expected, 1e-4F);
  const auto local = zeroes<float>(n * n);
  launch("mmmKernel_local", {.grid = {n / 4, n / 4}, .block = {8, 8}}, left, right, local, int32_t{n},
         LocalMemory{8 * 8 * 4 * 4 * 4});
  expect_near(local.read(), expected, 1e-4F);
}

TEST_F(CatalystBinaries, MatrixTranspose) {
  load("MatrixTranspose");
  constexpr uint32_t width = 64, height = 32, block = 16;
  const auto in = floats(width * height);
  const auto out = zeroes<float>(in.size());
  launch("matrixTranspose", {.grid = {width, height}, .block = {block, block}}, out, buffer(in),
         LocalMemory{block * block * 4}, width, height, block);
  List<float> expected(in.size());
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) expected[x * height + y] = in[y * width + x];
  EXPECT_EQ(out.read(), expected);
}

TEST_F(CatalystBinaries, MemoryOptimizations) {
  load("MemoryOptimizations");
  const auto in = floats(1024);
  for (const char* kernel : {"copy1DFastPath", "copy1DCompletePath"}) {
    const auto out = zeroes<float>(1024);
    launch(kernel, {.grid = {1024}, .block = {64}}, buffer(in), out);
    EXPECT_EQ(out.read(), in) << kernel;
  }
  const auto out = zeroes<float>(1024);
  launch("copy1Dfloat4", {.grid = {256}, .block = {64}}, buffer(in), out);
  EXPECT_EQ(out.read(), in);
}

TEST_F(CatalystBinaries, PrefixSum) {
  load("PrefixSum");
  List<float> in(512);
  for (float& each : in) each = static_cast<float>(random_() % 16);
  const auto out = zeroes<float>(512);
  launch("prefixSum", {.grid = {256}, .block = {256}}, out, buffer(in), LocalMemory{512 * 4}, 512u);
  List<float> expected(512);
  for (size_t i = 1; i < 512; ++i) expected[i] = expected[i - 1] + in[i - 1];
  EXPECT_EQ(out.read(), expected);
}

TEST_F(CatalystBinaries, QuasiRandomSequence) {
  load("QuasiRandomSequence");
  constexpr uint32_t vectors = 256, dimensions = 2;
  const auto directions = integers(32 * dimensions, UINT32_MAX);
  const auto out = zeroes<float>(vectors * dimensions * 4);
  launch("QuasiRandomSequence", {.grid = {vectors * dimensions}, .block = {vectors}}, out, buffer(directions),
         LocalMemory{32 * 4});
  List<float> expected;
  for (uint32_t d = 0; d < dimensions; ++d)
    for (uint32_t i = 0; i < vectors * 4; ++i) {
      uint32_t value = 0;
      for (uint32_t k = 0; k < 32; ++k) value ^= (i >> k & 1) * directions[d * 32 + k];
      expected.push_back(static_cast<float>(value) / 0x1p32F);
    }
  EXPECT_EQ(out.read(), expected);
}

TEST_F(CatalystBinaries, RadixSort) {
  load("RadixSort");
  constexpr uint32_t radices = 256, group = 16, items = 2 * group;
  const auto data = integers(items * radices, UINT32_MAX);
  const auto in = buffer(data), buckets = zeroes<uint32_t>(items * radices);
  launch("histogram", {.grid = {items}, .block = {group}}, in, buckets, 8u, LocalMemory{group * radices * 2});
  List<uint32_t> counts(items * radices);
  for (size_t i = 0; i < data.size(); ++i) ++counts[i / radices * radices + (data[i] >> 8 & 0xFF)];
  ASSERT_EQ(buckets.read(), counts);
  // Places: all smaller digits first, then earlier work-items with the same digit.
  List<uint32_t> places(counts.size());
  uint32_t at = 0;
  for (uint32_t digit = 0; digit < radices; ++digit)
    for (uint32_t item = 0; item < items; ++item) {
      places[item * radices + digit] = at;
      at += counts[item * radices + digit];
    }
  const auto out = zeroes<uint32_t>(data.size());
  launch("permute", {.grid = {items}, .block = {group}}, in, buffer(places), 8u, LocalMemory{group * radices * 2}, out);
  List<uint32_t> expected;
  for (uint32_t digit = 0; digit < radices; ++digit)
    std::ranges::copy_if(data, std::back_inserter(expected),
                         [&](uint32_t value) { return (value >> 8 & 0xFF) == digit; });
  EXPECT_EQ(out.read(), expected);
}

TEST_F(CatalystBinaries, RecursiveGaussian) {
  load("RecursiveGaussian");
  constexpr uint32_t width = 64, height = 32, block = 16;
  const auto in = integers<uint8_t>(width * height * 4, 256);
  const auto source = buffer(in), turned = zeroes<uint8_t>(in.size());
  launch("transpose_kernel", {.grid = {width, height}, .block = {block, block}}, turned, source,
         LocalMemory{block * block * 4}, width, height, block);
  const auto got = turned.read();
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x)
      for (uint32_t c = 0; c < 4; ++c) ASSERT_EQ(got[(x * height + y) * 4 + c], in[(y * width + x) * 4 + c]);
  // Coefficients that keep every value in a byte.
  const float a0 = 0.25F, a1 = 0.125F, a2 = 0.125F, a3 = 0.0625F, b1 = -0.25F, b2 = -0.0625F;
  const auto out = zeroes<uint8_t>(in.size());
  launch("RecursiveGaussian_kernel", {.grid = {width}, .block = {64}}, source, out, int32_t{width}, int32_t{height}, a0,
         a1, a2, a3, b1, b2, 0.0F, 0.0F);
  List<uint8_t> expected(in.size());
  for (uint32_t x = 0; x < width; ++x)
    for (uint32_t c = 0; c < 4; ++c) {
      const auto place = [&](uint32_t y) { return (y * width + x) * 4 + c; };
      float before = 0, out1 = 0, out2 = 0;
      for (uint32_t y = 0; y < height; ++y) {
        const float now = in[place(y)], result = a0 * now + a1 * before - b1 * out1 - b2 * out2;
        expected[place(y)] = static_cast<uint8_t>(result);
        before = now, out2 = out1, out1 = result;
      }
      float next1 = 0, next2 = 0, back1 = 0, back2 = 0;
      for (uint32_t y = height; y-- > 0;) {
        const float now = in[place(y)], result = a2 * next1 + a3 * next2 - b1 * back1 - b2 * back2;
        next2 = next1, next1 = now, back2 = back1, back1 = result;
        expected[place(y)] = static_cast<uint8_t>(static_cast<float>(expected[place(y)]) + result);
      }
    }
  const auto filtered = out.read();
  int worst = 0;
  for (size_t i = 0; i < in.size(); ++i) worst = std::max(worst, std::abs(filtered[i] - expected[i]));
  EXPECT_LE(worst, 1);  // contraction to multiply-add may round a value to the next byte
}

TEST_F(CatalystBinaries, Reduction) {
  load("Reduction");
  const auto data = integers(512 * 4, 1000);
  const auto out = zeroes<uint32_t>(2 * 4);
  launch("reduce", {.grid = {512}, .block = {256}}, buffer(data), out, LocalMemory{256 * 16});
  List<uint32_t> expected(8);
  for (size_t i = 0; i < data.size(); ++i) expected[i / 1024 * 4 + i % 4] += data[i];
  EXPECT_EQ(out.read(), expected);
}

TEST_F(CatalystBinaries, ScanLargeArrays) {
  load("ScanLargeArrays");
  constexpr uint32_t block = 128, length = 4 * block;
  List<float> in(length);
  for (float& each : in) each = static_cast<float>(random_() % 16);
  const auto out = zeroes<float>(length), sums = zeroes<float>(4), scanned = zeroes<float>(4);
  launch("ScanLargeArrays", {.grid = {length / 2}, .block = {block / 2}}, out, buffer(in), LocalMemory{block * 4},
         block, length, sums);
  launch("prefixSum", {.grid = {2}, .block = {2}}, scanned, sums, LocalMemory{4 * 4}, 4u);
  launch("blockAddition", {.grid = {length}, .block = {block}}, scanned, out);
  List<float> expected(length);
  for (size_t i = 1; i < length; ++i) expected[i] = expected[i - 1] + in[i - 1];
  EXPECT_EQ(out.read(), expected);
}

TEST_F(CatalystBinaries, SimpleConvolution) {
  load("SimpleConvolution");
  constexpr uint32_t width = 64, height = 8, mask = 3;
  const auto in = integers(width * height, 256);
  const List<float> weights(mask * mask, 1.0F / 16);
  const auto out = zeroes<uint32_t>(in.size());
  launch("simpleConvolution", {.grid = {width * height}, .block = {64}}, out, buffer(in), buffer(weights),
         std::array{width, height}, std::array{mask, mask});
  List<uint32_t> expected;
  for (int y = 0; y < int{height}; ++y)
    for (int x = 0; x < int{width}; ++x) {
      float sum = 0;
      for (int i = std::max(0, x - 1); i <= std::min<int>(width - 1, x + 1); ++i)
        for (int j = std::max(0, y - 1); j <= std::min<int>(height - 1, y + 1); ++j)
          sum += static_cast<float>(in[static_cast<size_t>(j) * width + i]) / 16;
      expected.push_back(static_cast<uint32_t>(sum + 0.5F));
    }
  EXPECT_EQ(out.read(), expected);
}

TEST_F(CatalystBinaries, SimpleImage) {
  load("SimpleImage");
  constexpr uint32_t width = 64, height = 16, unsigned_int8 = 11, rgba = 8;
  const auto pixels = integers(width * height, UINT32_MAX);
  const auto in = buffer(pixels), out = zeroes<uint32_t>(pixels.size());
  const auto image = [&](const TypedBuffer<uint32_t>& memory, semantics::ImageType type) {
    return buffer(List<test::ImageBlock>{test::image_block("gfx600", memory.data(), type, {width, height, 1}, width, 4,
                                                           8, semantics::NumberFormat::uint, unsigned_int8, rgba)});
  };
  using enum semantics::ImageType;
  launch("image2dCopy", {.grid = {width, height}, .block = {16, 16}}, image(in, two_d), image(out, two_d));
  EXPECT_EQ(out.read(), pixels);
  const auto again = zeroes<uint32_t>(pixels.size());
  launch("image3dCopy", {.grid = {width, height}, .block = {16, 16}}, image(in, three_d), image(again, two_d));
  EXPECT_EQ(again.read(), pixels);
}

TEST_F(CatalystBinaries, MatrixMulImage) {
  load("MatrixMulImage");
  constexpr uint32_t n = 64, float32 = 15, rgba = 8;
  const auto a = floats(n * n), b = floats(n * n);
  List<float> expected(n * n);
  for (uint32_t y = 0; y < n; ++y)
    for (uint32_t x = 0; x < n; ++x)
      for (uint32_t k = 0; k < n; ++k) expected[y * n + x] += a[y * n + k] * b[k * n + x];
  const auto image = [&](const TypedBuffer<float>& memory) {
    return buffer(
        List<test::ImageBlock>{test::image_block("gfx600", memory.data(), semantics::ImageType::two_d, {n / 4, n, 1},
                                                 n / 4, 4, 32, semantics::NumberFormat::floating, float32, rgba)});
  };
  const auto left = buffer(a), right = buffer(b);
  for (const auto& [kernel, rows] : {std::pair("mmmKernel", 4u), {"mmmKernel2", 8u}, {"mmmKernel3", 8u}}) {
    const auto out = zeroes<float>(n * n);
    launch(kernel, {.grid = {n / 4, n / rows}, .block = {8, 8}}, image(left), image(right), image(out), n, n);
    expect_near(out.read(), expected, 1e-4F);
  }
}

TEST_F(CatalystBinaries, SobelFilter) {
  load("SobelFilter");
  constexpr uint32_t width = 32, height = 16;
  const auto in = integers<uint8_t>(width * height * 4, 90);  // results then fit a byte
  const auto out = zeroes<uint8_t>(in.size());
  launch("sobel_filter", {.grid = {width, height}, .block = {16, 16}}, buffer(in), out);
  const auto got = out.read();
  for (uint32_t y = 1; y < height - 1; ++y)
    for (uint32_t x = 1; x < width - 1; ++x)
      for (uint32_t c = 0; c < 4; ++c) {
        const auto at = [&](uint32_t dx, uint32_t dy) {
          return double(in[((y + dy - 1) * width + x + dx - 1) * 4 + c]);
        };
        const double gx = at(0, 0) + 2 * at(1, 0) + at(2, 0) - at(0, 2) - 2 * at(1, 2) - at(2, 2);
        const double gy = at(0, 0) - at(2, 0) + 2 * at(0, 1) - 2 * at(2, 1) + at(0, 2) - at(2, 2);
        const double expected = std::hypot(gx, gy) / 2;
        ASSERT_NEAR(got[(y * width + x) * 4 + c], std::floor(expected), 1) << x << ',' << y;
      }
}

/// The generator "ran1" that the program documents, seeded by the negated average of a pixel.
float noise_of(int seed, List<int>& table) {
  constexpr int a = 16807, m = 2147483647, q = 127773, r = 2836, entries = 16, part = 1 + (m - 1) / entries;
  int state = seed;
  const auto step = [&] {
    const int k = state / q;
    state = a * (state - k * q) - r * k;
    if (state < 0) state += m;
  };
  for (int j = entries; j >= 0; --j) {
    step();
    if (j < entries) table[static_cast<size_t>(j)] = state;
  }
  const int first = table[0];
  step();
  return 1.0F / static_cast<float>(m) * static_cast<float>(table[static_cast<size_t>(first / part)]);
}

TEST_F(CatalystBinaries, Urng) {
  load("URNG");
  constexpr uint32_t width = 64, height = 4, factor = 25;
  const auto in = integers<uint8_t>(width * height * 4, 256);
  const auto out = zeroes<uint8_t>(in.size());
  launch("noise_uniform", {.grid = {width, height}, .block = {64, 1}}, buffer(in), out, int32_t{factor});
  const auto got = out.read();
  List<int> table(16);
  for (size_t i = 0; i < in.size(); i += 4) {
    const float average = (float(in[i]) + float(in[i + 1]) + float(in[i + 2]) + float(in[i + 1])) / 4;
    const float noise = static_cast<float>((noise_of(static_cast<int>(-average), table) - 0.55) * factor);
    for (size_t c = 0; c < 4; ++c)
      ASSERT_NEAR(got[i + c], std::clamp(std::floor(float(in[i + c]) + noise), 0.0F, 255.0F), 1) << i;
  }
}

}  // namespace
}  // namespace Atoll
