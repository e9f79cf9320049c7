// object: what a launch of a Catalyst kernel needs, whichever container it comes from.
//
// Registers, mode and enabled ids are a KernelDescriptor, decoded by the same code as HSA's. What user SGPRs hold is a
// list beside it: by user data class for OpenCL 1.x, by feature for 2.0.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "object/catalyst_abi.h"
#include "object/catalyst_cl2.h"
#include "object/catalyst_container.h"
#include "object/kernel_descriptor.h"
#include "support/error.h"

namespace Atoll::object::catalyst {

/// A sampler that a kernel of OpenCL 1.x defines.
struct KernelSampler {
  uint32_t id, value;
};

struct LaunchInfo {
  std::string name;
  const target::Processor* processor = nullptr;
  std::span<const uint8_t> code;  ///< from the first instruction on
  KernelDescriptor state{};       ///< registers, initial MODE, enabled ids, LDS and scratch
  RawKernelCode setup{};          ///< the same as a record; OpenCL 1.x has none, so that it is made from program info
  bool is_64_bit = false;
  // OpenCL 1.x:
  std::vector<UserData> user_data;
  std::vector<MetadataArgument> constant_arguments;  ///< in constant buffer 1
  uint32_t constant_buffer_1_bytes = 0;
  std::vector<KernelSampler> samplers;  ///< that the kernel itself defines
  // OpenCL 2.0:
  UserDataLayout user_sgprs;
  std::vector<Cl2Argument> arguments;  ///< without setup arguments
  ArgumentLayout argument_layout;
};

/// Returns what launching a kernel of OpenCL 1.x needs. Refuses kernels without GCN code by the device's name, and
/// program info that contradicts the metadata.
support::Result<LaunchInfo> launch_info(const Container& container, const Kernel& kernel);

/// Returns what a launch of an OpenCL 2.0 kernel needs.
support::Result<LaunchInfo> launch_info(const Cl2Container& container, const Cl2Kernel& kernel);

}  // namespace Atoll::object::catalyst
