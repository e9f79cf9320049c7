// C++: templates, virtual functions, lambdas, operators, pointers to members, constants computed by the compiler.
#include "kernel.h"

template <typename T, unsigned size>
struct Polynomial {
  T factors[size];
  constexpr T operator()(T x) const {
    T sum = factors[size - 1];
    for (unsigned i = size - 1; i-- > 0;) sum = static_cast<T>(sum * x + factors[i]);
    return sum;
  }
};

template <unsigned n>
constexpr unsigned fibonacci = fibonacci<n - 1> + fibonacci<n - 2>;
template <>
constexpr unsigned fibonacci<0> = 0;
template <>
constexpr unsigned fibonacci<1> = 1;

template <typename... Terms>
constexpr auto sum_of(Terms... terms) {
  return (terms + ...);
}

/// Code for each type, and for each number of arguments.
KERNEL(templates) {
  constexpr Polynomial<unsigned, 4> first{{3, 5, fibonacci<20>, 7}};
  const Polynomial<double, 3> second{{number(in[item + 1]), 0.5, -2}};
  const Polynomial<unsigned char, 5> third{{1, 2, 3, 4, static_cast<unsigned char>(in[item])}};
  const auto apply = [&](auto&& function, auto value) { return function(value) + static_cast<decltype(value)>(item); };
  out[item * 4] = apply(first, in[item]);
  out[item * 4 + 1] = mixed64(0, bits_of_double(apply(second, number(in[item + 2]))));
  out[item * 4 + 2] = static_cast<unsigned>(apply(third, static_cast<unsigned char>(in[item + 3])));
  out[item * 4 + 3] = bits_of(static_cast<float>(sum_of(in[item], 1.5f, static_cast<short>(-3), 2.25)));
}

struct Shape {
  virtual float area() const { return 0; }
  virtual unsigned corners() const { return 0; }

 protected:
  ~Shape() = default;
};
struct Circle final : Shape {
  float radius;
  explicit Circle(float r) : radius(r) {}
  float area() const override { return radius * radius * 3.140625f; }
};
struct Rectangle : Shape {
  float width, height;
  Rectangle(float w, float h) : width(w), height(h) {}
  float area() const override { return width * height; }
  unsigned corners() const override { return 4; }
};
struct Square final : Rectangle {
  explicit Square(float side) : Rectangle(side, side) {}
  unsigned corners() const override { return Rectangle::corners() + 100; }
};

static NOINLINE float area_of(const Shape& shape) { return shape.area(); }

/// The class differs from lane to lane.
KERNEL(virtual_functions) {
  const Circle circle(static_cast<float>(in[item] % 100));
  const Rectangle rectangle(static_cast<float>(in[item + 1] % 50), 2.5f);
  const Square square(static_cast<float>(item));
  const Shape* shapes[3] = {&circle, &rectangle, &square};
  float sum = 0;
  unsigned corners = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const Shape& shape = *shapes[in[item + i] % 3];
    sum += area_of(shape);
    corners = corners * 10 + shape.corners();
  }
  out[item * 4] = bits_of(sum);
  out[item * 4 + 1] = corners;
}

template <typename T>
struct Quaternion {
  T r, i, j, k;
  constexpr Quaternion operator*(const Quaternion& o) const {
    return {r * o.r - i * o.i - j * o.j - k * o.k, r * o.i + i * o.r + j * o.k - k * o.j,
            r * o.j - i * o.k + j * o.r + k * o.i, r * o.k + i * o.j - j * o.i + k * o.r};
  }
  constexpr Quaternion& operator+=(const Quaternion& o) { return *this = {r + o.r, i + o.i, j + o.j, k + o.k}; }
  constexpr T norm() const { return r * r + i * i + j * j + k * k; }
};

/// Operators of a class, in single precision and in integers.
KERNEL(operators) {
  const auto small = [&](unsigned i) { return static_cast<float>(static_cast<int>(in[item + i]) >> 24); };
  Quaternion<float> a{small(0), small(1), small(2), small(3)}, b{0.5f, 0.25f, small(4), -1};
  for (unsigned i = 0; i < 5; ++i) {
    a += a * b;
    a = {a.i * 0.0625f, a.j, a.k * 0.25f, a.r * 0.03125f};
  }
  const Quaternion<unsigned> c{in[item], in[item + 1], in[item + 2], in[item + 3]};
  out[item * 4] = mixed(mixed(bits_of(a.r), bits_of(a.i)), mixed(bits_of(a.j), bits_of(a.k)));
  out[item * 4 + 1] = bits_of(a.norm());
  out[item * 4 + 2] = (c * c * c).norm();
}

struct Counter {
  unsigned* count;
  explicit Counter(unsigned* which) : count(which) { *count += 1; }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() { *count += 1000; }
};

static NOINLINE unsigned left_early(unsigned value, unsigned* count) {
  const Counter first(count);
  if (value % 2 != 0) return value;
  const Counter second(count);
  for (unsigned i = 0; i < value % 7; ++i) {
    const Counter third(count);
    if (value % 5 == i) return value * 3;
  }
  return value * 5;
}

struct Accounts {
  unsigned credit, debit, held;
  NOINLINE unsigned add(unsigned value) { return credit += value; }
  NOINLINE unsigned take(unsigned value) { return debit -= value * 3; }
};

struct Sieve {
  unsigned char primes[40];
  constexpr Sieve() : primes() {
    unsigned found = 0;
    for (unsigned candidate = 2; found < 40; ++candidate) {
      bool prime = true;
      for (unsigned i = 0; i < found && primes[i] * primes[i] <= candidate; ++i) prime = prime && candidate % primes[i];
      if (prime) primes[found++] = static_cast<unsigned char>(candidate);
    }
  }
};
constexpr Sieve sieve;

/// Destructors on every way out; pointers to members and to member functions; constants.
KERNEL(lifetimes) {
  unsigned count = 0;
  out[item * 4] = left_early(in[item], &count) + left_early(item, &count);
  out[item * 4 + 1] = count;
  Accounts accounts{1, 2, 3};
  unsigned Accounts::* member = in[item] % 3 == 0   ? &Accounts::credit
                                : in[item] % 3 == 1 ? &Accounts::debit
                                                    : &Accounts::held;
  accounts.*member = in[item + 1];
  unsigned (Accounts::*function)(unsigned) = in[item + 2] % 2 != 0 ? &Accounts::add : &Accounts::take;
  const unsigned last = (accounts.*function)(item);
  out[item * 4 + 2] = mixed(mixed(accounts.credit, accounts.debit), accounts.held) + last;
  out[item * 4 + 3] = sieve.primes[in[item + 3] % 40];
}
