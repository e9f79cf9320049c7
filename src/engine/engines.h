// engine: the engines by name, for those who let their users choose one.
#pragma once

#include <string_view>

#include "machine/gpu.h"
#include "support/error.h"

namespace Atoll::engine {

inline constexpr std::string_view engine_names[] = {"compiled", "interpreter"};

/// "interpreter", "compiled", or "" for the default, which is compiled. Errors: which names there are; for "compiled",
/// that its compiler is missing.
support::Result<machine::Gpu::MakeEngine> find_engine(std::string_view name);

/// The engine for a machine that is observed: by a name that find_engine() accepts, but the interpreter for an observer
/// who wants what compiled code cannot tell. The observer must outlive the machine.
machine::Gpu::MakeEngine observed_engine(machine::Observer& observer, std::string_view name = "");

/// The interpreter that a deterministic schedule needs (machine/schedule/schedule.h). The observer may be null.
machine::Gpu::MakeEngine stepping_engine(machine::Observer* observer);

}  // namespace Atoll::engine
