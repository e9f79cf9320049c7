// observe: what each thread keeps for itself, from one use to the next: answers that it has got lately, memory to be
// used again.
//
// On the heap: a thread-local variable of some kilobytes would keep the library from being loaded by dlopen. The
// pointer has no destructor: a program may launch kernels while it ends, when those have run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace Atoll::observe {

/// What goes when the thread ends.
struct OfThread {
  OfThread() = default;
  OfThread(const OfThread&) = delete;
  OfThread& operator=(const OfThread&) = delete;
  virtual ~OfThread() = default;
  virtual void forget() = 0;
};
void goes_with_thread(std::unique_ptr<OfThread> owner);

/// This thread's slot for that number, which shares it with others: one of `count`. Each type has slots of its own.
template <typename Slot, size_t count>
Slot& thread_slot(uint64_t number) {
  using Slots = std::array<Slot, count>;
  static thread_local Slots* slots = nullptr;
  struct Owner final : OfThread {
    Owner() { slots = new Slots; }
    void forget() override { delete std::exchange(slots, nullptr); }
  };
  if (slots == nullptr) [[unlikely]]
    goes_with_thread(std::make_unique<Owner>());
  return (*slots)[number % count];
}

}  // namespace Atoll::observe
