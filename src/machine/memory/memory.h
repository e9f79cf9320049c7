// machine: guest memory. A guest global address is the host address, so allocation is mmap and a guest load is a host
// load.
//
// This class stores what the host's page tables do not: the owner of each range (for pointer queries and fault reports)
// and the location of loaded code. All of it is in the GPUs' address range (address_range.h). The LDS and scratch
// apertures are above the host's user range.
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

/// GFX12.5 flat scratch addresses contain their owner: the lane in bits 56 to 52, below them the private address plus
/// the begin of the wave's scratch, and in bits 63 to 58 those of SRC_FLAT_SCRATCH_BASE (LLVM,
/// SITargetLowering::lowerADDRSPACECAST).
inline constexpr uint64_t lane_scratch_base = uint64_t{0x20} << 56;
inline constexpr unsigned lane_scratch_tag_shift = 58, lane_scratch_lane_shift = 52;

/// No particular GPU.
inline constexpr unsigned every_gpu = ~0u;

struct Allocation {
  uint64_t address = 0, size = 0;
  std::string purpose;                     ///< for reports: "kernel code of app.co", "device memory"
  uint64_t owner = 0;                      ///< free for the memory's user (the hsa room's pool)
  std::shared_ptr<const MemoryFile> file;  ///< file that backs its pages, once shared
  bool is_packed = false;                  ///< allocated by Memory's Suballocator
  unsigned gpu = every_gpu;                ///< the owning GPU; others need permission to access it
};

/// Page permissions. On x86 writable pages are readable.
enum class Access : uint8_t { none, read, read_write };

class Memory {
 public:
  /// `gpus`: number of GPUs with separate memory.
  explicit Memory(unsigned gpus = 1) : parts_(gpus), packed_(parts_.count() + 1) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();  ///< frees what is left

  /// Pages of large blocks. Huge pages are unsuitable if most of a block is never touched.
  enum class Pages : uint8_t { huge_if_large, small };

  /// Allocates zeroed, page-aligned memory, followed by an inaccessible page if the host supports it for that many
  /// allocations (suballocator.h). `alignment` is a power of two (0: a page). Host memory is committed on first touch,
  /// so `size` may exceed the free memory. `gpu`: owner, if GPUs have separate memory.
  support::Result<uint64_t> allocate(uint64_t size, uint64_t alignment, std::string purpose, uint64_t owner = 0,
                                     Pages pages = Pages::huge_if_large, unsigned gpu = every_gpu);
  /// Reserves addresses without memory, for map_part(). `wish`: preferred address in guest memory (0: none). Otherwise
  /// aligned to the largest power of two in the size, up to a huge page.
  support::Result<uint64_t> reserve(uint64_t size, uint64_t alignment, uint64_t wish, std::string purpose);
  /// Maps the pages of a file at new addresses.
  support::Result<uint64_t> map(const std::shared_ptr<const MemoryFile>& file, uint64_t size, std::string purpose);
  /// Frees any allocation. Other processes' mappings of a shared one remain.
  support::Result<void> free(uint64_t address);

  /// Allocates a slot for a small object that kernels see and that is created often. Size and alignment are fixed.
  static constexpr uint64_t slot_bytes = 64;
  support::Result<uint64_t> take_slot();
  void release_slot(uint64_t address);

  /// Returns the addresses that kernels of a GPU may access with xnack off: guest memory except other GPUs' own.
  /// Unlimited while the GPU uses program memory outside the range.
  AddressBounds bounds(unsigned gpu = 0) const {
    return outside_.load(std::memory_order_relaxed) == 0 ? parts_.bounds(gpu) : AddressBounds{};
  }
  /// Grants or revokes a GPU's access to an allocation of another one.
  void allow(unsigned gpu, unsigned owner) { parts_.allow(gpu, owner); }
  void disallow(unsigned gpu, unsigned owner) { parts_.disallow(gpu, owner); }
  /// Counts GPU memory outside the range.
  void add_outside() { ++outside_; }
  void remove_outside() { --outside_; }

  /// Returns the file that backs an allocation's pages. The first call creates it with that name and moves the pages
  /// into it.
  support::Result<std::shared_ptr<const MemoryFile>> share(uint64_t address, const std::string& name);

  /// Maps pages of a file into reserved addresses, or unmaps them. Whole pages; the caller tracks what is mapped.
  static support::Result<void> map_part(uint64_t address, uint64_t size, const MemoryFile& file, uint64_t offset);
  static support::Result<void> protect_part(uint64_t address, uint64_t size, Access access);
  static support::Result<void> unmap_part(uint64_t address, uint64_t size);

  /// Returns the allocation that contains `address`, if any.
  std::optional<Allocation> find(uint64_t address) const;
  /// Returns the allocation nearest to `address`, for fault reports; nullopt if there are none.
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
  std::vector<Suballocator> packed_;  ///< the shared one, then one per GPU
  mutable std::mutex mutex_;
  std::map<uint64_t, Allocation> allocations_;
  uint64_t allocated_bytes_ = 0;
  std::atomic<unsigned> outside_{0};
  std::mutex slots_mutex_;  ///< protects the following members
  std::vector<uint64_t> free_slots_;
  uint64_t slot_blocks_ = 0;
};

}  // namespace Atoll::machine
