// hsa: the thread that calls handlers.
#include "hsa/async_events.h"

#include <chrono>
#include <new>

#include "hsa/callback.h"
#include "hsa/runtime.h"

namespace Atoll::hsa {

AsyncEvents::~AsyncEvents() {
  join();
  for (const Handler& handler : handlers_) release(*handler.signal);
  for (const Handler& handler : new_handlers_) release(*handler.signal);
  if (wake_ != nullptr) release(*wake_);
}

void AsyncEvents::join() {
  stop();
  if (!thread_.joinable()) return;
  machine::store(wake_->abi, 1);
  thread_.join();
}

void AsyncEvents::drain() {
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) return;
  // A round that has begun may have looked at a signal before its condition held.
  const uint64_t wanted = rounds_begun_ + 1;
  machine::store(wake_->abi, 1);
  round_done_.wait_for(lock, std::chrono::seconds(1), [&] { return rounds_done_ >= wanted || stopping_; });
}

bool AsyncEvents::start() {
  if (thread_.joinable()) return true;
  if (wake_ == nullptr) wake_ = make_signal(0, true);
  if (wake_ == nullptr) return false;
  thread_ = std::thread([this] { loop(); });
  return true;
}

hsa_status_t AsyncEvents::add(Signal& signal, hsa_signal_condition_t condition, int64_t compare,
                              hsa_amd_signal_handler handler, void* argument) {
  const std::scoped_lock lock(mutex_);
  if (!start()) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  new_handlers_.push_back({&signal, condition, compare, handler, argument});
  retain(signal);
  machine::store(wake_->abi, 1);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t AsyncEvents::call(void (*function)(void*), void* argument) {
  const std::scoped_lock lock(mutex_);
  if (!start()) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  calls_.push_back({function, argument});
  machine::store(wake_->abi, 1);
  return HSA_STATUS_SUCCESS;
}

void AsyncEvents::run_satisfied() {
  for (size_t i = 0; i < handlers_.size() && !stopping_;) {
    const Handler handler = handlers_[i];
    const int64_t value = machine::load(handler.signal->abi);
    const bool satisfied = machine::holds(condition_of(handler.condition), value, handler.compare);
    const bool keep = satisfied ? handler.function(value, handler.argument) : !handler.signal->destroyed;
    if (keep) {
      ++i;
      continue;
    }
    release(*handler.signal);
    handlers_.erase(handlers_.begin() + static_cast<ptrdiff_t>(i));
  }
}

void AsyncEvents::loop() {
  const InCallback marked;  // it calls little else
  std::vector<machine::Awaited> awaited;
  while (!stopping_) {
    awaited.assign(1, {&wake_->abi, machine::Condition::ne, 0});
    for (const Handler& handler : handlers_) {
      awaited.push_back({&handler.signal->abi, condition_of(handler.condition), handler.compare});
    }
    machine::wait_any(awaited, UINT64_MAX, false);
    machine::store(wake_->abi, 0);

    std::unique_lock lock(mutex_);
    const std::vector<Handler> added = std::exchange(new_handlers_, {});
    const std::vector<Call> calls = std::exchange(calls_, {});
    const uint64_t round = ++rounds_begun_;
    lock.unlock();
    handlers_.insert(handlers_.end(), added.begin(), added.end());
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
