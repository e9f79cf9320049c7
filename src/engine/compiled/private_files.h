// engine/compiled: files that are this user's alone, in which what is found may be executed.
//
// A directory or file is taken only if this user owns it, or root, and nobody else may write to it, and none is reached
// through a symbolic link, except that the directory that all the others are in may be named by one. What is checked is
// what has been opened, not what has that name a moment later.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "support/error.h"

namespace Atoll::engine {

/// An open file, or none.
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
  /// Closes it; whether all that was written to it is written.
  bool finish() { return close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

class PrivateDirectory {
 public:
  enum class Missing : uint8_t { none, make };  ///< what a directory is that is not there: made for this user alone

  /// The error says why it is not taken; an ErrorKind::not_found where there is none.
  static support::Result<PrivateDirectory> open(const std::filesystem::path& path, Missing missing);
  /// One in it.
  support::Result<PrivateDirectory> inner(const std::string& name, Missing missing) const;
  /// A regular file in it; none if that cannot be had.
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
