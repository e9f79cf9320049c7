// machine: guest memory. A guest global address is the host address, so allocating is mmap and a load is a load.
//
// What is kept here is what the host's page tables don't know: who owns which range (for pointer queries and
// for fault reports) and where loaded code lies. The LDS and scratch apertures lie above the host's user range.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "support/error.h"

namespace Atoll::machine {

/// Flat addresses whose upper 32 bits are one of these are LDS or scratch, not memory (user guide, "Address
/// Spaces"; amd_queue_t's *_aperture_base_hi). Bit 48 and 49: no user-space address of x86-64 has them.
inline constexpr uint32_t shared_aperture_hi = 0x0001'0000;
inline constexpr uint32_t private_aperture_hi = 0x0002'0000;

struct Allocation {
  uint64_t address = 0, size = 0;
  std::string purpose;  ///< for reports: "kernel code of app.co", "device memory"
  uint64_t owner = 0;   ///< free for the user of the memory (the hsa room's pool)
};

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();  ///< frees what is left

  /// Whether the host should back large blocks with huge pages: not where most of a block is never touched.
  enum class Pages : uint8_t { huge_if_large, small };

  /// Fresh zeroed memory, page-aligned (or more), with an inaccessible page behind it. `alignment` is a power of
  /// two (0: a page). The host's memory is taken up as it is touched, so `size` may exceed what is free.
  support::Result<uint64_t> allocate(uint64_t size, uint64_t alignment, std::string purpose, uint64_t owner = 0,
                                     Pages pages = Pages::huge_if_large);
  support::Result<void> free(uint64_t address);

  /// The allocation that holds `address`, if any.
  std::optional<Allocation> find(uint64_t address) const;
  /// The allocation with the least distance to `address`, for fault reports; nullopt when there is none at all.
  std::optional<Allocation> nearest(uint64_t address) const;
  uint64_t allocated_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, Allocation> allocations_;
  uint64_t allocated_bytes_ = 0;
};

}  // namespace Atoll::machine
