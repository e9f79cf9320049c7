// observe: computes the frontiers of queues, signals and the host as packets are submitted, run and complete.
#include "observe/race/run_order.h"

#include <algorithm>

#include "machine/queue/aql.h"
#include "machine/wave/dispatch.h"

namespace Atoll::observe {

// --- The host's frontier ------------------------------------------------------------------------------------------

RunOrder::Shared RunOrder::host_now() {
  if (!host_shared_) host_shared_ = std::make_shared<const RunClock>(host_);
  return host_shared_;
}

/// Returns the host's frontier when it wrote the packet. Without a doorbell the current frontier is used.
RunOrder::Shared RunOrder::known_to_host(Queue& queue, uint64_t packet) {
  while (!queue.rung.empty() && queue.rung.front().first <= packet) queue.rung.pop_front();
  return queue.rung.empty() ? host_now() : queue.rung.front().second;
}

RunOrder::Queue* RunOrder::queue_at(uint64_t address) {
  const auto at = queues_.find(address);
  return at == queues_.end() ? nullptr : &at->second;
}

void RunOrder::queue_made(uint64_t queue) {
  const std::lock_guard lock(mutex_);
  queues_[queue] = {};  // a queue that was at this address before has been destroyed
  queues_[queue].chain = ++last_chain_;
}

void RunOrder::doorbell(uint64_t queue, uint64_t packets) {
  const std::lock_guard lock(mutex_);
  Queue* const found = queue_at(queue);
  if (found == nullptr) return;
  const Shared known = host_now();
  if (!found->rung.empty() && found->rung.back().first >= packets) return;
  if (!found->rung.empty() && found->rung.back().second == known) {
    found->rung.back().first = packets;
  } else {
    found->rung.emplace_back(packets, known);
  }
}

void RunOrder::copy_submitted(uint64_t copy) {
  const std::lock_guard lock(mutex_);
  submitted_[copy] = host_now();
}

// --- Signals ------------------------------------------------------------------------------------------------------

/// Everything in `clock` is complete, and the signal is about to change.
void RunOrder::completes(uint64_t signal, const RunClock& clock) {
  if (signal == 0) return;
  signals_[signal].learn(clock);
  if (!shown_.contains(signal)) return;
  host_.learn(clock);
  host_shared_ = nullptr;
}

void RunOrder::signal_seen(uint64_t signal, std::span<const uint32_t> writers) {
  const std::lock_guard lock(mutex_);
  const auto at = signals_.find(signal);
  if (at == signals_.end() && writers.empty()) return;
  if (at != signals_.end()) host_.learn(at->second);
  for (const uint32_t run : writers) host_.learn(after(run));
  host_shared_ = nullptr;
}

void RunOrder::signal_changes(uint64_t signal, bool replaces) {
  const std::lock_guard lock(mutex_);
  if (replaces) {
    signals_[signal] = host_;
  } else {
    signals_[signal].learn(host_);
  }
}

void RunOrder::signal_shown(uint64_t signal) {
  const std::lock_guard lock(mutex_);
  shown_.insert(signal);
  if (const auto at = signals_.find(signal); at != signals_.end()) host_.learn(at->second);
  host_shared_ = nullptr;
}

// --- Runs ---------------------------------------------------------------------------------------------------------

uint32_t RunOrder::begins(Shared before, Moment place) {
  const uint32_t number = runs_.add(1);
  if (number == 0) return 0;
  Run& run = runs_[number];
  run.begin = now_++;
  run.place = place;
  run.before = std::move(before);
  if (place.task != 0) live_[place.task] = std::max(live_[place.task], place.time);
  numbers_.push_back(number);
  if (outstanding_++ != 0 || live_.size() > 1) unordered_.store(true, std::memory_order_relaxed);
  return number;
}

/// Returns the frontier after a run that has ended.
RunClock RunOrder::after(uint32_t number) const {
  const Run& run = runs_[number];
  RunClock clock = run.before ? *run.before : RunClock{};
  if (run.place.task != 0) clock.runs.learn(run.place);
  return clock;
}

bool RunOrder::is_fresh(const VectorClock& host) const {
  return outstanding_ == 0 &&
         std::ranges::all_of(live_, [&](const auto& chain) { return host.of(chain.first) >= chain.second; });
}

/// Clears the history, which is ordered before everything that follows.
void RunOrder::start_afresh() {
  for (const uint32_t number : numbers_) runs_[number].before = nullptr;
  numbers_.clear();
  live_.clear();
  for (auto& [address, queue] : queues_) {
    queue.complete = {};
    queue.started = {};
    for (auto& rung : queue.rung) rung.second = nothing_;
  }
  for (auto& asked : submitted_) asked.second = nothing_;
  signals_.clear();
  host_ = {};
  host_shared_ = nullptr;
  unordered_.store(false, std::memory_order_relaxed);
}

RunOrder::Begun RunOrder::dispatch_begins(const machine::Dispatch& dispatch) {
  const std::lock_guard lock(mutex_);
  Queue* const queue = queue_at(dispatch.submission.queue_address);
  if (queue == nullptr) {
    const bool fresh = outstanding_ == 0;
    if (fresh) start_afresh();
    return {begins(nullptr, {}), fresh};
  }
  Shared host = known_to_host(*queue, dispatch.submission.dispatch_id);
  const bool fresh = is_fresh(host->runs);
  if (fresh) {
    start_afresh();
    host = host_now();
  }
  const bool waits = dispatch.submission.waits_for_earlier;
  if (waits) queue->complete.learn(std::exchange(queue->started, {}));
  RunClock before = queue->complete;
  before.learn(*host);
  const Moment place = waits ? Moment{queue->chain, ++queue->time} : Moment{++last_chain_, 1};
  queue->started.learn(before);
  queue->started.runs.learn(place);
  return {begins(std::make_shared<const RunClock>(std::move(before)), place), fresh};
}

void RunOrder::dispatch_ends(const machine::Dispatch& dispatch, uint32_t number, const VectorClock& waves) {
  const std::lock_guard lock(mutex_);
  --outstanding_;
  Run& run = runs_[number];
  run.end = now_++;
  RunClock clock = after(number);
  clock.waves.learn(waves);
  if (Queue* const queue = queue_at(dispatch.submission.queue_address)) queue->started.waves.learn(waves);
  if (!dispatch.progress.error) completes(dispatch.submission.completion_signal, clock);
}

void RunOrder::barrier_packet(const machine::BarrierPacketEvent& packet, std::span<const uint32_t> writers) {
  const std::lock_guard lock(mutex_);
  Queue* const queue = queue_at(packet.queue);
  if (queue == nullptr) return;
  if (packet.barrier_bit) queue->complete.learn(std::exchange(queue->started, {}));
  queue->complete.learn(*known_to_host(*queue, packet.packet));
  for (const uint64_t signal : packet.signals) {
    if (const auto at = signals_.find(signal); at != signals_.end()) queue->complete.learn(at->second);
  }
  for (const uint32_t run : writers) queue->complete.learn(after(run));
  completes(packet.completion_signal, queue->complete);
}

RunOrder::Begun RunOrder::copy_starts(uint64_t copy, std::span<const uint64_t> signals) {
  const std::lock_guard lock(mutex_);
  const auto asked = submitted_.find(copy);
  const Shared host = asked == submitted_.end() ? host_now() : asked->second;
  if (asked != submitted_.end()) submitted_.erase(asked);
  const bool fresh = is_fresh(host->runs);
  if (fresh) start_afresh();
  RunClock before = fresh ? RunClock{} : *host;
  for (const uint64_t signal : signals) {
    if (const auto at = signals_.find(signal); at != signals_.end()) before.learn(at->second);
  }
  return {begins(std::make_shared<const RunClock>(std::move(before)), {++last_chain_, 1}), fresh};
}

void RunOrder::copy_ends(uint32_t number, uint64_t completion_signal) {
  const std::lock_guard lock(mutex_);
  --outstanding_;
  runs_[number].end = now_++;
  completes(completion_signal, after(number));
}

uint32_t RunOrder::host_copies() {
  const std::lock_guard lock(mutex_);
  const uint32_t number = begins(host_now(), {++last_chain_, 1});
  if (number == 0) return 0;
  --outstanding_;
  runs_[number].end = now_++;
  host_.runs.learn(runs_[number].place);
  host_shared_ = nullptr;
  return number;
}

// --- Order --------------------------------------------------------------------------------------------------------

bool RunOrder::comes_before(uint32_t earlier, uint32_t later) const {
  const Run &first = runs_[earlier], &second = runs_[later];
  if (first.place.task == 0 || second.place.task == 0) {
    const uint64_t end = first.end.load(std::memory_order_acquire);
    return end != 0 && end < second.begin;
  }
  return second.before && second.before->runs.of(first.place.task) >= first.place.time;
}

}  // namespace Atoll::observe
