// compiler: links an object file into one position-independent block of bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/compiled/translation.h"
#include "support/error.h"

namespace Atoll::compiler {

struct LinkedCode {
  std::vector<uint8_t> bytes;
  std::vector<uint64_t> entries;  ///< offsets of the requested functions
  std::vector<engine::Import> imports;
};

/// Concatenates an x86-64 object file's code and constants and resolves its relocations, all of which must be relative.
/// Calls of external functions go through slots (engine::Import). Fails for unknown contents, which it names.
support::Result<LinkedCode> link_object(std::span<const char> object, std::span<const std::string> entries);

}  // namespace Atoll::compiler
