// library: kernels by the names that people know them by.
#pragma once

#include <string>
#include <vector>

#include "support/demangle.h"
#include "support/error.h"

namespace Atoll::library {

using support::demangled;

/// {"float*", "float const*", "int"} of "_Z3addPfPKfi"; nothing where the name is not mangled.
std::vector<std::string> parameter_types(const std::string& name);

/// The kernel that is meant: its name in the code object, or its name in C++ with or without parameters. The error says
/// what there is in `file`.
support::Result<std::string> find_kernel(std::vector<std::string> names, const std::string& wanted,
                                         const std::string& file);

}  // namespace Atoll::library
