// support: a file's bytes. Regular files are mapped instead of read, as GPU libraries have gigabytes of which little is
// looked at. Everything else that can be opened is read to its end: pipes, devices, and the files of /proc and /sys,
// which do not say how long they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "support/error.h"

namespace Atoll::support {

class MappedFile {
 public:
  /// Of what is read: a device may never come to an end.
  static constexpr uint64_t max_read = uint64_t{512} << 20;

  /// The error says what the operating system says, with the path. Of a file that is not regular at most `most` bytes
  /// are read: more is an error of the kind out_of_resources.
  static Result<MappedFile> open(const std::string& path, uint64_t most = max_read);
  /// What is left of an open file, which stays open; `name` is for errors.
  static Result<MappedFile> from(int descriptor, const std::string& name, uint64_t most = max_read);

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  static Result<MappedFile> read_to_end(int descriptor, const std::string& name, uint64_t most);

  std::span<const uint8_t> bytes_;  ///< begins a mapping of its own, which ends with the last page
};

}  // namespace Atoll::support
