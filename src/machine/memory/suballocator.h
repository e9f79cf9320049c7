// machine: suballocates many small allocations from few host mappings.
//
// Linux limits a process to some 65,000 mappings (vm.max_map_count), and an allocation followed by an inaccessible page
// takes two. When there are many allocations, further small ones are therefore taken from blocks, each of which is one
// mapping.
//
// Since Linux 6.13 pages can be inaccessible without a separate mapping (MADV_GUARD_INSTALL). There, free pages of a
// block and the page after each allocation are inaccessible as usual. On older hosts freed pages are inaccessible while
// that needs few mappings, and there is no guard page: an overrun reaches the next allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "machine/memory/free_list.h"

namespace Atoll::machine {

/// Maximum number of allocations with separate mappings. Leaves half of the process's mappings to others.
size_t max_with_own_mappings();

class Suballocator {
 public:
  static constexpr uint64_t block_bytes = uint64_t{64} << 20, largest = uint64_t{2} << 20;

  struct Block {
    uint64_t address = 0, bytes = 0;
  };

  /// `use_guards`: use guard pages without mappings if the host supports them.
  explicit Suballocator(bool use_guards = true) : wants_guards_(use_guards) {}
  Suballocator(const Suballocator&) = delete;
  Suballocator& operator=(const Suballocator&) = delete;

  /// Allocates zeroed whole pages; nullopt if no block has room or the host is out of memory.
  std::optional<uint64_t> take(uint64_t bytes);
  /// Adds a block: block_bytes of inaccessible private memory.
  bool add_block(uint64_t address);
  /// Frees an allocation. `is_replaced`: it has been remapped since. If its block is now empty, returns the block to
  /// the caller.
  std::optional<Block> give_back(uint64_t address, uint64_t bytes, bool is_replaced);

  size_t count() const;  ///< live allocations
  /// Visits all blocks, for unmapping at the end.
  template <typename Visit>
  void for_each_block(const Visit& visit) const {
    for (const auto& [address, bytes] : blocks_) visit(Block{address, bytes});
  }

 private:
  uint64_t with_guard(uint64_t bytes) const;
  bool close(uint64_t address, uint64_t bytes, bool is_replaced);

  const bool wants_guards_;
  mutable std::mutex mutex_;
  std::optional<bool> has_guards_;       ///< determined with the first block
  std::map<uint64_t, uint64_t> blocks_;  ///< sizes by address
  FreeList free_;
  size_t count_ = 0;
};

}  // namespace Atoll::machine
