// support: names as their source has them.
#pragma once

#include <string>

namespace Atoll::support {

/// "add(float*, float const*, int)" of "_Z3addPfPKfi"; the name itself where it is not mangled. _Float16 may be "half".
std::string demangled(const std::string& name);

}  // namespace Atoll::support
