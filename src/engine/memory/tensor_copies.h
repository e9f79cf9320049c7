// engine: copies of tensor tiles between memory and LDS (tensor_copies.cpp).
#pragma once

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

/// Returns the handler of a tensor copy; null for other instructions.
Handler prepare_tensor_copy(Preparation& p);

}  // namespace Atoll::engine
