// object: Catalyst's containers as code objects, so that everything that loads, executes, checks and debugs HSA's code
// objects does the same with Catalyst's kernels.
//
// Setup records of OpenCL 2.0 are amd_kernel_code_t, the record before each kernel of HSA's code object V2. The setup
// buffer is the first 24 bytes of an AQL dispatch packet, and the buffer with the bases of FLAT's apertures is an
// amd_queue_t. So a V2 code object with these records and metadata for the arguments is launched as HSA launches it.
// OpenCL 1.x has no such record. Its conversion makes one from ATI_PROGINFO, with no user SGPRs enabled: what they hold
// is LaunchInfo::user_data, which a launch reads from the container. The container is kept in a section of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "object/catalyst_launch.h"
#include "support/error.h"

namespace Atoll::object::catalyst {

/// True for a container of OpenCL 1.x or 2.0.
bool is_catalyst(std::span<const uint8_t> file);

/// Converts a container to a code object V2 with all of its kernels. Errors: launch_info()'s, relocations of a type
/// that no driver writes, arguments that overlap.
support::Result<std::vector<uint8_t>> make_code_object(std::span<const uint8_t> container);

/// Returns the container in a code object that make_code_object() has made; nothing in others.
std::optional<std::span<const uint8_t>> container_of(std::span<const uint8_t> code_object);

/// A container of OpenCL 1.x, and what a launch of each of its kernels needs.
struct ConstantBufferCode {
  Container container;
  std::vector<LaunchInfo> kernels;

  const LaunchInfo* find(std::string_view kernel) const;
};

/// Reads the container in a code object; nothing where it is not of OpenCL 1.x. `code_object` must outlive the result.
support::Result<std::optional<ConstantBufferCode>> constant_buffer_code(std::span<const uint8_t> code_object);

}  // namespace Atoll::object::catalyst
