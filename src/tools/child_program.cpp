// tools: starts programs and waits for them.
#include "tools/child_program.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace fs = std::filesystem;

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (!fs::exists(name)) return fail(ErrorKind::not_found, "there is no program {}", name);
    return name;
  }
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
  }
  return fail(ErrorKind::not_found, "there is no program {} in PATH (one in this directory is ./{})", name, name);
}

Result<std::string> find_own_program(const std::string& name) {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorKind::system, "Atoll cannot find its own file: {}", error.message());
  for (fs::path directory = here.parent_path(); directory.has_relative_path(); directory = directory.parent_path()) {
    const fs::path candidate = directory / "libexec/atoll" / name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate.string();
  }
  return fail(ErrorKind::not_found, "there is no libexec/atoll/{} beside {}: is the installation complete?", name,
              here.string());
}

Result<int> run_program(const std::string& path, const std::vector<std::string>& arguments) {
  std::vector<char*> words{const_cast<char*>(path.c_str())};
  for (const std::string& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  if (const int error = posix_spawn(&child, path.c_str(), nullptr, nullptr, words.data(), environ); error != 0)
    return fail(ErrorKind::system, "{} cannot be started: {}", path, std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return fail(ErrorKind::system, "{}: {}", path, std::strerror(errno));
  if (WIFSIGNALED(status))
    return fail(ErrorKind::system, "{} ended by signal {} ({})", path, WTERMSIG(status), strsignal(WTERMSIG(status)));
  return WEXITSTATUS(status);
}

Result<ScratchDirectory> ScratchDirectory::make() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = ((error ? fs::path("/tmp") : parent) / "atoll-cc-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    return fail(ErrorKind::system, "no temporary directory can be made in {}: {}", parent.string(),
                std::strerror(errno));
  return ScratchDirectory(name);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

}  // namespace Atoll::tools
