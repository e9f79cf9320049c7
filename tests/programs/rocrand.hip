// Debian's rocRAND, as it is: its Philox4x32-10 generator against the published algorithm, and the moments of what
// its other generators and distributions give.
#include "check.h"

// From rocrand.h, which Debian keeps in a package of its own.
extern "C" {
int rocrand_create_generator(void** generator, int type);
int rocrand_destroy_generator(void* generator);
int rocrand_set_seed(void* generator, unsigned long long seed);
int rocrand_generate(void* generator, unsigned* output, size_t count);
int rocrand_generate_normal(void* generator, float* output, size_t count, float mean, float deviation);
int rocrand_generate_uniform_double(void* generator, double* output, size_t count);
}

namespace {

constexpr int kXorwow = 401, kMrg32k3a = 402, kPhilox = 404;

#define ROCRAND(call) EXPECT((call) == 0)

/// Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011): ten rounds on a counter under a key.
void philox(uint32_t (&counter)[4], uint64_t seed) {
  auto low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0], b = uint64_t{0xCD9E8D57} * counter[2];
    counter[0] = static_cast<uint32_t>(b >> 32) ^ counter[1] ^ low;
    counter[1] = static_cast<uint32_t>(b);
    counter[2] = static_cast<uint32_t>(a >> 32) ^ counter[3] ^ high;
    counter[3] = static_cast<uint32_t>(a);
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
}

void check_philox() {
  constexpr uint64_t seed = 0x0123456789abcdef;
  void* generator = nullptr;
  ROCRAND(rocrand_create_generator(&generator, kPhilox));
  ROCRAND(rocrand_set_seed(generator, seed));
  const check::Device<unsigned> numbers(4096);
  ROCRAND(rocrand_generate(generator, numbers.get(), numbers.count()));
  check::finish();
  std::vector<unsigned> want;
  for (uint32_t i = 0; want.size() < numbers.count(); ++i) {
    uint32_t counter[4] = {i, 0, 0, 0};
    philox(counter, seed);
    want.insert(want.end(), counter, counter + 4);
  }
  check::equal("Philox4x32-10", numbers.read(), want);
  ROCRAND(rocrand_destroy_generator(generator));
}

/// Mean and variance; both settle as 1 / sqrt(count).
template <typename T>
void check_moments(const std::vector<T>& values, double mean, double variance) {
  double sum = 0, squares = 0;
  for (const T value : values) {
    sum += value;
    squares += (value - mean) * (value - mean);
  }
  const auto count = static_cast<double>(values.size());
  EXPECT(std::fabs(sum / count - mean) < 6 * std::sqrt(variance / count));
  EXPECT(std::fabs(squares / count - variance) < 10 * variance / std::sqrt(count));
}

void check_distributions(int type) {
  void* generator = nullptr;
  ROCRAND(rocrand_create_generator(&generator, type));
  const check::Device<float> normal(10000);
  ROCRAND(rocrand_generate_normal(generator, normal.get(), normal.count(), 5, 2));
  const check::Device<double> uniform(10000);
  ROCRAND(rocrand_generate_uniform_double(generator, uniform.get(), uniform.count()));
  check::finish();
  check_moments(normal.read(), 5, 4);
  check_moments(uniform.read(), 0.5, 1.0 / 12);
  ROCRAND(rocrand_destroy_generator(generator));
}

}  // namespace

int main() {
  check_philox();
  for (const int type : {kXorwow, kMrg32k3a, kPhilox}) check_distributions(type);
  return check::result();
}
