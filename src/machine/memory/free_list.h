// machine: which addresses are free, as runs of them: those that are neighbours are joined, and the smallest that has
// room is found at once. Whoever has one sees to it that one thread at a time uses it.
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

  /// Throws std::bad_alloc, and then has lost the addresses.
  void add(uint64_t address, uint64_t bytes);
  /// Takes addresses out that are free, all in one run. Throws std::bad_alloc, and then has changed nothing.
  void remove(uint64_t address, uint64_t bytes);

  /// The run that an address is in.
  std::optional<Run> find(uint64_t address) const;
  /// Where so many bytes are free at a multiple of `alignment`, a power of two: in the smallest run that has them, so
  /// that large ones remain.
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
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  ///< the same as size and address
};

}  // namespace Atoll::machine
