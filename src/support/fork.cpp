// support: holding mutexes while the process forks. See fork.h.
#include "support/fork.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <span>

namespace Atoll::support {

namespace {

/// All that are named, deepest last. They are the library's own, so that their number is known.
struct Locks {
  std::array<fork_locks::Lock, 16> list{};
  size_t count = 0;

  std::span<fork_locks::Lock> all() { return std::span(list).first(count); }
};
constinit Locks known;  // under list_mutex, which is innermost of all: one may be named while others are held
constinit Locks held;   // by who forks, under fork_mutex
constinit std::mutex list_mutex, fork_mutex;

void lock_all() {
  fork_mutex.lock();
  list_mutex.lock();
  held = known;
  list_mutex.unlock();
  for (const fork_locks::Lock& each : held.all()) each.lock(each.mutex);
  list_mutex.lock();
}

void unlock_all() {
  list_mutex.unlock();
  for (size_t i = held.count; i-- > 0;) held.list[i].unlock(held.list[i].mutex);
  fork_mutex.unlock();
}

}  // namespace

void fork_locks::add(const Lock& lock) {
  const std::lock_guard guard(list_mutex);
  if (std::ranges::find(known.all(), lock.mutex, &Lock::mutex) != known.all().end()) return;
  if (known.count == known.list.size()) abort();
  if (known.count == 0) pthread_atfork(lock_all, unlock_all, unlock_all);
  known.list[known.count++] = lock;
  std::ranges::sort(known.all(), std::ranges::greater(), &Lock::depth);
}

}  // namespace Atoll::support
