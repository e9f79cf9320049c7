// compiler: from an object file to one run of bytes that works wherever it is placed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/compiled/translation.h"
#include "support/error.h"

namespace Atoll::compiler {

struct FlatCode {
  std::vector<uint8_t> bytes;
  uint64_t entry = 0;  ///< offset of the function asked for
  std::vector<engine::Import> imports;
};

/// Places an x86-64 object file's code and constants one behind the other and resolves its relocations, all of which
/// must be relative. Calls of functions from elsewhere go through slots (engine::Import). Error: the object
/// has what is not known here, by name.
support::Result<FlatCode> flatten(std::span<const char> object, const std::string& entry);

}  // namespace Atoll::compiler
