// tools: sources to LLVM IR for `atoll cc`: clang 22 is the front end, without any of its optimizations, and AMD's
// device library is chosen for the GPU.
//
// clang's driver refuses GPUs that are younger than the installed device library. The library's files differ between
// GPUs only in which of two equivalent ways is the faster one, so the file of the youngest known GPU of the same family
// or an older one serves.
#pragma once

#include <string>
#include <vector>

#include "support/error.h"
#include "target/target_id.h"

namespace Atoll::tools {

enum class SourceLanguage : uint8_t { ir, opencl, hip, c, cpp };

/// By the file's extension: .ll and .bc, .cl, .hip, .c, .cpp .cc .cxx.
support::Result<SourceLanguage> language_of(const std::string& path);

struct FrontEndOptions {
  target::TargetId target;
  unsigned wave_size = 0;  ///< 0: the processor's default
  unsigned level = 3;
  unsigned code_object_version = 6;
  bool device_library = true;
  std::string clang, library_path, standard;                          ///< empty: found
  std::vector<std::string> include_directories, definitions, others;  ///< others: options as clang has them
};

/// Returns the path of clang 22: the one that is named, or clang-22 in PATH.
support::Result<std::string> find_clang(const FrontEndOptions& options);

/// Compiles a source to bitcode. clang's messages go to standard error. Returns clang's exit code.
support::Result<int> compile_to_ir(const std::string& path, SourceLanguage language, const std::string& output,
                                   const FrontEndOptions& options);

}  // namespace Atoll::tools
