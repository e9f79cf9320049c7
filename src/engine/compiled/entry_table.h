// engine/compiled: the entry table: PCs at which waves enter, each with its hotness and translated code.
//
// All threads that run waves read the table without locks: entries are never removed, and their code is replaced
// atomically.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/compiled/code_mode.h"
#include "engine/compiled/jit_context.h"
#include "engine/interpreter/code_cache.h"
#include "machine/engine.h"

namespace Atoll::engine {

/// Translated code for one entry in one mode.
struct EntryCode {
  HostFunction function = nullptr;
  uint64_t number = 0;
  const JitContext* context = nullptr;
  CodeMode mode;
  const machine::LiveInRegisters* start = nullptr;  ///< live-in registers of waves that start there; null: unknown
  const EntryCode* next = nullptr;                  ///< code for another mode
};

/// A PC at which waves enter. Fits in a cache line, because every passing wave reads it.
struct alignas(64) Entry {
  explicit Entry(uint64_t address, const MicroOp* slot, Entry* after) : pc(address), op(slot), next(after) {}
  const uint64_t pc;
  const MicroOp* const op;  ///< where the interpreter starts
  Entry* const next;        ///< next in the hash bucket
  std::atomic<const EntryCode*> codes{nullptr};
  std::atomic<uint64_t> hotness{0};  ///< instructions interpreted from here
  std::atomic<bool> visited{false};
  /// For kernel entries in an observed machine: whether the kernel has to be interpreted.
  enum class Executability : uint8_t { unknown, executable, must_be_interpreted };
  std::atomic<Executability> executability{Executability::unknown};

  const EntryCode* code(const CodeMode& mode) const {
    const EntryCode* found = codes.load(std::memory_order_acquire);
    while (found != nullptr && found->mode != mode) found = found->next;
    return found;
  }
};

class EntryTable {
 public:
  explicit EntryTable(CodeCache& code) : code_(code) {}
  ~EntryTable();
  EntryTable(const EntryTable&) = delete;
  EntryTable& operator=(const EntryTable&) = delete;

  Entry& at(uint64_t pc) {
    Entry* entry = find(pc);
    return entry != nullptr ? *entry : add(pc);
  }
  void add_code(uint64_t pc, EntryCode code);
  /// Resets the entries in [begin, end). No wave is running there.
  void forget(uint64_t begin, uint64_t end);

 private:
  static constexpr unsigned bucket_count = 4096;
  static unsigned bucket(uint64_t pc) { return (pc / 4 ^ pc / 4 / bucket_count) % bucket_count; }
  Entry* find(uint64_t pc) const {
    Entry* entry = buckets_[bucket(pc)].load(std::memory_order_acquire);
    while (entry != nullptr && entry->pc != pc) entry = entry->next;
    return entry;
  }
  Entry& add(uint64_t pc);

  CodeCache& code_;
  std::mutex mutex_;  ///< protects all changes
  std::array<std::atomic<Entry*>, bucket_count> buckets_{};
  std::vector<std::unique_ptr<EntryCode>> codes_;
};

}  // namespace Atoll::engine
