// object: the tables by which a loader finds symbols: dynamic symbols in the order that the hash tables want, and the
// tables themselves. Source: System V ABI, "Hash Table"; the GNU hash table is what the GNU C library reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::object {

uint32_t sysv_hash(std::string_view name);
uint32_t gnu_hash(std::string_view name);

struct DynamicSymbolName {
  std::string name;
  bool defined = false;
};

struct DynamicTables {
  std::vector<uint32_t> order;  ///< what is symbol 1, 2, ...: indices of the names
  std::vector<uint32_t> sysv, gnu;
};

DynamicTables make_dynamic_tables(const std::vector<DynamicSymbolName>& symbols);

}  // namespace Atoll::object
