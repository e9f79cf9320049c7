// machine: runs dispatches by a deterministic schedule (schedule.h).
//
// The thread of the dispatch's queue runs all of it. Some work-groups are resident at a time; each turn takes one of
// them, and lets each of its waves execute as many instructions as the schedule says. More begin when none of them ends
// for long: they may wait for work-groups that have not begun, as the blocks of a cooperative launch do.
#include "machine/schedule/schedule.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "machine/gpu.h"
#include "machine/schedule/scheduler.h"
#include "machine/schedule/time_slice.h"

namespace Atoll::machine {

support::Result<Schedule> parse_schedule(std::string_view text) {
  using enum Schedule::Kind;
  if (text == "fast") return Schedule{.kind = fast};
  if (text == "fair") return Schedule{.kind = fair};
  Schedule schedule{.kind = random};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), schedule.seed);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    return support::fail(support::ErrorKind::invalid_argument, "not a schedule; use fair, fast or a seed (a number)");
  return schedule;
}

namespace {

/// Work-groups that are resident at first. On hardware there are as many as fit; fewer need less of the host's memory.
constexpr size_t first_resident = 16;
/// Turns of a work-group in which none ends before more may begin.
constexpr uint64_t fruitless_turns = 4096;
/// Turns until the caller looks at other dispatches of its queue; and until the clock is read, for a timeout.
constexpr uint64_t turns_of_a_call = 16'384, turns_between_polls = 64;
/// A random turn gives a wave less than this many instructions, and none to a quarter of the waves.
constexpr uint64_t random_instructions = 48;

}  // namespace

/// How far a dispatch is.
struct ScheduledDispatch {
  ScheduledDispatch(const Schedule& schedule, uint64_t number)
      : kind(schedule.kind), random(ScheduleRandom(schedule.seed).next() ^ number) {}

  /// Sets the waves' order and budgets for one turn of a work-group.
  void draw(size_t waves) {
    order.resize(waves);
    budgets.assign(waves, 1);
    std::iota(order.begin(), order.end(), size_t{0});
    if (kind == Schedule::Kind::fair) return;
    for (size_t i = waves; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (uint64_t& budget : budgets) budget = random.below(4) == 0 ? 0 : 1 + random.below(random_instructions);
  }

  const Schedule::Kind kind;
  ScheduleRandom random;
  std::vector<std::unique_ptr<ResidentGroup>> resident;
  size_t next = 0;  ///< of `resident`, in a fair schedule
  size_t max_resident = first_resident;
  uint64_t turns = 0, fruitless_rounds = 0;
  std::vector<size_t> order;      ///< of waves
  std::vector<uint64_t> budgets;  ///< by wave
};

/// Starts the next work-group of the dispatch. Returns false if all have begun or it cannot start.
bool Scheduler::begin_scheduled(const std::shared_ptr<Dispatch>& begun, ScheduledDispatch& scheduled) {
  Dispatch& dispatch = *begun;
  const uint64_t limit = std::min<uint64_t>(scheduled.max_resident, dispatch.launch.max_resident);
  if (scheduled.resident.size() >= limit || dispatch.progress.cancelled.load()) return false;
  if (dispatch.progress.next_work_group.load() >= dispatch.launch.work_group_count) return false;
  TimeSlice slice{
      .dispatch = begun, .more_to_begin = nothing_to_begin_, .start = 0, .end = 0, .offer_at = UINT64_MAX, .now = 0};
  slice.resident = take_storage();
  if (auto prepared = slice.resident->prepare(dispatch, dispatch.gpu->engine()); !prepared) {
    give_back(std::move(slice.resident));
    cancel(dispatch, prepared.error());
    return false;
  }
  slice.taken = dispatch.progress.next_work_group.fetch_add(1);
  if (slice.taken >= dispatch.launch.work_group_count) {  // cancelled meanwhile
    slice.taken = 0;
    give_back(std::move(slice.resident));
    return false;
  }
  slice.taken_end = slice.taken + 1;
  slice.begin_taken();
  slice.begin_all_waves();
  scheduled.resident.push_back(std::move(slice.resident));
  return true;
}

bool Scheduler::work_by_schedule(const std::shared_ptr<Dispatch>& dispatch) {
  Dispatch& d = *dispatch;
  // Dispatches of several queues take turns; their order is that in which their threads come.
  const std::lock_guard turn(schedule_mutex_);
  if (d.progress.done.load()) return false;
  std::shared_ptr<ScheduledDispatch>& known = scheduled_[&d];
  if (known == nullptr) known = std::make_shared<ScheduledDispatch>(schedule_, dispatches_begun_++);
  const std::shared_ptr<ScheduledDispatch> kept = known;
  ScheduledDispatch& scheduled = *kept;
  bool any = false;
  for (uint64_t turns = 0; turns < turns_of_a_call; ++turns) {
    while (begin_scheduled(dispatch, scheduled)) {
    }
    if (scheduled.resident.empty()) break;
    any = true;
    const size_t index = scheduled.kind == Schedule::Kind::fair ? scheduled.next++ % scheduled.resident.size()
                                                                : scheduled.random.below(scheduled.resident.size());
    TimeSlice slice{.dispatch = dispatch,
                    .more_to_begin = nothing_to_begin_,
                    .start = 0,
                    .end = 0,
                    .offer_at = UINT64_MAX,
                    .now = 0};
    slice.resident = std::move(scheduled.resident[index]);
    slice.is_half_way = true;
    slice.begin_round();
    scheduled.draw(slice.wave_count());
    slice.order = scheduled.order.data();
    slice.budgets = scheduled.budgets.data();
    // Between polls only a faulting wave reads the clock.
    slice.poll_at = scheduled.turns++ % turns_between_polls == 0 ? 0 : UINT64_MAX;
    if (run(slice) != Outcome::ended) {
      scheduled.resident[index] = std::move(slice.resident);
      if (++scheduled.fruitless_rounds >= fruitless_turns * scheduled.resident.size()) {
        scheduled.max_resident *= 2;
        scheduled.fruitless_rounds = 0;
      }
      continue;
    }
    scheduled.fruitless_rounds = 0;
    if (scheduled.kind == Schedule::Kind::fair) scheduled.next = index;  // the next one moves up
    scheduled.resident.erase(scheduled.resident.begin() + static_cast<std::ptrdiff_t>(index));
    give_back(std::move(slice.resident));
    const bool is_last = scheduled.resident.empty() && d.progress.next_work_group.load() >= d.launch.work_group_count;
    if (is_last) scheduled_.erase(&d);  // before the dispatch may be gone
    count_ended(d, slice);
    if (is_last) return true;
  }
  if (scheduled.resident.empty()) scheduled_.erase(&d);
  return any;
}

}  // namespace Atoll::machine
