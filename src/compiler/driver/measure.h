// compiler: `atoll-compiler --measure` and `--dump-regions`.
#pragma once

#include <string>

namespace Atoll::compiler {

/// Compiles the kernels of a file for a GPU and prints each one's compile time, longest last. `part` selects kernels by
/// a part of their name. Returns the exit code.
int measure(const std::string& file, const std::string& gpu, const std::string& part);

/// Prints the LLVM IR of a file's kernels after each step of the compiler, or after `step` alone; likewise.
int print_ir(const std::string& file, const std::string& gpu, const std::string& part, const std::string& step);

/// Prints the blocks, loops, superblocks and regions of a file's kernels for a GPU (compile.h); likewise. 1: some plan
/// is wrong.
int print_regions(const std::string& file, const std::string& gpu, const std::string& part);

}  // namespace Atoll::compiler
