// machine: files in memory by memfd_create. See memory_file.h.
#include "machine/memory/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "machine/report/fault_guard.h"

namespace Atoll::machine {

namespace {

using support::ErrorKind;
using support::fail;
using support::Result;

constexpr uint64_t page = 4096;

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

/// Copies whole pages with whatever lies between the blocks of a heap in them, which a sanitizer's memcpy would take
/// for an overflow.
[[clang::no_sanitize("address", "thread")]] void copy_pages(uint64_t* to, const volatile uint64_t* from,
                                                            uint64_t size) {
  for (uint64_t word = 0; word < size / sizeof *to; ++word) to[word] = from[word];
}

/// Calls visit(begin, end) for runs of pages in [begin, end) with contents: in memory or swapped out (proc(5),
/// /proc/pid/pagemap: bits 63 and 62); all pages if the system does not report them. A WriteHold may cover the heap
/// meanwhile, so this must not allocate memory.
template <typename Visit>
void for_each_touched(uint64_t begin, uint64_t end, const Visit& visit) {
  constexpr uint64_t in_memory_or_swapped = uint64_t{3} << 62;
  constexpr uint64_t pages_at_once = 512;
  const int map = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::array<uint64_t, pages_at_once> entries;
  uint64_t run = begin;  // of touched pages, up to `at`
  for (uint64_t at = begin; at < end;) {
    const uint64_t count = std::min(pages_at_once, (end - at) / page);
    const ssize_t wanted = static_cast<ssize_t>(count * sizeof(uint64_t));
    const bool known = map >= 0 && pread(map, entries.data(), static_cast<size_t>(wanted),
                                         static_cast<off_t>(at / page * sizeof(uint64_t))) == wanted;
    for (uint64_t i = 0; i < count; ++i, at += page) {
      if (!known || (entries[i] & in_memory_or_swapped) != 0) continue;
      if (run < at) visit(run, at);
      run = at + page;
    }
  }
  if (run < end) visit(run, end);
  if (map >= 0) close(map);
}

}  // namespace

Result<std::shared_ptr<const MemoryFile>> MemoryFile::take(int descriptor) {
  struct stat status{};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    const int error = errno;
    if (descriptor >= 0) close(descriptor);
    return fail(ErrorKind::system, "cannot open the file of shared memory: {}", std::strerror(error));
  }
  return std::shared_ptr<const MemoryFile>(
      new MemoryFile(descriptor, static_cast<uint64_t>(status.st_size), static_cast<uint64_t>(status.st_ino)));
}

Result<std::shared_ptr<const MemoryFile>> MemoryFile::create(const std::string& name, uint64_t size) {
  const int descriptor = memfd_create(name.c_str(), MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(size)) != 0) {
    const int error = errno;
    if (descriptor >= 0) close(descriptor);
    return fail(ErrorKind::out_of_resources, "cannot create a memory file of {} bytes for {}: {}", size, name,
                std::strerror(error));
  }
  return take(descriptor);
}

Result<std::shared_ptr<const MemoryFile>> MemoryFile::open(int descriptor) {
  return take(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
}

Result<std::shared_ptr<const MemoryFile>> MemoryFile::open(int process, int descriptor) {
  return take(::open(fmt::format("/proc/{}/fd/{}", process, descriptor).c_str(), O_RDWR | O_CLOEXEC));
}

MemoryFile::~MemoryFile() { close(descriptor_); }

std::string MemoryFile::name() const {
  char path[256];
  const ssize_t length = readlink(fmt::format("/proc/self/fd/{}", descriptor_).c_str(), path, sizeof path);
  constexpr std::string_view before = "/memfd:", after = " (deleted)";
  std::string_view text(path, length < 0 ? 0 : static_cast<size_t>(length));
  if (!text.starts_with(before) || !text.ends_with(after)) return {};
  text.remove_prefix(before.size());
  text.remove_suffix(after.size());
  return std::string(text);
}

Result<int> MemoryFile::duplicate() const {
  const int copy = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return fail(ErrorKind::out_of_resources, "no file descriptor is left: {}", std::strerror(errno));
  return copy;
}

bool move_into_file(uint64_t begin, uint64_t end, const MemoryFile& file, uint64_t offset) {
  const uint64_t size = end - begin;
  const auto at = static_cast<off_t>(offset);
  void* copy = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), at);
  if (copy == MAP_FAILED) return false;
  bool moved = false;
  {
    const WriteHold hold(begin, end);
    if (hold.holds()) {
      for_each_touched(begin, end, [&](uint64_t from, uint64_t to) {
        copy_pages(static_cast<uint64_t*>(copy) + (from - begin) / sizeof(uint64_t),
                   static_cast<const uint64_t*>(pointer(from)), to - from);
      });
      // Maps the file over the private pages, writable: blocked writers continue here.
      moved = mmap(pointer(begin), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.descriptor(), at) !=
              MAP_FAILED;
    }
  }
  munmap(copy, size);
  return moved;
}

void make_private(uint64_t begin, uint64_t end) {
  const uint64_t size = end - begin;
  void* copy = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return;  // otherwise they stay shared, which only a child process can observe
  const WriteHold hold(begin, end);
  if (!hold.holds()) {
    munmap(copy, size);
    return;
  }
  copy_pages(static_cast<uint64_t*>(copy), static_cast<const uint64_t*>(pointer(begin)), size);
  if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, begin) == MAP_FAILED) munmap(copy, size);
}

}  // namespace Atoll::machine
