// tools: files (files.h).
#include "tools/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

namespace fs = std::filesystem;

std::unexpected<support::Error> refused(const std::string& path, int error) {
  return fail(ErrorKind::system, "{}: {}", path, std::strerror(error));
}

/// 0, or what the system says.
int write_all(int descriptor, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

/// Writes to an open file and closes it.
Result<void> write_and_close(const std::string& path, int descriptor, std::span<const uint8_t> bytes) {
  int error = write_all(descriptor, bytes);
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) return refused(path, error);
  return {};
}

/// Writes to an existing target: a device, or a file without a name.
Result<void> write_through(const std::string& path, std::span<const uint8_t> bytes, int more_flags) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | more_flags);
  if (descriptor < 0) return refused(path, errno);
  return write_and_close(path, descriptor, bytes);
}

bool is_same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Which of standard output and standard error the file is, if one. Replacing it would take from it what was written to
/// that stream before and after.
std::optional<int> standard_stream(const struct stat& file) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status{};
    if (fstat(stream, &status) == 0 && is_same(status, file)) return stream;
  }
  return std::nullopt;
}

/// The name of the file that symbolic links lead to, which need not be there.
Result<fs::path> without_links(const fs::path& path) {
  constexpr unsigned max_links = 40;  // as many as Linux follows
  fs::path name = path;
  for (unsigned links = 0; links < max_links; ++links) {
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(name, error))) return name;
    const fs::path next = fs::read_symlink(name, error);
    if (error) return refused(path, error.value());
    name = name.parent_path() / next;  // which is `next` alone if that is absolute
  }
  return refused(path, ELOOP);
}

/// A new file beside `name`, with a name of its own.
int create_beside(const fs::path& name, fs::path& made) {
  constexpr unsigned max_tries = 100;
  for (unsigned i = 0; i < max_tries; ++i) {
    made = name.parent_path() / fmt::format(".atoll.{}.{}", getpid(), i);
    const int descriptor = open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

/// `before` is what is known of the file that is there, if one is.
Result<void> replace(const std::string& path, const fs::path& name, const struct stat* before,
                     std::span<const uint8_t> bytes) {
  if (!name.has_filename()) return refused(path, path.empty() ? ENOENT : EISDIR);
  if (before != nullptr && faccessat(AT_FDCWD, name.c_str(), W_OK, AT_EACCESS) != 0) return refused(path, errno);
  fs::path fresh;
  const int descriptor = create_beside(name, fresh);
  if (descriptor < 0) {
    return fail(ErrorKind::system, "{}: no file can be made beside it: {}", path, std::strerror(errno));
  }
  if (before != nullptr) {
    // An owner that cannot be kept is this user from now on.
    [[maybe_unused]] const int ignored = fchown(descriptor, before->st_uid, before->st_gid);
    fchmod(descriptor, before->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
  }
  auto written = write_and_close(path, descriptor, bytes);
  if (written && rename(fresh.c_str(), name.c_str()) != 0) written = refused(path, errno);
  if (!written) unlink(fresh.c_str());
  return written;
}

}  // namespace

Result<support::MappedFile> open_input(const std::string& path) {
  return path == "-" ? support::MappedFile::from(STDIN_FILENO, "standard input") : support::MappedFile::open(path);
}

Result<std::string> read_text_file(const std::string& path) {
  const auto file = open_input(path);
  if (!file) return std::unexpected(file.error());
  const auto bytes = file->bytes();
  return std::string(bytes.begin(), bytes.end());
}

bool is_standard_output(const std::string& path) {
  struct stat status{};
  return path == "-" || (stat(path.c_str(), &status) == 0 && standard_stream(status) == STDOUT_FILENO);
}

Result<void> write_file(const std::string& path, std::span<const uint8_t> bytes) {
  if (path == "-") return write_standard_output({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  struct stat status{};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) return refused(path, errno);
  if (exists) {
    if (const auto stream = standard_stream(status)) {
      if (auto ok = finish_standard_output(); !ok) return ok;
      if (const int error = write_all(*stream, bytes); error != 0) return refused(path, error);
      return {};
    }
    if (!S_ISREG(status.st_mode)) return write_through(path, bytes, 0);
  }
  const auto name = without_links(path);
  if (!name) return std::unexpected(name.error());
  // /proc/self/fd/5 may be a file that has no name any more.
  struct stat named{};
  if (exists && (stat(name->c_str(), &named) != 0 || !is_same(named, status)))
    return write_through(path, bytes, O_TRUNC);
  return replace(path, *name, exists ? &status : nullptr, bytes);
}

Result<void> write_standard_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
  return refused("standard output", errno);
}

Result<void> finish_standard_output() {
  const bool failed_before = std::ferror(stdout) != 0;
  const int error = std::fflush(stdout) == 0 ? 0 : errno;
  std::clearerr(stdout);  // it is said once
  if (error != 0) return refused("standard output", error);
  if (failed_before) return fail(ErrorKind::system, "standard output: not all could be written");
  return {};
}

void reserve_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free, so this one. A program that `atoll run` becomes finds it closed, as it was.
    open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

}  // namespace Atoll::tools
