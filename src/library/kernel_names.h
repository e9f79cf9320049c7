// library: kernels by the names that people know them by.
#pragma once

#include <string>
#include <vector>

#include "support/error.h"

namespace Atoll::library {

/// "add(float*, float const*, int)" of "_Z3addPfPKfi"; the name itself where it is not mangled.
std::string demangled(const std::string& name);

/// The kernel that is meant: its name in the code object, or its name in C++ with or without parameters. The error says
/// what there is in `file`.
support::Result<std::string> find_kernel(std::vector<std::string> names, const std::string& wanted,
                                         const std::string& file);

}  // namespace Atoll::library
