// machine: reserving the range of addresses, and which of them are free. See address_range.h.
#include "machine/memory/address_range.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <new>
#include <utility>

#include "support/fork.h"

namespace Atoll::machine {

namespace {

constexpr uint64_t page = 4096, tebibyte = uint64_t{1} << 40;
constexpr int inaccessible = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// The smallest range that is worth having.
constexpr uint64_t least = uint64_t{64} << 30;
static_assert(least > 2 * AddressRange::edge);
/// The smallest part that is.
constexpr uint64_t least_part = uint64_t{32} << 30;

/// Candidate addresses that are unused: far above executables and below their heap, libraries and AddressSanitizer's
/// shadow. Several, for programs with two of Atoll's libraries.
constexpr std::array<uint64_t, 3> wishes = {0x2000'0000'0000, 0x3800'0000'0000, 0x0800'0000'0000};

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) & ~(to - 1); }

uint64_t map_inaccessible(uint64_t address, uint64_t bytes, int flags) {
  void* mapped = mmap(pointer(address), bytes, PROT_NONE, inaccessible | flags, -1, 0);
  return mapped == MAP_FAILED ? 0 : reinterpret_cast<uint64_t>(mapped);
}

/// Finds that many free addresses at a multiple of AddressRange::granule; 0: none.
uint64_t reserve(uint64_t bytes) {
  for (const uint64_t wish : wishes) {
    const uint64_t there = map_inaccessible(wish, bytes, MAP_FIXED_NOREPLACE);
    if (there == wish) return there;
    if (there != 0) munmap(pointer(there), bytes);  // of a kernel that does not know the flag
  }
  const uint64_t whole = bytes + AddressRange::granule;
  const uint64_t there = map_inaccessible(0, whole, 0);
  if (there == 0) return 0;
  const uint64_t begin = round_up(there, AddressRange::granule);
  if (begin != there) munmap(pointer(there), begin - there);
  if (begin + bytes != there + whole) munmap(pointer(begin + bytes), there + whole - (begin + bytes));
  return begin;
}

/// The process may not use up its addresses with a reservation.
uint64_t most_of_process() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur / 2;
}

}  // namespace

AddressRange& AddressRange::of_process() {
  // Not destroyed: programs free memory while they end.
  alignas(AddressRange) static std::byte memory[sizeof(AddressRange)];
  static auto* const range = [] {
    auto* made = new (memory) AddressRange(16 * tebibyte);
    support::keep_free_in_forks(*made, support::LockDepth::innermost);
    return made;
  }();
  return *range;
}

AddressRange::AddressRange(uint64_t most) {
  most = std::min(most, most_of_process());
  for (const uint64_t size : {16 * tebibyte, 4 * tebibyte, tebibyte, tebibyte / 4, least}) {
    if (size > most) continue;
    const uint64_t reserved = reserve(size + 2 * edge);
    if (reserved == 0) continue;
    begin_ = reserved + edge;
    size_ = size;
    free_.resize(1);
    free_[0].add(begin_ + edge, size_ - edge);
    return;
  }
}

AddressRange::~AddressRange() {
  if (size_ != 0) munmap(pointer(begin_ - edge), size_ + 2 * edge);
}

bool AddressRange::divide(unsigned parts) {
  if (size_ == 0 || !std::has_single_bit(parts)) return false;
  const std::lock_guard guard(mutex_);
  const auto divide_free = [&](unsigned count) {
    FreeList whole = std::exchange(edges_, {});
    const std::vector<FreeList> before = std::exchange(free_, std::vector<FreeList>(count));
    for (const FreeList& part : before) part.for_each([&](FreeList::Run run) { whole.add(run.address, run.bytes); });
    whole.for_each([&](FreeList::Run run) { add_free(run.address, run.bytes); });
  };
  if (parts == free_.size()) return true;
  bool is_done = size_ / parts >= least_part;
  divide_free(is_done ? parts : 1);
  // Existing allocations might belong to another GPU's partition after the division.
  const uint64_t free_in_part = size_ / free_.size() - edge;
  for (size_t i = 1; i < free_.size(); ++i) {
    const auto all = free_[i].find(begin_ + i * (free_in_part + edge) + edge);
    is_done &= all && all->bytes == free_in_part;
  }
  if (!is_done) divide_free(1);
  parts_.store(static_cast<unsigned>(free_.size()), std::memory_order_release);
  return is_done;
}

/// Free addresses, possibly of several partitions.
void AddressRange::add_free(uint64_t address, uint64_t bytes) {
  const uint64_t end = address + bytes, size = size_ / free_.size();
  while (address != end) {
    const uint64_t part = (address - begin_) / size, begin = begin_ + part * size;
    const bool is_edge = part != 0 && address - begin < edge;
    const uint64_t piece = std::min(end, is_edge ? begin + edge : begin + size) - address;
    (is_edge ? edges_ : free_[part]).add(address, piece);
    address += piece;
  }
}

std::optional<uint64_t> AddressRange::take(uint64_t bytes, uint64_t alignment, unsigned part) {
  if (size_ == 0) {
    const uint64_t slack = alignment - page;
    const uint64_t there = map_inaccessible(0, bytes + slack, 0);
    if (there == 0) return std::nullopt;
    const uint64_t address = round_up(there, alignment);
    if (address != there) munmap(pointer(there), address - there);
    const uint64_t end = address + bytes, mapped_end = there + bytes + slack;
    if (end != mapped_end) munmap(pointer(end), mapped_end - end);
    return address;
  }
  const std::lock_guard guard(mutex_);
  FreeList& free = free_[part < free_.size() ? part : 0];
  const auto address = free.find_room(bytes, alignment);
  if (address) free.remove(*address, bytes);
  return address;
}

bool AddressRange::take_at(uint64_t address, uint64_t bytes) {
  if (size_ == 0) {
    const uint64_t there = map_inaccessible(address, bytes, MAP_FIXED_NOREPLACE);
    if (there != 0 && there != address) munmap(pointer(there), bytes);
    return there == address;
  }
  const std::lock_guard guard(mutex_);
  const auto run = free_[0].find(address);
  if (!run || bytes > run->bytes - (address - run->address)) return false;
  free_[0].remove(address, bytes);
  return true;
}

void AddressRange::give_back(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  if (size_ == 0) {
    munmap(pointer(address), bytes);
    return;
  }
  const std::lock_guard guard(mutex_);
  if (map_inaccessible(address, bytes, MAP_FIXED) != address) {
    // The host has no mapping left: then its memory is given back, and the addresses are not used again.
    madvise(pointer(address), bytes, MADV_DONTNEED);
    mprotect(pointer(address), bytes, PROT_NONE);
    return;
  }
  try {
    add_free(address, bytes);
  } catch (const std::bad_alloc&) {  // lost, too: freeing does not fail
  }
}

bool is_mapped(uint64_t address, uint64_t bytes) {
  const uint64_t begin = address / page * page;
  uint64_t end = 0;
  if (__builtin_add_overflow(address, bytes, &end)) return false;
  // msync(2) looks at mappings, and with MS_ASYNC at nothing else.
  return msync(pointer(begin), end - begin, MS_ASYNC) == 0;
}

}  // namespace Atoll::machine
