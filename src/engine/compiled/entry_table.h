// engine/compiled: the addresses at which waves come to be run, with what is known of each: how much the interpreter
// did from there, and translated code to go on with.
//
// The table is read without locks by every thread that runs waves: entries are only ever added, and an entry's
// code is replaced as a whole.
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
  const machine::LiveInRegisters* start = nullptr;  ///< of waves that begin there; null: not known
  const EntryCode* next = nullptr;                  ///< for another mode
};

/// An address at which waves come in. In one cache line: every wave that comes by reads it.
struct alignas(64) Entry {
  explicit Entry(uint64_t address, const MicroOp* slot, Entry* after) : pc(address), op(slot), next(after) {}
  const uint64_t pc;
  const MicroOp* const op;  ///< where the interpreter begins
  Entry* const next;        ///< in the bucket
  std::atomic<const EntryCode*> codes{nullptr};
  std::atomic<uint64_t> hotness{0};  ///< instructions that the interpreter ran from here
  std::atomic<bool> visited{false};
  /// Of a kernel's begin, in a machine that is observed: whether the interpreter has to execute all of the kernel.
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
  /// Forgets what is known of the entries in [begin, end), where no wave is running.
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
  std::mutex mutex_;  ///< held to change anything
  std::array<std::atomic<Entry*>, bucket_count> buckets_{};
  std::vector<std::unique_ptr<EntryCode>> codes_;
};

}  // namespace Atoll::engine
