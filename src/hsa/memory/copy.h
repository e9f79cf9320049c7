// hsa: asynchronous copies. A thread plays the part of the DMA engines: it executes a copy once all the
// signals that it depends on are zero, whatever else waits, and then takes one off its completion signal.
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

  /// Does `work` when all of `dependencies` are zero, and takes one off `completion`; when it returns false, as memory
  /// that it touches is not there, the signal becomes -1. With `here` it may be done before the call returns, when
  /// nothing needs to be waited for.
  hsa_status_t submit(std::function<bool()> work, std::vector<Signal*> dependencies, Signal* completion, bool here);

 private:
  struct Job {
    std::function<bool()> work;
    std::vector<Signal*> dependencies;   ///< that have not been seen to be zero
    Signal* completion;                  ///< may be null
    machine::SignalWatch watch{};        ///< of the first dependency
    uint64_t number = 0;                 ///< for who watches what orders copies; 0: nobody does
    std::vector<uint64_t> waited_for{};  ///< likewise, all dependencies
  };
  using Jobs = std::list<Job>;  // they go to the thread without memory being asked for

  static bool is_ready(Job& job);  ///< drops dependencies that are met
  static void carry_out(Job& job);
  static void give_up(Job& job);  ///< lets go of its signals
  void loop();

  std::mutex mutex_;
  Jobs new_jobs_;
  machine::EventCount changed_;
  std::atomic<bool> has_news_{false}, stopping_{false};
  std::thread thread_;
};

/// Tells whoever checks of a copy, or with null as `from` of a fill, that the program asks for; on its thread.
void report_async_copy(const void* to, const void* from, size_t size, std::string_view function);

/// Tells of a copy, or a fill, that has been carried out.
void report_finished_copy(const void* to, const void* from, size_t size, std::string_view function);

/// Moves bytes between places that may not be there, as all addresses are the program's; false when they are not, with
/// a report in the function's name.
bool move_bytes(void* to, const void* from, size_t size, std::string_view function);

/// Checks the arguments that say which signals a command waits for, and looks them up.
hsa_status_t collect_dependencies(uint32_t count, const hsa_signal_t* handles, std::vector<Signal*>& signals);

}  // namespace Atoll::hsa
