// memory_model: a litmus test as a kernel, in assembly text: each thread a wave, each statement the code sequence that
// the memory model's table has for it (sequence.h). What runs it brings an adversary for caches and an order of waves.
//
// The kernel is called `litmus` and takes one pointer: to the locations, 256 bytes apart, then the threads' registers,
// then their delays, as LitmusKernel has it. A delay is how often a wave gives way before a step: so many bits set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memory_model/generation.h"
#include "memory_model/litmus.h"
#include "support/error.h"

namespace Atoll::memory_model {

struct LitmusKernel {
  static constexpr uint32_t location_bytes = 256, register_bytes = 64, delay_count = 32, delay_bytes = 4 * delay_count;

  std::string text;
  uint32_t work_groups = 0, work_group_size = 0;  ///< in work-items
  uint32_t locations = 0, threads = 0;

  uint32_t location(size_t number) const { return static_cast<uint32_t>(number) * location_bytes; }
  uint32_t register_of(size_t thread, size_t number) const {
    return location(locations) + static_cast<uint32_t>(thread) * register_bytes + static_cast<uint32_t>(number) * 4;
  }
  uint32_t delays_of(size_t thread) const {
    return register_of(threads, 0) + static_cast<uint32_t>(thread) * delay_bytes;
  }
  uint32_t bytes() const { return delays_of(threads); }
};

/// Errors: GPUs without global instructions (before GFX9), a test with more threads or registers than fit.
support::Result<LitmusKernel> litmus_kernel(const LitmusTest& test, const target::Processor& processor);

}  // namespace Atoll::memory_model
