// engine: WMMA and SWMMAC of GFX12.5 (deep_matrix.cpp).
#pragma once

#include "engine/prepare.h"

namespace Atoll::engine {

/// The handler of such an instruction; null for others.
Handler prepare_deep_matrix(Preparation& p);

}  // namespace Atoll::engine
