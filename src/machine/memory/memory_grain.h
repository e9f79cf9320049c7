// machine: which memory is fine-grained, as HSA calls it.
//
// GPUs map coarse-grained memory as cacheable and fine-grained memory as uncached. Atoll's memory is coherent either
// way. The difference is in atomics: those on uncached memory are not done in the L2, but by the fabric behind it,
// which has fewer of them (fine_grained_atomics.h in engine). Source: ROCm documentation, "Hardware atomics operation
// support".
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

namespace Atoll::machine {

/// Memory of one grain around an address.
struct GrainRange {
  uint64_t begin = 0, end = 0;
  bool is_fine = false;
};

/// The grain of each address of the process: coarse unless a runtime has set another.
class MemoryGrain {
 public:
  static MemoryGrain& of_process();

  void set(uint64_t begin, uint64_t end, bool is_fine);
  /// The memory has its usual grain again.
  void reset(uint64_t begin, uint64_t end);
  /// All memory that lies outside of the GPUs' range of addresses is fine-grained: with xnack on, GPUs reach the
  /// program's own memory, which the kernel driver maps so.
  void set_outside_fine();
  GrainRange around(uint64_t address) const;
  bool is_fine(uint64_t address) const {
    thread_local Recent recent;
    const uint64_t generation = generation_.load(std::memory_order_acquire);
    if (recent.generation != generation || address - recent.range.begin >= recent.range.end - recent.range.begin) {
      recent = {generation, around(address)};
    }
    return recent.range.is_fine;
  }

 private:
  struct Recent {
    uint64_t generation = 0;
    GrainRange range;
  };
  struct Piece {
    uint64_t end = 0;
    bool is_fine = false;
  };

  void split(uint64_t at);  ///< with the lock held

  mutable std::mutex mutex_;
  std::map<uint64_t, Piece> pieces_;  ///< by begin; they don't overlap
  bool is_outside_fine_ = false;
  std::atomic<uint64_t> generation_{1};  ///< bumped by each change
};

}  // namespace Atoll::machine
