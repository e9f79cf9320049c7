// machine: guest memory by mmap. See memory.h.
#include "machine/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

namespace Atoll::machine {

namespace {

using support::ErrorKind;
using support::fail;

uint64_t page_size() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

constexpr uint64_t huge_page = uint64_t{2} << 20;

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) & ~(to - 1); }

/// What one allocation takes from the address space: its pages and the inaccessible one behind them.
uint64_t mapped_size(uint64_t size) { return round_up(size, page_size()) + page_size(); }

void unmap(uint64_t address, uint64_t size) {
  if (size != 0) munmap(reinterpret_cast<void*>(address), size);
}

}  // namespace

Memory::~Memory() {
  for (const auto& [address, allocation] : allocations_) unmap(address, mapped_size(allocation.size));
}

support::Result<uint64_t> Memory::allocate(uint64_t size, uint64_t alignment, std::string purpose, uint64_t owner,
                                           Pages pages) {
  if (size == 0) return fail(ErrorKind::invalid_argument, "cannot allocate 0 bytes of memory for {}", purpose);
  if (alignment != 0 && !std::has_single_bit(alignment)) {
    return fail(ErrorKind::invalid_argument, "the alignment {} of {} is no power of two", alignment, purpose);
  }
  const bool large = pages == Pages::huge_if_large && size >= 2 * huge_page;
  // Large blocks start on a huge page, so that the host can back them with such.
  alignment = std::max({alignment, page_size(), large ? huge_page : 0});
  constexpr uint64_t address_space = uint64_t{1} << 47;
  if (size >= address_space || alignment >= address_space) {
    return fail(ErrorKind::out_of_resources, "cannot allocate {} bytes of memory for {}: more than an address space",
                size, purpose);
  }
  const uint64_t wanted = mapped_size(size);
  const uint64_t slack = alignment - page_size();
  void* mapping = mmap(nullptr, wanted + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return fail(ErrorKind::out_of_resources, "cannot allocate {} bytes of memory for {}: {}", size, purpose,
                std::strerror(errno));
  }
  const auto start = reinterpret_cast<uint64_t>(mapping);
  const uint64_t address = round_up(start, alignment);
  unmap(start, address - start);
  unmap(address + wanted, start + wanted + slack - (address + wanted));
  if (mprotect(reinterpret_cast<void*>(address), wanted - page_size(), PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    unmap(address, wanted);
    return fail(ErrorKind::out_of_resources, "cannot allocate {} bytes of memory for {}: {}", size, purpose,
                std::strerror(error));
  }
  if (large) madvise(reinterpret_cast<void*>(address), wanted - page_size(), MADV_HUGEPAGE);

  const std::lock_guard lock(mutex_);
  allocations_[address] = {.address = address, .size = size, .purpose = std::move(purpose), .owner = owner};
  allocated_bytes_ += size;
  return address;
}

support::Result<void> Memory::free(uint64_t address) {
  uint64_t size = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) {
      return fail(ErrorKind::invalid_argument, "no allocation starts at {:#x}", address);
    }
    size = found->second.size;
    allocated_bytes_ -= size;
    allocations_.erase(found);
  }
  unmap(address, mapped_size(size));
  return {};
}

std::optional<Allocation> Memory::find(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto above = allocations_.upper_bound(address);
  if (above == allocations_.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(above)->second;
  if (address - candidate.address >= candidate.size) return std::nullopt;
  return candidate;
}

std::optional<Allocation> Memory::nearest(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto above = allocations_.upper_bound(address);
  if (above == allocations_.begin()) {
    return above == allocations_.end() ? std::nullopt : std::optional(above->second);
  }
  const Allocation& below = std::prev(above)->second;
  const uint64_t past_below = address - below.address < below.size ? 0 : address - (below.address + below.size - 1);
  if (above != allocations_.end() && above->first - address < past_below) return above->second;
  return below;
}

uint64_t Memory::allocated_bytes() const {
  const std::lock_guard lock(mutex_);
  return allocated_bytes_;
}

}  // namespace Atoll::machine
