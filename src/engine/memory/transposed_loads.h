// engine: loads of matrices by rows for their columns, on GFX12.5 (transposed_loads.cpp).
#pragma once

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

/// The handler of ds_load_tr* or global_load_tr* of GFX12.5; null for other instructions.
Handler prepare_transposed_load(Preparation& p);

}  // namespace Atoll::engine
