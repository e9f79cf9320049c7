// library: builds the kernel argument segment from the caller's arguments: each parameter at its offset, and the hidden
// arguments that the compiler appended. Source: user guide, "Kernel Argument Metadata Map" (value_kind), V3 to V5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "atoll/atoll.h"
#include "object/code_object.h"
#include "observe/shadow/lds_layout.h"
#include "support/error.h"

namespace Atoll::library {

/// Returns the kernel's parameters, as its metadata and its name in C++ describe them, without the hidden ones.
std::vector<Parameter> parameters_of(const object::KernelMetadata& kernel);

/// Returns "parameter 'float* data'" or, without a name, "parameter 2 'float*'", for messages.
std::string describe(const Parameter& parameter, size_t index);

/// Refuses an argument whose type is known and differs from that of the parameter with this index.
support::Result<void> check_type(const Parameter& parameter, size_t index, const Argument& argument);

struct Launch {
  std::array<uint32_t, 3> grid{}, block{};  ///< work-items
  uint32_t dynamic_lds_bytes = 0;           ///< in: requested; out: including local memory arguments
  uint64_t queue_address = 0;               ///< address of the kernel's amd_queue_t
  uint32_t lds_guard_bytes = 0;             ///< gap between parts of LDS
  observe::LdsLayout lds{};                 ///< out: the parts
};

/// Returns how many dimensions a launch has. One counts if the grid or the work-group is larger than 1 in it.
uint32_t num_dimensions(const Launch& launch);

/// Returns the kernel argument segment. Local memory arguments get their place in LDS after the static part and after
/// each other, with gaps of `launch.lds_guard_bytes`, and add to `launch.dynamic_lds_bytes`. Errors name the parameter.
support::Result<std::vector<std::byte>> pack_arguments(const object::KernelMetadata& kernel,
                                                       std::span<const Argument> arguments, Launch& launch);

}  // namespace Atoll::library
