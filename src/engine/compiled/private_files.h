// engine/compiled: files that only this user can write, because their contents are executed.
//
// A directory or file is accepted if this user or root owns it, no one else can write to it, and it is not reached
// through a symbolic link (except the top directory, whose name may be a link). Checks apply to the opened descriptor,
// so they cannot race with renames.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "support/error.h"

namespace Atoll::engine {

/// Owns a file descriptor, or none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  /// Closes it; returns whether all data was written.
  bool finish() { return close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

class PrivateDirectory {
 public:
  enum class Missing : uint8_t { none, make };  ///< whether a missing directory is created (for this user only)

  /// Fails if the directory is not accepted; ErrorKind::not_found if it does not exist.
  static support::Result<PrivateDirectory> open(const std::filesystem::path& path, Missing missing);
  /// Opens a subdirectory.
  support::Result<PrivateDirectory> inner(const std::string& name, Missing missing) const;
  /// Opens a regular file in it; an empty Descriptor on failure.
  Descriptor file(const std::string& name, int flags) const;
  bool rename(const std::string& from, const std::string& to) const {
    return renameat(number(), from.c_str(), number(), to.c_str()) == 0;
  }
  void remove(const std::string& name) const { unlinkat(number(), name.c_str(), 0); }

 private:
  explicit PrivateDirectory(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  int number() const { return descriptor_.number(); }
  static support::Result<PrivateDirectory> take(int descriptor, const std::string& name);

  Descriptor descriptor_;
};

}  // namespace Atoll::engine
