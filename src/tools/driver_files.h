// tools: the files in which Linux's driver for AMD GPUs describes itself and its GPUs, as they would be on a machine
// that has the virtual ones. Programs look into them before they ask the runtime, or instead: rocminfo for the driver's
// module, rocm_agent_enumerator and hipcc's --offload-arch=native for the nodes of the topology. The preloaded library
// (hsa/driver_presence.cpp) leads them here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "support/error.h"
#include "target/product.h"

namespace Atoll::tools {

/// A directory with these files under their usual paths (sys/class/kfd/...), which programs share and nobody changes.
/// `memory_bytes`: of each GPU; 0: its product's.
support::Result<std::filesystem::path> make_driver_files(std::span<const target::GpuModel> gpus, uint64_t memory_bytes);

}  // namespace Atoll::tools
