// observe: thread-local slots for caches and recycled storage.
//
// Slots are on the heap, because kilobytes of thread-local storage prevent the library from being loaded with dlopen.
// The pointer has no destructor: a program may launch kernels during exit, after thread-local destructors have run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace Atoll::observe {

/// Registers `end` to be called when this thread ends. Does nothing if its thread-local destructors have already run.
void at_thread_end(void (*end)());

/// Returns this thread's slot for a number (modulo `count`). Each type has its own slots.
template <typename Slot, size_t count>
Slot& thread_slot(uint64_t number) {
  using Slots = std::array<Slot, count>;
  static thread_local Slots* slots = nullptr;
  if (slots == nullptr) [[unlikely]] {
    slots = new Slots{};
    at_thread_end([] { delete std::exchange(slots, nullptr); });
  }
  return (*slots)[number % count];
}

}  // namespace Atoll::observe
