// machine: files in memory. Their pages can be mapped at several addresses and by other processes, which get the file
// as a descriptor. Ordinary allocations are private memory, which the host backs with huge pages; what they hold moves
// into a file when somebody asks for them as one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "support/error.h"

namespace Atoll::machine {

class MemoryFile {
 public:
  /// An empty file, which takes up memory as its pages are written. Others see the name, after "/memfd:".
  static support::Result<std::shared_ptr<const MemoryFile>> create(const std::string& name, uint64_t size);
  /// What a descriptor of the caller's refers to; the descriptor stays the caller's.
  static support::Result<std::shared_ptr<const MemoryFile>> open(int descriptor);
  /// The file that a process has under a descriptor of its own, if the system lets this process see it.
  static support::Result<std::shared_ptr<const MemoryFile>> open(int process, int descriptor);

  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  int descriptor() const { return descriptor_; }
  uint64_t size() const { return size_; }
  uint64_t inode() const { return inode_; }  ///< tells files apart, in all processes
  std::string name() const;                  ///< as create() got it; empty for what is no memory file
  /// A descriptor for somebody else to close.
  support::Result<int> duplicate() const;

 private:
  MemoryFile(int descriptor, uint64_t size, uint64_t inode) : descriptor_(descriptor), size_(size), inode_(inode) {}
  static support::Result<std::shared_ptr<const MemoryFile>> take(int descriptor);

  int descriptor_;
  uint64_t size_, inode_;
};

/// Moves what the private pages [begin, end) hold to `offset` of the file, which is mapped in their place, readable and
/// writable. Threads that write there meanwhile are held (WriteHold); pages that were never touched stay so. False when
/// the system refuses; then nothing has changed.
bool move_into_file(uint64_t begin, uint64_t end, const MemoryFile& file, uint64_t offset);

/// The way back: the pages [begin, end) of a file become private ones with the same contents.
void make_private(uint64_t begin, uint64_t end);

}  // namespace Atoll::machine
