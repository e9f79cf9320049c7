// What needs a stack: recursion, function pointers, virtual calls, arrays too large or too freely indexed for
// registers, and more live values than there are registers.
#include "check.h"

namespace {

constexpr int kCount = 200;

__host__ __device__ __attribute__((noinline)) int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__host__ __device__ __attribute__((noinline)) int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

// Two functions that call each other, and a stack frame with an array in each of them.
__host__ __device__ int odd_depth(int depth, int seed);
__host__ __device__ __attribute__((noinline)) int even_depth(int depth, int seed) {
  int frame[8];
  for (int i = 0; i < 8; ++i) frame[i] = seed * i;
  return depth == 0 ? frame[seed % 8] : odd_depth(depth - 1, frame[depth % 8] % 1000) + frame[(seed + depth) % 8];
}
__host__ __device__ __attribute__((noinline)) int odd_depth(int depth, int seed) {
  return depth == 0 ? seed : even_depth(depth - 1, seed + 1) - depth;
}

__global__ void recursion(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[3 * i] = fibonacci(i % 13);
  out[3 * i + 1] = ackermann(i % 3, i % 4);
  out[3 * i + 2] = even_depth(i % 20, i);
}

void check_recursion() {
  const check::Device<int> out(3 * kCount);
  recursion<<<1, kCount>>>(out.get());
  check::finish();
  std::vector<int> want;
  for (int i = 0; i < kCount; ++i) {
    want.insert(want.end(), {fibonacci(i % 13), ackermann(i % 3, i % 4), even_depth(i % 20, i)});
  }
  check::equal("recursion", out.read(), want);
}

using Operation = double (*)(double, int);
__host__ __device__ double twice(double x, int) { return x * 2; }
__host__ __device__ double plus(double x, int n) { return x + n; }
__host__ __device__ double looped(double x, int n) {
  for (int i = 0; i < n; ++i) x = x * 0.5 + 1;
  return x;
}
__device__ Operation operations[3] = {twice, plus, looped};

__global__ void pointers(double* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  double x = i;
  for (int step = 0; step < 5; ++step) x = operations[(i + step) % 3](x, i % 7);  // lanes call different functions
  out[i] = x;
}

void check_pointers() {
  const check::Device<double> out(kCount);
  pointers<<<2, kCount / 2>>>(out.get());
  check::finish();
  const Operation host_operations[3] = {twice, plus, looped};
  std::vector<double> want;
  for (int i = 0; i < kCount; ++i) {
    double x = i;
    for (int step = 0; step < 5; ++step) x = host_operations[(i + step) % 3](x, i % 7);
    want.push_back(x);
  }
  check::equal("function pointers", out.read(), want);
}

struct Shape {
  __host__ __device__ virtual float area() const = 0;
  __host__ __device__ virtual float stretched(float factor) const { return area() * factor; }
  __host__ __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __host__ __device__ explicit Square(float s) : side(s) {}
  __host__ __device__ float area() const override { return side * side; }
};
struct Triangle : Shape {
  float base, height;
  __host__ __device__ Triangle(float b, float h) : base(b), height(h) {}
  __host__ __device__ float area() const override { return base * height / 2; }
  __host__ __device__ float stretched(float factor) const override { return area() + factor; }
};

// Objects live in device memory and are made there, so that their tables of functions are the device's.
union Storage {
  char square[sizeof(Square)];
  char triangle[sizeof(Triangle)];
  alignas(8) char bytes[32];
};

__global__ void construct(Storage* objects) {
  const int i = static_cast<int>(threadIdx.x);
  if (i % 3 == 0) {
    new (&objects[i]) Square(static_cast<float>(i));
  } else {
    new (&objects[i]) Triangle(static_cast<float>(i), 3);
  }
}

__global__ void measure(const Storage* objects, float* out) {
  const int i = static_cast<int>(threadIdx.x);
  const auto* shape = reinterpret_cast<const Shape*>(&objects[i]);
  out[2 * i] = shape->area();
  out[2 * i + 1] = shape->stretched(4);
}

void check_virtual() {
  const check::Device<Storage> objects(kCount);
  const check::Device<float> out(2 * kCount);
  construct<<<1, kCount>>>(objects.get());
  measure<<<1, kCount>>>(objects.get(), out.get());
  check::finish();
  std::vector<float> want;
  for (int i = 0; i < kCount; ++i) {
    const Square square(static_cast<float>(i));
    const Triangle triangle(static_cast<float>(i), 3);
    const Shape& shape = i % 3 == 0 ? static_cast<const Shape&>(square) : triangle;
    want.insert(want.end(), {shape.area(), shape.stretched(4)});
  }
  check::equal("virtual calls", out.read(), want);
}

// A sieve in private memory, with bytes, and a sort in private memory, with indices that only the run knows.
__host__ __device__ inline int private_work(int seed) {
  constexpr int size = 1500;
  uint8_t composite[size];
  for (int i = 0; i < size; ++i) composite[i] = 0;
  int primes = 0;
  for (int i = 2; i < size - seed; ++i) {
    if (composite[i]) continue;
    ++primes;
    for (int j = 2 * i; j < size; j += i) composite[j] = 1;
  }
  int64_t values[40];
  for (int i = 0; i < 40; ++i) values[i] = (i * 7919 + seed * 104729) % 1009;
  for (int i = 1; i < 40; ++i) {
    const int64_t value = values[i];
    int j = i;
    for (; j > 0 && values[j - 1] > value; --j) values[j] = values[j - 1];
    values[j] = value;
  }
  int64_t mixed = primes;
  for (int i = 0; i < 40; ++i) mixed = mixed * 31 + values[i];
  return static_cast<int>(mixed ^ (mixed >> 32));
}

__global__ void private_arrays(int* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] = private_work(i);
}

void check_private_arrays() {
  const check::Device<int> out(kCount);
  private_arrays<<<2, kCount / 2>>>(out.get());
  check::finish();
  std::vector<int> want;
  for (int i = 0; i < kCount; ++i) want.push_back(private_work(i));
  check::equal("private arrays", out.read(), want);
}

// 120 doubles that all live at once, in a kernel that may use only so many registers as 1024 work-items leave it.
__global__ __launch_bounds__(1024) void spills(const double* in, double* out) {
  const int i = static_cast<int>(threadIdx.x);
  double live[120];
#pragma unroll
  for (int k = 0; k < 120; ++k) live[k] = in[(i + k) % kCount];
  for (int round = 0; round < 3; ++round) {
#pragma unroll
    for (int k = 0; k < 120; ++k) live[k] = live[k] * 0.5 + live[(k + 37) % 120];
  }
  double sum = 0;
#pragma unroll
  for (int k = 0; k < 120; ++k) sum += live[k] * (k + 1);
  out[i] = sum;
}

void check_spills() {
  std::vector<double> in(kCount), want;
  for (int i = 0; i < kCount; ++i) in[i] = i * 64;  // all sums are exact
  for (int i = 0; i < kCount; ++i) {
    double live[120], sum = 0;
    for (int k = 0; k < 120; ++k) live[k] = in[(i + k) % kCount];
    for (int round = 0; round < 3; ++round) {
      for (int k = 0; k < 120; ++k) live[k] = live[k] * 0.5 + live[(k + 37) % 120];
    }
    for (int k = 0; k < 120; ++k) sum += live[k] * (k + 1);
    want.push_back(sum);
  }
  const check::Device<double> device_in(in), out(kCount);
  spills<<<1, kCount>>>(device_in.get(), out.get());
  check::finish();
  check::equal("spills", out.read(), want);
}

// A pointer that may be to global memory, to LDS or to private memory: flat accesses through the apertures.
__device__ __attribute__((noinline)) int sum_of(const int* values, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum;
}

__global__ void generic(const int* global, int* out) {
  __shared__ int shared[16];
  const int i = static_cast<int>(threadIdx.x);
  if (i < 16) shared[i] = 100 + i;
  __syncthreads();
  int local[16];
  for (int k = 0; k < 16; ++k) local[k] = i * k;
  // gridDim.x - 1 is 0, which the compiler does not know: a constant address here makes clang 15 lay `shared` out
  // twice.
  const int* choices[3] = {global, &shared[gridDim.x - 1], local};
  out[i] = sum_of(choices[i % 3], 16);
}

void check_generic() {
  std::vector<int> in(16), want;
  for (int k = 0; k < 16; ++k) in[k] = 1000 * k;
  for (int i = 0; i < kCount; ++i) want.push_back(i % 3 == 0 ? 120000 : i % 3 == 1 ? 1720 : 120 * i);
  const check::Device<int> global(in), out(kCount);
  generic<<<1, kCount>>>(global.get(), out.get());
  check::finish();
  check::equal("generic pointers", out.read(), want);
}

}  // namespace

int main() {
  check_recursion();
  check_pointers();
  check_virtual();
  check_private_arrays();
  check_spills();
  check_generic();
  return check::result();
}
