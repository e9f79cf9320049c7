// machine: launches of the HSA ABI, from a kernel descriptor and an AQL packet.
// Source: user guide, "Kernel Descriptor", "Initial Kernel Execution State", "Preloaded Kernel Arguments".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "machine/queue/aql.h"
#include "machine/wave/dispatch.h"
#include "machine/wave/launch_state.h"
#include "object/kernel_descriptor.h"
#include "support/error.h"
#include "target/product.h"

namespace Atoll::machine {

/// A kernel with its descriptor, decoded once.
struct HsaKernel : Kernel {
  object::KernelDescriptor descriptor{};
  uint16_t named_vgprs = 0, named_agprs = 0;  ///< of those allocated, the first so many are all that the code names
  std::optional<std::array<uint32_t, 3>> cluster_size;  ///< work-groups of a cluster, if it is to run in clusters
  bool watches_exceptions = false;  ///< enables floating-point exceptions, or its code can read them
  bool splits_work_groups = false;  ///< TG_SPLIT
};

/// Returns the kernel whose descriptor lies at `object` in `code`. Errors: `code` has no kernel there, or the
/// descriptor exceeds a limit of the processor.
support::Result<std::shared_ptr<HsaKernel>> make_kernel(uint64_t object, const std::shared_ptr<const LoadedCode>& code,
                                                        const target::Processor& processor);

/// Guest addresses that a kernel can be given pointers to, beside its arguments.
struct HsaPointers {
  uint64_t packet = 0;  ///< a copy of the AQL packet; 0: no copy
  uint64_t queue = 0;   ///< the amd_queue_t
  uint64_t dispatch_id = 0;
};

/// Translates a packet to what its waves start with. `kernel` is the packet's and `code` the kernel's. Errors, as HSA
/// distinguishes them: incompatible (sizes that do not fit each other), invalid_argument (a malformed packet),
/// out_of_resources (LDS, scratch or work-group larger than the GPU's), memory_fault (arguments to be preloaded are not
/// mapped).
support::Result<LaunchState> make_hsa_launch(const aql::KernelDispatchPacket& packet, const HsaKernel& kernel,
                                             std::shared_ptr<const LoadedCode> code, const HsaPointers& pointers,
                                             const target::GpuModel& model);

}  // namespace Atoll::machine
