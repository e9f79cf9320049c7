// compiler: from an object file to one run of bytes that works wherever it is placed.
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
  std::vector<uint64_t> entries;  ///< offsets of the functions asked for
  std::vector<engine::Import> imports;
};

/// Places an x86-64 object file's code and constants one after the other and resolves its relocations, all of which
/// must be relative. Calls of functions from elsewhere go through slots (engine::Import). Error: the object
/// has what is not known here, by name.
support::Result<LinkedCode> link_object(std::span<const char> object, std::span<const std::string> entries);

}  // namespace Atoll::compiler
