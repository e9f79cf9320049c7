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
#include <string>
#include <string_view>
#include <vector>

#include "machine/wave/launch_state.h"
#include "object/kernel_descriptor.h"
#include "object/pal/metadata.h"
#include "support/error.h"
#include "target/product.h"

namespace Atoll::machine {

/// A compute shader with what its metadata sets.
struct PalShader {
  std::string name;
  uint64_t entry = 0;
  object::KernelDescriptor registers{};  ///< COMPUTE_PGM_RSRC1 and 2, decoded; no HSA pointers
  unsigned user_sgprs = 0;
  uint32_t lds_bytes = 0, scratch_bytes = 0;  ///< of a work-group, and of a work-item
  bool watches_exceptions = false;
  std::optional<std::array<uint32_t, 3>> work_group_size;
  /// Mappings of the user SGPRs, from s0 on. Empty if the metadata has no user data registers: entry n is sN then.
  std::vector<object::UserDataMapping> user_data;
  uint64_t shader_table = 0;  ///< address of _amdgpu_cs_shdr_intrl_data; 0: there is none
};

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

/// Names of the functions in loaded code, each of which may be the entry of a launch.
std::vector<std::string> pal_shaders(const LoadedCode& code);

/// Finds a compute shader by the name of its function. Errors: not_found; unsupported when the code is of a graphics
/// stage; invalid_file when the metadata cannot be read or sets what the processor lacks.
support::Result<PalShader> find_pal_shader(const LoadedCode& code, std::string_view name,
                                           const target::Processor& processor);

/// Return whether a launch of the shader needs the table.
bool needs_spill_table(const PalShader& shader);
bool needs_work_group_table(const PalShader& shader);

/// Translates a shader and its user data to what its waves start with. Errors: invalid_argument when an entry that the
/// shader reads is not set, and those of set_geometry() and the like.
support::Result<LaunchState> make_pal_launch(const PalShader& shader, std::shared_ptr<const LoadedCode> code,
                                             const PalUserData& user_data, const PalTables& tables,
                                             const std::array<uint32_t, 3>& grid,
                                             const std::array<uint32_t, 3>& work_group, const target::GpuModel& model);

}  // namespace Atoll::machine
