// machine: launches of the PAL ABI (OS ABI amdpal): compute shaders, from registers and user data in metadata.
//
// PAL has no packet for a launch. A driver sets the hardware's registers: the metadata holds the value of each, or for
// a user data register what to load into it. An application sets up to 128 dwords of user data. The first user SGPRs
// get entries of it, or low halves of addresses, whose high half is the program counter's. Source: user guide,
// "AMDPAL": "Code Object Metadata", "User Data", "Compute User Data", "Per-Shader Table", "Spill Table"; LLVM 22,
// SIFrameLowering.cpp, for the scratch resource in the global table.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "machine/wave/launch_state.h"
#include "object/loadable_code.h"
#include "support/error.h"
#include "target/product.h"

namespace Atoll::machine {

/// The user data entries of a launch.
struct PalUserData {
  static constexpr unsigned max_entries = 128;
  std::array<std::optional<uint32_t>, max_entries> entries{};

  unsigned end() const;  ///< after the last entry that is set
};

/// Guest memory that user SGPRs can refer to. High halves must be those of the entry.
struct PalTables {
  uint64_t spill = 0;        ///< all user data entries as dwords
  uint64_t work_groups = 0;  ///< the grid in work-groups: three dwords
};

/// Return whether a launch of the shader needs the table.
bool needs_spill_table(const object::EntryPoint& shader);
bool needs_work_group_table(const object::EntryPoint& shader);

/// Translates a compute shader of `code` and its user data to what its waves start with. Errors: unsupported for a
/// graphics stage; invalid_argument when an entry that the shader reads is not set, and those of set_geometry() and the
/// like. Mesa3D's shaders that are no kernels have no mapping: entry n is sN.
support::Result<LaunchState> make_pal_launch(const object::EntryPoint& shader, std::shared_ptr<const LoadedCode> code,
                                             const PalUserData& user_data, const PalTables& tables,
                                             const std::array<uint32_t, 3>& grid,
                                             const std::array<uint32_t, 3>& work_group, const target::GpuModel& model);

}  // namespace Atoll::machine
