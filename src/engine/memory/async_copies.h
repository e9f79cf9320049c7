// engine: copies between memory and LDS that a wave does not wait for (async_copies.cpp).
#pragma once

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

/// So many arrive at a barrier in LDS, which is as the result says before; nothing if it is not in LDS.
uint64_t arrive_in_lds(const machine::WorkGroup& group, uint32_t address, uint64_t arrivals);

/// The handler of such a copy or of a prefetch; null for other instructions.
Handler prepare_async_copy(Preparation& p);

}  // namespace Atoll::engine
