// isa: values that are built once for each processor and wave size, on first use, and shared by all threads.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "target/processor.h"

namespace Atoll::isa {

/// The Made of a processor of target::processors() (or of a copy of one). `wave_size` is 32, 64, or 0 for the smallest
/// that the processor has.
template <typename Made>
const Made& per_processor(const target::Processor& processor, unsigned wave_size) {
  static std::array<std::atomic<const Made*>, 256> slots{};
  const auto all = target::processors();
  const target::Processor* known = &processor;
  if (known < all.data() || known >= all.data() + all.size()) known = target::find_processor(processor.name);  // a copy
  const unsigned smallest = processor.has_wave_size(32) ? 32 : 64;
  const unsigned lanes = wave_size == 0 ? smallest : wave_size;
  auto& slot = slots[(static_cast<size_t>(known - all.data()) * 2 + (lanes == 64 ? 1 : 0)) % slots.size()];
  const Made* made = slot.load(std::memory_order_acquire);
  if (made == nullptr) {
    // Threads may make it at the same time; the first one's stays.
    auto fresh = std::make_unique<const Made>(processor, lanes);
    if (slot.compare_exchange_strong(made, fresh.get(), std::memory_order_acq_rel)) made = fresh.release();
  }
  return *made;
}

}  // namespace Atoll::isa
