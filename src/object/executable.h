// object: code objects of every operating system's ABI that can be executed.
//
// code_object.h reads those of amdhsa. Others are laid out in memory in the same way; their metadata have readers of
// their own (pal/metadata.h).
#pragma once

#include <cstdint>
#include <span>

#include "object/code_object.h"
#include "support/error.h"
#include "target/target_id.h"

namespace Atoll::object {

enum class OsAbi : uint8_t { amdhsa, amdpal };

/// Reads a loadable code object (ET_DYN) of any OsAbi. Metadata are read for amdhsa only. `file` must outlive the
/// result.
support::Result<CodeObject> read_executable(std::span<const uint8_t> file);

/// The ABI of a code object that read_executable() has read.
OsAbi os_abi_of(const CodeObject& object);

/// The target that the code object of any OsAbi at the start of `file` was built for.
support::Result<target::TargetId> read_executable_target(std::span<const uint8_t> file);

}  // namespace Atoll::object
