// machine: launches of Mesa3D's compute kernels (OS ABI mesa3d), which clover and radeonsi run.
//
// A kernel begins with an amd_kernel_code_t, which names its user SGPRs as HSA's code object V2 does. radeonsi fills
// in those of them that it has values for: the scratch resource, the dispatch pointer, the arguments' address and the
// grid in work-groups. The arguments are followed by clover's own: the number of dimensions and the grid's offset, four
// dwords in all. Source: Mesa 23.0: radeonsi's si_setup_user_sgprs_co_v2 and clover's kernels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "machine/wave/launch_state.h"
#include "object/loadable_code.h"
#include "support/error.h"
#include "target/product.h"

namespace Atoll::machine {

/// Bytes of clover's own arguments: number of dimensions, and the grid's offset in x, y and z.
inline constexpr uint32_t mesa_implicit_bytes = 16;

/// Guest memory of a launch.
struct MesaMemory {
  uint64_t arguments = 0;
  uint64_t packet = 0;  ///< a copy of the AQL packet, of 64 bytes, if needs_packet()
};

bool needs_packet(const object::EntryPoint& kernel);

/// Translates a kernel of `code` to what its waves start with, and writes the packet. Errors: unsupported for a user
/// SGPR that radeonsi does not set; those of make_hsa_launch().
support::Result<LaunchState> make_mesa_launch(const object::EntryPoint& kernel, std::shared_ptr<const LoadedCode> code,
                                              const MesaMemory& memory, const std::array<uint32_t, 3>& grid,
                                              const std::array<uint32_t, 3>& work_group, uint32_t dynamic_lds_bytes,
                                              const target::GpuModel& model);

}  // namespace Atoll::machine
