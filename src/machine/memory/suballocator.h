// machine: pages of many small allocations within few of the host's mappings.
//
// Linux gives a process some 65,000 mappings (vm.max_map_count), and an allocation with an inaccessible page after it
// takes two of them. So once there are many allocations, further small ones lie in blocks, each of which is one
// mapping.
//
// From Linux 6.13 on pages can be made inaccessible without a mapping of their own (MADV_GUARD_INSTALL). There, what is
// free in a block and the page after each allocation are inaccessible as elsewhere, and a kernel that goes there
// faults. On older hosts, freed pages are inaccessible as long as their number does not need many mappings, and there
// is no page after an allocation: who goes past its end reaches the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "machine/memory/free_list.h"

namespace Atoll::machine {

/// How many allocations may have mappings of their own: half of the mappings that a process may have remain for others.
size_t max_with_own_mappings();

class Suballocator {
 public:
  static constexpr uint64_t block_bytes = uint64_t{64} << 20, largest = uint64_t{2} << 20;

  struct Block {
    uint64_t address = 0, bytes = 0;
  };

  /// `use_guards`: where the host has pages that are inaccessible without a mapping of their own.
  explicit Suballocator(bool use_guards = true) : wants_guards_(use_guards) {}
  Suballocator(const Suballocator&) = delete;
  Suballocator& operator=(const Suballocator&) = delete;

  /// So many bytes, whole pages, zeroed and accessible; nothing when no block has room, or the host has no memory.
  std::optional<uint64_t> take(uint64_t bytes);
  /// Inaccessible addresses of private memory, block_bytes of them, out of which to take.
  bool add_block(uint64_t address);
  /// What was taken; `is_replaced`: something else is mapped there since. When the block that it was in is empty then,
  /// it is the caller's again.
  std::optional<Block> give_back(uint64_t address, uint64_t bytes, bool is_replaced);

  size_t count() const;  ///< of what is taken
  /// For the end: all blocks, to be unmapped with what is in them.
  template <typename Visit>
  void for_each_block(const Visit& visit) const {
    for (const auto& [address, bytes] : blocks_) visit(Block{address, bytes});
  }

 private:
  uint64_t with_guard(uint64_t bytes) const;
  bool close(uint64_t address, uint64_t bytes, bool is_replaced);

  const bool wants_guards_;
  mutable std::mutex mutex_;
  std::optional<bool> has_guards_;       ///< known with the first block
  std::map<uint64_t, uint64_t> blocks_;  ///< sizes by address
  FreeList free_;
  size_t count_ = 0;
};

}  // namespace Atoll::machine
