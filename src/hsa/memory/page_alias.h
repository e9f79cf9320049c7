// hsa: a second address for memory of the program's own.
//
// On hardware, memory that a program locks for the GPU gets an address there that is not the host's. Here it gets one
// in the range of guest memory (machine::AddressRange), as kernels may touch nothing else; and HIP relies on the two
// being different: it keeps both in one map and, in 5.2, ends the process when it unregisters memory whose two
// addresses are one. So the pages are made to appear twice: what is in them moves into a memory file, which is mapped
// in their place and at the second address. When they are no longer locked, they become private memory again.
//
// Other threads may be at work in these pages meanwhile (the first and the last are seldom the caller's alone); their
// writes are held while the contents move (machine::WriteHold).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "machine/memory/memory_file.h"

namespace Atoll::hsa {

class PageAliases {
 public:
  /// The second address of [address, address + size); 0 where there can be none: pages that are shared, not writable,
  /// or on a stack.
  uint64_t add(uint64_t address, uint64_t size);
  /// Takes back what add() gave for the same range.
  void remove(uint64_t alias, uint64_t address, uint64_t size);

 private:
  /// Host pages that are mapped from a memory file.
  struct Segment {
    uint64_t end;
    std::shared_ptr<const machine::MemoryFile> file;
    uint64_t offset;  ///< of the first page in the file
    unsigned users;   ///< aliases that they have
  };
  using Segments = std::map<uint64_t, Segment>;  ///< by the address of the first page; they don't overlap

  Segments::iterator split(uint64_t address);
  bool share(uint64_t begin, uint64_t end);
  void make_private(uint64_t begin, const Segment& segment);

  std::mutex mutex_;
  Segments segments_;
};

}  // namespace Atoll::hsa
