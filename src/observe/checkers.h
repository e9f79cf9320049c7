// observe: multiplexes the enabled checkers into the one observer that the machine's GPUs have.
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

/// Environment of the checkers: where reports go and what memory outside Atoll is accessible.
struct CheckerContext {
  /// Receives each report as text, one at a time. If empty, reports go to standard error, which also gets a summary at
  /// the end. finish() does not call it, because its owner may be destroyed by then.
  std::function<void(std::string_view)> report{};
  /// Returns the bounds [begin, end) of memory that kernels may access without an allocated() event: memory that the
  /// program registered or mapped, and signals.
  std::function<std::optional<std::pair<uint64_t, uint64_t>>(uint64_t)> known{};
  std::string program{};  ///< name of the program, for report files
  /// Receives each new finding that is not suppressed, on the thread that made it.
  std::function<void(const Finding&)> found{};
};

/// A checker: an observer that makes findings. The memory of a freed block is released when all checkers have destroyed
/// the function that freed() passes, whether they called it or not.
class Checker : public machine::Observer {
 public:
  /// Makes the findings that require the whole run, when the process or the last GPU ends. Called once.
  virtual void finish() {}
  /// Releases the freed memory that the checker keeps reserved.
  virtual void forget() {}
  /// Handles a completed copy or fill (source 0), before its completion signals change.
  virtual void copied(const machine::CopyEvent& copy) { static_cast<void>(copy); }

  /// Sets the LDS layout of kernels whose arguments are at `kernarg`; an empty layout removes it.
  virtual void lds_laid_out(uint64_t kernarg, const LdsLayout& layout) {
    static_cast<void>(kernarg);
    static_cast<void>(layout);
  }

  // Calls of a language runtime (HIP, OpenCL) that do not reach Atoll's HSA runtime.

  /// The language runtime rejected a call that frees memory.
  virtual void refused_free(uint64_t address, std::string_view function) {
    static_cast<void>(address);
    static_cast<void>(function);
  }
  /// The language runtime rejected a copy or a fill.
  virtual void refused_copy(const machine::CopyEvent& copy) { static_cast<void>(copy); }
  /// Memory of the language runtime's pools is allocated (or freed) for work submitted from now on.
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

/// Returns a finding's line for the final summary, including the newline.
std::string summary_line(const Finding& finding);

class Checkers final : public machine::ObserverMux {
 public:
  /// Fails if a suppression file cannot be read or parsed, or if a report's format is unknown.
  static support::Result<std::unique_ptr<Checkers>> create(Options options, CheckerContext context);

  const Options& options() const { return options_; }
  bool wants(std::string_view checker) const {
    return std::ranges::find(options_.checkers, checker) != options_.checkers.end();
  }
  Findings& findings() { return findings_; }

  /// Lets the checkers make their final findings, writes the report and returns the number of findings. Only the first
  /// call has an effect. Fails if the report cannot be written.
  support::Result<void> finish();

  /// Releases all kept memory, before its owner is destroyed.
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
  /// faults of kernels, which the launching code reports; listed only in the report file
  std::vector<Finding> faults_;
};

}  // namespace Atoll::observe
