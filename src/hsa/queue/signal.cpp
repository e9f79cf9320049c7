// hsa: the signal functions. The GPU and the host see one memory, and the machine's operations are sequentially
// consistent, so that all the memory orders that the names end in come to the same.
#include "hsa/queue/signal.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"
#include "machine/memory/address_range.h"
#include "machine/queue/signal_watch.h"
#include "machine/report/fault_guard.h"
#include "support/fork.h"

namespace Atoll::hsa {

static_assert(sizeof(machine::aql::Signal) == sizeof(amd_signal_t));
static_assert(offsetof(machine::aql::Signal, value) == offsetof(amd_signal_t, value));
static_assert(offsetof(machine::aql::Signal, event_mailbox_ptr) == offsetof(amd_signal_t, event_mailbox_ptr));
static_assert(offsetof(machine::aql::Signal, event_id) == offsetof(amd_signal_t, event_id));
static_assert(offsetof(machine::aql::Signal, start_ts) == offsetof(amd_signal_t, start_ts));
static_assert(offsetof(machine::aql::Signal, end_ts) == offsetof(amd_signal_t, end_ts));
static_assert(offsetof(machine::aql::Signal, queue_ptr) == offsetof(amd_signal_t, queue_ptr));

namespace {

/// Memory for signals, in one range of guest memory, so that a handle is known by its value; what the runtime keeps of
/// each is elsewhere, in the same order. Freed signals are used again, the longest free one first, so that a stale
/// handle is found out for as long as can be.
class SignalStore {
 public:
  Signal* take() {
    const std::scoped_lock lock(mutex_);
    if (free_.size() <= kept_free) grow();
    if (free_.empty()) return nullptr;
    Signal* signal = free_.front();
    free_.pop_front();
    return signal;
  }
  void give_back(Signal* signal) {
    const std::scoped_lock lock(mutex_);
    try {
      free_.push_back(signal);
    } catch (const std::bad_alloc&) {  // then it is not used again
    }
  }
  /// All signals that there have been, as begin and end.
  std::pair<uint64_t, uint64_t> range() const {
    const uint64_t begin = base_.load(std::memory_order_acquire);
    return {begin, begin + made_.load(std::memory_order_acquire) * sizeof(machine::aql::Signal)};
  }
  /// The signal that is or has been at an address; null: there has been none.
  Signal* find(uint64_t address) const {
    const uint64_t offset = address - base_.load(std::memory_order_acquire);
    const uint64_t number = offset / sizeof(machine::aql::Signal);
    const bool is_one =
        number != 0 && number < made_.load(std::memory_order_acquire) && offset % sizeof(machine::aql::Signal) == 0;
    return is_one ? own_ + number : nullptr;
  }
  /// The mailbox in which kernels store a changed signal's event before they interrupt: the slot of signal 0, which is
  /// unused. It is never read, because the interrupt itself carries the event.
  uint64_t event_mailbox() const { return base_; }
  std::mutex& mutex() { return mutex_; }

 private:
  static constexpr size_t block_size = 256, kept_free = 32;
  static constexpr size_t most = size_t{8} << 20;  ///< addresses for so many; memory is taken up by those in use
  static constexpr uint64_t block_bytes = block_size * sizeof(machine::aql::Signal);
  static_assert(block_bytes % 4096 == 0);

  bool reserve() {
    auto& range = machine::AddressRange::of_process();
    constexpr uint64_t bytes = most * sizeof(machine::aql::Signal);
    const auto address = range.take(bytes, 4096);
    if (!address) return false;
    void* own = mmap(nullptr, most * sizeof(Signal), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (own == MAP_FAILED) {
      range.give_back(*address, bytes);
      return false;
    }
    own_ = static_cast<Signal*>(own);
    base_ = *address;
    return true;
  }
  void grow() {
    if ((base_ == 0 && !reserve()) || made_ == most) return;
    auto* block = reinterpret_cast<machine::aql::Signal*>(base_.load()) + made_;
    if (mprotect(block, block_bytes, PROT_READ | PROT_WRITE) != 0) return;
    for (size_t i = 0; i < block_size; ++i) {
      Signal* signal = new (own_ + made_ + i) Signal(*new (block + i) machine::aql::Signal{});
      if (made_ + i != 0) free_.push_back(signal);
    }
    made_ += block_size;
  }

  std::mutex mutex_;
  std::deque<Signal*> free_;
  Signal* own_ = nullptr;
  std::atomic<uint64_t> base_{0}, made_{0};
};

SignalStore& signal_store() {
  static auto* const instance = [] {
    auto* made = new SignalStore;
    support::keep_free_in_forks(made->mutex(), support::LockDepth::middle);
    return made;
  }();
  return *instance;
}

/// How often this process and those that it comes from have forked. Signals of an earlier epoch are the parent's.
std::atomic<uint32_t> fork_epoch{0};

/// Resets the runtime's part of a signal to a live signal with one reference.
void revive(Signal& signal) {
  signal.epoch = fork_epoch.load(std::memory_order_relaxed);
  signal.references = 1;
  signal.destroyed = false;
  signal.queue = nullptr;
  signal.alive = true;
}

Signal* make(int64_t kind, int64_t value) {
  Signal* signal = signal_store().take();
  if (signal == nullptr) return nullptr;
  signal->abi = {};
  signal->abi.kind = kind;
  signal->abi.value = value;
  revive(*signal);
  return signal;
}

/// Signals of which other processes have the part that kernels see: it is the end of a page of a memory file.
class SharedSignals {
 public:
  Signal* add(const std::shared_ptr<const machine::MemoryFile>& file) {
    auto& range = machine::AddressRange::of_process();
    const auto begin = range.take(2 * page, page);
    if (!begin) return nullptr;
    if (mmap(reinterpret_cast<void*>(*begin), page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file->descriptor(),
             0) == MAP_FAILED) {
      range.give_back(*begin, 2 * page);
      return nullptr;
    }
    const uint64_t address = *begin + before;
    auto signal = std::make_unique<Signal>(*reinterpret_cast<machine::aql::Signal*>(address));
    revive(*signal);
    Signal* const made = signal.get();
    const std::unique_lock lock(mutex_);
    signals_.emplace(address, Shared{file, std::move(signal)});
    return made;
  }
  bool remove(const Signal& signal) {
    const uint64_t address = signal.handle().handle;
    const std::unique_lock lock(mutex_);
    if (signals_.erase(address) == 0) return false;
    machine::AddressRange::of_process().give_back(address - before, 2 * page);
    return true;
  }
  Signal* find(uint64_t address) const {
    const std::lock_guard lock(mutex_);
    const auto found = signals_.find(address);
    return found == signals_.end() ? nullptr : found->second.signal.get();
  }
  std::shared_ptr<const machine::MemoryFile> file(uint64_t address) const {
    const std::lock_guard lock(mutex_);
    const auto found = signals_.find(address);
    return found == signals_.end() ? nullptr : found->second.file;
  }

  std::mutex& mutex() { return mutex_; }

  static constexpr uint64_t page = 4096;

 private:
  static constexpr uint64_t before = page - sizeof(machine::aql::Signal);
  struct Shared {
    std::shared_ptr<const machine::MemoryFile> file;
    std::unique_ptr<Signal> signal;
  };

  mutable std::mutex mutex_;
  std::map<uint64_t, Shared> signals_;
};

/// Does not allocate, because signals are also released where exceptions are not allowed.
SharedSignals& shared_signals() {
  alignas(SharedSignals) static std::byte memory[sizeof(SharedSignals)];
  static auto* const instance = [] {
    auto* made = new (memory) SharedSignals;
    support::keep_free_in_forks(made->mutex(), support::LockDepth::middle);
    return made;
  }();
  return *instance;
}

/// Whether the signal was made by a process from which this one was forked. No thread of this process changes it.
bool is_of_parent(const Signal& signal) { return signal.epoch != fork_epoch.load(std::memory_order_relaxed); }

}  // namespace

Signal* signal_of(hsa_signal_t handle) {
  Signal* signal = signal_store().find(handle.handle);
  if (signal != nullptr && is_of_parent(*signal)) return nullptr;
  if (signal == nullptr) signal = shared_signals().find(handle.handle);
  return signal != nullptr && signal->alive && !signal->destroyed ? signal : nullptr;
}

void begin_fork_epoch() { fork_epoch.fetch_add(1, std::memory_order_relaxed); }

Signal* make_signal(int64_t initial_value, bool interrupts) {
  Signal* signal = make(AMD_SIGNAL_KIND_USER, initial_value);
  if (signal != nullptr && interrupts) {
    signal->abi.event_mailbox_ptr = signal_store().event_mailbox();
    signal->abi.event_id = machine::event_id_of(signal->abi);
  }
  return signal;
}

Signal* make_shared_signal(int64_t initial_value) {
  const auto file = machine::MemoryFile::create("atoll shared signal", SharedSignals::page);
  if (!file) return nullptr;
  Signal* signal = shared_signals().add(*file);
  if (signal == nullptr) return nullptr;
  signal->abi = {};
  signal->abi.kind = AMD_SIGNAL_KIND_USER;
  signal->abi.value = initial_value;
  return signal;
}

std::optional<std::pair<uint64_t, uint64_t>> memory_of_signals(uint64_t address) {
  const auto range = signal_store().range();
  if (address >= range.first && address < range.second) return range;
  const uint64_t page = address / SharedSignals::page * SharedSignals::page;
  if (shared_signals().file(page) != nullptr) return std::pair(page, page + SharedSignals::page);
  return std::nullopt;
}

Signal* attach_signal(const std::shared_ptr<const machine::MemoryFile>& file) { return shared_signals().add(file); }

std::shared_ptr<const machine::MemoryFile> shared_file_of(const Signal& signal) {
  return shared_signals().file(signal.handle().handle);
}

Signal* make_doorbell() {
  Signal* signal = make(AMD_SIGNAL_KIND_DOORBELL, 0);
  if (signal != nullptr) signal->abi.value = reinterpret_cast<int64_t>(&signal->hardware_doorbell());
  return signal;
}

void retain(Signal& signal) { ++signal.references; }

void release(Signal& signal) {
  if (--signal.references != 0) return;
  signal.alive = false;
  if (shared_signals().remove(signal)) return;  // others may still have it
  signal.abi.kind = AMD_SIGNAL_KIND_INVALID;
  signal_store().give_back(&signal);
}

void store(Signal& signal, int64_t value) {
  if (!signal.is_doorbell()) {
    machine::store(signal.abi, value);
    return;
  }
  __atomic_store_n(&signal.hardware_doorbell(), static_cast<uint64_t>(value), __ATOMIC_RELEASE);
  if (machine::Queue* queue = signal.queue) queue->ring_doorbell(static_cast<uint64_t>(value));
}

namespace {

machine::aql::Signal& trusted(hsa_signal_t handle) { return *reinterpret_cast<machine::aql::Signal*>(handle.handle); }

/// Reports the invalid handle passed to a function without a status. The following access to unmapped memory ends the
/// process, as on hardware.
[[gnu::cold]] void report_wrong_handle(hsa_signal_t handle, const char* function) {
  const Signal* const known = signal_store().find(handle.handle);
  if (known != nullptr && is_of_parent(*known)) return;
  if (known == nullptr && shared_signals().find(handle.handle) != nullptr) return;
  constexpr unsigned max_reports = 16;
  static std::atomic<unsigned> reports{0};
  if (reports.fetch_add(1) >= max_reports) return;
  machine::aql::Signal copy;
  const char* what = "is not a signal of this process";
  if (known != nullptr)
    what = "is a signal that was destroyed";
  else if (handle.handle == 0)
    what = "is the null handle";
  else if (!machine::read_guest(&copy, handle.handle, sizeof copy))
    what = "is not a signal: no memory is mapped there";
  fmt::print(stderr, "atoll: {}: {:#x} {}\n", function, handle.handle, what);
}

/// The signal of a handle in a function that has no status by which to refuse it.
machine::aql::Signal& checked(hsa_signal_t handle, const char* function) {
  const Signal* const signal = signal_store().find(handle.handle);
  if (signal == nullptr || !signal->alive.load(std::memory_order_relaxed) || is_of_parent(*signal))
    report_wrong_handle(handle, function);
  return trusted(handle);
}

/// The host has seen a value of the signal's.
hsa_signal_value_t seen(hsa_signal_t signal, hsa_signal_value_t value) {
  if (machine::Observer* const observer = order_observer()) observer->signal_seen(signal.handle);
  return value;
}
/// The host is about to change it by an operation that depends on its value. Returns it.
machine::aql::Signal& changing(hsa_signal_t signal, const char* function) {
  if (machine::Observer* const observer = order_observer()) observer->signal_changes(signal.handle, false);
  return checked(signal, function);
}

void store_checked(hsa_signal_t handle, int64_t value, const char* function) {
  machine::aql::Signal& signal = checked(handle, function);
  if (signal.kind == AMD_SIGNAL_KIND_DOORBELL) {
    if (Signal* const doorbell = signal_of(handle)) store(*doorbell, value);
    return;  // the doorbell of a parent's queue, which no thread of this process serves
  }
  if (machine::Observer* const observer = order_observer()) observer->signal_changes(handle.handle, true);
  machine::store(signal, value);
}

/// A value that meets a condition.
int64_t meeting(machine::Condition condition, int64_t compare) {
  switch (condition) {
    case machine::Condition::ne:
      return static_cast<int64_t>(static_cast<uint64_t>(compare) + 1);
    case machine::Condition::lt:
      return static_cast<int64_t>(static_cast<uint64_t>(compare) - 1);
    case machine::Condition::eq:
    case machine::Condition::gte:
      break;
  }
  return compare;
}

/// Waits for a signal. In a forked child the parent's GPU work does not proceed, so its copy of the signal gets a value
/// that ends the wait. HIP's destructors thus complete in a child that only exits.
hsa_signal_value_t wait_checked(hsa_signal_t handle, hsa_signal_condition_t condition, hsa_signal_value_t compare,
                                uint64_t timeout, hsa_wait_state_t hint, const char* function) {
  machine::aql::Signal& signal = checked(handle, function);
  const Signal* const known = signal_store().find(handle.handle);
  if (known != nullptr && is_of_parent(*known) &&
      !machine::holds(condition_of(condition), machine::load(signal), compare))
    machine::store(signal, meeting(condition_of(condition), compare));
  return seen(handle, machine::wait(signal, condition_of(condition), compare, timeout, hint == HSA_WAIT_STATE_ACTIVE));
}

struct SignalGroup {
  std::vector<Signal*> signals;
};

struct SignalGroups {
  std::mutex mutex;
  std::set<SignalGroup*> all;
};
SignalGroups& groups() {
  static auto* const instance = [] {
    auto* made = new SignalGroups;
    support::keep_free_in_forks(made->mutex, support::LockDepth::outermost);
    return made;
  }();
  return *instance;
}

hsa_status_t wait_for_group(hsa_signal_group_t handle, const hsa_signal_condition_t* conditions,
                            const hsa_signal_value_t* compare_values, hsa_wait_state_t hint, hsa_signal_t* signal,
                            hsa_signal_value_t* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  auto* group = reinterpret_cast<SignalGroup*>(handle.handle);
  std::unique_lock lock(groups().mutex);
  if (!groups().all.contains(group)) return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
  if (conditions == nullptr || compare_values == nullptr || signal == nullptr || value == nullptr) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  std::vector<machine::Awaited> awaited;
  for (size_t i = 0; i < group->signals.size(); ++i) {
    awaited.push_back({&group->signals[i]->abi, condition_of(conditions[i]), compare_values[i]});
  }
  const std::vector<Signal*> signals = group->signals;
  lock.unlock();
  const int index = machine::wait_any(awaited, UINT64_MAX, hint == HSA_WAIT_STATE_ACTIVE, value);
  if (index < 0) return HSA_STATUS_ERROR;
  *signal = signals[static_cast<size_t>(index)]->handle();
  seen(*signal, *value);
  return HSA_STATUS_SUCCESS;
}

}  // namespace

}  // namespace Atoll::hsa

using namespace Atoll;
using namespace Atoll::hsa;

// Creation.

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
                                   const hsa_agent_t* consumers, uint64_t attributes, hsa_signal_t* signal) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (signal == nullptr || (num_consumers > 0 && consumers == nullptr)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < num_consumers; ++i) {
    if (Runtime::get()->find_agent(consumers[i]) == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint32_t j = 0; j < i; ++j) {
      if (consumers[i].handle == consumers[j].handle) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
  }
  Signal* made = (attributes & HSA_AMD_SIGNAL_IPC) != 0
                     ? make_shared_signal(initial_value)
                     : make_signal(initial_value, (attributes & HSA_AMD_SIGNAL_AMD_GPU_ONLY) == 0);
  if (made == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *signal = made->handle();
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers, const hsa_agent_t* consumers,
                               hsa_signal_t* signal) {
  return hsa_amd_signal_create(initial_value, num_consumers, consumers, 0, signal);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (signal.handle == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Signal* found = signal_of(signal);
  if (found == nullptr || found->is_doorbell()) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (found->destroyed.exchange(true)) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  machine::notify_watchers(found->abi);  // a handler on it is done
  release(*found);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t** value_ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (value_ptr == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Signal* found = signal_of(signal);
  if (found == nullptr || found->is_doorbell()) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (machine::Observer* const observer = order_observer()) observer->signal_shown(signal.handle);
  *value_ptr = &found->abi.value;
  return HSA_STATUS_SUCCESS;
}

// Values. Each function exists in several memory orders; the older of their names are entry points only
// (entry_points.cpp).

#define ATOLL_SIGNAL_LOAD(order)                                    \
  hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t signal) { \
    return seen(signal, machine::load(checked(signal, __func__)));  \
  }
ATOLL_SIGNAL_LOAD(relaxed)
ATOLL_SIGNAL_LOAD(scacquire)

#define ATOLL_SIGNAL_STORE(order) \
  void hsa_signal_##order(hsa_signal_t signal, hsa_signal_value_t value) { store_checked(signal, value, __func__); }
ATOLL_SIGNAL_STORE(store_relaxed)
ATOLL_SIGNAL_STORE(store_screlease)
// A silent store need not wake anyone, but may.
ATOLL_SIGNAL_STORE(silent_store_relaxed)
ATOLL_SIGNAL_STORE(silent_store_screlease)

#define ATOLL_SIGNAL_CHANGE(operation, order, change) \
  void hsa_signal_##operation##_##order(hsa_signal_t signal, hsa_signal_value_t value) { change; }
#define ATOLL_SIGNAL_CHANGES(operation, change)     \
  ATOLL_SIGNAL_CHANGE(operation, relaxed, change)   \
  ATOLL_SIGNAL_CHANGE(operation, scacquire, change) \
  ATOLL_SIGNAL_CHANGE(operation, screlease, change) \
  ATOLL_SIGNAL_CHANGE(operation, scacq_screl, change)
ATOLL_SIGNAL_CHANGES(add, machine::add(changing(signal, __func__), value))
ATOLL_SIGNAL_CHANGES(subtract,
                     machine::add(changing(signal, __func__), static_cast<int64_t>(-static_cast<uint64_t>(value))))
ATOLL_SIGNAL_CHANGES(and, machine::bit_and(changing(signal, __func__), value))
ATOLL_SIGNAL_CHANGES(or, machine::bit_or(changing(signal, __func__), value))
ATOLL_SIGNAL_CHANGES(xor, machine::bit_xor(changing(signal, __func__), value))

#define ATOLL_SIGNAL_EXCHANGE(order)                                                              \
  hsa_signal_value_t hsa_signal_exchange_##order(hsa_signal_t signal, hsa_signal_value_t value) { \
    return seen(signal, machine::exchange(changing(signal, __func__), value));                    \
  }                                                                                               \
  hsa_signal_value_t hsa_signal_cas_##order(hsa_signal_t signal, hsa_signal_value_t expected,     \
                                            hsa_signal_value_t value) {                           \
    return seen(signal, machine::compare_exchange(changing(signal, __func__), expected, value));  \
  }
ATOLL_SIGNAL_EXCHANGE(relaxed)
ATOLL_SIGNAL_EXCHANGE(scacquire)
ATOLL_SIGNAL_EXCHANGE(screlease)
ATOLL_SIGNAL_EXCHANGE(scacq_screl)

// Waiting. Timeouts are in ticks of the system clock, which are nanoseconds.

#define ATOLL_SIGNAL_WAIT(order)                                                                      \
  hsa_signal_value_t hsa_signal_wait_##order(hsa_signal_t signal, hsa_signal_condition_t condition,   \
                                             hsa_signal_value_t compare_value, uint64_t timeout_hint, \
                                             hsa_wait_state_t wait_state_hint) {                      \
    return wait_checked(signal, condition, compare_value, timeout_hint, wait_state_hint, __func__);   \
  }
ATOLL_SIGNAL_WAIT(relaxed)
ATOLL_SIGNAL_WAIT(scacquire)

namespace {

/// The valid signals of a list, with their indices. Others are ignored since hsa_ext_amd.h 1.7.
struct ValidSignals {
  ValidSignals(uint32_t count, const hsa_signal_t* signals, const hsa_signal_condition_t* conditions,
               const hsa_signal_value_t* values) {
    if (!is_initialized() || signals == nullptr || conditions == nullptr || values == nullptr) return;
    for (uint32_t i = 0; i < count; ++i) {
      const Signal* signal = signal_of(signals[i]);
      if (signal == nullptr) continue;
      awaited.push_back({&signal->abi, condition_of(conditions[i]), values[i]});
      numbers.push_back(i);
    }
  }

  std::vector<machine::Awaited> awaited;
  std::vector<uint32_t> numbers;
};

}  // namespace

uint32_t hsa_amd_signal_wait_any(uint32_t signal_count, hsa_signal_t* signals, hsa_signal_condition_t* conds,
                                 hsa_signal_value_t* values, uint64_t timeout_hint, hsa_wait_state_t wait_hint,
                                 hsa_signal_value_t* satisfying_value) {
  const ValidSignals valid(signal_count, signals, conds, values);
  if (valid.awaited.empty()) return UINT32_MAX;
  int64_t value = 0;
  const int found = machine::wait_any(valid.awaited, timeout_hint, wait_hint == HSA_WAIT_STATE_ACTIVE, &value);
  if (found < 0) return UINT32_MAX;
  if (satisfying_value != nullptr) *satisfying_value = value;
  seen(signals[valid.numbers[static_cast<size_t>(found)]], value);
  return valid.numbers[static_cast<size_t>(found)];
}

uint32_t hsa_amd_signal_wait_all(uint32_t signal_count, hsa_signal_t* signals, hsa_signal_condition_t* conds,
                                 hsa_signal_value_t* values, uint64_t timeout_hint, hsa_wait_state_t wait_hint,
                                 hsa_signal_value_t* satisfying_values) {
  ValidSignals valid(signal_count, signals, conds, values);
  std::vector<int64_t> found(valid.awaited.size());
  if (!machine::wait_all(valid.awaited, found, timeout_hint, wait_hint == HSA_WAIT_STATE_ACTIVE)) return UINT32_MAX;
  for (const uint32_t number : valid.numbers) seen(signals[number], 0);
  if (satisfying_values == nullptr) return 0;
  std::fill_n(satisfying_values, signal_count, 0);  // for what is no signal
  for (size_t i = 0; i < found.size(); ++i) satisfying_values[valid.numbers[i]] = found[i];
  return 0;
}

// Groups.

hsa_status_t hsa_signal_group_create(uint32_t num_signals, const hsa_signal_t* signals, uint32_t num_consumers,
                                     const hsa_agent_t* consumers, hsa_signal_group_t* signal_group) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (num_signals == 0 || signals == nullptr || (num_consumers > 0 && consumers == nullptr) ||
      signal_group == nullptr) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  auto group = std::make_unique<SignalGroup>();
  for (uint32_t i = 0; i < num_signals; ++i) {
    Signal* signal = signal_of(signals[i]);
    if (signal == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    group->signals.push_back(signal);
  }
  for (Signal* signal : group->signals) retain(*signal);
  const std::scoped_lock lock(groups().mutex);
  groups().all.insert(group.get());
  *signal_group = {reinterpret_cast<uint64_t>(group.release())};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_destroy(hsa_signal_group_t signal_group) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  auto* group = reinterpret_cast<SignalGroup*>(signal_group.handle);
  const std::scoped_lock lock(groups().mutex);
  if (groups().all.erase(group) == 0) return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
  for (Signal* signal : group->signals) release(*signal);
  delete group;
  return HSA_STATUS_SUCCESS;
}

#define ATOLL_SIGNAL_GROUP_WAIT(order)                                                                  \
  hsa_status_t hsa_signal_group_wait_any_##order(                                                       \
      hsa_signal_group_t signal_group, const hsa_signal_condition_t* conditions,                        \
      const hsa_signal_value_t* compare_values, hsa_wait_state_t wait_state_hint, hsa_signal_t* signal, \
      hsa_signal_value_t* value) {                                                                      \
    return wait_for_group(signal_group, conditions, compare_values, wait_state_hint, signal, value);    \
  }
ATOLL_SIGNAL_GROUP_WAIT(relaxed)
ATOLL_SIGNAL_GROUP_WAIT(scacquire)
