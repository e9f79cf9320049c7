// engine/compiled: the addresses at which waves come to be run, with what is known of each: how much the interpreter
// did from there, and translated code to go on with.
//
// The table is read without locks by every thread that runs waves: places are only ever added, and the ways of a
// place are replaced as a whole.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/code_cache.h"
#include "engine/compiled/image.h"
#include "machine/engine.h"
#include "semantics/lanes.h"

namespace Atoll::engine {

/// Translated code for one place in one mode.
struct Way {
  HostFunction function = nullptr;
  uint64_t number = 0;
  const Image* image = nullptr;
  semantics::FloatMode mode;
  const machine::StartRegisters* start = nullptr;  ///< of waves that begin there; null: not known
  const Way* next = nullptr;                       ///< for another mode
};

/// In one cache line: every wave that comes by reads it.
struct alignas(64) Place {
  explicit Place(uint64_t address, const MicroOp* slot, Place* after) : pc(address), op(slot), next(after) {}
  const uint64_t pc;
  const MicroOp* const op;  ///< where the interpreter begins
  Place* const next;        ///< in the bucket
  std::atomic<const Way*> ways{nullptr};
  std::atomic<uint64_t> heat{0};  ///< instructions that the interpreter ran from here
  std::atomic<bool> visited{false};

  const Way* way(const semantics::FloatMode& mode) const {
    const Way* found = ways.load(std::memory_order_acquire);
    while (found != nullptr && found->mode != mode) found = found->next;
    return found;
  }
};

class PlaceTable {
 public:
  explicit PlaceTable(CodeCache& code) : code_(code) {}
  ~PlaceTable();
  PlaceTable(const PlaceTable&) = delete;
  PlaceTable& operator=(const PlaceTable&) = delete;

  Place& at(uint64_t pc) {
    Place* place = find(pc);
    return place != nullptr ? *place : add(pc);
  }
  void add_way(uint64_t pc, Way way);
  /// Forgets what is known of the places in [begin, end), where no wave is running.
  void forget(uint64_t begin, uint64_t end);

 private:
  static constexpr unsigned bucket_count = 4096;
  static unsigned bucket(uint64_t pc) { return (pc / 4 ^ pc / 4 / bucket_count) % bucket_count; }
  Place* find(uint64_t pc) const {
    Place* place = buckets_[bucket(pc)].load(std::memory_order_acquire);
    while (place != nullptr && place->pc != pc) place = place->next;
    return place;
  }
  Place& add(uint64_t pc);

  CodeCache& code_;
  std::mutex mutex_;  ///< held to change anything
  std::array<std::atomic<Place*>, bucket_count> buckets_{};
  std::vector<std::unique_ptr<Way>> ways_;
};

}  // namespace Atoll::engine
