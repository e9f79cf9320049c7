// machine: names of files that every process writes for itself.
#pragma once

#include <unistd.h>

#include <string>

namespace Atoll::machine {

/// The path with the process, by default this one, in place of each %p.
inline std::string with_process(std::string path, pid_t process = getpid()) {
  for (size_t at = 0; (at = path.find("%p", at)) != std::string::npos;) path.replace(at, 2, std::to_string(process));
  return path;
}

}  // namespace Atoll::machine
