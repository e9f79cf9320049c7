// C++ without a GPU language around it: classes, virtual functions, switches, recursion, wide integers.
#define KERNEL extern "C" __attribute__((amdgpu_kernel, visibility("protected")))

namespace {

struct Shape {
  virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  explicit Square(float s) : side(s) {}
  float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  explicit Circle(float r) : radius(r) {}
  float area() const override { return 3.14159274f * radius * radius; }
};

__attribute__((noinline)) unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__attribute__((noinline)) int operate(int what, int a, int b) {
  switch (what) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return b == 0 ? 0 : a / b;
    case 4:
      return a << (b & 31);
    case 5:
      return a ^ b;
    case 6:
      return __builtin_popcount(static_cast<unsigned>(a)) + b;
    default:
      return a;
  }
}

const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19};

}  // namespace

KERNEL void areas(float* out, int which) {
  Square square(out[0]);
  Circle circle(out[1]);
  const Shape* shape = which != 0 ? static_cast<const Shape*>(&square) : &circle;
  out[2] = shape->area();
}

KERNEL void numbers(int* out, long long* wide, int count) {
  for (int i = 0; i < count; ++i) {
    out[i] = operate(out[i] & 7, primes[i & 7], i) + static_cast<int>(fibonacci(static_cast<unsigned>(i & 7)));
    wide[i] = wide[i] * 1000003LL + (static_cast<long long>(out[i]) << 20) - wide[i] / 7;
  }
}
