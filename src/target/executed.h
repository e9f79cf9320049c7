// target: which generations' code Atoll runs.
#pragma once

#include <string_view>

#include "target/processor.h"

namespace Atoll::target {

constexpr bool is_executed(const Processor& processor) { return processor.generation <= Generation::gfx12_5; }

/// The same in words.
inline constexpr std::string_view executed_generations = "GFX6 to GFX12.5";

}  // namespace Atoll::target
