// assembler: the room's front door.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "object/relocatable.h"
#include "support/error.h"
#include "target/processor.h"
#include "target/target_id.h"

namespace Atoll::assembler {

struct Options {
  target::TargetId target;
  uint8_t os_abi = 64;  ///< ELFOSABI_AMDGPU_HSA, or one of the others
  bool wave32 = false;  ///< for GPUs that have both: what VCC and EXEC operands are
  uint32_t code_object_version = 6;
  std::vector<std::string> include_directories;
  std::vector<std::pair<std::string, int64_t>> symbols;  ///< set before the first line
};

/// What came of an assembly: the object unless there were errors, and the messages as text for a person.
struct Assembled {
  std::optional<object::Relocatable> object;
  std::string messages;
};

/// Assembles a text called `name`.
Assembled assemble(std::string name, std::string text, const Options& options);

}  // namespace Atoll::assembler
