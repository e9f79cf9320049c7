// hsa: the thread that calls handlers.
#include "hsa/queue/async_events.h"

#include <algorithm>
#include <chrono>

#include "hsa/interface/callback.h"
#include "hsa/runtime.h"

namespace Atoll::hsa {

AsyncEvents::~AsyncEvents() {
  join();
  for (const Handler& handler : handlers_) release(*handler.signal);
  for (const Handler& handler : new_handlers_) release(*handler.signal);
}

void AsyncEvents::report() {
  has_news_ = true;
  changed_.notify();
}

void AsyncEvents::join() {
  stop();
  if (!thread_.joinable()) return;
  report();
  thread_.join();
}

void AsyncEvents::drain() {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) return;
  // The current round may have read a signal before its condition was true.
  const uint64_t wanted = rounds_begun_ + 1;
  report();
  round_done_.wait_for(lock, std::chrono::seconds(1), [&] { return rounds_done_ >= wanted || stopping_; });
}

void AsyncEvents::start() {
  if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
}

hsa_status_t AsyncEvents::add(Signal& signal, hsa_signal_condition_t condition, int64_t compare,
                              hsa_amd_signal_handler handler, void* argument) {
  const std::scoped_lock lock(mutex_);
  start();
  Handler& added = new_handlers_.emplace_back(&signal, condition, compare, handler, argument);
  retain(signal);
  added.watch.start(signal.abi, changed_);
  report();
  return HSA_STATUS_SUCCESS;
}

hsa_status_t AsyncEvents::call(void (*function)(void*), void* argument) {
  const std::scoped_lock lock(mutex_);
  start();
  calls_.push_back({function, argument});
  report();
  return HSA_STATUS_SUCCESS;
}

void AsyncEvents::run_satisfied() {
  for (auto handler = handlers_.begin(); handler != handlers_.end() && !stopping_;) {
    const int64_t value = machine::load(handler->signal->abi);
    const bool satisfied = machine::holds(condition_of(handler->condition), value, handler->compare);
    if (satisfied) {
      if (machine::Observer* const observer = order_observer()) {
        observer->signal_seen(handler->signal->handle().handle);
      }
    }
    const bool keep = satisfied ? handler->function(value, handler->argument) : !handler->signal->destroyed;
    if (keep) {
      ++handler;
      continue;
    }
    handler->watch.stop();
    release(*handler->signal);
    handler = handlers_.erase(handler);
  }
}

void AsyncEvents::loop() {
  const InCallback marked;  // it calls little else
  constexpr uint64_t spin_ns = 10'000;
  const auto is_due = [this] { return has_news_ || std::ranges::any_of(handlers_, &Handler::is_due); };
  while (!stopping_) {
    const bool any_without_mailbox = std::ranges::any_of(
        handlers_, [](const Handler& handler) { return handler.signal->abi.event_mailbox_ptr == 0; });
    changed_.wait_until(UINT64_MAX, spin_ns, is_due, machine::recheck_of_signals(any_without_mailbox));
    has_news_ = false;

    Calls calls;
    std::unique_lock lock(mutex_);
    handlers_.splice(handlers_.end(), new_handlers_);
    calls.swap(calls_);
    const uint64_t round = ++rounds_begun_;
    lock.unlock();
    for (const Call& call : calls) {
      if (!stopping_) call.function(call.argument);
    }
    run_satisfied();
    lock.lock();
    rounds_done_ = round;
    lock.unlock();
    round_done_.notify_all();
  }
}

}  // namespace Atoll::hsa

using namespace Atoll::hsa;

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t cond, hsa_signal_value_t value,
                                          hsa_amd_signal_handler handler, void* arg) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (handler == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Signal* found = signal_of(signal);
  if (found == nullptr || found->is_doorbell()) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  return Runtime::get()->events.add(*found, cond, value, handler, arg);
}

hsa_status_t hsa_amd_async_function(void (*callback)(void* arg), void* arg) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return Runtime::get()->events.call(callback, arg);
}
