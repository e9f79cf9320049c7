// support: mutexes of the process that a forked child finds free.
//
// A child of fork() has the memory of its parent and one thread, the one that forked. A mutex that another thread held
// then stays locked in the child for ever, and what it guards may be half changed. So who forks holds all of those that
// are named here, and the child, as the parent, lets them go.
#pragma once

#include <mutex>
#include <type_traits>

namespace Atoll::support {

/// How deep in others a mutex is locked: who holds one locks none of the same or a larger depth.
enum class LockDepth : unsigned char {
  innermost,  ///< nothing is locked while it is held
  middle,     ///< such are
  outermost,
};

namespace fork_locks {
struct Lock {
  void* mutex = nullptr;
  void (*lock)(void*) = nullptr;
  void (*unlock)(void*) = nullptr;
  LockDepth depth{};
};
void add(const Lock& lock);
}  // namespace fork_locks

/// Whether the child may unlock what its parent's thread has locked. The C library tells the writer of a shared mutex
/// and the owner of a recursive one by the thread's ID, which is another in the child: these would stay locked there.
template <typename Mutex>
concept UnlockedByAnyThread =
    !requires(Mutex& mutex) { mutex.lock_shared(); } && !std::is_same_v<Mutex, std::recursive_mutex>;

/// The mutex must never be destroyed. To name it again changes nothing.
template <UnlockedByAnyThread Mutex>
void keep_free_in_forks(Mutex& mutex, LockDepth depth) {
  fork_locks::add({&mutex, [](void* locked) { static_cast<Mutex*>(locked)->lock(); },
                   [](void* locked) { static_cast<Mutex*>(locked)->unlock(); }, depth});
}

}  // namespace Atoll::support
