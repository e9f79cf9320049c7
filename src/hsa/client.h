// hsa: checks whether the program's HIP supports the GPU. An older HIP crashes on an unknown processor; one that finds
// no code for it in a library ends the program, or fails silently.
#pragma once

#include <string>
#include <vector>

#include "support/error.h"
#include "target/product.h"

namespace Atoll::hsa {

/// Fails if a HIP in this process does not support the processor. The error names it and the processors it supports.
support::Result<void> check_clients(const target::GpuModel& gpu);

/// Returns a line for each library of this process that has GPU code for other GPUs only: its targets, and a GPU that
/// runs it.
std::vector<std::string> libraries_without_code(const target::GpuModel& gpu);

}  // namespace Atoll::hsa
