// observe: what each thread keeps for itself, from one use to the next: answers that it has got lately, memory to be
// used again.
//
// On the heap: a thread-local variable of some kilobytes would keep the library from being loaded by dlopen. The
// pointer has no destructor: a program may launch kernels while it ends, when those have run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace Atoll::observe {

/// Has this thread call it as it ends; not at all if it has ended but for what runs after that.
void at_thread_end(void (*end)());

/// This thread's slot for that number, which shares it with others: one of `count`. Each type has slots of its own.
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
