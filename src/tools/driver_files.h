// tools: the files in which Linux's driver for AMD GPUs describes itself and its GPUs, for the virtual GPUs. Some
// programs read them before or instead of the runtime's calls: rocminfo the driver's module, rocm_agent_enumerator
// and hipcc's --offload-arch=native the nodes of the topology. The preloaded library (hsa/driver_presence.cpp)
// redirects them here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "support/error.h"
#include "target/product.h"

namespace Atoll::tools {

/// Creates a directory with these files under their usual paths (sys/class/kfd/...). Programs share it, and it
/// never changes. `memory_bytes`: memory of each GPU; 0: its product's.
support::Result<std::filesystem::path> make_driver_files(std::span<const target::GpuModel> gpus, uint64_t memory_bytes);

}  // namespace Atoll::tools
