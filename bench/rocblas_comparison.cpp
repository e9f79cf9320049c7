// rocBLAS's products of matrices of 1024 x 1024 elements, run by Atoll, beside OpenBLAS's sgemm in the same process.
// Prints rows of a Markdown table, the medians; ends with 1 when a result differs from sgemm's.
//
//     atoll run --gpu gfx90a -- rocblas_comparison [ROUTINE...]
//
// Without ROUTINE, all of them; their names are the table's, such as sgemm.
//
// A program of HIP's as any other, for a ROCm root (bench/rocblas). Each product is measured with two kinds of numbers:
// - small integers: every product and every sum is exact in every type, whatever the order, and the results must agree
//   in every bit;
// - normally distributed ones, of which sums round as the GPU does it: the results must be near.
#include <cblas.h>
#include <hip/hip_runtime_api.h>
#include <rocblas/rocblas.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "measure.h"
#include "whole_host.h"

using namespace Atoll::bench;

namespace {

constexpr int size = 1024, rounds = 21;
constexpr size_t elements = size_t{size} * size;

void check(hipError_t status, std::string_view what) {
  if (status != hipSuccess) die(fmt::format("{}: {}", what, hipGetErrorString(status)));
}

void check(rocblas_status status, std::string_view what) {
  if (status != rocblas_status_success) die(fmt::format("{}: {}", what, rocblas_status_to_string(status)));
}

/// A matrix in the GPU's memory.
template <typename T>
class Matrix {
 public:
  explicit Matrix(const std::vector<float>& values) {
    check(hipMalloc(&memory_, elements * sizeof(T)), "hipMalloc");
    const std::vector<T> converted(values.begin(), values.end());
    check(hipMemcpy(memory_, converted.data(), elements * sizeof(T), hipMemcpyHostToDevice), "hipMemcpy");
  }
  ~Matrix() { static_cast<void>(hipFree(memory_)); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  void* memory() const { return memory_; }
  std::vector<float> values() const {
    std::vector<T> values(elements);
    check(hipMemcpy(values.data(), memory_, elements * sizeof(T), hipMemcpyDeviceToHost), "hipMemcpy");
    return {values.begin(), values.end()};
  }

 private:
  void* memory_ = nullptr;
};

/// A routine of rocBLAS's: the types of its matrices.
struct Routine {
  std::string_view name;
  rocblas_datatype operands, result, sums;
  float scale;    ///< normally distributed numbers are multiplied by it, and cut off where the type is one of integers
  float allowed;  ///< how far off a result may be then: of 1,024 products of numbers that are about 1
};
// hgemm rounds each sum to half precision: sums of up to 128 by up to 1/32, 1,024 times.
constexpr Routine sgemm{"sgemm", rocblas_datatype_f32_r, rocblas_datatype_f32_r, rocblas_datatype_f32_r, 1, 0.005f},
    hgemm{"hgemm", rocblas_datatype_f16_r, rocblas_datatype_f16_r, rocblas_datatype_f16_r, 1, 4},
    half_operands{"gemm_ex, f16", rocblas_datatype_f16_r, rocblas_datatype_f32_r, rocblas_datatype_f32_r, 1, 0.005f},
    bytes{"gemm_ex, i8", rocblas_datatype_i8_r, rocblas_datatype_i32_r, rocblas_datatype_i32_r, 16, 0};

/// C = A times B, by OpenBLAS's sgemm; column by column, as rocBLAS has it.
struct Product {
  std::vector<float> a, b, c = std::vector<float>(elements);

  void multiply() {
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a.data(), size, b.data(), size, 0,
                c.data(), size);
  }
};

/// Whole numbers from -4 to 4: sums of 1,024 products stay below 2,048, up to which halves have all of them.
std::vector<float> small_integers(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(elements);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 9) - 4);
  return values;
}

/// Normally distributed, and without what the type has no bits for.
template <typename T>
std::vector<float> normal_numbers(unsigned seed, float scale) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> values(elements);
  for (float& value : values) value = static_cast<T>(std::clamp(distribution(random) * scale, -127.0f, 127.0f));
  return values;
}

/// A product on the GPU.
template <typename Operand, typename Result, typename Scalar>
class Launch {
 public:
  Launch(rocblas_handle handle, const Routine& routine, const Product& product)
      : handle_(handle), routine_(routine), a_(product.a), b_(product.b), c_(product.c) {}

  void run() const {
    const auto one = Scalar(1), zero = Scalar(0);
    check(rocblas_gemm_ex(handle_, rocblas_operation_none, rocblas_operation_none, size, size, size, &one, a_.memory(),
                          routine_.operands, size, b_.memory(), routine_.operands, size, &zero, c_.memory(),
                          routine_.result, size, c_.memory(), routine_.result, size, routine_.sums,
                          rocblas_gemm_algo_standard, 0, 0),
          routine_.name);
    check(hipDeviceSynchronize(), "hipDeviceSynchronize");
  }

  bool agrees_with(const Product& product, float allowed, std::string_view numbers) const {
    const std::vector<float> values = c_.values();
    for (size_t place = 0; place < elements; ++place) {
      if (std::fabs(values[place] - product.c[place]) <= allowed) continue;
      fmt::print(stderr, "rocblas_comparison: {} of {}: row {} column {} is {}, not {}\n", routine_.name, numbers,
                 place % size, place / size, values[place], product.c[place]);
      return false;
    }
    return true;
  }

 private:
  rocblas_handle handle_;
  const Routine& routine_;
  Matrix<Operand> a_, b_;
  Matrix<Result> c_;
};

/// Returns once the threads of this process are idle, or after a second. OpenBLAS's look for more work for some
/// milliseconds after a product, on processors that Atoll's threads need.
void wait_for_idle_threads() {
  constexpr std::chrono::milliseconds pause{5}, longest{1000};
  constexpr double max_busy = 0.1;
  const auto processor_seconds = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  double before = processor_seconds();
  for (auto waited = pause; waited <= longest; waited += pause) {
    std::this_thread::sleep_for(pause);
    const double after = processor_seconds();
    if (after - before < std::chrono::duration<double>(pause).count() * max_busy) return;
    before = after;
  }
}

/// A row of the table; whether the results are right.
template <typename Operand, typename Result, typename Scalar>
bool compare(rocblas_handle handle, const std::string& gpu, const Routine& routine, WholeHost& host) {
  Product integers{small_integers(1), small_integers(2)};
  Product normal{normal_numbers<Operand>(1, routine.scale), normal_numbers<Operand>(2, routine.scale)};
  const Launch<Operand, Result, Scalar> exact(handle, routine, integers), rounded(handle, routine, normal);
  Turns turns({{.run = [&] { integers.multiply(); }, .rounds = rounds},
               {.run = [&] { exact.run(); }, .rounds = rounds, .prepare = wait_for_idle_threads},
               {.run = [&] { rounded.run(); }, .rounds = rounds, .prepare = wait_for_idle_threads}});
  normal.multiply();
  exact.run();  // what is compiled for it is compiled now
  rounded.run();
  turns.take_part(0, 1, [&] { host.wait(); });
  const std::vector<double> seconds = turns.medians();
  const double gigaflop = 2.0 * elements * size * 1e-9;
  fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.0f} | {:.2f} | {:.2f} | {:.0f} | {:.2f} |\n", gpu, routine.name,
             seconds[0] * 1e3, seconds[1] * 1e3, gigaflop / seconds[1], seconds[1] / seconds[0], seconds[2] * 1e3,
             gigaflop / seconds[2], seconds[2] / seconds[0]);
  const bool integers_agree = exact.agrees_with(integers, 0, "small integers");
  return rounded.agrees_with(normal, routine.allowed, "normal numbers") && integers_agree;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  hipDeviceProp_t properties{};
  check(hipGetDeviceProperties(&properties, 0), "hipGetDeviceProperties");
  const std::string target = properties.gcnArchName, gpu = target.substr(0, target.find(':'));
  rocblas_handle handle = nullptr;
  check(rocblas_create_handle(&handle), "rocblas_create_handle");
  WholeHost host(static_cast<unsigned>(openblas_get_num_threads()));
  const std::pair<const Routine&, std::function<bool(const Routine&)>> comparisons[] = {
      {sgemm, [&](const Routine& routine) { return compare<float, float, float>(handle, gpu, routine, host); }},
      {hgemm,
       [&](const Routine& routine) { return compare<_Float16, _Float16, _Float16>(handle, gpu, routine, host); }},
      {half_operands,
       [&](const Routine& routine) { return compare<_Float16, float, float>(handle, gpu, routine, host); }},
      {bytes, [&](const Routine& routine) { return compare<int8_t, int32_t, int32_t>(handle, gpu, routine, host); }}};
  const std::vector<std::string_view> names(argv + 1, argv + argc);
  for (const std::string_view name : names) {
    if (std::ranges::none_of(comparisons, [&](const auto& each) { return each.first.name == name; }))
      die(fmt::format("no routine '{}'", name));
  }
  bool agrees = true;
  for (const auto& [routine, run] : comparisons) {
    if (names.empty() || std::ranges::contains(names, routine.name)) agrees = run(routine) && agrees;
  }
  check(rocblas_destroy_handle(handle), "rocblas_destroy_handle");
  return agrees ? 0 : 1;
}
