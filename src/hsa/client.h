// hsa: whether who calls the runtime knows the GPU. A HIP that is older than the GPU's processor does not expect it,
// and crashes; and one that finds no code for it in a library ends the program, or fails where nobody looks.
#pragma once

#include <string>
#include <vector>

#include "support/error.h"
#include "target/product.h"

namespace Atoll::hsa {

/// The error says which HIP of this process does not know the processor, and which processors it knows.
support::Result<void> check_clients(const target::GpuModel& gpu);

/// A line for each library of this process with GPU code, but none for this GPU: what it has, and which GPU runs it.
std::vector<std::string> libraries_without_code(const target::GpuModel& gpu);

}  // namespace Atoll::hsa
