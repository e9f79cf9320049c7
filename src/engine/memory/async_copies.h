// engine: asynchronous copies between memory and LDS (async_copies.cpp).
#pragma once

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

/// Adds arrivals to a barrier in LDS and returns its previous value. Does nothing if the address is outside LDS.
uint64_t arrive_in_lds(const machine::WorkGroup& group, uint32_t address, uint64_t arrivals);

/// Returns the handler of an asynchronous copy or prefetch; null for other instructions.
Handler prepare_async_copy(Preparation& p);

}  // namespace Atoll::engine
