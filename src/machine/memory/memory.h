// machine: guest memory. A guest global address is the host address, so allocating is mmap and a load is a load.
//
// What is kept here is what the host's page tables don't know: who owns which range (for pointer queries and
// for fault reports) and where loaded code lies. All of it is in the range of addresses that is the GPUs' alone
// (address_range.h). The LDS and scratch apertures lie above the host's user range.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "machine/memory/address_partitions.h"
#include "machine/memory/address_range.h"
#include "machine/memory/memory_file.h"
#include "machine/memory/suballocator.h"
#include "support/error.h"

namespace Atoll::machine {

/// Flat addresses whose upper 32 bits are one of these are LDS or scratch, not memory (user guide, "Address
/// Spaces"; amd_queue_t's *_aperture_base_hi). Bit 48 and 49: no user-space address of x86-64 has them.
inline constexpr uint32_t shared_aperture_hi = 0x0001'0000;
inline constexpr uint32_t private_aperture_hi = 0x0002'0000;

/// On GFX12.5 a flat address of scratch says whose it is: the lane in bits 56 to 52, below them the private address on
/// top of where the wave's scratch begins, and in bits 63 to 58 what SRC_FLAT_SCRATCH_BASE has there, which tells it
/// from others (LLVM, SITargetLowering::lowerADDRSPACECAST).
inline constexpr uint64_t lane_scratch_base = uint64_t{0x20} << 56;
inline constexpr unsigned lane_scratch_tag_shift = 58, lane_scratch_lane_shift = 52;

/// Stands for no GPU in particular.
inline constexpr unsigned every_gpu = ~0u;

struct Allocation {
  uint64_t address = 0, size = 0;
  std::string purpose;                     ///< for reports: "kernel code of app.co", "device memory"
  uint64_t owner = 0;                      ///< free for the user of the memory (the hsa room's pool)
  std::shared_ptr<const MemoryFile> file;  ///< what its pages are in, once shared
  bool is_packed = false;                  ///< its pages are `Memory`'s Suballocator
  unsigned gpu = every_gpu;                ///< whose own it is, which others may touch if they are allowed to
};

/// What may be done with pages. There is no writing without reading on x86.
enum class Access : uint8_t { none, read, read_write };

class Memory {
 public:
  /// `gpus`: whose own memory is kept apart, by their numbers from 0 on.
  explicit Memory(unsigned gpus = 1) : parts_(gpus), packed_(parts_.count() + 1) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();  ///< frees what is left

  /// Whether the host should back large blocks with huge pages: not where most of a block is never touched.
  enum class Pages : uint8_t { huge_if_large, small };

  /// Fresh zeroed memory, page-aligned (or more), with an inaccessible page after it, if the host has such for so many
  /// allocations (suballocator.h). `alignment` is a power of two (0: a page). The host's memory is taken up as it is
  /// touched, so `size` may exceed what is free. `gpu` is whose own memory it is to be, if several GPUs' is kept apart.
  support::Result<uint64_t> allocate(uint64_t size, uint64_t alignment, std::string purpose, uint64_t owner = 0,
                                     Pages pages = Pages::huge_if_large, unsigned gpu = every_gpu);
  /// Addresses without memory, for map_part(); `wish` is where they begin if that is free and in the range of guest
  /// memory, 0: anywhere, aligned at least to the largest power of two in their size, up to a huge page.
  support::Result<uint64_t> reserve(uint64_t size, uint64_t alignment, uint64_t wish, std::string purpose);
  /// The pages of a file at addresses of their own.
  support::Result<uint64_t> map(const std::shared_ptr<const MemoryFile>& file, uint64_t size, std::string purpose);
  /// Any of these; what other processes have of a shared one stays.
  support::Result<void> free(uint64_t address);

  /// A place for something small that kernels see and that is made often: so many bytes, aligned to as many.
  static constexpr uint64_t slot_bytes = 64;
  support::Result<uint64_t> take_slot();
  void release_slot(uint64_t address);

  /// What kernels of a GPU may touch with xnack off: the range of guest memory without what is other GPUs' own, or
  /// everything while the GPU has been given memory that is not in it: of the program's own, which could not get an
  /// address there.
  AddressBounds bounds(unsigned gpu = 0) const {
    return outside_.load(std::memory_order_relaxed) == 0 ? parts_.bounds(gpu) : AddressBounds{};
  }
  /// That a GPU may touch an allocation of another's own, or no longer.
  void allow(unsigned gpu, unsigned owner) { parts_.allow(gpu, owner); }
  void disallow(unsigned gpu, unsigned owner) { parts_.disallow(gpu, owner); }
  /// There is such memory, or no longer.
  void add_outside() { ++outside_; }
  void remove_outside() { --outside_; }

  /// The file that an allocation's pages are in, into which they move the first time that somebody asks; then it gets
  /// the name.
  support::Result<std::shared_ptr<const MemoryFile>> share(uint64_t address, const std::string& name);

  /// Pages of a file within what was reserved, and back to addresses without memory. Whole pages; the caller knows what
  /// is mapped where.
  static support::Result<void> map_part(uint64_t address, uint64_t size, const MemoryFile& file, uint64_t offset);
  static support::Result<void> protect_part(uint64_t address, uint64_t size, Access access);
  static support::Result<void> unmap_part(uint64_t address, uint64_t size);

  /// The allocation that holds `address`, if any.
  std::optional<Allocation> find(uint64_t address) const;
  /// The allocation with the least distance to `address`, for fault reports; nullopt when there is none at all.
  std::optional<Allocation> nearest(uint64_t address) const;
  uint64_t allocated_bytes() const;
  std::vector<Allocation> allocations() const;  ///< by address

 private:
  uint64_t record(Allocation allocation);
  bool packs(uint64_t size, uint64_t alignment) const;
  support::Result<uint64_t> take_addresses(uint64_t size, uint64_t alignment, const std::string& purpose,
                                           unsigned gpu = every_gpu);
  std::optional<uint64_t> take_packed(uint64_t size, unsigned gpu);
  Suballocator& packed_of(unsigned gpu) { return packed_[gpu < parts_.count() ? gpu + 1 : 0]; }
  void give_back(const Allocation& allocation);

  AddressPartitions parts_;
  std::vector<Suballocator> packed_;  ///< everybody's, then each GPU's
  mutable std::mutex mutex_;
  std::map<uint64_t, Allocation> allocations_;
  uint64_t allocated_bytes_ = 0;
  std::atomic<unsigned> outside_{0};
  std::mutex slots_mutex_;  ///< of what follows
  std::vector<uint64_t> free_slots_;
  uint64_t slot_blocks_ = 0;
};

}  // namespace Atoll::machine
