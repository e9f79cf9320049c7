// machine: the packet processor: one thread per queue that takes packets from the ring in order.
//
// Packets start in order. A kernel runs on the queue's own thread (scheduler.h) and has mostly ended when the next
// packet is looked at. One that runs longer stays in flight: between two time slices the thread looks at
// the ring, and a packet whose barrier bit is clear may start beside it; if there is one already, the kernel is left
// to other threads soon. A packet with the barrier bit waits until nothing is in flight.
//
// Host memory is coherent, so the acquire and release scopes of a packet ask for nothing beyond the ordering that
// the atomic accesses to headers, indices and signals give anyway.
//
// Source: HSA system architecture, "User mode queuing" and "Architected Queuing Language".
#include "machine/queue/queue.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "machine/observer.h"
#include "machine/queue/event_count.h"
#include "machine/queue/packet_processor.h"
#include "machine/queue/signal.h"
#include "machine/queue/signal_watch.h"
#include "machine/report/fault_guard.h"

namespace Atoll::machine {

namespace {

using support::Error;
using support::ErrorKind;
using support::fail;

constexpr uint32_t packet_bytes = 64;
/// Dispatches of one queue that may overlap when no barrier bit keeps them apart.
constexpr size_t max_in_flight = 16;
/// How long an idle queue watches its ring before its thread sleeps.
constexpr uint64_t spin_for_packet_ns = 50'000;
/// And how long one watches the signals that its next packet waits for.
constexpr uint64_t spin_for_dependencies_ns = 10'000;
/// Polling interval when idle: the doorbell may ring before packets are valid, and kernels ring silently.
constexpr Recheck idle_recheck{.least_ns = 1'000'000'000, .max_ns = 8'000'000'000}, polling_recheck{};
constexpr int64_t destroyed_signal_kind = 0;  ///< AMD_SIGNAL_KIND_INVALID
constexpr uint8_t amd_barrier_value = 2;      ///< HSA_AMD_PACKET_TYPE_BARRIER_VALUE

aql::Signal& signal_at(uint64_t handle) { return *reinterpret_cast<aql::Signal*>(handle); }

/// A program has destroyed a signal too early, which hardware would write to all the same.
[[gnu::cold]] void report_destroyed(uint64_t handle) {
  static std::atomic_flag reported;
  if (reported.test_and_set()) return;
  fmt::print(stderr,
             "atoll: the completion signal {:#x} of a packet was destroyed before the packet was complete; the packet "
             "processor writes to it all the same\n",
             handle);
}

/// Writes the times and decrements; an error when the handle is no signal.
support::Result<void> complete(uint64_t handle, uint64_t start_ns, uint64_t end_ns) {
  if (handle == 0) return {};
  HostFault fault;
  const bool done = guarded(fault, [&] {
    aql::Signal& signal = signal_at(handle);
    if (signal.kind == destroyed_signal_kind) report_destroyed(handle);
    // Atomic because several dispatches may complete the same signal at once.
    __atomic_store_n(&signal.start_ts, start_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&signal.end_ts, end_ns, __ATOMIC_RELAXED);
    add(signal, -1);
  });
  if (done) return {};
  return fail(ErrorKind::invalid_argument, "the completion signal {:#x} of the packet is not a signal", handle);
}

class PacketProcessor final : public Queue {
 public:
  /// `ring` and `abi`: guest memory, which it frees at its end.
  PacketProcessor(QueueOptions options, const target::GpuModel& model, Memory& memory, uint64_t ring, uint64_t abi,
                  Scheduler& scheduler, Launch launch);
  ~PacketProcessor() override;
  PacketProcessor(const PacketProcessor&) = delete;
  PacketProcessor& operator=(const PacketProcessor&) = delete;

  bool is_own_thread() const override { return std::this_thread::get_id() == thread_.get_id(); }
  aql::Queue* abi() override { return &abi_; }
  void ring_doorbell(uint64_t packet_id) override;
  void inactivate() override;
  void set_profiling(bool enabled) override;
  void set_compute_units(std::vector<uint16_t> numbers) override;

 private:
  enum class Step : uint8_t {
    advanced,  ///< a packet was started or done
    nothing,   ///< no packet
    held,      ///< a packet waits for what is in flight
    blocked,   ///< a barrier packet waits for signals
  };

  enum class Barrier : uint8_t { open, closed, broken };

  void process();
  void process_next();
  Step advance();
  Step dispatch_kernel(const uint8_t* slot);
  Step pass_barrier(uint64_t completion_signal);
  void report_barrier(uint64_t completion_signal);
  Step dispatch_agent(const uint8_t* slot);
  bool dependencies_met();
  void watch_dependencies(std::span<SignalWatch> watches);
  Barrier look_at_barrier();
  Step finish_packet(uint64_t completion_signal);
  Step fail_packet(Error error, uint64_t completion_signal, PacketFault fault = PacketFault::format);
  PacketFault fault_of(const aql::KernelDispatchPacket& packet, ErrorKind refusal) const;
  void retire();
  void on_dispatch_done(Dispatch& dispatch);
  void reap();
  void report(const QueueError& error);
  void rest(Step step);

  uint8_t* slot(uint64_t id) { return ring_ + (id & (abi_.size - 1)) * packet_bytes; }
  uint16_t header(uint64_t id) { return __atomic_load_n(reinterpret_cast<uint16_t*>(slot(id)), __ATOMIC_ACQUIRE); }
  bool packet_there(uint64_t id) { return aql::packet_type(header(id)) != aql::PacketType::invalid; }
  /// True if a packet is there or the ring is unmapped, which advance() detects.
  bool may_be_there(uint64_t id) {
    bool there = false;
    HostFault fault;
    return !guarded(fault, [&] { there = packet_there(id); }) || there;
  }
  /// Whether the packet with this header need not wait for what is in flight.
  bool may_start_now(uint16_t head) const {
    return in_flight_.empty() || (!aql::barrier_bit(head) && in_flight_.size() < max_in_flight);
  }
  bool next_kernel_may_start() {
    uint16_t head = 0;
    HostFault fault;
    if (!guarded(fault, [&] { head = header(next_); })) return false;
    return active() && aql::packet_type(head) == aql::PacketType::kernel_dispatch && may_start_now(head);
  }
  bool work_on(const std::shared_ptr<Dispatch>& dispatch) {
    return scheduler_.work_on(dispatch, [this] { return next_kernel_may_start(); });
  }
  bool active() const { return !stopping_.load(std::memory_order_relaxed) && !failed_; }

  aql::Queue& abi_;
  QueueOptions options_;
  Memory& memory_;
  uint32_t lds_bytes_;
  uint8_t* ring_;
  Scheduler& scheduler_;
  Launch launch_;

  // The queue's thread alone uses these.
  uint64_t next_ = 0;       ///< number of the packet that is looked at
  uint32_t satisfied_ = 0;  ///< of a barrier packet: dependencies that were seen fulfilled, a bit each
  uint64_t packet_seen_ns_ = 0;
  std::vector<std::shared_ptr<Dispatch>> in_flight_;
  bool failed_ = false;

  std::atomic<uint64_t> doorbell_{0};  ///< number after the last packet that was rung for
  std::atomic<bool> stopping_{false}, cancelling_{false};
  std::mutex mutex_;
  std::vector<Dispatch*> ended_;                                ///< of those in flight; under the mutex
  std::shared_ptr<const std::vector<uint16_t>> compute_units_;  ///< under the mutex; null: all
  std::atomic<bool> has_compute_units_{false};                  ///< they are not null
  std::atomic<size_t> ended_count_{0};
  EventCount activity_;
  std::thread thread_;
};

PacketProcessor::PacketProcessor(QueueOptions options, const target::GpuModel& model, Memory& memory, uint64_t ring,
                                 uint64_t abi, Scheduler& scheduler, Launch launch)
    : abi_(*new(reinterpret_cast<void*>(abi)) aql::Queue{}),
      options_(std::move(options)),
      memory_(memory),
      lds_bytes_(model.target.processor->lds_bytes),
      ring_(reinterpret_cast<uint8_t*>(ring)),
      scheduler_(scheduler),
      launch_(std::move(launch)) {
  static std::atomic<uint64_t> queues{0};
  describe_gpu(abi_, model);
  // HSA_QUEUE_TYPE_MULTI, _SINGLE, _COOPERATIVE; HSA_QUEUE_FEATURE_KERNEL_DISPATCH, _AGENT_DISPATCH.
  abi_.type = options_.cooperative ? 2 : options_.multi_producer ? 0 : 1;
  abi_.features = 1u | (options_.on_agent_dispatch ? 2u : 0u);
  abi_.base_address = ring;
  abi_.doorbell_signal = reinterpret_cast<uint64_t>(options_.doorbell);
  abi_.size = options_.size;
  abi_.id = queues.fetch_add(1);
  abi_.queue_inactive_signal = options_.queue_inactive_signal;
  for (uint32_t i = 0; i < options_.size; ++i) {
    const auto invalid = static_cast<uint16_t>(aql::PacketType::invalid);
    std::memcpy(slot(i), &invalid, sizeof invalid);
  }
  in_flight_.reserve(max_in_flight);
  ended_.reserve(max_in_flight);
  thread_ = std::thread([this] { process(); });
  pthread_setname_np(thread_.native_handle(), "atoll-queue");
}

PacketProcessor::~PacketProcessor() {
  // In this order: a queue that is cancelled and does not stop has been inactivated, which is an error to report.
  stopping_ = true;
  cancelling_ = true;
  activity_.notify();
  thread_.join();
  if (options_.on_destroy) options_.on_destroy(abi_);
  static_cast<void>(memory_.free(reinterpret_cast<uint64_t>(ring_)));
  static_cast<void>(memory_.free(reinterpret_cast<uint64_t>(&abi_)));
}

void PacketProcessor::ring_doorbell(uint64_t packet_id) {
  if (options_.observer != nullptr) options_.observer->doorbell(reinterpret_cast<uint64_t>(&abi_), packet_id + 1);
  // Producers may ring in any order and with any value, so the value is only a hint how far to look.
  uint64_t known = doorbell_.load(std::memory_order_relaxed);
  while (packet_id + 1 > known && !doorbell_.compare_exchange_weak(known, packet_id + 1)) {
  }
  activity_.notify();
}

void PacketProcessor::inactivate() {
  cancelling_ = true;
  activity_.notify();
}

void PacketProcessor::set_profiling(bool enabled) {
  constexpr uint32_t enable_profiling = 1u << 3;  // AMD_QUEUE_PROPERTIES_ENABLE_PROFILING
  if (enabled) {
    __atomic_fetch_or(&abi_.queue_properties, enable_profiling, __ATOMIC_RELAXED);
  } else {
    __atomic_fetch_and(&abi_.queue_properties, ~enable_profiling, __ATOMIC_RELAXED);
  }
}

void PacketProcessor::process() {
  while (!stopping_.load(std::memory_order_relaxed) || !in_flight_.empty()) {
    try {
      process_next();
    } catch (const std::exception&) {
      // Memory is out: a message that needs none.
      report({.kind = ErrorKind::out_of_resources, .message = "out of memory", .packet_id = next_});
    }
  }
}

void PacketProcessor::process_next() {
  reap();
  if (cancelling_.exchange(false)) {
    for (const auto& dispatch : in_flight_) {
      scheduler_.cancel(*dispatch, {ErrorKind::aborted, "the queue was destroyed or inactivated"});
    }
    if (active()) report({.kind = ErrorKind::aborted, .message = "the queue was inactivated"});
  }
  const Step step = active() ? advance() : Step::nothing;
  if (step == Step::advanced) return;
  bool worked = false;
  for (const auto& dispatch : in_flight_) worked |= work_on(dispatch);
  if (!worked) rest(step);
}

/// Sleeps until there may be something to do.
void PacketProcessor::rest(Step step) {
  const auto wanted = [&] {
    return stopping_.load(std::memory_order_relaxed) || cancelling_.load(std::memory_order_relaxed) ||
           ended_count_.load(std::memory_order_acquire) != 0 ||
           std::ranges::any_of(in_flight_, [](const auto& dispatch) {
             return dispatch->progress.preemption_count.load(std::memory_order_relaxed) != 0;
           });
  };
  if (step == Step::blocked) {
    SignalWatch watches[std::size(decltype(aql::BarrierPacket::dep_signal){})];
    watch_dependencies(watches);
    activity_.wait_until(
        UINT64_MAX, spin_for_dependencies_ns, [&] { return wanted() || look_at_barrier() != Barrier::closed; },
        recheck_of_signals(true));
    return;
  }
  // A packet that may not start yet is no reason to wake. Whether there was one is for advance() to say: a look at the
  // ring now would take one that has just arrived for it.
  const bool watch_ring = active() && step != Step::held;
  const bool announced = doorbell_.load(std::memory_order_relaxed) > next_;
  const Recheck recheck = announced || !in_flight_.empty() ? polling_recheck : idle_recheck;
  activity_.wait_until(
      UINT64_MAX, spin_for_packet_ns, [&] { return wanted() || (watch_ring && may_be_there(next_)); }, recheck);
}

PacketProcessor::Step PacketProcessor::advance() {
  uint16_t head = 0;
  HostFault fault;
  if (!guarded(fault, [&] { head = header(next_); }))
    return fail_packet(
        {ErrorKind::memory_fault, fmt::format("packet {} of the queue cannot be read: the ring at {:#x} is not mapped",
                                              next_, reinterpret_cast<uint64_t>(slot(next_)))},
        0);
  const aql::PacketType type = aql::packet_type(head);
  if (type == aql::PacketType::invalid) return Step::nothing;
  if (!may_start_now(head)) return Step::held;
  if (packet_seen_ns_ == 0) packet_seen_ns_ = now_ns();
  const uint8_t* packet = slot(next_);
  switch (type) {
    case aql::PacketType::kernel_dispatch:
      return dispatch_kernel(packet);
    case aql::PacketType::barrier_and:
    case aql::PacketType::barrier_or:
      return pass_barrier(reinterpret_cast<const aql::BarrierPacket*>(packet)->completion_signal);
    case aql::PacketType::agent_dispatch:
      return dispatch_agent(packet);
    case aql::PacketType::vendor_specific: {
      const auto* barrier = reinterpret_cast<const aql::BarrierValuePacket*>(packet);
      if (barrier->amd_format == amd_barrier_value) return pass_barrier(barrier->completion_signal);
      return fail_packet({ErrorKind::unsupported, fmt::format("packet {} is vendor-specific with the unknown format {}",
                                                              next_, barrier->amd_format)},
                         0);
    }
    case aql::PacketType::invalid:
      break;
  }
  return fail_packet({ErrorKind::invalid_argument,
                      fmt::format("packet {} has the unknown type {}", next_, static_cast<unsigned>(type))},
                     0);
}

void PacketProcessor::set_compute_units(std::vector<uint16_t> numbers) {
  const std::lock_guard lock(mutex_);
  compute_units_ = numbers.empty() ? nullptr : std::make_shared<const std::vector<uint16_t>>(std::move(numbers));
  has_compute_units_ = compute_units_ != nullptr;
}

PacketProcessor::Step PacketProcessor::dispatch_kernel(const uint8_t* packet) {
  aql::KernelDispatchPacket copy;
  std::memcpy(&copy, packet, sizeof copy);
  auto launched = launch_(copy, reinterpret_cast<uint64_t>(&abi_), next_);
  if (!launched) {
    return fail_packet(launched.error(), copy.completion_signal, fault_of(copy, launched.error().kind));
  }
  std::shared_ptr<Dispatch> dispatch = std::move(*launched);
  dispatch->progress.on_done = [this](Dispatch& done) { on_dispatch_done(done); };
  if (has_compute_units_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    dispatch->compute_units = compute_units_;
  }
  in_flight_.push_back(dispatch);
  retire();
  work_on(dispatch);
  return Step::advanced;
}

/// Whether what the barrier packet at the head waits for has come true. A dependency of a barrier-AND counts as
/// fulfilled for good once it was seen to be 0.
bool PacketProcessor::dependencies_met() {
  const uint8_t* packet = slot(next_);
  const aql::PacketType type = aql::packet_type(header(next_));
  if (type == aql::PacketType::vendor_specific) {
    const auto* barrier = reinterpret_cast<const aql::BarrierValuePacket*>(packet);
    if (barrier->signal == 0) return true;
    const int64_t value = load(signal_at(barrier->signal)) & barrier->mask;
    return holds(static_cast<Condition>(barrier->condition & 3), value, barrier->value);
  }
  const auto* barrier = reinterpret_cast<const aql::BarrierPacket*>(packet);
  uint32_t dependencies = 0;
  for (unsigned i = 0; i < std::size(barrier->dep_signal); ++i) {
    if (barrier->dep_signal[i] == 0) continue;
    dependencies |= 1u << i;
    if (load(signal_at(barrier->dep_signal[i])) == 0) satisfied_ |= 1u << i;
  }
  if (dependencies == 0) return true;
  return type == aql::PacketType::barrier_and ? satisfied_ == dependencies : satisfied_ != 0;
}

/// Has `activity_` notified of changes of the signals that the barrier packet at the head waits for.
void PacketProcessor::watch_dependencies(std::span<SignalWatch> watches) {
  const uint8_t* packet = slot(next_);
  if (aql::packet_type(header(next_)) == aql::PacketType::vendor_specific) {
    const uint64_t signal = reinterpret_cast<const aql::BarrierValuePacket*>(packet)->signal;
    if (signal != 0) watches.front().start(signal_at(signal), activity_);
    return;
  }
  for (size_t i = 0; i < watches.size(); ++i) {
    const uint64_t signal = reinterpret_cast<const aql::BarrierPacket*>(packet)->dep_signal[i];
    if (signal != 0) watches[i].start(signal_at(signal), activity_);
  }
}

/// Whether the barrier packet at the head need not wait: its dependencies are met, or they are no signals at all.
PacketProcessor::Barrier PacketProcessor::look_at_barrier() {
  bool met = false;
  HostFault fault;
  if (!guarded(fault, [&] { met = dependencies_met(); })) return Barrier::broken;
  return met ? Barrier::open : Barrier::closed;
}

PacketProcessor::Step PacketProcessor::pass_barrier(uint64_t completion_signal) {
  switch (look_at_barrier()) {
    case Barrier::open:
      if (options_.observer != nullptr) report_barrier(completion_signal);
      return finish_packet(completion_signal);
    case Barrier::closed:
      return Step::blocked;
    case Barrier::broken:
      break;
  }
  return fail_packet(
      {ErrorKind::invalid_argument, fmt::format("barrier packet {} waits for a handle that is not a signal", next_)},
      completion_signal);
}

void PacketProcessor::report_barrier(uint64_t completion_signal) {
  const uint8_t* packet = slot(next_);
  std::array<uint64_t, std::size(decltype(aql::BarrierPacket::dep_signal){})> signals{};
  size_t count = 0;
  if (aql::packet_type(header(next_)) == aql::PacketType::vendor_specific) {
    signals[count++] = reinterpret_cast<const aql::BarrierValuePacket*>(packet)->signal;
  } else {
    for (size_t i = 0; i < signals.size(); ++i) {
      if ((satisfied_ >> i & 1) == 0) continue;
      signals[count++] = reinterpret_cast<const aql::BarrierPacket*>(packet)->dep_signal[i];
    }
  }
  options_.observer->barrier_packet({.queue = reinterpret_cast<uint64_t>(&abi_),
                                     .packet = next_,
                                     .barrier_bit = aql::barrier_bit(header(next_)),
                                     .signals = std::span(signals).first(count),
                                     .completion_signal = completion_signal});
}

PacketProcessor::Step PacketProcessor::dispatch_agent(const uint8_t* packet) {
  aql::AgentDispatchPacket copy;
  std::memcpy(&copy, packet, sizeof copy);
  if (!options_.on_agent_dispatch || !options_.on_agent_dispatch(copy)) {
    return fail_packet(
        {ErrorKind::invalid_argument,
         fmt::format("packet {} is an agent dispatch of type {}, which a GPU cannot execute", next_, copy.type)},
        copy.completion_signal);
  }
  return finish_packet(copy.completion_signal);
}

/// A packet that is no kernel is done.
PacketProcessor::Step PacketProcessor::finish_packet(uint64_t completion_signal) {
  const uint64_t seen = packet_seen_ns_;
  retire();  // before the signal: a waiter may read the ring next
  if (auto completed = complete(completion_signal, seen, now_ns()); !completed) {
    report({.kind = completed.error().kind,
            .message = completed.error().message,
            .packet_fault = PacketFault::format,
            .packet_id = next_ - 1});
  }
  return Step::advanced;
}

PacketFault PacketProcessor::fault_of(const aql::KernelDispatchPacket& packet, ErrorKind refusal) const {
  switch (refusal) {
    case ErrorKind::incompatible:
      return PacketFault::dimensions;
    case ErrorKind::not_found:
      return PacketFault::kernel_object;
    case ErrorKind::out_of_resources:
      return packet.group_segment_size > lds_bytes_ ? PacketFault::group_memory : PacketFault::none;
    case ErrorKind::invalid_argument:
      return PacketFault::work_group_size;
    default:
      return PacketFault::none;
  }
}

PacketProcessor::Step PacketProcessor::fail_packet(Error error, uint64_t completion_signal, PacketFault fault) {
  report({.kind = error.kind,
          .message = std::move(error.message),
          .packet_fault = fault,
          .packet_id = next_,
          .completion_signal = completion_signal});
  return Step::nothing;
}

/// Gives the slot at the head back to the program.
void PacketProcessor::retire() {
  __atomic_store_n(reinterpret_cast<uint16_t*>(slot(next_)), static_cast<uint16_t>(aql::PacketType::invalid),
                   __ATOMIC_RELAXED);
  ++next_;
  satisfied_ = 0;
  packet_seen_ns_ = 0;
  __atomic_store_n(&abi_.read_dispatch_id, next_, __ATOMIC_RELEASE);
}

/// On whichever thread ended the dispatch: completes its signal, and leaves word for the queue's thread.
void PacketProcessor::on_dispatch_done(Dispatch& dispatch) {
  {
    const std::lock_guard lock(dispatch.progress.mutex);  // report() may be cancelling it
    if (!dispatch.progress.error) {
      const auto completed =
          complete(dispatch.submission.completion_signal, dispatch.progress.start_ns, dispatch.progress.end_ns);
      if (!completed) dispatch.progress.error = completed.error();
    }
  }
  // Under the mutex to the last: the queue may be gone as soon as its thread has seen that the dispatch ended.
  const std::lock_guard lock(mutex_);
  ended_.push_back(&dispatch);
  ended_count_.store(ended_.size(), std::memory_order_release);
  activity_.notify();
}

/// Lets go of dispatches that have ended.
void PacketProcessor::reap() {
  if (ended_count_.load(std::memory_order_acquire) == 0) return;
  std::array<std::shared_ptr<Dispatch>, max_in_flight> ended;
  size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const Dispatch* done : ended_) {
      const auto found = std::ranges::find(in_flight_, done, &std::shared_ptr<Dispatch>::get);
      ended[count++] = std::move(*found);
      in_flight_.erase(found);
    }
    ended_.clear();
    ended_count_.store(0, std::memory_order_relaxed);
  }
  for (const auto& dispatch : std::span(ended).first(count)) {
    if (!dispatch->progress.error || !active()) continue;
    report({.kind = dispatch->progress.error->kind,
            .message = dispatch->progress.error->message,
            .packet_id = dispatch->submission.dispatch_id,
            .completion_signal = dispatch->submission.completion_signal,
            .fault = dispatch->progress.fault});
  }
}

/// The queue is in the error state from here on: nothing starts any more.
void PacketProcessor::report(const QueueError& error) {
  if (failed_) return;
  failed_ = true;
  for (const auto& dispatch : in_flight_) {
    scheduler_.cancel(*dispatch, {ErrorKind::aborted, "queue failed"});  // no notification: a message without memory
  }
  if (options_.queue_inactive_signal != 0) store(signal_at(options_.queue_inactive_signal), 1);
  if (options_.on_error) options_.on_error(error);
}

}  // namespace

void describe_gpu(aql::Queue& queue, const target::GpuModel& model) {
  const target::Processor& processor = *model.target.processor;
  queue.group_segment_aperture_base_hi = shared_aperture_hi;
  queue.private_segment_aperture_base_hi = private_aperture_hi;
  queue.max_cu_id = std::max(1u, model.product.compute_units) - 1;
  queue.max_wave_id = uint32_t{processor.simds_per_cu} * processor.waves_per_simd - 1;
  queue.read_dispatch_id_field_base_byte_offset = offsetof(aql::Queue, read_dispatch_id);
  queue.queue_properties = 1u << 1;  // AMD_QUEUE_PROPERTIES_IS_PTR64
  // Scratch belongs to the resident work-groups and has no one place: waves get their own V# and base address.
  scratch_resource(processor, 0, 0, queue.scratch_resource_descriptor);
}

support::Result<std::unique_ptr<Queue>> make_queue(QueueOptions options, const target::GpuModel& model, Memory& memory,
                                                   Scheduler& scheduler, Launch launch) {
  if (!std::has_single_bit(options.size)) {
    return fail(ErrorKind::invalid_argument, "a queue of {} packets: the number must be a power of two", options.size);
  }
  auto ring = memory.allocate(uint64_t{options.size} * packet_bytes, 0, "the ring of a queue");
  if (!ring) return std::unexpected(ring.error());
  auto abi = memory.allocate(sizeof(aql::Queue), 0, "a queue", 0, Memory::Pages::small);
  if (!abi) {
    static_cast<void>(memory.free(*ring));
    return std::unexpected(abi.error());
  }
  try {
    return std::make_unique<PacketProcessor>(std::move(options), model, memory, *ring, *abi, scheduler,
                                             std::move(launch));
  } catch (const std::exception& exception) {  // no memory, or no thread
    static_cast<void>(memory.free(*ring));
    static_cast<void>(memory.free(*abi));
    return fail(ErrorKind::out_of_resources, "cannot make a queue: {}", exception.what());
  }
}

}  // namespace Atoll::machine
