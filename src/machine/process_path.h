// machine: names of files that every process writes for itself.
#pragma once

#include <unistd.h>

#include <string>

namespace Atoll::machine {

/// The path with the process in place of each %p.
inline std::string with_process(std::string path) {
  for (size_t at = 0; (at = path.find("%p", at)) != std::string::npos;) path.replace(at, 2, std::to_string(getpid()));
  return path;
}

}  // namespace Atoll::machine
