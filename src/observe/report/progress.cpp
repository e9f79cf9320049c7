// observe: prints progress lines at intervals.
#include "observe/report/progress.h"

#include <fmt/format.h>

#include "machine/wave/dispatch.h"
#include "support/demangle.h"

namespace Atoll::observe {

void Progress::dispatch_begins(const machine::Dispatch& dispatch) {
  const Clock::time_point now = now_();
  const std::lock_guard lock(mutex_);
  running_[&dispatch] = {.begin = now, .reported = now};
}

void Progress::dispatch_ends(const machine::Dispatch& dispatch) {
  const std::lock_guard lock(mutex_);
  running_.erase(&dispatch);
}

void Progress::work_group_ends(const machine::WorkGroup& group) {
  const machine::Dispatch& dispatch = *group.dispatch;
  const Clock::time_point now = now_();
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    const auto at = running_.find(&dispatch);
    if (at == running_.end()) return;
    Running& running = at->second;
    ++running.ended;
    if (now - running.reported < interval || running.ended == dispatch.launch.work_group_count) return;
    running.reported = now;
    text = fmt::format("atoll: checking kernel '{}': {} of {} work-groups in {} seconds\n",
                       support::demangled(dispatch.kernel->name), running.ended, dispatch.launch.work_group_count,
                       std::chrono::duration_cast<std::chrono::seconds>(now - running.begin).count());
  }
  tell_(text);
}

}  // namespace Atoll::observe
