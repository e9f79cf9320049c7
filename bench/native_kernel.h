// A native loop on the data of a case, in the same kind of memory as Atoll's kernels have.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "atoll_kernel.h"
#include "native_loops.h"

namespace Atoll::bench {

class NativeKernel {
 public:
  NativeKernel(const Gpu& gpu, const Code& code, const KernelCase& work, const NativeLoop& loop, unsigned threads)
      : data_(gpu, code, work),
        arguments_(data_.places()),
        loop_(loop),
        pieces_(size_t{work.grid[0]} * work.grid[1] / loop.items_of_a_piece),
        threads_(threads) {}

  /// Starts the other threads and waits until all are there: waking them is no part of what is measured.
  void gather() {
    helpers_.clear();
    go_ = false;
    busy_ = threads_ - 1;
    std::atomic<unsigned> ready = 0;
    for (unsigned i = 1; i < threads_; ++i) {
      helpers_.emplace_back([this, i, &ready] {
        ++ready;
        while (!go_) std::this_thread::yield();
        run_part(i);
        --busy_;
      });
    }
    while (ready != threads_ - 1) std::this_thread::yield();
  }

  /// Each thread does an equal part, without a gap. After gather().
  void launch() {
    go_ = true;
    run_part(0);
    while (busy_ != 0) std::this_thread::yield();
  }

  std::vector<std::byte> result() const { return data_.result(); }

 private:
  void run_part(unsigned i) const { loop_.run(arguments_, pieces_ * i / threads_, pieces_ * (i + 1) / threads_); }

  AtollKernel data_;
  const NativeArguments arguments_;
  const NativeLoop& loop_;
  const size_t pieces_;
  const unsigned threads_;
  std::atomic<bool> go_ = false;
  std::atomic<unsigned> busy_ = 0;
  std::vector<std::jthread> helpers_;
};

}  // namespace Atoll::bench
