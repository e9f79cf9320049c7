// engine: the engines by name, for those who let their users choose one.
#pragma once

#include <string_view>

#include "machine/gpu.h"
#include "support/error.h"

namespace Atoll::engine {

/// "interpreter", "compiled" (where it is built: ATOLL_COMPILED_ENGINE in CMakeLists.txt), or "" for the default. The
/// error says which names there are.
support::Result<machine::Gpu::MakeEngine> find_engine(std::string_view name);

}  // namespace Atoll::engine
