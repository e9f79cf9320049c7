// machine: image and sampler arguments of Catalyst's kernels.
//
// An image argument is the address of 8 dwords of resource, followed by the channel type and the channel order. A
// kernel of OpenCL 2.0 gets the address itself. For OpenCL 1.x the resource goes to a table, and sizes, type and order
// to constant buffer 1. Source: "AMD Catalyst OpenCL 2.0 ABI description", "Image arguments"; CLRX, "Image arguments".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "object/catalyst_abi.h"
#include "support/error.h"
#include "target/processor.h"

namespace Atoll::machine {

struct CatalystImage {
  std::array<uint32_t, 8> resource{};
  object::catalyst::ImageConstants constants{};
};

/// Reads the image at an address and checks it against its OpenCL type ("image2d_t", or "2D"). Errors: memory that is
/// not mapped, a resource of another type, an unknown channel order.
support::Result<CatalystImage> read_catalyst_image(uint64_t address, std::string_view type,
                                                   const target::Processor& processor);

/// Returns the hardware's sampler for an OpenCL sampler value.
support::Result<std::array<uint32_t, 4>> catalyst_sampler(uint32_t value, const target::Processor& processor);

}  // namespace Atoll::machine
