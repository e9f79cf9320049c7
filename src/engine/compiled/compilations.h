// engine/compiled: what a program has asked its compiler for, shared by all its GPUs.
//
// Requests wait here, those in front that the interpreter spends most on for what compiling them costs; the compiler
// process, started with the first, gets some at a time. It works on them when the host has nothing else to do, on those
// that are in a hurry like any program. For these, threads that run waves make room where the host has no processor to
// spare: the sooner the code is there, the less is interpreted. Otherwise nothing here waits for the compiler (wait()
// apart): the engines look now and then whether answers have come.
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
  std::vector<uint8_t> request;  ///< a TranslationRequest; gone when it is done
  std::atomic<uint64_t> hotness{0};
  CompilingCost cost;
  // Compilations' own:
  bool urgent = false;      ///< it has been asked for at full priority
  uint64_t room_until = 0;  ///< on machine::now_ns(): when threads no longer make room for it

  std::atomic<bool> done{false};
  // Set before `done`:
  std::shared_ptr<const HostCode> code;  ///< null: there is none, ...
  std::string failure;                   ///< ... because
  bool from_cache = false;
};

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
  std::shared_ptr<Compilation> ask(std::vector<uint8_t> request, uint64_t hotness, const CompilingCost& cost);
  /// Takes what answers there are, and hands on what waits. Quick when there is nothing to do.
  void look();
  /// From now on the compilation is worth as much of the host's time as the program.
  void set_priority(Compilation& compilation);
  void wait(Compilation& compilation);
  /// How many the compiler has been given in a hurry, and has not answered as far as is known.
  unsigned urgent() const { return hurried_.load(std::memory_order_relaxed); }
  /// Called by one of `threads` threads that run waves: while the compiler is at something in a hurry, and has no
  /// processor for it but one of theirs, the calling thread sleeps, unless others do so already, until there are
  /// answers or `may_sleep` says no, which is asked every millisecond. True: it has slept.
  bool yield_to_compiler(unsigned threads, const std::function<bool()>& may_sleep);
  /// The compiler's process id; 0 while there is none.
  pid_t compiler();

 private:
  Compilations();
  std::shared_ptr<Compilation> find_cached(const std::vector<uint8_t>& request);
  void take_answers();
  void finish_answered();
  void hand_on();
  /// Posts the hottest of those that hurry or do not, while fewer than `most` of them are at the compiler.
  void post_hottest(bool urgent, size_t most);
  void check_health();
  unsigned threads_to_yield(unsigned threads) const;
  void fail_waiting(const std::string& why);
  static void finish(Compilation& compilation, bool is_code, std::span<const uint8_t> answer);

  std::optional<TranslationCache> cache_;
  std::mutex mutex_;                                                  ///< of what follows
  std::map<std::vector<uint8_t>, std::shared_ptr<Compilation>> all_;  ///< by request
  std::vector<std::shared_ptr<Compilation>> waiting_;
  std::map<uint32_t, std::shared_ptr<Compilation>> at_compiler_;  ///< by slot
  std::shared_ptr<CompilerProcess> compiler_;
  uint32_t answers_seen_ = 0;
  unsigned deaths_ = 0;
  std::string unavailable_;  ///< why there is no compiler to be had

  std::atomic<unsigned> hurried_{0};      ///< at the compiler in a hurry; changed under the mutex
  std::atomic<unsigned> making_room_{0};  ///< threads
};

}  // namespace Atoll::engine
