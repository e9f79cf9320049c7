// library: finds kernels by their C++ or symbol names.
#pragma once

#include <string>
#include <vector>

#include "support/demangle.h"
#include "support/error.h"

namespace Atoll::library {

using support::demangled;

/// Returns {"float*", "float const*", "int"} for "_Z3addPfPKfi"; empty if the name is not mangled.
std::vector<std::string> parameter_types(const std::string& name);

/// Finds a kernel by its symbol name, or its C++ name with or without parameters. The error lists the kernels in
/// `file`.
support::Result<std::string> find_kernel(std::vector<std::string> names, const std::string& wanted,
                                         const std::string& file);

}  // namespace Atoll::library
