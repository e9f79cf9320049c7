// observe: the program's allocations with exact bounds and allocation stacks. Freed blocks stay in quarantine for a
// while: their addresses are not reused, so late accesses are recognised.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "machine/observer.h"
#include "observe/race/generation_number.h"
#include "observe/report/host_stack.h"

namespace Atoll::observe {

/// A position in the host's submission order: the number of packets per queue.
using SubmittedPackets = std::map<uint64_t, uint64_t>;

struct Block {
  machine::MemoryEvent::Kind kind = machine::MemoryEvent::Kind::device;
  uint64_t begin = 0, size = 0, reserved = 0;
  std::string function;  ///< the runtime function that allocated it
  HostStack allocated;
  bool is_free = false;
  HostStack freed;
  std::string free_function;
  /// Set if a stream has freed the block and the language runtime keeps its memory: earlier submissions may still use
  /// it.
  std::shared_ptr<const SubmittedPackets> freed_after;
  /// A language runtime's suballocation within memory that it mapped as a whole.
  bool is_suballocation = false;

  uint64_t end() const { return begin + size; }
  /// True if the program owns the addresses, which it may reuse after the free.
  bool is_of_program() const {
    return kind == machine::MemoryEvent::Kind::managed || kind == machine::MemoryEvent::Kind::registered;
  }
  bool holds(uint64_t address, uint64_t bytes) const {
    return address >= begin && address - begin <= size && bytes <= size - (address - begin);
  }
};

/// "400 bytes of device memory"
std::string words_for(const Block& block);

class Allocations {
 public:
  /// Limits of the quarantine in bytes, and of the remembered blocks after that.
  static constexpr uint64_t max_kept = uint64_t{256} << 20;
  static constexpr size_t max_remembered = 4096;

  Allocations() = default;
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;
  ~Allocations();

  void add(Block block);
  /// Releases the quarantine.
  void release_all();
  /// Frees a block. Its memory is quarantined until `release` is called, unless the program owns the addresses. Returns
  /// false, and destroys `release`, if no live block begins at the address.
  bool free(uint64_t address, std::string_view function, const HostStack& stack, std::function<void()> release);

  /// Marks the live block at an address as freed for all later submissions. Returns false if there is none.
  bool free_in_stream(uint64_t address, std::string_view function, const HostStack& stack, SubmittedPackets submitted);
  /// Makes the block at an address live again, with a new size. Returns false if there is none.
  bool reuse(uint64_t address, uint64_t bytes, std::string_view function, const HostStack& stack);
  /// Adds a suballocation in place of those it overlaps. Does nothing if it overlaps other blocks.
  void add_suballocation(Block block);

  /// Returns whether [address, end) is inside one live block other than kernel arguments. Fast if it is in the block of
  /// this thread's previous query.
  bool is_live(uint64_t address, uint64_t end) const;
  /// Returns the bounds of the live block that contains [address, end).
  std::optional<std::pair<uint64_t, uint64_t>> live_around(uint64_t address, uint64_t end) const;
  /// Returns a number that increases whenever a live block is freed.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  /// Returns the block, live or free, whose reserved range contains an address.
  std::optional<Block> find(uint64_t address) const;
  /// Returns the nearest live block within `reach` bytes of an address.
  std::optional<Block> nearest(uint64_t address, uint64_t reach) const;
  /// Returns the blocks that neither the program nor a stream has freed.
  std::vector<Block> live() const;

 private:
  struct Entry {
    Block block;
    std::function<void()> release;  ///< of a quarantined block
  };
  using Map = std::map<uint64_t, Entry>;

  /// Adds a block in place of those that it overlaps. The caller holds the mutex.
  void insert(Block block);
  void erase_overlapping(uint64_t begin, uint64_t end);
  void trim(std::vector<std::function<void()>>& released);

  mutable std::shared_mutex mutex_;
  Map blocks_;                              ///< by address; their reserved ranges don't overlap
  std::deque<uint64_t> kept_, remembered_;  ///< addresses of free blocks, oldest first
  uint64_t kept_bytes_ = 0;
  /// Incremented by each free to invalidate thread-local caches. Unique across objects.
  std::atomic<uint64_t> generation_{next_epoch()};
};

}  // namespace Atoll::observe
