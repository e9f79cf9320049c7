// A count that a kernel keeps, for programs that load the runtime: whether it is right shows that no dispatch was lost
// or came twice.
#pragma once

#include <cstdint>

#include "hsa/program.h"

namespace Atoll::test {

/// Of the kernel `add` (hsa/kernels.h).
struct AddArguments {
  uint32_t* data;
  uint32_t value;
};

/// 64 words; every dispatch adds `value` to each, and what the kernel's table has.
class Counter {
 public:
  /// `kernel` is `add`'s object.
  Counter(const Gpu& gpu, uint64_t kernel) : kernel_(kernel) {
    data_ = static_cast<uint32_t*>(Gpu::allocate(gpu.device, 64 * sizeof(uint32_t)));
    arguments_ = static_cast<AddArguments*>(Gpu::allocate(gpu.kernarg, sizeof(AddArguments)));
    *arguments_ = {data_, 3};
  }
  void count(FailingQueue& queue) {
    hsa_signal_store_relaxed(done_, 1);
    queue.submit(FailingQueue::dispatch(kernel_, arguments_, 64, 64, done_));
    queue.await(done_);
    ++dispatches_;
  }
  bool is_right() const {
    for (uint32_t i = 0; i < 64; ++i) {
      if (data_[i] != dispatches_ * (3 + (i % 4 + 1) * 10)) return false;
    }
    return true;
  }

 private:
  uint64_t kernel_;
  uint32_t* data_;
  AddArguments* arguments_;
  hsa_signal_t done_ = make_signal(1);
  uint32_t dispatches_ = 0;
};

}  // namespace Atoll::test
