// engine: the cache of prepared code.
//
// A page covers 1 KiB of guest code with one MicroOp per 32-bit word. Initially each slot has a handler that decodes
// the instruction, prepares the slot and executes it. Only executed code is therefore decoded, and the fast path needs
// no check.
//
// Pages are found in a hash table that is read without locks, because pages are never removed. When code is unloaded or
// changes, its pages are reset and reused for the code loaded there next.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/interpreter/micro_op.h"
#include "engine/vgpr_banks.h"
#include "machine/observer.h"
#include "target/target.h"

namespace Atoll::engine {

inline constexpr uint64_t code_page_bytes = 1024;
inline constexpr unsigned code_page_slots = code_page_bytes / 4;

/// A prepared page of guest code with the instructions and constants that its MicroOps refer to. Its alignment allows a
/// slot's address to identify the page.
struct alignas(1 << 15) CodePage {
  uint64_t base = 0;
  CodePage* next = nullptr;  ///< next in the hash bucket
  std::deque<OpMetadata> origins;
  std::deque<std::array<Row, 2>> constants;
  std::map<uint64_t, const Row*> constant_rows;  ///< constants by value, for deduplication
  /// An instruction may extend past the page's last word. The additional slots continue the chain in the next page.
  MicroOp slots[code_page_slots + 5];

  static uint64_t pc_of(const MicroOp* op) {
    const auto* page = reinterpret_cast<const CodePage*>(reinterpret_cast<uintptr_t>(op) & ~(alignof(CodePage) - 1));
    return page->base + static_cast<uint64_t>(op - page->slots) * 4;
  }

  /// Returns the two rows of a constant's low and high word; valid until the page is reset.
  const Row* constant(uint64_t value);
};

class CodeCache {
 public:
  /// `watches_exceptions`: for waves that do (exceptions.h). `banks`: VGPR banks of the waves (vgpr_banks.h).
  /// `watched`: events to report (observation.h).
  explicit CodeCache(const target::Target& target, bool watches_exceptions = false, uint8_t banks = 0,
                     const machine::Watched& watched = {}, machine::WaveControl* control = nullptr)
      : target_(target), watches_exceptions_(watches_exceptions), banks_(banks), watched_(watched), control_(control) {}
  ~CodeCache();
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;

  /// Returns the MicroOp of the instruction at `pc`, a multiple of 4.
  const MicroOp* find(uint64_t pc) {
    const uint64_t base = pc & ~(code_page_bytes - 1);
    CodePage* page = page_at(base);
    if (page == nullptr) page = add(base);
    return &page->slots[(pc - base) / 4];
  }

  /// Returns the prepared MicroOp; null: `wave` has faulted.
  const MicroOp* find_prepared(Wave& wave, uint64_t pc) { return prepare(wave, pc) ? find(pc) : nullptr; }

  /// Decodes the instruction at `pc` and prepares its slot. Returns false if `wave` has faulted.
  bool prepare(Wave& wave, uint64_t pc);

  void sweep(uint64_t begin, uint64_t end);

  /// Sets or removes the breakpoint's handler in the slot of the instruction at `pc`, if the slot is prepared. A slot
  /// that is prepared later gets it then.
  void breakpoint_changed(uint64_t pc);
  /// Returns the handler for an instruction's slot, given its own: the one that reports what is observed and the one of
  /// a breakpoint come before it.
  Handler slot_handler(OpMetadata& origin, Handler handler) const;

  machine::WaveControl* control() const { return control_; }
  const target::Target& target() const { return target_; }
  bool watches_exceptions() const { return watches_exceptions_; }
  const machine::Watched& watched() const { return watched_; }

 private:
  static constexpr unsigned bucket_count = 4096;
  static unsigned bucket(uint64_t base) {
    return (base / code_page_bytes ^ base / code_page_bytes / bucket_count) % bucket_count;
  }
  CodePage* page_at(uint64_t base) const;
  CodePage* add(uint64_t base);

  const target::Target target_;
  const bool watches_exceptions_;
  const uint8_t banks_;
  const machine::Watched watched_;
  std::recursive_mutex mutex_;  ///< held to add a page, to prepare a slot (which may add one) and to sweep
  std::array<std::atomic<CodePage*>, bucket_count> buckets_{};
  machine::WaveControl* const control_;  ///< whose breakpoints the code has; null: none
};

/// The code caches of a GPU, one per wave size, exception watching and VGPR banks, which all change what instructions
/// do.
class CodeCaches {
 public:
  explicit CodeCaches(const target::Target& gpu, const machine::Watched& watched = {},
                      machine::WaveControl* control = nullptr)
      : wave64_(gpu.with_wave_size(64), false, 0, watched, control),
        wave64_watching_(gpu.with_wave_size(64), true, 0, watched, control),
        wave32_(gpu.with_wave_size(32), false, 0, watched, control),
        wave32_watching_(gpu.with_wave_size(32), true, 0, watched, control),
        watched_(watched),
        has_banks_(has_vgpr_banks(*gpu.processor)) {}

  CodeCache& of(const Wave& wave) {
    if (has_banks_ && vgpr_banks(wave) != 0) [[unlikely]]
      return banked(wave);
    if (wave.is_wave32()) return wave.watches_exceptions ? wave32_watching_ : wave32_;
    return wave.watches_exceptions ? wave64_watching_ : wave64_;
  }
  void sweep(uint64_t begin, uint64_t end);
  void breakpoint_changed(uint64_t pc);

 private:
  /// Returns the cache for the wave's VGPR banks, creating it if needed.
  CodeCache& banked(const Wave& wave);

  CodeCache wave64_, wave64_watching_, wave32_, wave32_watching_;
  const machine::Watched watched_;
  const bool has_banks_;
  std::mutex banked_mutex_;
  std::map<std::pair<bool, uint8_t>, CodeCache> banked_;  ///< by exception watching and banks
};

/// Fills in `op` for `origin.instruction`, except its handler, which is returned. Unsupported instructions get a
/// handler that reports an illegal instruction.
Handler prepare_op(OpMetadata& origin, MicroOp& op, CodePage& page, CodeCache& cache);

}  // namespace Atoll::engine
