// hsa: whether who calls the runtime knows the GPU. A HIP that is older than the GPU's processor does not expect it,
// and crashes.
#pragma once

#include "support/error.h"
#include "target/product.h"

namespace Atoll::hsa {

/// The error says which HIP of this process does not know the processor, and which processors it knows.
support::Result<void> check_clients(const target::GpuModel& gpu);

}  // namespace Atoll::hsa
