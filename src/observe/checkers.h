// observe: the checkers of a process, as the one observer of its GPUs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/observer.h"
#include "observe/report/findings.h"
#include "observe/report/options.h"
#include "observe/report/progress.h"
#include "observe/shadow/lds_layout.h"
#include "support/error.h"

namespace Atoll::observe {

/// What checkers cannot know by themselves.
struct CheckerContext {
  /// Gets the reports, for people, one at a time; empty: standard error, which gets a summary at the end, too. It is
  /// not called by finish(), when whoever it belongs to may be gone.
  std::function<void(std::string_view)> report{};
  /// The memory around an address that kernels may use although no allocated() told of it, as begin and end: what the
  /// program has registered or mapped, signals.
  std::function<std::optional<std::pair<uint64_t, uint64_t>>(uint64_t)> known{};
  std::string program{};  ///< what is run, for report files
  /// Gets each finding that is new and not suppressed, on the thread that made it.
  std::function<void(const Finding&)> found{};
};

/// One checker: an observer that makes findings. Memory that is freed goes when the last of them has let go of the
/// function that freed() hands over, called or not.
class Checker : public machine::Observer {
 public:
  /// The process is about to end, or the last GPU to go: what can only be said then. Called once.
  virtual void finish() {}
  /// Memory that is kept has to go now.
  virtual void forget() {}
  /// A copy or a fill (source 0) has been carried out, before those are told who wait for it.
  virtual void copied(const machine::CopyEvent& copy) { static_cast<void>(copy); }

  /// Kernels whose arguments are at `kernarg` have that layout of LDS; empty: no longer.
  virtual void lds_laid_out(uint64_t kernarg, const LdsLayout& layout) {
    static_cast<void>(kernarg);
    static_cast<void>(layout);
  }

  // Calls of a language runtime that do not come to Atoll's.

  /// It has refused to free memory.
  virtual void refused_free(uint64_t address, std::string_view function) {
    static_cast<void>(address);
    static_cast<void>(function);
  }
  /// It has refused a copy or a fill.
  virtual void refused_copy(const machine::CopyEvent& copy) { static_cast<void>(copy); }
  /// Memory of its pools belongs to the program for what is submitted from now on, or no longer does.
  virtual void allocated_in_stream(uint64_t address, uint64_t bytes, std::string_view function) {
    static_cast<void>(address);
    static_cast<void>(bytes);
    static_cast<void>(function);
  }
  virtual void freed_in_stream(uint64_t address, std::string_view function) {
    static_cast<void>(address);
    static_cast<void>(function);
  }
};

/// A finding's line in the summary at the end, with its end.
std::string summary_line(const Finding& finding);

class Checkers final : public machine::Observer {
 public:
  /// Errors: a suppression file that cannot be read or understood, a report whose kind is unknown.
  static support::Result<std::unique_ptr<Checkers>> create(Options options, CheckerContext context);

  const Options& options() const { return options_; }
  bool wants(std::string_view checker) const {
    return std::ranges::find(options_.checkers, checker) != options_.checkers.end();
  }
  Findings& findings() { return findings_; }

  /// Lets the checkers say what is left, tells how many findings there were, and writes the report. Only the first call
  /// does anything. The error is that of the report.
  support::Result<void> finish();

  /// Lets go of all memory that is kept, before who has it goes.
  void forget();

  machine::EventMask watched() const override { return watched_; }
  void code_loaded(const machine::LoadedCode& code) override;
  void code_unloading(const machine::LoadedCode& code) override;
  void dispatch_begins(const machine::Dispatch& dispatch) override;
  void dispatch_ends(const machine::Dispatch& dispatch) override;
  void faulted(const machine::FaultReport& fault) override;
  void work_group_begins(const machine::WorkGroup& group) override;
  void work_group_ends(const machine::WorkGroup& group) override;
  void wave_begins(const machine::Wave& wave) override;
  void wave_ends(const machine::Wave& wave) override;
  void instruction(const machine::Wave& wave, uint64_t pc, const isa::Instruction& instruction) override;
  void access(const machine::Wave& wave, const machine::AccessEvent& access) override;
  uint32_t on_basic_block(const machine::Wave& wave, uint32_t before, const machine::InstructionRange& code) override;
  machine::AccessFilter access_filter(const machine::Wave& wave) override;
  bool passes_filter(const machine::Wave& wave, const machine::AccessEvent& access,
                     machine::OrdinaryMemory& around) override;
  void override_loaded_values(machine::Wave& wave, const isa::Instruction& next) override;
  void barrier(const machine::Wave& wave, const machine::BarrierEvent& event) override;
  void allocated(const machine::MemoryEvent& memory) override;
  void freed(uint64_t address, std::string_view function, std::function<void()> release) override;
  void copying(const machine::CopyEvent& copy) override;
  void copied(const machine::CopyEvent& copy);
  void lds_laid_out(uint64_t kernarg, const LdsLayout& layout);
  void refused_free(uint64_t address, std::string_view function);
  void refused_copy(const machine::CopyEvent& copy);
  void allocated_in_stream(uint64_t address, uint64_t bytes, std::string_view function);
  void freed_in_stream(uint64_t address, std::string_view function);
  void queue_made(uint64_t queue) override;
  void doorbell(uint64_t queue, uint64_t packets) override;
  void barrier_packet(const machine::BarrierPacketEvent& packet) override;
  void signal_seen(uint64_t signal) override;
  void signal_changes(uint64_t signal, bool replaces) override;
  void signal_shown(uint64_t signal) override;
  void copy_submitted(uint64_t copy) override;
  void copy_starts(uint64_t copy, std::span<const uint64_t> signals) override;
  void copy_ends(uint64_t copy, uint64_t completion_signal) override;

 private:
  Checkers(Options options, CheckerContext context, Suppressions suppressions);
  support::Result<void> write();

  const Options options_;
  const CheckerContext checker_context_;
  Findings findings_;
  Progress progress_;
  machine::EventMask watched_;
  std::vector<std::unique_ptr<Checker>> checkers_;
  /// Those that want such events.
  std::vector<Checker*> of_code_, of_dispatches_, of_work_groups_, of_instructions_, of_accesses_, of_barriers_,
      of_memory_, of_loads_, of_order_;
  Checker* of_paths_ = nullptr;  ///< paths have numbers, which are one observer's
  bool finished_ = false;
  std::mutex report_mutex_;
  std::vector<Finding> faults_;  ///< of kernels: they are told by whoever launched these, and only stand in the file
};

}  // namespace Atoll::observe
