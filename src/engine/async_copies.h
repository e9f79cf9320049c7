// engine: copies between memory and LDS that a wave does not wait for (async_copies.cpp).
#pragma once

#include "engine/prepare.h"

namespace Atoll::engine {

/// The handler of such a copy or of a prefetch; null for other instructions.
Handler prepare_async_copy(Preparation& p);

}  // namespace Atoll::engine
