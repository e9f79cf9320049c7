// For tests that run kernels: vectors in guest memory, which is all that kernels may touch with xnack off.
#pragma once

#include <cstdint>
#include <new>
#include <vector>

#include "machine/memory/memory.h"

namespace Atoll::test {

/// All guest memory of a process lies in one range, so that it does not matter which GPU's this is.
inline machine::Memory& guest_memory() {
  static machine::Memory memory;
  return memory;
}

template <typename T>
struct GuestAllocator {
  using value_type = T;

  GuestAllocator() = default;
  template <typename Other>
  explicit(false) GuestAllocator(const GuestAllocator<Other>&) {}

  T* allocate(size_t count) {
    const auto address = guest_memory().allocate(count * sizeof(T), 0, "a test's vector");
    if (!address) throw std::bad_alloc();
    return reinterpret_cast<T*>(*address);
  }
  void deallocate(T* memory, size_t) { static_cast<void>(guest_memory().free(reinterpret_cast<uint64_t>(memory))); }

  template <typename Other>
  bool operator==(const GuestAllocator<Other>&) const {
    return true;
  }
};

template <typename T>
using GuestVector = std::vector<T, GuestAllocator<T>>;

}  // namespace Atoll::test
