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
#include "machine/observer_mux.h"
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

class Checkers final : public machine::ObserverMux {
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

  void faulted(const machine::FaultReport& fault) override;
  void copied(const machine::CopyEvent& copy);
  void lds_laid_out(uint64_t kernarg, const LdsLayout& layout);
  void refused_free(uint64_t address, std::string_view function);
  void refused_copy(const machine::CopyEvent& copy);
  void allocated_in_stream(uint64_t address, uint64_t bytes, std::string_view function);
  void freed_in_stream(uint64_t address, std::string_view function);

 private:
  Checkers(Options options, CheckerContext context, Suppressions suppressions);
  support::Result<void> write();

  const Options options_;
  const CheckerContext checker_context_;
  Findings findings_;
  Progress progress_;
  std::vector<std::unique_ptr<Checker>> checkers_;
  std::vector<Checker*> of_memory_;  ///< checkers that select memory events
  bool finished_ = false;
  std::mutex report_mutex_;
  std::vector<Finding> faults_;  ///< of kernels: they are told by whoever launched these, and only stand in the file
};

}  // namespace Atoll::observe
