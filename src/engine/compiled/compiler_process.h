// engine/compiled: the compiler process of a program (src/compiler), started, asked and missed.
//
// The program must not notice it: it is no child of the program's (which may wait for any child, or count SIGCHLD), it
// keeps none of the program's descriptors, and it ends when the program has, and what it was at is finished.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/compiled/compiler_channel.h"
#include "support/error.h"

namespace Atoll::engine {

class CompilerProcess {
 public:
  /// Starts one. Errors: it is not there, cannot be started, or memory is refused.
  /// `cache` is where it keeps what it makes, empty for nowhere.
  static support::Result<std::unique_ptr<CompilerProcess>> start(const std::string& cache);
  ~CompilerProcess();
  CompilerProcess(const CompilerProcess&) = delete;
  CompilerProcess& operator=(const CompilerProcess&) = delete;

  /// Hands over a request; the slot that the answer will come in, or nothing if it is too large or all are taken.
  /// Unless it is told to hurry, the compiler leaves the host's processors to everybody else.
  std::optional<uint32_t> post(std::span<const uint8_t> request, bool urgent);
  void set_priority(uint32_t slot);

  struct Answer {
    uint32_t slot;
    bool is_code;  ///< a TranslatedCode; otherwise text that says why there is none
    std::vector<uint8_t> bytes;
  };
  /// The answers that have come since the last call.
  std::vector<Answer> take_answers();
  /// Answers so far, whether taken or not: a look at memory.
  uint32_t answers() const { return channel_->answers.load(std::memory_order_acquire); }
  /// Sleeps until there are more than `seen`, or so many milliseconds.
  void wait_for_answer(uint32_t seen, long milliseconds) { futex_wait(channel_->answers, seen, milliseconds); }

  enum class Health : uint8_t {
    well,
    left,     ///< it ended because it had nothing to do
    died,     ///< and not of its own will
    refuses,  ///< it is of another build
  };
  Health health();
  /// Whether the request in this slot was being compiled (not only waiting) when the process ended.
  bool was_begun(uint32_t slot) const;

  pid_t process() const { return pid_; }
  /// Whether the calling process is the one that started it, not a fork of it.
  bool is_ours() const { return channel_->program == getpid(); }

 private:
  CompilerProcess() = default;
  CompilerChannel* channel_ = nullptr;
  pid_t pid_ = 0;
  timespec started_{};
};

/// The compiler's executable: $ATOLL_COMPILER, or libexec/atoll/atoll-compiler in a directory above the library (or
/// program) that this is part of.
support::Result<std::string> find_compiler();

}  // namespace Atoll::engine
