#include "tools/private_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace fs = std::filesystem;

namespace {

/// True if no other user can change the contents of the directory.
bool is_own(const char* path) {
  struct stat status{};
  return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Whether the path means itself in LD_PRELOAD and LD_LIBRARY_PATH.
bool is_plain(std::string_view path) { return path.find_first_of(":;$ \t\n") == std::string_view::npos; }

/// Where temporary files may be: /tmp, so that all runs find the same, or else the user's own choice.
std::vector<std::string> temporary_directories() {
  std::vector<std::string> directories{"/tmp"};
  for (const char* variable : {"TMPDIR", "XDG_RUNTIME_DIR"}) {
    const char* path = std::getenv(variable);
    if (path != nullptr && *path == '/' && is_plain(path)) directories.emplace_back(path);
  }
  return directories;
}

/// Names that are tried in a directory.
constexpr unsigned max_names = 64;

}  // namespace

Result<fs::path> private_directory() {
  std::string reason = "no directory";
  for (const std::string& parent : temporary_directories()) {
    // Another user may hold a name. The next one is found again by the next run.
    for (unsigned number = 0; number < max_names; ++number) {
      const std::string name =
          fmt::format("{}/atoll-{}{}", parent, geteuid(), number == 0 ? "" : fmt::format("-{}", number));
      if (mkdir(name.c_str(), S_IRWXU) == 0) return name;
      const int error = errno;
      if (is_own(name.c_str())) return name;
      reason = fmt::format("{}: {}", name, std::strerror(error));
      if (error != EEXIST) break;
    }
  }
  return fail(ErrorKind::system, "no place for temporary files, neither /tmp nor TMPDIR ({})", reason);
}

Result<fs::path> make_run_directory() {
  const auto home = private_directory();
  if (!home) return home;
  std::string name = (*home / "run-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return fail(ErrorKind::system, "{}: {}", name, std::strerror(errno));
  return name;
}

Result<fs::path> loader_path(const fs::path& directory) {
  const std::string& text = directory.native();
  if (is_plain(text)) return directory;
  const auto home = private_directory();
  if (!home) {
    return fail(ErrorKind::system, "'{}' has characters that the loader does not take, and the link to it has {}", text,
                home.error().message);
  }
  fs::path link = *home / fmt::format("runtime-{:016x}", std::hash<std::string>{}(text));
  std::error_code error;
  if (fs::read_symlink(link, error) == directory) return link;
  const fs::path fresh = link.native() + fmt::format(".{}", getpid());  // in place at once, other runs may be using it
  fs::remove(fresh, error);
  fs::create_symlink(directory, fresh, error);
  if (!error) fs::rename(fresh, link, error);
  if (error) return fail(ErrorKind::system, "cannot make the link {}: {}", link.string(), error.message());
  return link;
}

}  // namespace Atoll::tools
