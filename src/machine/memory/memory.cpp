// machine: guest memory, in the range of addresses that is its own. See memory.h.
#include "machine/memory/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
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

/// Address space of an allocation: its pages and the inaccessible page after them.
uint64_t mapped_size(uint64_t size) { return round_up(size, page_size()) + page_size(); }

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

void unmap(uint64_t address, uint64_t size) { AddressRange::of_process().give_back(address, size); }

/// Checks a size and an alignment, and makes the alignment at least a page.
support::Result<uint64_t> check_size(uint64_t size, uint64_t alignment, const std::string& purpose) {
  if (size == 0) return fail(ErrorKind::invalid_argument, "cannot allocate 0 bytes of memory for {}", purpose);
  if (alignment != 0 && !std::has_single_bit(alignment)) {
    return fail(ErrorKind::invalid_argument, "alignment {} of {} is not a power of two", alignment, purpose);
  }
  constexpr uint64_t address_space = uint64_t{1} << 47;
  if (size >= address_space || alignment >= address_space) {
    return fail(ErrorKind::out_of_resources, "cannot allocate {} bytes of memory for {}: more than an address space",
                size, purpose);
  }
  return std::max(alignment, page_size());
}

}  // namespace

/// Inaccessible addresses for an allocation and the page after it. Where a part has none left, memory is no longer kept
/// apart.
support::Result<uint64_t> Memory::take_addresses(uint64_t size, uint64_t alignment, const std::string& purpose,
                                                 unsigned gpu) {
  AddressRange& range = AddressRange::of_process();
  auto address = range.take(mapped_size(size), alignment, parts_.part_of(gpu));
  if (!address && range.parts() != 1 && range.divide(1)) address = range.take(mapped_size(size), alignment);
  if (address) return *address;
  return fail(ErrorKind::out_of_resources, "cannot allocate {} bytes of memory for {}: no addresses are left", size,
              purpose);
}

Memory::~Memory() {
  for (const auto& [address, allocation] : allocations_) {
    if (!allocation.is_packed) give_back(allocation);
  }
  for (const Suballocator& packed : packed_)
    packed.for_each_block([](const Suballocator::Block& block) { unmap(block.address, mapped_size(block.bytes)); });
}

/// Whether an allocation is one of those that share mappings: small ones do, once many have mappings of their own.
bool Memory::packs(uint64_t size, uint64_t alignment) const {
  if (size > Suballocator::largest || alignment > page_size()) return false;
  const std::lock_guard lock(mutex_);
  size_t others = allocations_.size();
  for (const Suballocator& packed : packed_) others -= packed.count();
  return others >= max_with_own_mappings();
}

std::optional<uint64_t> Memory::take_packed(uint64_t size, unsigned gpu) {
  const uint64_t bytes = round_up(size, page_size());
  Suballocator& packed = packed_of(gpu);
  if (const auto address = packed.take(bytes)) return address;
  const auto block = take_addresses(Suballocator::block_bytes, huge_page, "small allocations", gpu);
  if (!block) return std::nullopt;
  if (!packed.add_block(*block)) {
    unmap(*block, mapped_size(Suballocator::block_bytes));
    return std::nullopt;
  }
  return packed.take(bytes);
}

void Memory::give_back(const Allocation& allocation) {
  if (!allocation.is_packed) {
    unmap(allocation.address, mapped_size(allocation.size));
    return;
  }
  const auto empty =
      packed_of(allocation.gpu)
          .give_back(allocation.address, round_up(allocation.size, page_size()), allocation.file != nullptr);
  if (empty) unmap(empty->address, mapped_size(empty->bytes));
}

uint64_t Memory::record(Allocation allocation) {
  const uint64_t address = allocation.address;
  try {
    const std::lock_guard lock(mutex_);
    Allocation& recorded = allocations_[address];
    recorded = std::move(allocation);
    allocated_bytes_ += recorded.size;
  } catch (const std::bad_alloc&) {
    give_back(allocation);
    throw;
  }
  return address;
}

support::Result<uint64_t> Memory::allocate(uint64_t size, uint64_t alignment, std::string purpose, uint64_t owner,
                                           Pages pages, unsigned gpu) {
  auto checked = check_size(size, alignment, purpose);
  if (!checked) return checked;
  if (packs(size, *checked)) {
    // Where that fails, it may still have mappings of its own.
    if (const auto packed = take_packed(size, gpu)) {
      return record({.address = *packed,
                     .size = size,
                     .purpose = std::move(purpose),
                     .owner = owner,
                     .file = nullptr,
                     .is_packed = true,
                     .gpu = gpu});
    }
  }
  const bool large = pages == Pages::huge_if_large && size >= 2 * huge_page;
  // Large blocks start on a huge page, so that the host can back them with such.
  const auto address = take_addresses(size, std::max(*checked, large ? huge_page : 0), purpose, gpu);
  if (!address) return address;
  const uint64_t bytes = round_up(size, page_size());
  if (mprotect(pointer(*address), bytes, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    unmap(*address, mapped_size(size));
    return fail(ErrorKind::out_of_resources, "cannot allocate {} bytes of memory for {}: {}", size, purpose,
                std::strerror(error));
  }
  if (large) madvise(pointer(*address), bytes, MADV_HUGEPAGE);
  return record(
      {.address = *address, .size = size, .purpose = std::move(purpose), .owner = owner, .file = nullptr, .gpu = gpu});
}

support::Result<uint64_t> Memory::reserve(uint64_t size, uint64_t alignment, uint64_t wish, std::string purpose) {
  const auto checked = check_size(size, alignment, purpose);
  if (!checked) return checked;
  if (wish != 0 && wish % *checked == 0 && AddressRange::of_process().take_at(wish, mapped_size(size))) {
    return record({.address = wish, .size = size, .purpose = std::move(purpose), .owner = 0, .file = nullptr});
  }
  // As AMD's driver places them (libhsakmt, mmap_aperture_allocate_aligned): HIP passes no alignment on.
  const uint64_t natural = std::min(std::bit_floor(size), huge_page);
  const auto address = take_addresses(size, std::max(*checked, natural), purpose);
  if (!address) return address;
  return record({.address = *address, .size = size, .purpose = std::move(purpose), .owner = 0, .file = nullptr});
}

support::Result<uint64_t> Memory::map(const std::shared_ptr<const MemoryFile>& file, uint64_t size,
                                      std::string purpose) {
  const auto checked = check_size(size, size >= huge_page ? huge_page : 0, purpose);
  if (!checked) return checked;
  const auto address = take_addresses(size, *checked, purpose);
  if (!address) return address;
  const uint64_t bytes = round_up(size, page_size());
  auto mapped = map_part(*address, bytes, *file, 0);
  if (mapped) mapped = protect_part(*address, bytes, Access::read_write);
  if (!mapped) {
    unmap(*address, mapped_size(size));
    return std::unexpected(mapped.error());
  }
  return record({.address = *address, .size = size, .purpose = std::move(purpose), .owner = 0, .file = file});
}

support::Result<std::shared_ptr<const MemoryFile>> Memory::share(uint64_t address, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return fail(ErrorKind::invalid_argument, "no allocation starts at {:#x}", address);
  Allocation& allocation = found->second;
  if (allocation.file != nullptr) return allocation.file;
  const uint64_t size = round_up(allocation.size, page_size());
  auto file = MemoryFile::create(name, size);
  if (!file) return file;
  if (!move_into_file(address, address + size, **file, 0)) {
    return fail(ErrorKind::out_of_resources, "cannot share {} bytes of {}: {}", size, allocation.purpose,
                std::strerror(errno));
  }
  return allocation.file = std::move(*file);
}

support::Result<void> Memory::map_part(uint64_t address, uint64_t size, const MemoryFile& file, uint64_t offset) {
  if (mmap(pointer(address), size, PROT_NONE, MAP_SHARED | MAP_FIXED, file.descriptor(), static_cast<off_t>(offset)) ==
      MAP_FAILED) {
    return fail(ErrorKind::out_of_resources, "cannot map {} bytes of memory at {:#x}: {}", size, address,
                std::strerror(errno));
  }
  if (size >= huge_page) madvise(pointer(address), size, MADV_HUGEPAGE);
  return {};
}

support::Result<void> Memory::protect_part(uint64_t address, uint64_t size, Access access) {
  const int protection = access == Access::none   ? PROT_NONE
                         : access == Access::read ? PROT_READ
                                                  : PROT_READ | PROT_WRITE;
  if (mprotect(pointer(address), size, protection) != 0) {
    return fail(ErrorKind::out_of_resources, "cannot give access to {} bytes of memory at {:#x}: {}", size, address,
                std::strerror(errno));
  }
  return {};
}

support::Result<void> Memory::unmap_part(uint64_t address, uint64_t size) {
  if (mmap(pointer(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
      MAP_FAILED) {
    return fail(ErrorKind::out_of_resources, "cannot unmap {} bytes of memory at {:#x}: {}", size, address,
                std::strerror(errno));
  }
  return {};
}

support::Result<uint64_t> Memory::take_slot() {
  constexpr uint64_t slots_of_a_block = 1024;
  const std::lock_guard lock(slots_mutex_);
  if (free_slots_.empty()) {
    free_slots_.reserve((slot_blocks_ + 1) * slots_of_a_block);
    const auto block = allocate(slots_of_a_block * slot_bytes, 0, "copies of packets", 0, Pages::small);
    if (!block) return block;
    ++slot_blocks_;
    for (uint64_t i = slots_of_a_block; i-- > 0;) free_slots_.push_back(*block + i * slot_bytes);
  }
  const uint64_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void Memory::release_slot(uint64_t address) {
  const std::lock_guard lock(slots_mutex_);
  free_slots_.push_back(address);  // there is room for all that there are
}

support::Result<void> Memory::free(uint64_t address) {
  Allocation allocation;
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) {
      return fail(ErrorKind::invalid_argument, "no allocation starts at {:#x}", address);
    }
    allocation = std::move(found->second);
    allocated_bytes_ -= allocation.size;
    allocations_.erase(found);
  }
  give_back(allocation);
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

std::vector<Allocation> Memory::allocations() const {
  const std::lock_guard lock(mutex_);
  std::vector<Allocation> all;
  all.reserve(allocations_.size());
  for (const auto& [address, allocation] : allocations_) all.push_back(allocation);
  return all;
}

uint64_t Memory::allocated_bytes() const {
  const std::lock_guard lock(mutex_);
  return allocated_bytes_;
}

}  // namespace Atoll::machine
