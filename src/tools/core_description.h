// tools: what is in a core file of a GPU (object/gpu_core.h), as JSON and as text: `atoll inspect CORE`.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <span>

#include "support/error.h"

namespace Atoll::tools {

/// With `wave`, all registers of that one, by its number in the file, are there too.
support::Result<nlohmann::ordered_json> describe_core(std::span<const uint8_t> file, std::optional<uint32_t> wave);

/// With `wave`, only that one.
void print_core(const nlohmann::ordered_json& core, std::optional<uint32_t> wave);

}  // namespace Atoll::tools
