// engine/compiled: the queue of translation requests, shared by all GPUs of the process.
//
// Requests wait here, ordered by interpretation time relative to compilation cost. The compiler process starts with the
// first request and takes several at a time. It runs at idle priority, except for urgent requests. For these, threads
// that run waves yield to it if the host has no idle processor: the sooner the code arrives, the less is interpreted.
// Except in wait(), nothing here blocks on the compiler; engines poll for answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/compiled/compiler_process.h"
#include "engine/compiled/compiling_worth.h"
#include "engine/compiled/host_code.h"
#include "engine/compiled/translation_cache.h"

namespace Atoll::engine {

struct Compilation {
  std::vector<uint8_t> request;  ///< a TranslationRequest; freed when it is done
  std::atomic<uint64_t> hotness{0};
  CompilingCost cost;
  // Private to Compilations:
  bool urgent = false;      ///< requested at full priority
  uint64_t room_until = 0;  ///< machine::now_ns() until which threads yield for it

  std::atomic<bool> done{false};
  // Set before `done`:
  std::shared_ptr<const HostCode> code;  ///< null: failed, see `failure`
  std::string failure;                   ///< reason of the failure
  bool from_cache = false;
};

class Compilations {
 public:
  /// Returns the process-wide object, which is never destroyed.
  static Compilations& of_process();

  /// Returns whether find() may succeed for requests of this group (TranslationRequest::group_of).
  bool may_find(uint64_t group) const { return cache_ && cache_->has_group(group); }
  /// Returns the interpretation time of past runs, by request hash. The compiler clears an entry when it starts on it.
  PastRuns past_runs() const { return cache_ ? cache_->past_runs() : PastRuns(""); }
  /// Returns code that exists in this process or on disk, or null.
  std::shared_ptr<Compilation> find(const std::vector<uint8_t>& request);
  /// Requests code, or raises the hotness of a pending request.
  std::shared_ptr<Compilation> ask(std::vector<uint8_t> request, uint64_t hotness, const CompilingCost& cost);
  /// Takes available answers and posts waiting requests. Fast if there are none.
  void look();
  /// Raises the compilation to the program's priority.
  void set_priority(Compilation& compilation);
  void wait(Compilation& compilation);
  /// Returns the number of urgent requests at the compiler that are unanswered.
  unsigned urgent() const { return hurried_.load(std::memory_order_relaxed); }
  /// Called by one of `threads` threads that run waves. If the compiler works on an urgent request and has no processor
  /// of its own, the thread sleeps, unless others already do, until answers arrive or `may_sleep` returns false (polled
  /// every millisecond). Returns true if it has slept.
  bool yield_to_compiler(unsigned threads, const std::function<bool()>& may_sleep);
  /// Returns the compiler's process ID; 0: not running.
  pid_t compiler();

 private:
  Compilations();
  std::shared_ptr<Compilation> find_cached(const std::vector<uint8_t>& request);
  void take_answers();
  void finish_answered();
  void hand_on();
  /// Posts the hottest requests of that priority while fewer than `most` are at the compiler.
  void post_hottest(bool urgent, size_t most);
  void check_health();
  unsigned threads_to_yield(unsigned threads) const;
  void fail_waiting(const std::string& why);
  static void finish(Compilation& compilation, bool is_code, std::span<const uint8_t> answer);

  std::optional<TranslationCache> cache_;
  std::mutex mutex_;                                                  ///< protects the following members
  std::map<std::vector<uint8_t>, std::shared_ptr<Compilation>> all_;  ///< by request
  std::vector<std::shared_ptr<Compilation>> waiting_;
  std::map<uint32_t, std::shared_ptr<Compilation>> at_compiler_;  ///< by slot
  std::shared_ptr<CompilerProcess> compiler_;
  uint32_t answers_seen_ = 0;
  unsigned deaths_ = 0;
  std::string unavailable_;  ///< why the compiler is unavailable

  std::atomic<unsigned> hurried_{0};      ///< urgent requests at the compiler; changed under the mutex
  std::atomic<unsigned> making_room_{0};  ///< number of yielding threads
};

}  // namespace Atoll::engine
