// engine/compiled: the translations of one GPU's code: which have been asked for, and where those that came are in use.
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

  /// The mode that a wave needs code for.
  CodeMode mode_here(const Wave& wave) const { return mode_of(wave, has_banks_); }

  /// For an entry seen for the first time: puts translated code to use if there is some already.
  void find(const Wave& wave, Entry& entry);
  /// Asks for code if the entry's hotness makes it worth it: for the wave's kernel, or for the code around the entry
  /// when the kernel's does not reach it (a function called by its address). Does not wait: while another thread asks,
  /// it does nothing.
  void ask(const Wave& wave, Entry& entry);
  /// The same, and waits until the code is in use or it is clear that there will be none.
  void ask_and_wait(const Wave& wave, Entry& entry);
  /// Whether something was asked for and has not come.
  bool expects_some() const { return expected_.load(std::memory_order_relaxed) != 0; }
  /// Whether the interpreter has to execute all of the wave's kernel, for an observer's sake
  /// (Instrumentation::must_interpret).
  bool must_interpret(const Wave& wave);
  /// Puts to use what has come; does not wait, not even for other threads that do the same.
  void take_arrived();
  /// The same, every few milliseconds: mostly it only looks at the clock, to be called whenever a wave begins or goes
  /// on.
  void take_arrived_sometimes();

  /// Code at [begin, end) is new or gone; no wave is running there.
  void forget(uint64_t begin, uint64_t end);

  /// A breakpoint is new or gone at `pc`, around which waves may be running. The interpreter executes translations with
  /// a breakpoint in them.
  void breakpoint_changed(uint64_t pc);

  machine::EngineReport report() const;

 private:
  /// The code that can be reached from one address, which waves come to in one mode.
  struct PendingTranslation {
    std::string kernel;  ///< the kernel that it is for
    uint64_t root = 0, base = 0;
    CodeMode mode;
    struct Stretch {
      uint64_t end;
      CodeMode mode;  ///< that waves are in, as far as is known
    };
    std::map<uint64_t, Stretch> stretches;  ///< by where they begin
    CompilingCost cost;
    RegisterCounts registers;              ///< ControlFlow::registers
    uint64_t hotness = 0;                  ///< instructions that it would have been good for so far
    uint64_t kept_hotness = 0;             ///< of them, those kept for later runs
    std::optional<uint64_t> past_hotness;  ///< of past runs; unset: not looked at
    std::optional<std::pair<uint64_t, uint64_t>> last_dispatch;  ///< that ran it: its queue and number
    uint64_t earlier_hotness = 0;                                ///< before that one
    uint64_t request_hash = 0;
    std::vector<uint8_t> request;              ///< until it is handed over; empty: the code is unfit
    std::shared_ptr<Compilation> compilation;  ///< null: not asked for yet
    bool taken = false;

    /// Where a PC is; null: not in the code.
    const Stretch* at(uint64_t pc) const;
  };
  using RootAndMode = std::tuple<uint64_t, std::array<uint8_t, sizeof(CodeMode)>>;

  /// Translated code at the place where its GPU code is loaded.
  struct PlacedCode {
    explicit PlacedCode(CodeCache& cache) : fallbacks(cache) {}
    JitContext context{};
    std::shared_ptr<const HostCode> code;
    std::unique_ptr<CodeSymbols> symbols;
    InterpreterFallbacks fallbacks;
    machine::LiveInRegisters start;
    std::vector<const MicroOp*> helper_ops;
  };

  // All with `mutex_` held.
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
  std::atomic<int64_t> last_look_{0};  ///< for what has come: nanoseconds
  mutable std::mutex mutex_;           ///< of what follows
  std::map<RootAndMode, PendingTranslation> asked_;
  std::vector<std::unique_ptr<PlacedCode>> placed_;
  machine::EngineReport report_;
};

}  // namespace Atoll::engine
