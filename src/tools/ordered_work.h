// tools: many things that are made at the same time and taken one after the other.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "support/error.h"
#include "support/exceptions.h"

namespace Atoll::tools {

/// Makes things on all host threads and hands them on in their order, a few at a time.
template <typename T>
class OrderedWork {
 public:
  using Make = std::function<support::Result<T>(size_t)>;

  OrderedWork(size_t count, Make make) : count_(count), make_(std::move(make)), made_(count) {
    const size_t threads = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
    ahead_ = 2 * threads;
    threads_.reserve(threads);
    try {
      for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The host refuses further threads: the existing ones do the work, or the caller does.
    }
  }
  ~OrderedWork() {
    {
      const std::lock_guard lock(mutex_);
      next_ = count_;
      taken_ = count_;
    }
    changed_.notify_all();
  }
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;

  support::Result<T> take(size_t index) {
    std::unique_lock lock(mutex_);
    if (threads_.empty()) made_[index] = make(index);
    changed_.wait(lock, [&] { return made_[index].has_value(); });
    auto result = std::move(*made_[index]);
    made_[index].reset();
    taken_ = index + 1;
    lock.unlock();
    changed_.notify_all();
    return result;
  }

 private:
  support::Result<T> make(size_t index) {
    return support::without_exceptions([&] { return make_(index); });
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return next_ < taken_ + ahead_ || next_ >= count_; });
      if (next_ >= count_) return;
      const size_t mine = next_++;
      lock.unlock();
      auto result = make(mine);
      lock.lock();
      made_[mine] = std::move(result);
      changed_.notify_all();
    }
  }

  const size_t count_;
  const Make make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<support::Result<T>>> made_;
  size_t next_ = 0, taken_ = 0, ahead_ = 1;
  std::vector<std::jthread> threads_;
};

}  // namespace Atoll::tools
