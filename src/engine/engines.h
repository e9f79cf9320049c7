// engine: looks up engines by name.
#pragma once

#include <string_view>

#include "machine/gpu.h"
#include "support/error.h"

namespace Atoll::engine {

inline constexpr std::string_view engine_names[] = {"compiled", "interpreter"};

/// Finds "interpreter", "compiled", or "" for the default (compiled). Fails for unknown names, which it lists, and for
/// "compiled" if the compiler is missing.
support::Result<machine::Gpu::MakeEngine> find_engine(std::string_view name);

/// Returns the named engine for an observed machine, or the interpreter if the observer subscribes to events that
/// compiled code does not report. The observer must outlive the machine.
machine::Gpu::MakeEngine observed_engine(machine::Observer& observer, std::string_view name = "");

/// Returns the interpreter for a deterministic schedule (machine/schedule/schedule.h). `observer` may be null.
machine::Gpu::MakeEngine stepping_engine(machine::Observer* observer);

}  // namespace Atoll::engine
