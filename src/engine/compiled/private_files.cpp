// engine/compiled: files that are this user's alone (private_files.h).
#include "engine/compiled/private_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace Atoll::engine {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

/// Returns why another user could have created or could change the contents; empty if none could.
std::string who_else(const struct stat& status) {
  if (status.st_uid != geteuid() && status.st_uid != 0) return fmt::format("it belongs to user {}", status.st_uid);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fmt::format("others may write to it (its mode is {:o})", status.st_mode & 07777);
  }
  return {};
}

/// Makes the directory, and those that it is in.
void make_directories(const std::filesystem::path& path) {
  std::filesystem::path made;
  for (const auto& part : path) {
    made /= part;
    mkdir(made.c_str(), S_IRWXU);  // mostly it is there
  }
}

}  // namespace

Result<PrivateDirectory> PrivateDirectory::take(int descriptor, const std::string& name) {
  if (descriptor < 0) {
    return fail(errno == ENOENT ? ErrorKind::not_found : ErrorKind::system, "{}: {}", name, std::strerror(errno));
  }
  Descriptor opened(descriptor);
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return fail(ErrorKind::system, "{}: {}", name, std::strerror(errno));
  if (const auto others = who_else(status); !others.empty()) return fail(ErrorKind::system, "{}: {}", name, others);
  return PrivateDirectory(std::move(opened));
}

Result<PrivateDirectory> PrivateDirectory::open(const std::filesystem::path& path, Missing missing) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  int descriptor = ::open(path.c_str(), flags);
  if (descriptor < 0 && errno == ENOENT && missing == Missing::make) {
    make_directories(path);
    descriptor = ::open(path.c_str(), flags);
  }
  return take(descriptor, path.string());
}

Result<PrivateDirectory> PrivateDirectory::inner(const std::string& name, Missing missing) const {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int descriptor = openat(number(), name.c_str(), flags);
  if (descriptor < 0 && errno == ENOENT && missing == Missing::make) {
    mkdirat(number(), name.c_str(), S_IRWXU);
    descriptor = openat(number(), name.c_str(), flags);
  }
  return take(descriptor, name);
}

Descriptor PrivateDirectory::file(const std::string& name, int flags) const {
  // A pipe in the file's place is not waited for.
  Descriptor opened(openat(number(), name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR));
  struct stat status{};
  if (!opened || fstat(opened.number(), &status) != 0 || !S_ISREG(status.st_mode) || !who_else(status).empty())
    return Descriptor();
  return opened;
}

}  // namespace Atoll::engine
