// compiler: what compiling costs, for those who want to know: `atoll-compiler --measure`.
#pragma once

#include <string>

namespace Atoll::compiler {

/// Compiles the kernels of a file for a GPU and prints what each took, the most expensive last; `part` picks those
/// whose name has it in it. The exit code.
int measure(const std::string& file, const std::string& gpu, const std::string& part);

}  // namespace Atoll::compiler
