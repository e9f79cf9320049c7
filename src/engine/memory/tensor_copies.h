// engine: copies of parts of tensors between memory and LDS (tensor_copies.cpp).
#pragma once

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

/// The handler of such a copy; null for other instructions.
Handler prepare_tensor_copy(Preparation& p);

}  // namespace Atoll::engine
