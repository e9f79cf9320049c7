// machine: stops waves between two instructions, and lets them go on. See wave_control.h.
#include "machine/wave_control.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "isa/decode.h"
#include "isa/effects.h"
#include "machine/gpu.h"
#include "machine/wave/dispatch.h"

namespace Atoll::machine {

namespace {

constexpr unsigned longest_instruction = 20;

bool contains(const WaveSelector& all, const WaveSelector& some) {
  return (all.dispatch == nullptr || all.dispatch == some.dispatch) &&
         (!all.work_group || all.work_group == some.work_group) && (!all.wave || all.wave == some.wave);
}

/// Returns where a call at the wave's PC returns to; nothing if there is no call.
std::optional<uint64_t> return_address(const Wave& wave) {
  const Dispatch* const dispatch = wave.work_group->dispatch;
  const std::span code(reinterpret_cast<const uint8_t*>(wave.pc), longest_instruction);
  const auto instruction = isa::decode(code, dispatch->gpu->processor(), wave.wave_size);
  if (!instruction || !isa::control_of(*instruction).is_call()) return std::nullopt;
  return wave.pc + instruction->size;
}

}  // namespace

WaveSelector WaveSelector::of(const Wave& wave) {
  const WorkGroup& group = *wave.work_group;
  return {
      .dispatch = group.dispatch, .work_group = std::array{group.id[0], group.id[1], group.id[2]}, .wave = wave.index};
}

bool WaveSelector::matches(const Wave& one) const { return contains(*this, of(one)); }

unsigned WaveControl::add_breakpoint(uint64_t pc, Condition condition) {
  return add(pc, std::move(condition), nullptr);
}

unsigned WaveControl::add(uint64_t pc, Condition condition, const Wave* only) {
  auto breakpoint = std::make_shared<Breakpoint>();
  breakpoint->pc = pc;
  breakpoint->condition = std::move(condition);
  breakpoint->only = only;
  unsigned number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++last_breakpoint_;
    breakpoints_.emplace(number, std::move(breakpoint));
    by_pc_.emplace(pc, number);
  }
  notify_engines(pc);
  return number;
}

void WaveControl::remove_breakpoint(unsigned number) {
  uint64_t pc = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = breakpoints_.find(number);
    if (found == breakpoints_.end()) return;
    pc = found->second->pc;
    breakpoints_.erase(found);
    std::erase_if(by_pc_, [&](const auto& entry) { return entry.second == number; });
  }
  notify_engines(pc);
}

uint64_t WaveControl::hits(unsigned number) const {
  const std::lock_guard lock(mutex_);
  const auto found = breakpoints_.find(number);
  return found != breakpoints_.end() ? found->second->hits.load() : 0;
}

bool WaveControl::has_breakpoint(uint64_t pc) const {
  const std::lock_guard lock(mutex_);
  return by_pc_.contains(pc);
}

bool WaveControl::has_breakpoint_in(uint64_t begin, uint64_t end) const {
  const std::lock_guard lock(mutex_);
  const auto first = by_pc_.lower_bound(begin);
  return first != by_pc_.end() && first->first < end;
}

void WaveControl::stop(const WaveSelector& waves) {
  const std::lock_guard lock(mutex_);
  requests_.push_back({waves, ++last_request_});
}

void WaveControl::stop_here(const Wave& wave) {
  const std::lock_guard lock(mutex_);
  set_stops_here(controls_[&wave], true);
}

void WaveControl::resume(const WaveSelector& waves) {
  notify_of_stale();
  const std::lock_guard lock(mutex_);
  std::erase_if(requests_, [&](const Request& request) { return contains(waves, request.waves); });
  for (auto& [wave, control] : controls_) {
    if (control.is_stopped && waves.matches(*wave)) let_go(control);
  }
}

bool WaveControl::step(const Wave& wave) {
  notify_of_stale();
  const std::lock_guard lock(mutex_);
  const auto found = controls_.find(&wave);
  if (found == controls_.end() || !found->second.is_stopped) return false;
  let_go(found->second);
  found->second.steps = true;
  found->second.step_has_begun = false;
  return true;
}

bool WaveControl::step_over(const Wave& wave) {
  if (!is_stopped(wave)) return false;
  const auto returns_to = return_address(wave);
  if (!returns_to) return step(wave);
  const unsigned breakpoint = add(*returns_to, {}, &wave);
  const std::lock_guard lock(mutex_);
  Control& control = controls_[&wave];
  let_go(control);
  control.return_breakpoint = breakpoint;
  return true;
}

std::vector<StoppedWave> WaveControl::stopped() const {
  std::vector<StoppedWave> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [wave, control] : controls_)
    if (control.is_stopped) all.push_back(control.stop);
  return all;
}

std::optional<StoppedWave> WaveControl::wait(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!stop_happened_.wait_for(lock, timeout, [&] { return !news_.empty(); })) return std::nullopt;
  const StoppedWave next = news_.front();
  news_.pop_front();
  return next;
}

void WaveControl::add_engine(BreakpointListener& engine) {
  const std::lock_guard lock(engines_mutex_);
  engines_.push_back(&engine);
}

void WaveControl::remove_engine(BreakpointListener& engine) {
  const std::lock_guard lock(engines_mutex_);
  std::erase(engines_, &engine);
}

bool WaveControl::steps(const Wave& wave) const {
  const std::lock_guard lock(mutex_);
  const auto found = controls_.find(&wave);
  return found != controls_.end() && found->second.steps;
}

bool WaveControl::on_breakpoint(Wave& wave, uint64_t pc) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = controls_.find(&wave);
    if (found != controls_.end() && found->second.passed != Passed::nothing && found->second.passed_pc == pc) {
      // The mark of passed events stays for takes_passed_events().
      if (found->second.passed == Passed::breakpoint) set_passed(found->second, Passed::nothing, 0);
      return false;
    }
  }
  const unsigned breakpoint = breakpoint_for(wave, pc);
  if (breakpoint == 0) return false;
  const std::lock_guard lock(mutex_);
  Control& control = controls_[&wave];
  set_passed(control, Passed::breakpoint, pc);
  wave.pc = pc;
  const bool has_returned = breakpoint == control.return_breakpoint;
  park(wave, control, has_returned ? StopReason::step : StopReason::breakpoint, has_returned ? 0 : breakpoint);
  return true;
}

unsigned WaveControl::breakpoint_for(const Wave& wave, uint64_t pc) {
  std::vector<std::pair<unsigned, std::shared_ptr<Breakpoint>>> here;
  {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = by_pc_.equal_range(pc);
    for (auto each = begin; each != end; ++each) here.emplace_back(each->second, breakpoints_.at(each->second));
  }
  unsigned stops_at = 0;
  for (const auto& [number, breakpoint] : here) {
    if (breakpoint->only != nullptr && breakpoint->only != &wave) continue;
    breakpoint->hits.fetch_add(1, std::memory_order_relaxed);
    if (breakpoint->condition && !breakpoint->condition(wave)) continue;
    if (stops_at == 0) stops_at = number;
  }
  return stops_at;
}

bool WaveControl::stops_here_after_events(Wave& wave, uint64_t pc) {
  const std::lock_guard lock(mutex_);
  const auto found = controls_.find(&wave);
  if (found == controls_.end() || !found->second.stops_here) return false;
  Control& control = found->second;
  set_stops_here(control, false);
  set_passed(control, Passed::events, pc);
  wave.pc = pc;
  park(wave, control, StopReason::observer);
  return true;
}

bool WaveControl::takes_passed_events(const Wave& wave, uint64_t pc) {
  const std::lock_guard lock(mutex_);
  const auto found = controls_.find(&wave);
  if (found == controls_.end() || found->second.passed != Passed::events) return false;
  const bool is_here = found->second.passed_pc == pc;
  set_passed(found->second, Passed::nothing, 0);
  return is_here;
}

bool WaveControl::before_run(Wave& wave) {
  const std::lock_guard lock(mutex_);
  const auto found = controls_.find(&wave);
  Control* const control = found != controls_.end() ? &found->second : nullptr;
  if (control != nullptr && control->is_stopped) return false;
  if (control != nullptr && control->steps) {
    control->step_has_begun = true;
    return true;
  }
  if (!is_requested(wave, control != nullptr ? control->seen : 0)) return true;
  park(wave, controls_[&wave], StopReason::requested);
  return false;
}

void WaveControl::after_run(Wave& wave) {
  bool has_stepped = false;
  {
    const std::lock_guard lock(mutex_);
    if (wave.state == WaveState::ended || wave.state == WaveState::faulted) return erase(wave);
    const auto found = controls_.find(&wave);
    if (found != controls_.end()) {
      Control& control = found->second;
      if (control.is_stopped) return;
      // A step requested before the stopping run has returned begins with the next run.
      if (control.steps && !control.step_has_begun) return;
      has_stepped = control.steps;
      if (!has_stepped && control.stops_here) {
        set_stops_here(control, false);
        return park(wave, control, StopReason::observer);
      }
    }
    if (!has_stepped) {
      const uint64_t seen = found != controls_.end() ? found->second.seen : 0;
      if (is_requested(wave, seen)) park(wave, controls_[&wave], StopReason::requested);
      return;
    }
  }
  const unsigned breakpoint = breakpoint_for(wave, wave.pc);
  const std::lock_guard lock(mutex_);
  Control& control = controls_[&wave];
  control.steps = control.step_has_begun = false;
  // The breakpoint has been counted, and is not to stop the wave again.
  const bool is_patched = by_pc_.contains(wave.pc);
  set_passed(control, is_patched ? Passed::breakpoint : Passed::nothing, wave.pc);
  park(wave, control, StopReason::step, breakpoint);
}

bool WaveControl::is_stopped(const Wave& wave) const {
  const std::lock_guard lock(mutex_);
  const auto found = controls_.find(&wave);
  return found != controls_.end() && found->second.is_stopped;
}

void WaveControl::forget(const WorkGroup& group) {
  const std::lock_guard lock(mutex_);
  for (const Wave& wave : group.waves) erase(wave);
}

bool WaveControl::has_stopped(const Dispatch& dispatch) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(controls_, [&](const auto& entry) {
    return entry.second.is_stopped && entry.first->work_group->dispatch == &dispatch;
  });
}

void WaveControl::park(Wave& wave, Control& control, StopReason reason, unsigned breakpoint) {
  end_return_breakpoint(control);  // step_over() has ended, wherever it did
  control.is_stopped = true;
  control.seen = last_request_;
  control.stop = {.wave = &wave, .reason = reason, .breakpoint = breakpoint};
  news_.push_back(control.stop);
  stop_happened_.notify_all();
}

void WaveControl::let_go(Control& control) {
  if (control.passed_pc != control.stop.wave->pc) set_passed(control, Passed::nothing, 0);
  control.is_stopped = false;
  control.seen = last_request_;
  std::erase_if(news_, [&](const StoppedWave& stop) { return stop.wave == control.stop.wave; });
}

bool WaveControl::is_requested(const Wave& wave, uint64_t seen) const {
  return std::ranges::any_of(
      requests_, [&](const Request& request) { return request.number > seen && request.waves.matches(wave); });
}

void WaveControl::set_passed(Control& control, Passed passed, uint64_t pc) {
  marks_ += (passed == Passed::events ? 1 : 0) - (control.passed == Passed::events ? 1 : 0);
  control.passed = passed;
  control.passed_pc = pc;
}

void WaveControl::set_stops_here(Control& control, bool stops) {
  marks_ += (stops ? 1 : 0) - (control.stops_here ? 1 : 0);
  control.stops_here = stops;
}

void WaveControl::erase(const Wave& wave) {
  const auto found = controls_.find(&wave);
  if (found == controls_.end()) return;
  set_passed(found->second, Passed::nothing, 0);
  set_stops_here(found->second, false);
  end_return_breakpoint(found->second);
  std::erase_if(news_, [&](const StoppedWave& stop) { return stop.wave == &wave; });
  controls_.erase(found);
}

/// The engines are notified later: this may be called with locks of theirs held.
void WaveControl::end_return_breakpoint(Control& control) {
  const auto found = breakpoints_.find(std::exchange(control.return_breakpoint, 0));
  if (found == breakpoints_.end()) return;
  stale_.push_back(found->second->pc);
  std::erase_if(by_pc_, [&](const auto& entry) { return entry.second == found->first; });
  breakpoints_.erase(found);
}

void WaveControl::notify_of_stale() {
  std::vector<uint64_t> stale;
  {
    const std::lock_guard lock(mutex_);
    stale.swap(stale_);
  }
  for (const uint64_t pc : stale) notify_engines(pc);
}

void WaveControl::notify_engines(uint64_t pc) {
  const std::lock_guard lock(engines_mutex_);
  for (BreakpointListener* engine : engines_) engine->breakpoint_changed(pc);
}

}  // namespace Atoll::machine
