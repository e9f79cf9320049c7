// engine: transposing matrix loads of GFX12.5 (transposed_loads.cpp).
#pragma once

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

/// Returns the handler of GFX12.5's ds_load_tr* or global_load_tr*; null for other instructions.
Handler prepare_transposed_load(Preparation& p);

}  // namespace Atoll::engine
