#include "observe/race/cell_arena.h"

#include <sys/mman.h>

#include <cstdint>

namespace Atoll::observe {

HugePages::~HugePages() {
  for (std::byte* const region : regions_) munmap(region, region_bytes);
}

std::byte* HugePages::take(size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes = (bytes + 63) / 64 * 64;
  if (bytes > region_bytes) throw std::bad_alloc();
  if (region_bytes - used_ < bytes) {
    // The host backs whole huge pages only, so the region begins with one.
    constexpr size_t mapped = region_bytes + page_bytes;
    void* const memory =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    auto* const first = static_cast<std::byte*>(memory);
    const size_t before = -reinterpret_cast<uintptr_t>(first) % page_bytes;
    if (before != 0) munmap(first, before);
    munmap(first + before + region_bytes, page_bytes - before);
    madvise(first + before, region_bytes, MADV_HUGEPAGE);
    regions_.push_back(first + before);
    used_ = 0;
  }
  return regions_.back() + std::exchange(used_, used_ + bytes);
}

void CellArena::next_block() {
  if (next_block_ == blocks_.size()) blocks_.push_back(memory_->take(block_bytes));
  at_ = blocks_[next_block_++];
  end_ = at_ + block_bytes;
}

}  // namespace Atoll::observe
