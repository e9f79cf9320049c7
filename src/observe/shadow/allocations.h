// observe: the memory that the program has got from a runtime, with its bounds to the byte and who asked for it; and
// what it has given back, which is kept for a while, so that nobody else gets the addresses and a late access is known.
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

/// A place in the order of what the host submits: by queue, how many packets it had.
using SubmittedPackets = std::map<uint64_t, uint64_t>;

struct Block {
  machine::MemoryEvent::Kind kind = machine::MemoryEvent::Kind::device;
  uint64_t begin = 0, size = 0, reserved = 0;
  std::string function;  ///< that it was asked for with
  HostStack allocated;
  bool is_free = false;
  HostStack freed;
  std::string free_function;
  /// Set once a stream has freed the block and a language runtime keeps it: earlier submissions may still use it.
  std::shared_ptr<const SubmittedPackets> freed_after;
  /// A language runtime's allocation within memory that it has mapped as a whole.
  bool is_suballocation = false;

  uint64_t end() const { return begin + size; }
  /// Its addresses are the program's, which may have something else there once it is free.
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
  /// How many bytes of freed memory are kept, and how many blocks are remembered after that.
  static constexpr uint64_t max_kept = uint64_t{256} << 20;
  static constexpr size_t max_remembered = 4096;

  Allocations() = default;
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;
  ~Allocations();

  void add(Block block);
  /// Lets all go that is free.
  void release_all();
  /// The memory is kept until `release` is called, unless its addresses are the program's. False: nothing live begins
  /// at the address; `release` is let go.
  bool free(uint64_t address, std::string_view function, const HostStack& stack, std::function<void()> release);

  /// Marks the live block at an address as freed for all later submissions. Returns false if there is none.
  bool free_in_stream(uint64_t address, std::string_view function, const HostStack& stack, SubmittedPackets submitted);
  /// The block that begins at an address belongs to the program again, with a size of its own. False: there is none.
  bool reuse(uint64_t address, uint64_t bytes, std::string_view function, const HostStack& stack);
  /// Adds a suballocation, which takes the place of those that it overlaps, unless other blocks are there.
  void add_suballocation(Block block);

  /// Whether [address, end) is in one live block, other than of kernels' arguments. Quick when it is in the same block
  /// as the last one that this thread asked about.
  bool is_live(uint64_t address, uint64_t end) const;
  /// Where [address, end) is in such a block: its begin and end.
  std::optional<std::pair<uint64_t, uint64_t>> live_around(uint64_t address, uint64_t end) const;
  /// Another number than before when what was live may no longer be; never a smaller one.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  /// The block, live or free, whose reserved bytes an address is in.
  std::optional<Block> find(uint64_t address) const;
  /// The live one nearest to an address, within `reach` bytes.
  std::optional<Block> nearest(uint64_t address, uint64_t reach) const;
  /// Returns the blocks that neither the program nor a stream has freed.
  std::vector<Block> live() const;

 private:
  struct Entry {
    Block block;
    std::function<void()> release;  ///< of one that is free and kept
  };
  using Map = std::map<uint64_t, Entry>;

  /// Adds a block in place of those that it overlaps, with the mutex held.
  void insert(Block block);
  void erase_overlapping(uint64_t begin, uint64_t end);
  void trim(std::vector<std::function<void()>>& released);

  mutable std::shared_mutex mutex_;
  Map blocks_;                              ///< by address; their reserved ranges don't overlap
  std::deque<uint64_t> kept_, remembered_;  ///< addresses of free blocks, oldest first
  uint64_t kept_bytes_ = 0;
  /// Counts frees, after which what threads remember of blocks is void. No two objects have the same number.
  std::atomic<uint64_t> generation_{next_epoch()};
};

}  // namespace Atoll::observe
