// support: a file's bytes, mapped instead of read: GPU libraries have gigabytes of which little is looked at.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "support/error.h"

namespace Atoll::support {

class MappedFile {
 public:
  /// The error says what the operating system says, with the path.
  static Result<MappedFile> open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return fail(ErrorKind::system, "{}: {}", path, std::strerror(errno));
    MappedFile file;
    struct stat status{};
    int error = 0;
    if (fstat(descriptor, &status) != 0) {
      error = errno;
    } else if (S_ISDIR(status.st_mode)) {
      error = EISDIR;
    } else if (status.st_size > 0) {
      void* address = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (address == MAP_FAILED)
        error = errno;
      else
        file.bytes_ = {static_cast<const uint8_t*>(address), static_cast<size_t>(status.st_size)};
    }
    close(descriptor);
    if (error != 0) return fail(ErrorKind::system, "{}: {}", path, std::strerror(error));
    return file;
  }

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
  }

  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  MappedFile() = default;
  std::span<const uint8_t> bytes_;
};

}  // namespace Atoll::support
