// object: loadable files of other operating systems' ABIs than HSA's: segments, symbols and relocations alone.
#pragma once

#include <cstdint>
#include <span>

#include "object/code_object.h"
#include "support/error.h"

namespace Atoll::object {

/// Reads an ET_DYN file of any OS ABI as read_code_object() does, but for its metadata. `file` must outlive the result.
support::Result<CodeObject> read_shared_object(std::span<const uint8_t> file);

}  // namespace Atoll::object
