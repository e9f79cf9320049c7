// support: mapping and reading files (mapped_file.h).
#include "support/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace Atoll::support {

namespace {

std::unexpected<Error> refused(const std::string& name, int error) {
  return fail(ErrorKind::system, "{}: {}", name, std::strerror(error));
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path, uint64_t most) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return refused(path, errno);
  auto file = from(descriptor, path, most);
  close(descriptor);
  return file;
}

Result<MappedFile> MappedFile::from(int descriptor, const std::string& name, uint64_t most) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return refused(name, errno);
  if (S_ISDIR(status.st_mode)) return refused(name, EISDIR);
  if (S_ISREG(status.st_mode) && status.st_size > 0 && lseek(descriptor, 0, SEEK_CUR) == 0) {
    const auto size = static_cast<size_t>(status.st_size);
    void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address != MAP_FAILED) return MappedFile({static_cast<const uint8_t*>(address), size});
  }
  return read_to_end(descriptor, name, most);
}

Result<MappedFile> MappedFile::read_to_end(int descriptor, const std::string& name, uint64_t most) {
  constexpr size_t first_capacity = size_t{1} << 16;
  size_t capacity = first_capacity, size = 0;
  void* memory = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return refused(name, errno);
  const auto give_up = [&](std::unexpected<Error> error) {
    munmap(memory, capacity);
    return error;
  };
  for (;;) {
    if (size == capacity) {
      if (capacity >= most) {
        return give_up(
            fail(ErrorKind::out_of_resources, "{}: not a regular file, and longer than {} MiB", name, most >> 20));
      }
      void* larger = mremap(memory, capacity, 2 * capacity, MREMAP_MAYMOVE);
      if (larger == MAP_FAILED) return give_up(refused(name, errno));
      memory = larger;
      capacity *= 2;
    }
    const ssize_t got = ::read(descriptor, static_cast<uint8_t*>(memory) + size, capacity - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return give_up(refused(name, errno));
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size == 0) {
    munmap(memory, capacity);
    return MappedFile(std::span<const uint8_t>());
  }
  memory = mremap(memory, capacity, size, 0);  // to become smaller is always possible
  return MappedFile({static_cast<const uint8_t*>(memory), size});
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace Atoll::support
