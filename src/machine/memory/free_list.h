// machine: a free list of address extents. Adjacent extents are merged, and the smallest one that fits is found in
// logarithmic time. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace Atoll::machine {

class FreeList {
 public:
  struct Run {
    uint64_t address = 0, bytes = 0;
  };

  /// Throws std::bad_alloc; the addresses are then lost.
  void add(uint64_t address, uint64_t bytes);
  /// Removes addresses that are inside one free extent. Throws std::bad_alloc without a change.
  void remove(uint64_t address, uint64_t bytes);

  /// Returns the extent that contains an address.
  std::optional<Run> find(uint64_t address) const;
  /// Finds `bytes` free bytes aligned to a power of two, in the smallest extent that fits (best fit).
  std::optional<uint64_t> find_room(uint64_t bytes, uint64_t alignment) const;
  size_t count() const { return runs_.size(); }
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [address, bytes] : runs_) visit(Run{address, bytes});
  }

 private:
  using Map = std::map<uint64_t, uint64_t>;
  void erase(Map::iterator run);

  Map runs_;                                         ///< sizes by address
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  ///< the same extents by size, then address
};

}  // namespace Atoll::machine
