// Reference results of the kernels of groups.cl and atomics.cl, without work-groups and atomics.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "kernels/references.h"

namespace Atoll::test {
namespace {

constexpr unsigned group_size = 128;

/// Calls `function(first item)` for each work-group.
template <typename Function>
void each_group(const Launch& launch, Function function) {
  for (unsigned first = 0; first < launch.items; first += group_size) function(first);
}

void store64(unsigned* out, uint64_t value) { std::memcpy(out, &value, 8); }

void group_reduction(const Launch& launch) {
  each_group(launch, [&](unsigned first) {
    unsigned sum = 0;
    int maximum = static_cast<int>(launch.in[first + 1]);
    for (unsigned i = first; i < first + group_size; ++i) {
      sum += launch.in[i];
      maximum = std::max(maximum, static_cast<int>(launch.in[i + 1]));
    }
    for (unsigned i = first; i < first + group_size; ++i) {
      launch.out[i * 4] = sum;
      launch.out[i * 4 + 1] = static_cast<unsigned>(maximum);
    }
  });
}

void group_scan(const Launch& launch) {
  each_group(launch, [&](unsigned first) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < group_size; ++i) {
      store64(&launch.out[(first + i) * 4], sum);
      sum += uint64_t{launch.in[first + i]} << 20 | i;
    }
  });
}

void group_transpose(const Launch& launch) {
  each_group(launch, [&](unsigned first) {
    for (unsigned i = 0; i < group_size; ++i) {
      const unsigned from = i % 16 * 8 + i / 16, item = first + i;
      const unsigned* in = launch.in + first + from;
      launch.out[item * 4] = from + (launch.in[item] & 0xFF) * 1000;
      launch.out[item * 4 + 1] = in[2] ^ (in[0] & 0xFF);
      launch.out[item * 4 + 2] = in[1];
      launch.out[item * 4 + 3] = in[0];
    }
  });
}

void group_histogram(const Launch& launch) {
  each_group(launch, [&](unsigned first) {
    std::array<unsigned, 32> counts{};
    for (unsigned i = first; i < first + group_size; ++i) {
      for (unsigned j = 0; j < 5; ++j) ++counts[launch.in[i + j * 7] % 32];
    }
    for (unsigned i = 0; i < group_size; ++i) launch.out[(first + i) * 4] = counts[i % 32];
  });
}

void group_sort(const Launch& launch) {
  each_group(launch, [&](unsigned first) {
    std::array<std::pair<unsigned, unsigned>, group_size> keys;  // all keys are different
    for (unsigned i = 0; i < group_size; ++i) keys[i] = {launch.in[first + i], i};
    std::ranges::sort(keys);
    for (unsigned i = 0; i < group_size; ++i) {
      launch.out[(first + i) * 4] = keys[i].first;
      launch.out[(first + i) * 4 + 1] = keys[i].second;
    }
  });
}

void group_generic_pointers(const Launch& launch) {
  each_group(launch, [&](unsigned first) {
    std::array<unsigned, group_size + 4> shared;
    for (unsigned i = 0; i < group_size; ++i) shared[i] = launch.in[first + i + 9];
    for (unsigned i = 0; i < 4; ++i) shared[group_size + i] = i;
    for (unsigned i = 0; i < group_size; ++i) {
      const unsigned item = first + i;
      const unsigned* in = launch.in + item;
      const unsigned own[] = {in[0], in[1] ^ 1, in[2] ^ 2, in[3] ^ 3};
      const unsigned* pointers[] = {own, shared.data() + i, in};
      const auto sum_of = [](const unsigned* values, unsigned count) {
        unsigned sum = 0;
        for (unsigned j = 0; j < count; ++j) sum = sum * 3 + values[j];
        return sum;
      };
      const unsigned scales[] = {3, 5, 7, 11}, kinds[] = {2, 1, 0};
      launch.out[item * 4] = sum_of(pointers[in[0] % 3], 4);
      launch.out[item * 4 + 1] = sum_of(pointers[in[1] % 3] + 1, 3) * scales[in[2] % 4];
      launch.out[item * 4 + 2] = kinds[in[0] % 3];
    }
  });
}

void vectors(const Launch& launch) {
  for (unsigned item = 0; item < launch.items; ++item) {
    const unsigned* a = launch.in + item;
    const unsigned even[] = {a[3], a[0], a[1], a[2]};  // every second element of c, beginning with the first
    for (unsigned i = 0; i < 4; ++i) {
      const int own = static_cast<int>(a[i]), b = static_cast<int>(a[(i + 1) % 4]);
      const bool greater = own > b;
      const int chosen = greater ? b : own / 3;
      const float d = static_cast<float>(b >> 8) * 0.5f;
      const unsigned e = a[i] >> 5 & 0xFF;
      const unsigned f = (a[i] * 3 & 0xFFFF) | (a[i] >> 16) * 3 << 16;
      const unsigned c = even[i] ^ (a[3 - i] + 1);  // s0246 and s7531
      launch.out[item * 4 + i] = f ^ c ^ static_cast<unsigned>(chosen) ^ std::bit_cast<unsigned>(d) ^ e << (a[i] & 7);
    }
    if (static_cast<int>(a[0]) > static_cast<int>(a[1])) launch.out[item * 4 + 3] ^= ~0u;
  }
}

void group_stencil(const Launch& launch) {
  each_group(launch, [&](unsigned first) {
    std::array<double, group_size + 2> wide;
    std::array<_Float16, group_size + 2> narrow;
    for (unsigned i = 0; i < group_size; ++i) {
      wide[i + 1] = static_cast<int>(launch.in[first + i]) * 0.125;
      narrow[i + 1] = static_cast<_Float16>(static_cast<float>(launch.in[first + i] % 512));
    }
    wide.front() = wide.back() = 1.5;
    narrow.front() = narrow.back() = static_cast<_Float16>(2.5f);
    for (unsigned step = 0; step < 3; ++step) {
      const auto wide_before = wide;
      const auto narrow_before = narrow;
      for (unsigned i = 1; i <= group_size; ++i) {
        wide[i] = wide_before[i - 1] * 0.25 + wide_before[i] * 0.5 + wide_before[i + 1] * 0.25;
        const auto difference = static_cast<_Float16>(narrow_before[i - 1] - narrow_before[i + 1]);
        const auto sum = static_cast<_Float16>(difference + narrow_before[i]);
        narrow[i] = static_cast<_Float16>(sum * static_cast<_Float16>(0.5f));
      }
    }
    for (unsigned i = 0; i < group_size; ++i) {
      store64(&launch.out[(first + i) * 4], std::bit_cast<uint64_t>(wide[i + 1]));
      launch.out[(first + i) * 4 + 2] = std::bit_cast<uint16_t>(narrow[i + 1]);
    }
  });
}

// --- atomics.cl -----------------------------------------------------------------------------------------------------

uint64_t pair(const unsigned* in) { return uint64_t{in[0]} << 32 | in[1]; }
int as_int(unsigned value) { return static_cast<int>(value); }
int64_t as_long(uint64_t value) { return static_cast<int64_t>(value); }

void global_atomics(const Launch& launch) {
  unsigned* shared = launch.out + launch.items * 4;
  for (unsigned item = 0; item < launch.items; ++item) {
    const unsigned* in = launch.in + item;
    const unsigned value = in[0];
    shared[0] += value;
    shared[1] -= value;
    shared[2] ^= value;
    shared[3] |= value & in[1] & in[2] & in[3];
    shared[4] = static_cast<unsigned>(std::min(as_int(shared[4]), as_int(value)));
    shared[5] = static_cast<unsigned>(std::max(as_int(shared[5]), as_int(value)));
    shared[6] = std::max(shared[6], value);
    shared[8 + item % 5] += value >> 3;
    shared[13] += 1;
    shared[14] += item * item;
    launch.out[item * 4 + 1] = value;
    launch.out[item * 4 + 2] = 5;
  }
}

void global_atomics_64(const Launch& launch) {
  std::array<uint64_t, 8> words{};
  for (unsigned item = 0; item < launch.items; ++item) {
    const uint64_t value = pair(launch.in + item);
    words[0] += value;
    words[1] -= value;
    words[2] ^= value;
    words[3] |= value & value << 7 & value >> 9;
    words[4] = static_cast<uint64_t>(std::min(as_long(words[4]), as_long(value)));
    words[5] = static_cast<uint64_t>(std::max(as_long(words[5]), as_long(value)));
    words[6] = std::max(words[6], value);
    words[7] = words[7] * 3 + 0x1'0000'0001;
    store64(launch.out + item * 4, value & value << 3);
    launch.out[item * 4 + 2] = static_cast<unsigned>(value ^ value >> 32);
  }
  std::memcpy(launch.out + launch.items * 4, words.data(), sizeof words);
}

void scopes(const Launch& launch) {
  unsigned* shared = launch.out + launch.items * 4;
  for (unsigned item = 0; item < launch.items; ++item) {
    const unsigned value = launch.in[item + 5] >> 4, group = item / group_size;
    for (const unsigned place : {0u, 2u, 4u, 6u, 8u, 10 + group * 2, 16 + group * 2, 22 + item / 32 * 2}) {
      shared[place] += value;
      shared[place + 1] = std::max(shared[place + 1], value);
    }
    launch.out[item * 4] = launch.out[item * 4 + 1] = item << 7;
  }
}

void local_atomics(const Launch& launch) {
  each_group(launch, [&](unsigned first) {
    std::array<unsigned, 12> words{};
    std::array<uint64_t, 6> wide{};
    words[3] = ~0u;
    for (unsigned i = 0; i < group_size; ++i) {
      const unsigned value = launch.in[first + i];
      const uint64_t value64 = pair(launch.in + first + i);
      words[0] += value;
      words[1] -= value;
      words[2] |= 1u << value % 32;
      words[3] &= ~(1u << value % 32);
      words[4] ^= value;
      words[5] = static_cast<unsigned>(std::min(as_int(words[5]), as_int(value)));
      words[6] = static_cast<unsigned>(std::max(as_int(words[6]), as_int(value)));
      words[7] = std::max(words[7], value);
      words[8] = words[8] * 5 + 3;
      words[9] += 3;
      words[10] += 9 * i * i;
      wide[0] += value64;
      wide[1] ^= value64;
      wide[2] = static_cast<uint64_t>(std::min(as_long(wide[2]), as_long(value64)));
      wide[3] = std::max(wide[3], value64);
    }
    for (unsigned i = 0; i < group_size; ++i) {
      launch.out[(first + i) * 4] = words[i % 12];
      store64(&launch.out[(first + i) * 4 + 1], wide[i % 6]);
    }
  });
}

void float_atomics(const Launch& launch) {
  float sum = 0, maximum = 0;
  double wide_sum = 0, minimum = 0;
  each_group(launch, [&](unsigned first) {
    float group_sum = 0;
    double group_wide_sum = 0;
    for (unsigned i = first; i < first + group_size; ++i) {
      const auto value = static_cast<float>(launch.in[i] % 1000);
      const double wide_value = as_int(launch.in[i]);
      group_sum += value;
      group_wide_sum += wide_value;
      maximum = std::max(maximum, value);
      minimum = std::min(minimum, wide_value);
    }
    for (unsigned i = first; i < first + group_size; ++i) {
      launch.out[i * 4] = std::bit_cast<unsigned>(group_sum);
      store64(&launch.out[i * 4 + 1], std::bit_cast<uint64_t>(group_wide_sum));
    }
    sum += group_sum;
    wide_sum += group_wide_sum;
  });
  unsigned* shared = launch.out + launch.items * 4;
  shared[0] = std::bit_cast<unsigned>(sum);
  store64(shared + 2, std::bit_cast<uint64_t>(wide_sum));
  shared[4] = std::bit_cast<unsigned>(maximum);
  store64(shared + 6, std::bit_cast<uint64_t>(minimum));
}

void last_group(const Launch& launch) {
  unsigned* shared = launch.out + launch.items * 4;
  shared[0] = launch.items / group_size;
  for (unsigned item = 0; item < launch.items; ++item) {
    launch.out[item * 4 + 1] = launch.in[item] * 3;
    shared[1] += launch.in[item] * 3;
  }
}

void linked_list(const Launch& launch) {
  each_group(launch, [&](unsigned first) {
    for (unsigned i = first; i < first + group_size; ++i) {
      if (launch.in[i] % 3 == 0) continue;
      launch.out[first * 4] += 1;
      launch.out[first * 4 + 1] += launch.in[i];
    }
  });
}

#define ENTRY(name) {#name, name}
constexpr Kernel of_groups[] = {ENTRY(group_reduction), ENTRY(group_scan),   ENTRY(group_transpose),
                                ENTRY(group_histogram), ENTRY(group_sort),   ENTRY(group_generic_pointers),
                                ENTRY(vectors),         ENTRY(group_stencil)};
constexpr Kernel of_atomics[] = {ENTRY(global_atomics), ENTRY(global_atomics_64), ENTRY(scopes),
                                 ENTRY(local_atomics),  ENTRY(float_atomics),     ENTRY(last_group),
                                 ENTRY(linked_list)};

}  // namespace

std::span<const Kernel> group_kernels() { return of_groups; }
std::span<const Kernel> atomic_kernels() { return of_atomics; }

}  // namespace Atoll::test
