// engine/compiled: what a program has asked its compiler for, shared by all its GPUs.
//
// Requests wait here, the hottest in front; the compiler process, started with the first, gets some at a time. It works
// on them when the host has nothing else to do, on those that are in a hurry like any program. Nothing here waits for
// it (wait() apart): the engines look now and then whether answers have come.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/compiled/compiler_process.h"
#include "engine/compiled/host_code.h"
#include "engine/compiled/translation_cache.h"

namespace Atoll::engine {

struct Compilation {
  std::vector<uint8_t> request;  ///< a TranslationRequest; gone when it is done
  std::atomic<uint64_t> heat{0};
  bool hurry = false;  ///< it has been asked for at full priority; Compilations' own
  std::atomic<bool> done{false};
  // Set before `done`:
  std::shared_ptr<const HostCode> code;  ///< null: there is none, ...
  std::string failure;                   ///< ... because
  bool from_cache = false;
};

/// How much of a piece of code the interpreter runs: instructions, counted for whole waves.
struct Interpreted {
  uint64_t in_past_runs = 0;  ///< of programs (past_runs.h)
  uint64_t so_far = 0;        ///< in this run
  uint64_t ahead = 0;         ///< what this run is known to have still to do
  bool is_run_once = false;   ///< so far by a single dispatch, and what that has left is known
};

/// What compiling a piece of code is worth.
enum class CompilingIsWorth : uint8_t {
  nothing_yet,
  idle_time,     ///< of the host, which nobody else wants
  program_time,  ///< as much of the host's time as the program has
};
/// For code of so many instructions.
CompilingIsWorth compiling_is_worth(const Interpreted& interpreted, uint64_t instructions);

class Compilations {
 public:
  /// The process's own. It lives as long as the process does.
  static Compilations& of_process();

  /// Whether found() is worth a try for requests of this group (TranslationRequest::group_of).
  bool may_find(uint64_t group) const { return cache_ && cache_->has_group(group); }
  /// What has been spent on code, by the hash of the request for it. The compiler forgets it when it begins with one.
  PastRuns past_runs() const { return cache_ ? cache_->past_runs() : PastRuns(""); }
  /// Code that is there already, in this process or on disk; or null.
  std::shared_ptr<Compilation> find(const std::vector<uint8_t>& request);
  /// Asks for code, or for more of the same: the same request is worked on once.
  std::shared_ptr<Compilation> ask(std::vector<uint8_t> request, uint64_t heat);
  /// Takes what answers there are, and hands on what waits. Quick when there is nothing to do.
  void look();
  /// From now on the compilation is worth as much of the host's time as the program.
  void hurry(Compilation& compilation);
  void wait(Compilation& compilation);
  /// The compiler's process id; 0 while there is none.
  pid_t compiler();

 private:
  Compilations();
  std::shared_ptr<Compilation> find_cached(const std::vector<uint8_t>& request);
  void take_answers();
  void finish_answered();
  void hand_on();
  /// Posts the hottest of those that hurry or do not, while fewer than `most` of them are at the compiler.
  void post_hottest(bool hurry, size_t most);
  void check_health();
  void fail_waiting(const std::string& why);
  static void finish(Compilation& compilation, bool is_code, std::span<const uint8_t> answer);

  std::optional<TranslationCache> cache_;
  std::mutex mutex_;                                                  ///< of what follows
  std::map<std::vector<uint8_t>, std::shared_ptr<Compilation>> all_;  ///< by request
  std::vector<std::shared_ptr<Compilation>> waiting_;
  std::map<uint32_t, std::shared_ptr<Compilation>> at_compiler_;  ///< by slot
  std::unique_ptr<CompilerProcess> compiler_;
  uint32_t answers_seen_ = 0;
  unsigned deaths_ = 0;
  std::string unavailable_;  ///< why there is no compiler to be had
};

}  // namespace Atoll::engine
