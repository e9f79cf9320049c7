// object: code of any operating system's ABI, ready to be loaded and launched: what a launch needs from a PAL or Mesa3D
// object, without that object's own metadata.
//
// PAL and Mesa3D objects are relocatables; they are linked first. An entry point's registers, mode and enabled ids are
// a KernelDescriptor, decoded from the COMPUTE_PGM_RSRC words by the same code as HSA's. What its user SGPRs are loaded
// with is a list beside it.
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

namespace Atoll::object {

enum class Abi : uint8_t { amdpal, mesa3d };

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
  bool dynamic_vgprs = false;
};

struct LoadableCode {
  std::vector<uint8_t> file;  ///< linked; segments and symbols of `code` refer to it
  CodeObject code;            ///< segments, symbols, relocations
  Abi abi = Abi::amdpal;
  std::vector<EntryPoint> entry_points;

  const EntryPoint* find(std::string_view name) const;
};

/// Reads a PAL or Mesa3D object, relocatable or linked. A contradiction between metadata and code is an error.
support::Result<LoadableCode> read_loadable_code(std::span<const uint8_t> file);

}  // namespace Atoll::object
