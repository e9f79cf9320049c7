// observe: call stacks at which the program requested copies that are still outstanding. Reports need them when a copy
// is executed, possibly on another thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>

#include "machine/observer.h"
#include "observe/report/host_stack.h"

namespace Atoll::observe {

class RequestedCopies {
 public:
  /// Records the calling thread's stack as that of the request.
  void add(const machine::CopyEvent& copy) {
    const HostStack stack = HostStack::here();
    const std::lock_guard lock(mutex_);
    constexpr size_t most = 1024;
    if (stacks_.size() >= most) stacks_.erase(stacks_.begin());
    stacks_.insert_or_assign(key_of(copy), stack);
  }
  /// Returns the stack of the request, or an empty one if it is unknown.
  HostStack find(const machine::CopyEvent& copy) const {
    const std::lock_guard lock(mutex_);
    const auto at = stacks_.find(key_of(copy));
    return at == stacks_.end() ? HostStack{} : at->second;
  }

 private:
  using Key = std::array<uint64_t, 3>;
  static Key key_of(const machine::CopyEvent& copy) { return {copy.destination, copy.source, copy.bytes}; }

  mutable std::mutex mutex_;
  std::map<Key, HostStack> stacks_;
};

}  // namespace Atoll::observe
