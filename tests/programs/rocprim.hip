// Debian's rocPRIM, as it is: its routines over whole arrays, against the standard library's algorithms on the host.
// Numbers are integers, so that every order of adding gives the same.
#include <rocprim/rocprim.hpp>

#include <algorithm>
#include <numeric>

#include "routines.h"

namespace {

using check::Device;
using Words = std::vector<uint32_t>;

Words random_words(int count, uint32_t below, uint64_t seed = 1) {
  check::Random random(seed);
  Words words(static_cast<size_t>(count));
  for (uint32_t& word : words) word = static_cast<uint32_t>(random.next() >> 32) % below;
  return words;
}

/// Words that stay the same for some places, as keys of segments do.
Words random_runs(int count) {
  check::Random random(2);
  Words words(static_cast<size_t>(count));
  uint32_t word = 0;
  for (uint32_t& each : words) each = word += random.next() % 5 == 0;
  return words;
}

Words first_of(const Device<uint32_t>& values, size_t count) {
  Words words = values.read();
  EXPECT(count <= words.size());
  words.resize(std::min(count, words.size()));
  return words;
}

/// Every routine is called twice: to ask for the temporary storage that it needs, and with that.
template <typename Call>
void with_storage(Call call) {
  size_t bytes = 0;
  HIP(call(nullptr, bytes));
  const Device<unsigned char> storage(std::max<size_t>(bytes, 1));
  HIP(call(storage.get(), bytes));
  check::finish();
}

struct IsOdd {
  __host__ __device__ bool operator()(uint32_t value) const { return value % 2 == 1; }
};

struct Scramble {
  __host__ __device__ uint32_t operator()(uint32_t value) const { return value * 2654435761u ^ value >> 7; }
};

void reduce(int size) {
  const Words in = random_words(size, UINT32_MAX);
  const Device<uint32_t> device_in(in), out(1);
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::reduce(storage, bytes, device_in.get(), out.get(), 7u, in.size(), rocprim::plus<uint32_t>());
  });
  check::equal("sum", out.read(), {std::accumulate(in.begin(), in.end(), 7u)});
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::reduce(storage, bytes, device_in.get(), out.get(), 0u, in.size(), rocprim::maximum<uint32_t>());
  });
  check::equal("maximum", out.read(), {*std::max_element(in.begin(), in.end())});
}

void inclusive_scan(int size) {
  const Words in = random_words(size, UINT32_MAX);
  const Device<uint32_t> device_in(in), out(in.size());
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::inclusive_scan(storage, bytes, device_in.get(), out.get(), in.size(), rocprim::plus<uint32_t>());
  });
  Words want(in.size());
  std::partial_sum(in.begin(), in.end(), want.begin());
  check::equal("inclusive_scan", out.read(), want);
}

void exclusive_scan(int size) {
  const Words in = random_words(size, UINT32_MAX);
  const std::vector<uint64_t> wide(in.begin(), in.end());
  const Device<uint64_t> device_in(wide), out(in.size());
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::exclusive_scan(storage, bytes, device_in.get(), out.get(), uint64_t{100}, in.size(),
                                   rocprim::plus<uint64_t>());
  });
  std::vector<uint64_t> want(in.size());
  std::exclusive_scan(wide.begin(), wide.end(), want.begin(), uint64_t{100});
  check::equal("exclusive_scan", out.read(), want);
}

void inclusive_scan_by_key(int size) {
  const Words keys = random_runs(size), in = random_words(size, 1000);
  const Device<uint32_t> device_keys(keys), device_in(in), out(in.size());
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::inclusive_scan_by_key(storage, bytes, device_keys.get(), device_in.get(), out.get(), in.size());
  });
  Words want = in;
  for (size_t i = 1; i < want.size(); ++i) want[i] += keys[i] == keys[i - 1] ? want[i - 1] : 0;
  check::equal("inclusive_scan_by_key", out.read(), want);
}

void radix_sort_keys(int size) {
  Words keys = random_words(size, UINT32_MAX);
  const Device<uint32_t> device_keys(keys), out(keys.size());
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::radix_sort_keys(storage, bytes, device_keys.get(), out.get(), keys.size());
  });
  std::sort(keys.begin(), keys.end());
  check::equal("radix_sort_keys", out.read(), keys);
}

void radix_sort_pairs(int size) {
  const Words keys =
      random_words(size, static_cast<uint32_t>(size) / 2 + 1);  // so that equal ones must keep their order
  Words places(keys.size());
  std::iota(places.begin(), places.end(), 0);
  const Device<uint32_t> device_keys(keys), device_places(places), keys_out(keys.size()), places_out(keys.size());
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::radix_sort_pairs(storage, bytes, device_keys.get(), keys_out.get(), device_places.get(),
                                     places_out.get(), keys.size());
  });
  std::stable_sort(places.begin(), places.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
  Words sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  check::equal("keys", keys_out.read(), sorted);
  check::equal("values", places_out.read(), places);
}

void merge_sort(int size) {
  const Words words = random_words(size, UINT32_MAX);
  std::vector<float> values(words.size());
  for (size_t i = 0; i < words.size(); ++i) values[i] = static_cast<float>(words[i]) - 0x1p31f;
  const Device<float> in(values), out(values.size());
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::merge_sort(storage, bytes, in.get(), out.get(), values.size(), rocprim::greater<float>());
  });
  std::sort(values.begin(), values.end(), std::greater<>());
  check::equal("merge_sort", out.read(), values);
}

void segmented_reduce(int size) {
  const Words in = random_words(size, UINT32_MAX);
  Words offsets{0};
  check::Random random(3);
  while (offsets.back() < in.size())
    offsets.push_back(std::min<uint32_t>(offsets.back() + random.next() % 700, in.size()));
  const auto segments = static_cast<unsigned>(offsets.size() - 1);
  const Device<uint32_t> device_in(in), device_offsets(offsets), out(segments);
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::segmented_reduce(storage, bytes, device_in.get(), out.get(), segments, device_offsets.get(),
                                     device_offsets.get() + 1, rocprim::plus<uint32_t>(), 0u);
  });
  Words want(segments);
  for (unsigned i = 0; i < segments; ++i)
    want[i] = std::accumulate(in.begin() + offsets[i], in.begin() + offsets[i + 1], 0u);
  check::equal("segmented_reduce", out.read(), want);
}

void histogram_even(int size) {
  const Words words = random_words(size, 1200);
  std::vector<float> in(words.begin(), words.end());
  constexpr unsigned bins = 100;
  const Device<float> device_in(in);
  const Device<uint32_t> out(bins);
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::histogram_even(storage, bytes, device_in.get(), static_cast<unsigned>(in.size()), out.get(),
                                   bins + 1, 0.0f, 1000.0f);
  });
  Words want(bins);
  for (const uint32_t word : words) {
    if (word < 1000) ++want[word / 10];
  }
  check::equal("histogram_even", out.read(), want);
}

void select(int size) {
  const Words in = random_words(size, UINT32_MAX);
  const Device<uint32_t> device_in(in), out(in.size()), count(1);
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::select(storage, bytes, device_in.get(), out.get(), count.get(), in.size(), IsOdd());
  });
  Words want;
  std::copy_if(in.begin(), in.end(), std::back_inserter(want), IsOdd());
  check::equal("how many", count.read(), {static_cast<uint32_t>(want.size())});
  check::equal("select", first_of(out, want.size()), want);
}

void partition(int size) {
  const Words in = random_words(size, UINT32_MAX);
  const Device<uint32_t> device_in(in), out(in.size()), count(1);
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::partition(storage, bytes, device_in.get(), out.get(), count.get(), in.size(), IsOdd());
  });
  // What is selected keeps its order; the others stand from the end on backwards.
  Words want = in;
  const auto middle = std::stable_partition(want.begin(), want.end(), IsOdd());
  const auto selected = static_cast<uint32_t>(middle - want.begin());
  std::reverse(middle, want.end());
  check::equal("how many", count.read(), {selected});
  check::equal("partition", out.read(), want);
}

void unique(int size) {
  const Words in = random_runs(size);
  const Device<uint32_t> device_in(in), out(in.size()), count(1);
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::unique(storage, bytes, device_in.get(), out.get(), count.get(), in.size());
  });
  Words want;
  std::unique_copy(in.begin(), in.end(), std::back_inserter(want));
  check::equal("how many", count.read(), {static_cast<uint32_t>(want.size())});
  check::equal("unique", first_of(out, want.size()), want);
}

void run_length_encode(int size) {
  const Words in = random_runs(size);
  const Device<uint32_t> device_in(in), values(in.size()), lengths(in.size()), count(1);
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::run_length_encode(storage, bytes, device_in.get(), static_cast<unsigned>(in.size()), values.get(),
                                      lengths.get(), count.get());
  });
  Words want_values, want_lengths;
  for (const uint32_t value : in) {
    if (want_values.empty() || want_values.back() != value) {
      want_values.push_back(value);
      want_lengths.push_back(0);
    }
    ++want_lengths.back();
  }
  check::equal("how many", count.read(), {static_cast<uint32_t>(want_values.size())});
  check::equal("values", first_of(values, want_values.size()), want_values);
  check::equal("lengths", first_of(lengths, want_values.size()), want_lengths);
}

void merge(int size) {
  Words a = random_words(size, UINT32_MAX, 4), b = random_words(size / 3, UINT32_MAX, 5);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const Device<uint32_t> device_a(a), device_b(b), out(a.size() + b.size());
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::merge(storage, bytes, device_a.get(), device_b.get(), out.get(), a.size(), b.size());
  });
  Words want;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(want));
  check::equal("merge", out.read(), want);
}

void transform(int size) {
  const Words in = random_words(size, UINT32_MAX);
  const Device<uint32_t> device_in(in), out(in.size());
  HIP(rocprim::transform(device_in.get(), out.get(), in.size(), Scramble()));
  check::finish();
  Words want(in.size());
  std::transform(in.begin(), in.end(), want.begin(), Scramble());
  check::equal("transform", out.read(), want);
}

void adjacent_difference(int size) {
  const Words in = random_words(size, UINT32_MAX);
  const Device<uint32_t> device_in(in), out(in.size());
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::adjacent_difference(storage, bytes, device_in.get(), out.get(), in.size());
  });
  Words want(in.size());
  std::adjacent_difference(in.begin(), in.end(), want.begin());
  check::equal("adjacent_difference", out.read(), want);
}

void reduce_by_key(int size) {
  const Words keys = random_runs(size), in = random_words(size, 1000);
  const Device<uint32_t> device_keys(keys), device_in(in), keys_out(in.size()), sums(in.size()), count(1);
  with_storage([&](void* storage, size_t& bytes) {
    return rocprim::reduce_by_key(storage, bytes, device_keys.get(), device_in.get(), static_cast<unsigned>(in.size()),
                                  keys_out.get(), sums.get(), count.get());
  });
  Words want_keys, want_sums;
  for (size_t i = 0; i < in.size(); ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) {
      want_keys.push_back(keys[i]);
      want_sums.push_back(0);
    }
    want_sums.back() += in[i];
  }
  check::equal("how many", count.read(), {static_cast<uint32_t>(want_keys.size())});
  check::equal("keys", first_of(keys_out, want_keys.size()), want_keys);
  check::equal("sums", first_of(sums, want_keys.size()), want_sums);
}

constexpr check::Routine routines[] = {
    {"reduce", reduce},
    {"inclusive_scan", inclusive_scan},
    {"exclusive_scan", exclusive_scan},
    {"inclusive_scan_by_key", inclusive_scan_by_key},
    {"radix_sort_keys", radix_sort_keys},
    {"radix_sort_pairs", radix_sort_pairs},
    {"merge_sort", merge_sort},
    {"segmented_reduce", segmented_reduce},
    {"histogram_even", histogram_even},
    {"select", select},
    {"partition", partition},
    {"unique", unique},
    {"run_length_encode", run_length_encode},
    {"merge", merge},
    {"transform", transform},
    {"adjacent_difference", adjacent_difference},
    {"reduce_by_key", reduce_by_key},
};

}  // namespace

int main(int argc, char** argv) { return check::run_routines(routines, argc, argv, 20011); }
