// machine: memory files, whose pages can be mapped at several addresses and by other processes through a descriptor.
// Ordinary allocations are private memory with huge pages; their contents move into a file when one is requested.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "support/error.h"

namespace Atoll::machine {

class MemoryFile {
 public:
  /// Creates an empty sparse file. Its visible name is prefixed by "/memfd:".
  static support::Result<std::shared_ptr<const MemoryFile>> create(const std::string& name, uint64_t size);
  /// Opens the file of a caller's descriptor, which the caller keeps.
  static support::Result<std::shared_ptr<const MemoryFile>> open(int descriptor);
  /// Opens a file by another process's descriptor, if the system permits it.
  static support::Result<std::shared_ptr<const MemoryFile>> open(int process, int descriptor);

  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  int descriptor() const { return descriptor_; }
  uint64_t size() const { return size_; }
  uint64_t inode() const { return inode_; }  ///< identifies the file in all processes
  std::string name() const;                  ///< name passed to create(); empty for other files
  /// Returns a duplicate descriptor, which the caller closes.
  support::Result<int> duplicate() const;

 private:
  MemoryFile(int descriptor, uint64_t size, uint64_t inode) : descriptor_(descriptor), size_(size), inode_(inode) {}
  static support::Result<std::shared_ptr<const MemoryFile>> take(int descriptor);

  int descriptor_;
  uint64_t size_, inode_;
};

/// Moves the contents of the private pages [begin, end) to `offset` of the file, and maps the file there, readable and
/// writable. Concurrent writers are blocked (WriteHold); untouched pages stay untouched. Returns false without a change
/// if the system refuses.
bool move_into_file(uint64_t begin, uint64_t end, const MemoryFile& file, uint64_t offset);

/// Converts the file pages [begin, end) to private pages with the same contents.
void make_private(uint64_t begin, uint64_t end);

}  // namespace Atoll::machine
