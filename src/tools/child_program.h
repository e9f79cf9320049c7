// tools: programs that a subcommand runs for its own work: clang as the front end of `atoll cc`, atoll-codegen.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/error.h"

namespace Atoll::tools {

/// Returns the path of a program, looked for as a shell does: a name with a slash is a path, any other is in PATH.
support::Result<std::string> find_program(const std::string& name);

/// Returns libexec/atoll/NAME beside this program's installation.
support::Result<std::string> find_own_program(const std::string& name);

/// Runs a program with this process's standard streams and waits for it. Returns its exit code; an error if it cannot
/// be started or ends by a signal.
support::Result<int> run_program(const std::string& path, const std::vector<std::string>& arguments);

/// A directory in TMPDIR, removed with all that is in it.
class ScratchDirectory {
 public:
  static support::Result<ScratchDirectory> make();
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory();
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  explicit ScratchDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace Atoll::tools
