// observe: where the program asked for the copies that are under way, for reports that are made when they are carried
// out, on another thread perhaps.
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
  /// On the thread that asks.
  void add(const machine::CopyEvent& copy) {
    const HostStack stack = HostStack::here();
    const std::lock_guard lock(mutex_);
    constexpr size_t most = 1024;
    if (stacks_.size() >= most) stacks_.erase(stacks_.begin());
    stacks_.insert_or_assign(key_of(copy), stack);
  }
  /// Empty where that is not known.
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
