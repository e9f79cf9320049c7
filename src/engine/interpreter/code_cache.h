// engine: the cache of prepared code.
//
// Code is kept by pages of 1 KiB of guest code, each a run of MicroOps, one for each 32-bit word. A page begins
// with every slot set to a handler that decodes the word's instruction when a wave first gets there, prepares the
// slot and carries on in it. So only what runs is decoded, and the quick path never asks whether it was.
//
// Pages are found by a hash table that is read without locks: pages are only ever added. When code goes away or
// changes, its pages are swept back to their first state and stay for whatever is loaded there next.
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

/// One page of guest code, prepared, with what its MicroOps point to: their instructions and their constants. It is
/// aligned so that a slot's address alone says which page it is in, hence which code it stands for.
struct alignas(1 << 15) CodePage {
  uint64_t base = 0;
  CodePage* next = nullptr;  ///< in the hash bucket
  std::deque<OpMetadata> origins;
  std::deque<std::array<Row, 2>> constants;
  std::map<uint64_t, const Row*> constant_rows;  ///< the same by value, so that each stands there once
  /// An instruction that starts in the page's last words ends in the words after them: from each of those slots
  /// the chain goes on in the next page.
  MicroOp slots[code_page_slots + 5];

  static uint64_t pc_of(const MicroOp* op) {
    const auto* page = reinterpret_cast<const CodePage*>(reinterpret_cast<uintptr_t>(op) & ~(alignof(CodePage) - 1));
    return page->base + static_cast<uint64_t>(op - page->slots) * 4;
  }

  /// The two rows of a constant's low and high word; valid until the page is swept.
  const Row* constant(uint64_t value);
};

class CodeCache {
 public:
  /// `watches_exceptions`: of waves that do (exceptions.h). `banks`: of waves whose instructions name VGPRs of those
  /// (vgpr_banks.h). `watched`: what is to be told of the code's execution (observation.h).
  explicit CodeCache(const target::Target& target, bool watches_exceptions = false, uint8_t banks = 0,
                     const machine::Watched& watched = {}, machine::WaveControl* control = nullptr)
      : target_(target), watches_exceptions_(watches_exceptions), banks_(banks), watched_(watched), control_(control) {}
  ~CodeCache();
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;

  /// The MicroOp of the instruction at `pc`, which must be a multiple of 4.
  const MicroOp* find(uint64_t pc) {
    const uint64_t base = pc & ~(code_page_bytes - 1);
    CodePage* page = page_at(base);
    if (page == nullptr) page = add(base);
    return &page->slots[(pc - base) / 4];
  }

  /// The same, its slot prepared; null: `wave` has the fault.
  const MicroOp* find_prepared(Wave& wave, uint64_t pc) { return prepare(wave, pc) ? find(pc) : nullptr; }

  /// Decodes the instruction at `pc` and prepares its slot. False: `wave` has the fault.
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

/// The caches of a GPU's code: what an instruction does depends on the wave's size, whether exceptions are watched, and
/// in which banks it finds its VGPRs.
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
  /// The cache of waves whose instructions name VGPRs of those banks, which begins when the first comes.
  CodeCache& banked(const Wave& wave);

  CodeCache wave64_, wave64_watching_, wave32_, wave32_watching_;
  const machine::Watched watched_;
  const bool has_banks_;
  std::mutex banked_mutex_;
  std::map<std::pair<bool, uint8_t>, CodeCache> banked_;  ///< by watching or not, and banks
};

/// Makes the MicroOp of `origin.instruction`. Sets everything but the handler of `op`, and yields the handler; one
/// that reports an illegal instruction where the engine has none for it.
Handler prepare_op(OpMetadata& origin, MicroOp& op, CodePage& page, CodeCache& cache);

}  // namespace Atoll::engine
