// hsa: asynchronous copies. A thread acts as the DMA engines: it executes a copy once all its dependencies are zero,
// independent of other copies, and then decrements the completion signal.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "hsa/queue/signal.h"
#include "machine/queue/event_count.h"
#include "machine/queue/signal_watch.h"

namespace Atoll::hsa {

class CopyEngine {
 public:
  CopyEngine() = default;
  CopyEngine(const CopyEngine&) = delete;
  CopyEngine& operator=(const CopyEngine&) = delete;
  ~CopyEngine();  ///< pending work is dropped

  /// Runs `work` when all `dependencies` are zero, and then decrements `completion`. If it returns false (unmapped
  /// memory), the signal becomes -1. `here`: it may run before the call returns if nothing is pending.
  hsa_status_t submit(std::function<bool()> work, std::vector<Signal*> dependencies, Signal* completion, bool here);

 private:
  struct Job {
    std::function<bool()> work;
    std::vector<Signal*> dependencies;   ///< not yet seen to be zero
    Signal* completion;                  ///< may be null
    machine::SignalWatch watch{};        ///< of the first dependency
    uint64_t number = 0;                 ///< for observers of copy order; 0: none
    std::vector<uint64_t> waited_for{};  ///< likewise, all dependencies
  };
  using Jobs = std::list<Job>;  // moved to the thread without allocating

  static bool is_ready(Job& job);  ///< drops satisfied dependencies
  static void carry_out(Job& job);
  static void give_up(Job& job);  ///< releases its signals
  void loop();

  std::mutex mutex_;
  Jobs new_jobs_;
  machine::EventCount changed_;
  std::atomic<bool> has_news_{false}, stopping_{false};
  std::thread thread_;
};

/// Reports a requested copy, or a fill (`from` is null), to the observer on the program's thread.
void report_async_copy(const void* to, const void* from, size_t size, std::string_view function);

/// Reports a completed copy or fill.
void report_finished_copy(const void* to, const void* from, size_t size, std::string_view function);

/// Copies bytes between program addresses that may be unmapped. On a fault, prints a report in the function's name and
/// returns false.
bool move_bytes(void* to, const void* from, size_t size, std::string_view function);

/// Validates the dependency arguments of a command and looks up the signals.
hsa_status_t collect_dependencies(uint32_t count, const hsa_signal_t* handles, std::vector<Signal*>& signals);

}  // namespace Atoll::hsa
