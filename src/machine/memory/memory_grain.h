// machine: tracks coarse-grained and fine-grained memory (HSA's terms).
//
// GPUs cache coarse-grained memory and map fine-grained memory uncached. Atoll's memory is coherent in both cases. Only
// atomics differ: those on uncached memory are executed by the fabric instead of L2, which supports fewer of them
// (fine_grained_atomics.h in engine). Source: ROCm documentation, "Hardware atomics operation support".
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

namespace Atoll::machine {

/// A range of memory with the same grain around an address.
struct GrainRange {
  uint64_t begin = 0, end = 0;
  bool is_fine = false;
};

/// The grain of each address: coarse unless a runtime has changed it.
class MemoryGrain {
 public:
  static MemoryGrain& of_process();

  void set(uint64_t begin, uint64_t end, bool is_fine);
  /// Restores the default grain.
  void reset(uint64_t begin, uint64_t end);
  /// Makes all memory outside the GPUs' range fine-grained: with xnack on, GPUs access the program's memory, which the
  /// kernel driver maps this way.
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
  std::atomic<uint64_t> generation_{1};  ///< incremented by each change
};

}  // namespace Atoll::machine
