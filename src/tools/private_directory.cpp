#include "tools/private_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>

#include <fmt/format.h>

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace fs = std::filesystem;

namespace {

/// Whether nobody else can change what is in the directory.
bool is_own(const char* path) {
  struct stat status{};
  return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

Result<fs::path> private_directory() {
  const std::string usual = fmt::format("/tmp/atoll-{}", geteuid());
  if (mkdir(usual.c_str(), S_IRWXU) == 0 || is_own(usual.c_str())) return usual;
  std::string other = usual + "-XXXXXX";
  if (mkdtemp(other.data()) == nullptr)
    return fail(ErrorKind::system, "cannot make the directory {}: {}", other, std::strerror(errno));
  return other;
}

Result<fs::path> loader_path(const fs::path& directory) {
  const std::string& text = directory.native();
  if (text.find_first_of(":;$ \t\n") == std::string::npos) return directory;
  const auto home = private_directory();
  if (!home) return std::unexpected(home.error());
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
