// engine/compiled: starts a program's compiler process (src/compiler), exchanges requests with it, and detects its
// death.
//
// It is invisible to the program: not its child (the program may wait for any child, or count SIGCHLD), with none of
// its descriptors. It ends when the program has ended and its current work is finished.
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
  /// Starts a compiler process. `cache`: cache directory; empty for none. Fails if the executable is missing or cannot
  /// be started, or shared memory cannot be allocated.
  static support::Result<std::unique_ptr<CompilerProcess>> start(const std::string& cache);
  ~CompilerProcess();
  CompilerProcess(const CompilerProcess&) = delete;
  CompilerProcess& operator=(const CompilerProcess&) = delete;

  /// Posts a request. Returns the slot of the answer, or nullopt if the request is too large or all slots are in use.
  /// Without `urgent` it is compiled at idle priority.
  std::optional<uint32_t> post(std::span<const uint8_t> request, bool urgent);
  void set_priority(uint32_t slot);

  struct Answer {
    uint32_t slot;
    bool is_code;  ///< a TranslatedCode; otherwise an error text
    std::vector<uint8_t> bytes;
  };
  /// Returns the answers since the last call.
  std::vector<Answer> take_answers();
  /// Returns the number of answers so far, taken or not, without a system call.
  uint32_t answers() const { return channel_->answers.load(std::memory_order_acquire); }
  /// Sleeps until there are more than `seen` answers, or the timeout in milliseconds.
  void wait_for_answer(uint32_t seen, long milliseconds) { futex_wait(channel_->answers, seen, milliseconds); }

  enum class Health : uint8_t {
    well,
    left,     ///< ended because it was idle
    died,     ///< ended unexpectedly
    refuses,  ///< its build differs
  };
  Health health();
  /// Returns whether the compiler had started on this slot's request when it ended.
  bool was_begun(uint32_t slot) const;

  pid_t process() const { return pid_; }
  /// Returns whether the calling process started it, as opposed to a fork.
  bool is_ours() const { return channel_->program == getpid(); }

 private:
  CompilerProcess() = default;
  CompilerChannel* channel_ = nullptr;
  pid_t pid_ = 0;
  timespec started_{};
};

/// Returns the path of the compiler: $ATOLL_COMPILER, or libexec/atoll/atoll-compiler in a directory above this library
/// or program.
support::Result<std::string> find_compiler();

}  // namespace Atoll::engine
