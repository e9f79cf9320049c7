// object: code of any operating system's ABI, ready to be loaded and launched: what a launch needs from a PAL or Mesa3D
// object, without that object's own metadata.
//
// PAL and Mesa3D objects are relocatables; they are linked first. An entry point's registers, mode and enabled ids are
// a KernelDescriptor, decoded from the COMPUTE_PGM_RSRC words by the same code as HSA's. The sources of its user SGPRs
// are a list beside it. HSA's objects have kernels in their metadata in place of entry points.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/code_object.h"
#include "object/pal/metadata.h"
#include "target/target_id.h"

namespace Atoll::object {

enum class Abi : uint8_t { amdhsa, amdpal, mesa3d };

/// Returns the operating system's name in a target triple.
std::string_view abi_name(Abi abi);

/// The ABIs that a caller executes.
enum class AcceptedAbis : uint8_t { amdhsa, all };

struct EntryPoint {
  std::string name;  ///< of the symbol
  HardwareStage stage = HardwareStage::cs;
  uint64_t address = 0;  ///< of the first instruction, relative to the load address
  /// Compute stages only: allocated registers, initial MODE, enabled work-group and work-item ids, LDS and scratch.
  std::optional<KernelDescriptor> state;
  uint32_t wave_size = 64;
  std::vector<PalUserData> user_data;  ///< PAL: what each user SGPR is loaded with
  std::optional<uint32_t> user_data_limit, spill_threshold;
  std::optional<std::array<uint32_t, 3>> work_group_size;
  uint64_t shader_table = 0;  ///< PAL: address of _amdgpu_<stage>_shdr_intrl_data, relative; 0: there is none
  bool is_kernel = false;     ///< Mesa3D: a kernel with an argument buffer, as opposed to a shader
};

struct LoadableCode {
  std::vector<uint8_t> file;  ///< linked; segments and symbols of `code` refer to it
  CodeObject code;            ///< segments, symbols, relocations
  Abi abi = Abi::amdhsa;
  std::vector<EntryPoint> entry_points;  ///< none for amdhsa

  const EntryPoint* find(std::string_view name) const;
};

/// Reads a linked HSA code object, or a PAL or Mesa3D object, relocatable or linked. A contradiction between metadata
/// and code is an error, and so is an ABI that the caller does not accept.
support::Result<LoadableCode> read_loadable_code(std::span<const uint8_t> file,
                                                 AcceptedAbis accepted = AcceptedAbis::all);

/// Returns the ABI of an object file for AMD GPUs. Errors: another machine, or an unknown or unaccepted ABI.
support::Result<Abi> read_abi(std::span<const uint8_t> file, AcceptedAbis accepted = AcceptedAbis::all);

/// Returns the target that an object of any ABI was built for.
support::Result<target::TargetId> read_loadable_target(std::span<const uint8_t> file);

}  // namespace Atoll::object
