// machine: the address range that contains all guest memory.
//
// Guest addresses are host addresses, so a kernel could access everything in the process. All GPU memory is therefore
// in one reserved range, and one comparison detects a wild pointer. Free parts of the range, and the page after each
// allocation, are inaccessible, and no other mapping can be placed there.
//
// The size is a power of two, so the or'ed offsets of several addresses show whether one is outside. The borders are
// multiples of 4 GiB, so the upper half of an address is sufficient. The first part of the range, and as much around
// it, is reserved but never allocated. Addresses slightly outside are thus inaccessible, and after adding a 32-bit
// offset only the base has to be checked.
//
// With several GPUs the range is divided into partitions, one for each GPU's own memory (address_partitions.h). Each
// partition begins with such an edge.
//
// With a limited address space (RLIMIT_AS) there is no range: memory is anywhere, and bounds() is unlimited. A child of
// fork() inherits the range and its allocations.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "machine/memory/free_list.h"

namespace Atoll::machine {

/// Accessible addresses: those whose distance from `base` has no bit of `outside`. Or'ed distances have such a bit if
/// any of them has.
struct AddressBounds {
  uint64_t base = 0, outside = 0;

  bool hold(uint64_t address) const { return ((address - base) & outside) == 0; }
  bool are_everything() const { return outside == 0; }
};

class AddressRange {
 public:
  static constexpr uint64_t edge = uint64_t{8} << 30;  ///< reserved but unallocated, at the range's begin and around it
  static constexpr uint64_t granule = uint64_t{4} << 30;

  /// Returns the process-wide range of all Memory objects.
  static AddressRange& of_process();

  /// Reserves the largest available of several sizes up to `most`, or nothing.
  explicit AddressRange(uint64_t most);
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;
  ~AddressRange();

  /// Returns the bounds of code that accesses only addresses allocated here.
  AddressBounds bounds() const {
    return size_ == 0 ? AddressBounds{} : AddressBounds{.base = begin_, .outside = ~(size_ - 1)};
  }

  /// Divides the range into that many equal partitions, a power of two. Returns false, and leaves it undivided, if they
  /// would be too small or existing allocations would be outside the first one.
  bool divide(unsigned parts);
  unsigned parts() const { return parts_.load(std::memory_order_acquire); }

  /// Allocates inaccessible whole pages with an alignment of at least a page, a power of two. Returns nullopt if the
  /// partition is full.
  std::optional<uint64_t> take(uint64_t bytes, uint64_t alignment, unsigned part = 0);
  /// Allocates these addresses if they are free and in the first partition.
  bool take_at(uint64_t address, uint64_t bytes);
  /// Frees all or part of an allocation, and unmaps it.
  void give_back(uint64_t address, uint64_t bytes);

  /// Held around fork(), so that the child's range is consistent.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void add_free(uint64_t address, uint64_t bytes);

  uint64_t begin_ = 0, size_ = 0;  ///< without the surrounding edges; 0: no range
  std::atomic<unsigned> parts_{1};
  std::mutex mutex_;            ///< protects the following members
  std::vector<FreeList> free_;  ///< by partition
  FreeList edges_;              ///< free but unusable: edges at the begin of partitions
};

/// Returns whether all pages of [address, address + bytes) are mapped, accessible or not.
bool is_mapped(uint64_t address, uint64_t bytes);

}  // namespace Atoll::machine
