// library: the public classes Stream and Event: a thread for each stream, which does one thing after the other.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "atoll/atoll.h"
#include "library/failure.h"
#include "library/state.h"

namespace Atoll {

struct Event::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Expected<LaunchResult>> result;  ///< once it is done

  void finish(Expected<LaunchResult> with) {
    const std::lock_guard lock(mutex);
    result = std::move(with);
    changed.notify_all();
  }
};

namespace {

using Work = std::function<Expected<LaunchResult>()>;

/// What a stream's thread and its handles share.
struct WorkQueue {
  struct Item {
    Work work;
    std::shared_ptr<Event::State> event;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Item> items;
  bool busy = false, closing = false;
  std::optional<Failure> failure;  ///< the first one since the last synchronize()

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return closing || !items.empty(); });
      if (items.empty()) return;
      {
        const Item item = std::move(items.front());
        items.pop_front();
        busy = true;
        const std::optional<Failure> before = failure;
        lock.unlock();
        Expected<LaunchResult> result = before ? not_run(*before) : item.work();
        if (!result && !before) remember(result.error());
        item.event->finish(std::move(result));
      }  // what the item kept alive goes here, without the lock
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }

 private:
  static Expected<LaunchResult> not_run(const Failure& before) {
    return library::refuse(FailureKind::aborted, "not run, as something before it in the stream failed: {}",
                           before.message.substr(0, before.message.find('\n')));
  }
  void remember(const Failure& what) {
    const std::lock_guard lock(mutex);
    failure = what;
  }
};

}  // namespace

struct Stream::State {
  std::shared_ptr<Gpu::State> gpu;
  std::shared_ptr<WorkQueue> queue = std::make_shared<WorkQueue>();
  std::thread thread{[shared = queue] { shared->run(); }};

  explicit State(std::shared_ptr<Gpu::State> of) : gpu(std::move(of)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    {
      const std::lock_guard lock(queue->mutex);
      queue->closing = true;
      queue->changed.notify_all();
    }
    // The last handle may have gone with a function that the stream itself has called.
    thread.get_id() == std::this_thread::get_id() ? thread.detach() : thread.join();
  }

  std::shared_ptr<Event::State> add(Work work) const {
    auto event = std::make_shared<Event::State>();
    const std::lock_guard lock(queue->mutex);
    queue->items.push_back({std::move(work), event});
    queue->changed.notify_all();
    return event;
  }
};

bool Event::is_done() const {
  const std::lock_guard lock(state_->mutex);
  return state_->result.has_value();
}

Expected<LaunchResult> Event::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->result.has_value(); });
  return *state_->result;
}

bool Event::wait_for(double seconds) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e9)),
                                  [this] { return state_->result.has_value(); });
}

Expected<Stream> Gpu::create_stream() const {
  Stream stream;
  try {
    stream.state_ = std::make_shared<Stream::State>(state_);
  } catch (const std::system_error& error) {
    return library::refuse(FailureKind::system, "a stream needs a thread: {}", error.what());
  }
  return stream;
}

Expected<Event> Stream::launch_with(const Code& code, std::string_view kernel, const LaunchShape& shape,
                                    std::span<const Argument> arguments) const {
  auto prepared = library::prepare(*state_->gpu, *code.state_, kernel, shape, arguments);
  if (!prepared) return std::unexpected(std::move(prepared).error());
  std::vector<std::shared_ptr<const void>> kept{code.state_};
  for (const Argument& argument : arguments)
    if (argument.keeps) kept.push_back(argument.keeps);
  Event event;
  event.state_ = state_->add([gpu = state_->gpu, launch = std::move(*prepared), kept = std::move(kept)] {
    return library::run(*gpu, launch);
  });
  return event;
}

Event Stream::call_reported(std::function<std::optional<std::string>()> function) const {
  Event event;
  event.state_ = state_->add([function = std::move(function)]() -> Expected<LaunchResult> {
    if (const auto wrong = function())
      return library::refuse(FailureKind::aborted, "a function that the stream called threw: {}", *wrong);
    return LaunchResult{};
  });
  return event;
}

Event Stream::record() const {
  return call_reported([] { return std::optional<std::string>(); });
}

void Stream::wait(const Event& event) const {
  state_->add([event] { return event.wait(); });
}

Expected<void> Stream::synchronize() const {
  std::unique_lock lock(state_->queue->mutex);
  state_->queue->changed.wait(lock, [this] { return state_->queue->items.empty() && !state_->queue->busy; });
  if (!state_->queue->failure) return {};
  Failure failure = std::move(*state_->queue->failure);
  state_->queue->failure.reset();
  return std::unexpected(std::move(failure));
}

}  // namespace Atoll
