// engine/compiled: the translations of one GPU's code: pending requests and code in use.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/compiled/code_symbols.h"
#include "engine/compiled/compilations.h"
#include "engine/compiled/entry_table.h"
#include "engine/compiled/interpreter_fallback.h"
#include "engine/interpreter/code_cache.h"
#include "machine/engine.h"

namespace Atoll::machine {
class LoadedCode;
}

namespace Atoll::engine {

class Translations {
 public:
  explicit Translations(CodeCache& cache)
      : cache_(cache), has_banks_(has_vgpr_banks(*cache.target().processor)), entries_(cache) {}

  Entry& entry(uint64_t pc) { return entries_.at(pc); }

  /// Returns the mode that a wave needs code for.
  CodeMode mode_here(const Wave& wave) const { return mode_of(wave, has_banks_); }

  /// For a new entry: installs translated code if it is already available.
  void find(const Wave& wave, Entry& entry);
  /// Requests code if the entry is hot enough: for the wave's kernel, or for the code around the entry if the kernel
  /// does not reach it (a function called by address). Returns at once if another thread is requesting.
  void ask(const Wave& wave, Entry& entry);
  /// Requests code and waits until it is installed or has failed.
  void ask_and_wait(const Wave& wave, Entry& entry);
  /// Returns whether a request is unanswered.
  bool expects_some() const { return expected_.load(std::memory_order_relaxed) != 0; }
  /// Returns whether the wave's kernel has to be interpreted completely for an observer
  /// (Instrumentation::must_interpret).
  bool must_interpret(const Wave& wave);
  /// Installs the code that has arrived. Never blocks, not even on other threads that do the same.
  void take_arrived();
  /// Does the same every few milliseconds. Usually only reads the clock; called whenever a wave starts or resumes.
  void take_arrived_sometimes();

  /// Code at [begin, end) was loaded or unloaded. No wave is running there.
  void forget(uint64_t begin, uint64_t end);

  /// A breakpoint is new or gone at `pc`, around which waves may be running. The interpreter executes translations with
  /// a breakpoint in them.
  void breakpoint_changed(uint64_t pc);

  machine::EngineReport report() const;

 private:
  /// The code reachable from one address in one mode.
  struct PendingTranslation {
    std::string kernel;  ///< the kernel it belongs to
    uint64_t root = 0, base = 0;
    CodeMode mode;
    struct Stretch {
      uint64_t end;
      CodeMode mode;  ///< assumed mode of the waves
    };
    std::map<uint64_t, Stretch> stretches;  ///< ranges of code by their begin
    CompilingCost cost;
    RegisterCounts registers;                                    ///< ControlFlow::registers
    uint64_t hotness = 0;                                        ///< instructions interpreted so far
    uint64_t kept_hotness = 0;                                   ///< part of it recorded for later runs
    std::optional<uint64_t> past_hotness;                        ///< of past runs; unset: not yet read
    std::optional<std::pair<uint64_t, uint64_t>> last_dispatch;  ///< the last dispatch that ran it: queue and number
    uint64_t earlier_hotness = 0;                                ///< hotness before that dispatch
    uint64_t request_hash = 0;
    std::vector<uint8_t> request;              ///< until it is posted; empty: not translatable
    std::shared_ptr<Compilation> compilation;  ///< null: not requested
    bool taken = false;

    /// Returns the range that contains a PC, or null.
    const Stretch* at(uint64_t pc) const;
  };
  using RootAndMode = std::tuple<uint64_t, std::array<uint8_t, sizeof(CodeMode)>>;

  /// Translated code for one load address of the GPU code.
  struct PlacedCode {
    explicit PlacedCode(CodeCache& cache) : fallbacks(cache) {}
    JitContext context{};
    std::shared_ptr<const HostCode> code;
    std::unique_ptr<CodeSymbols> symbols;
    InterpreterFallbacks fallbacks;
    machine::LiveInRegisters start;
    std::vector<const MicroOp*> helper_ops;
  };

  // The caller holds `mutex_`.
  PendingTranslation* covering(const Wave& wave, uint64_t pc);
  PendingTranslation& pending_for(uint64_t root, const CodeMode& mode, const Wave& wave);
  void follow_code(PendingTranslation& asked, const Wave& wave);
  bool has_breakpoint(const PendingTranslation& asked) const;
  void add_hotness(PendingTranslation& asked, const Wave& wave, uint64_t hotness);
  void keep_hotness(PendingTranslation& asked);
  void hand_over(PendingTranslation& asked);
  void take(PendingTranslation& asked);
  std::unique_ptr<PlacedCode> place(const PendingTranslation& asked);
  void count_expected();

  CodeCache& cache_;
  const bool has_banks_;
  EntryTable entries_;
  std::atomic<uint32_t> expected_{0};
  std::atomic<int64_t> last_look_{0};  ///< time of the last poll, in nanoseconds
  mutable std::mutex mutex_;           ///< protects the following members
  std::map<RootAndMode, PendingTranslation> asked_;
  std::vector<std::unique_ptr<PlacedCode>> placed_;
  machine::EngineReport report_;
};

}  // namespace Atoll::engine
