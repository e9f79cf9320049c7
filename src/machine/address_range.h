// machine: the addresses of which all guest memory is.
//
// A guest address is the host's, so a kernel could reach all that the process has. To tell what is the GPU's from what
// is the program's, or Atoll's own, all memory of GPUs lies in one range of addresses, which is reserved when the
// first of it is wanted: one comparison tells a stray pointer. What is free in the range is inaccessible, as is the
// page behind each allocation, and nobody else's mapping can come to lie there.
//
// The range's size is a power of two, so that the offsets of several addresses in it, or'ed, tell whether one is not,
// and its borders are multiples of 4 GiB, so that the upper half of an address tells. Its first part is never given
// out, and as much around it is reserved, too: so what lies a little off an address of the range is the range's, or
// inaccessible, and of an address to which an offset of 32 bits is added, only the address needs to be looked at.
//
// A process with few addresses (RLIMIT_AS) has no such range: memory then lies wherever the host has addresses, and
// bounds() is everything. A child of fork() has the parent's range, with what is taken of it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "machine/free_runs.h"

namespace Atoll::machine {

/// Addresses that somebody may touch: those from `base` on, the last one `last` after it.
struct AddressBounds {
  uint64_t base = 0, last = ~uint64_t{0};

  bool hold(uint64_t address) const { return address - base <= last; }
  bool are_everything() const { return last == ~uint64_t{0}; }
};

class AddressRange {
 public:
  static constexpr uint64_t edge = uint64_t{8} << 30;  ///< that is never given out at the range's begin and around it
  static constexpr uint64_t granule = uint64_t{4} << 30;

  /// The range that all Memory of this process shares.
  static AddressRange& of_process();

  /// Reserves the largest of some sizes up to `most` that the host has addresses for; else there is none.
  explicit AddressRange(uint64_t most);
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;
  ~AddressRange();

  /// Of whom touches nothing but what is given out here.
  AddressBounds bounds() const {
    return size_ == 0 ? AddressBounds{} : AddressBounds{.base = begin_, .last = size_ - 1};
  }

  /// Inaccessible addresses, whole pages, aligned to a power of two that is at least a page; nothing when there are no
  /// more.
  std::optional<uint64_t> take(uint64_t bytes, uint64_t alignment);
  /// Those addresses, if they are free.
  bool take_at(uint64_t address, uint64_t bytes);
  /// What was taken, or a part of it: whatever is mapped there is gone.
  void give_back(uint64_t address, uint64_t bytes);

  /// Around a fork(), whose child is to find the range in order.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  uint64_t begin_ = 0, size_ = 0;  ///< without what is around it; 0: there is no range
  std::mutex mutex_;
  FreeRuns free_;
};

}  // namespace Atoll::machine
