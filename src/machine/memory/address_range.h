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
// With several GPUs the range is divided into parts, so that each GPU's own memory has one, and what it may touch is
// told by bits of an address (address_partitions.h). Each part begins with an edge, as the range does.
//
// A process with few addresses (RLIMIT_AS) has no such range: memory then lies wherever the host has addresses, and
// bounds() is everything. A child of fork() has the parent's range, with what is taken of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "machine/memory/free_list.h"

namespace Atoll::machine {

/// Addresses that somebody may touch: those whose distance from `base` has none of the bits of `outside`. Distances
/// that are or'ed have such a bit if one of them has.
struct AddressBounds {
  uint64_t base = 0, outside = 0;

  bool hold(uint64_t address) const { return ((address - base) & outside) == 0; }
  bool are_everything() const { return outside == 0; }
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
    return size_ == 0 ? AddressBounds{} : AddressBounds{.base = begin_, .outside = ~(size_ - 1)};
  }

  /// Has the range consist of so many parts of the same size, a power of two. They are not made smaller than is of use,
  /// nor when something is taken that would lie in another than the first: then it is undivided, and the answer no.
  bool divide(unsigned parts);
  unsigned parts() const { return parts_.load(std::memory_order_acquire); }

  /// Inaccessible addresses, whole pages, aligned to a power of two that is at least a page; nothing when there are no
  /// more in that part.
  std::optional<uint64_t> take(uint64_t bytes, uint64_t alignment, unsigned part = 0);
  /// Those addresses, if they are free and of the first part.
  bool take_at(uint64_t address, uint64_t bytes);
  /// What was taken, or a part of it: whatever is mapped there is gone.
  void give_back(uint64_t address, uint64_t bytes);

  /// Around a fork(), whose child is to find the range in order.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void add_free(uint64_t address, uint64_t bytes);

  uint64_t begin_ = 0, size_ = 0;  ///< without what is around it; 0: there is no range
  std::atomic<unsigned> parts_{1};
  std::mutex mutex_;            ///< of what follows
  std::vector<FreeList> free_;  ///< by part
  FreeList edges_;              ///< what is free and not given out, as it lies where a part begins
};

/// Whether something is mapped at all of the pages of [address, address + bytes), accessible or not.
bool is_mapped(uint64_t address, uint64_t bytes);

}  // namespace Atoll::machine
