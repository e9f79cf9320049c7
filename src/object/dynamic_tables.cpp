// object: hash tables of dynamic symbols (dynamic_tables.h).
#include "object/dynamic_tables.h"

#include <algorithm>

namespace Atoll::object {

uint32_t sysv_hash(std::string_view name) {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const uint32_t high = hash & 0xF000'0000;
    hash = (hash ^ high >> 24) & ~high;
  }
  return hash;
}

uint32_t gnu_hash(std::string_view name) {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

DynamicTables make_dynamic_tables(const std::vector<DynamicSymbolName>& symbols) {
  DynamicTables tables;
  // The GNU table covers the defined symbols, which come last, bucket by bucket.
  std::vector<uint32_t> defined;
  for (uint32_t i = 0; i < symbols.size(); ++i) (symbols[i].defined ? defined : tables.order).push_back(i);
  const auto first = static_cast<uint32_t>(tables.order.size() + 1);
  const uint32_t buckets = std::max<uint32_t>(1, static_cast<uint32_t>(defined.size() / 4));
  std::vector<std::pair<uint32_t, uint32_t>> by_bucket;  // bucket, place in `defined`
  for (uint32_t i = 0; i < defined.size(); ++i) {
    by_bucket.emplace_back(gnu_hash(symbols[defined[i]].name) % buckets, i);
  }
  std::ranges::sort(by_bucket);
  for (const auto& [bucket, place] : by_bucket) tables.order.push_back(defined[place]);

  // Header: buckets, first symbol, words of the filter, shift; then the filter (64-bit words), buckets, chains.
  constexpr uint32_t shift = 26;
  uint32_t filter_words = 1;
  while (filter_words * 64 < defined.size() * 12) filter_words *= 2;
  std::vector<uint64_t> filter(filter_words);
  std::vector<uint32_t> bucket_starts(buckets), chains;
  for (uint32_t i = 0; i < by_bucket.size(); ++i) {
    const auto [bucket, place] = by_bucket[i];
    const uint32_t hash = gnu_hash(symbols[defined[place]].name);
    filter[hash / 64 % filter_words] |= uint64_t{1} << (hash % 64) | uint64_t{1} << ((hash >> shift) % 64);
    if (bucket_starts[bucket] == 0) bucket_starts[bucket] = first + i;
    const bool last = i + 1 == by_bucket.size() || by_bucket[i + 1].first != bucket;
    chains.push_back((hash & ~1u) | (last ? 1 : 0));
  }
  tables.gnu = {buckets, first, filter_words, shift};
  for (const uint64_t word : filter) {
    tables.gnu.push_back(static_cast<uint32_t>(word));
    tables.gnu.push_back(static_cast<uint32_t>(word >> 32));
  }
  tables.gnu.insert(tables.gnu.end(), bucket_starts.begin(), bucket_starts.end());
  tables.gnu.insert(tables.gnu.end(), chains.begin(), chains.end());

  const auto count = static_cast<uint32_t>(symbols.size() + 1);
  tables.sysv.assign(2 + 2 * size_t{count}, 0);
  tables.sysv[0] = tables.sysv[1] = count;
  for (uint32_t i = 1; i < count; ++i) {
    uint32_t& bucket = tables.sysv[2 + sysv_hash(symbols[tables.order[i - 1]].name) % count];
    tables.sysv[2 + count + i] = bucket;  // prepended: the chain continues with the previous head
    bucket = i;
  }
  return tables;
}

}  // namespace Atoll::object
