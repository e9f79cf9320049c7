// machine: which pages of the blocks are free, and keeping those inaccessible. See suballocator.h.
#include "machine/memory/suballocator.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>

namespace Atoll::machine {

namespace {

constexpr uint64_t page = 4096;

// Defined by Linux 6.13, newer than the headers.
constexpr int madv_guard_install = 102, madv_guard_remove = 103;

/// Without guards: how many runs of free pages may be inaccessible, each of which takes two mappings.
constexpr size_t max_inaccessible_runs = 4096;

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

bool protect(uint64_t address, uint64_t bytes, int protection) {
  return mprotect(pointer(address), bytes, protection) == 0;
}

bool advise(uint64_t address, uint64_t bytes, int advice) { return madvise(pointer(address), bytes, advice) == 0; }

}  // namespace

size_t max_with_own_mappings() {
  static const size_t most = [] {
    char text[32] = "65530";  // the kernel's default
    const int file = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
      const ssize_t length = read(file, text, sizeof text - 1);
      if (length > 0) text[length] = '\0';
      close(file);
    }
    constexpr size_t mappings_of_each = 2, share = 2;
    return std::max<size_t>(std::strtoull(text, nullptr, 10), 1024) / (mappings_of_each * share);
  }();
  return most;
}

/// Size of an allocation within a block.
uint64_t Suballocator::with_guard(uint64_t bytes) const { return *has_guards_ ? bytes + page : bytes; }

bool Suballocator::add_block(uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto made = blocks_.emplace(address, block_bytes).first;
  // A block without guards is opened part by part.
  if (has_guards_.value_or(wants_guards_)) {
    const bool guarded =
        protect(address, block_bytes, PROT_READ | PROT_WRITE) && advise(address, block_bytes, madv_guard_install);
    if (!guarded && (has_guards_ || !protect(address, block_bytes, PROT_NONE))) {
      blocks_.erase(made);
      return false;
    }
    has_guards_ = guarded;
  } else {
    has_guards_ = false;
  }
  free_.add(address, block_bytes);
  return true;
}

std::optional<uint64_t> Suballocator::take(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!has_guards_) return std::nullopt;  // no block yet
  const uint64_t needed = with_guard(bytes);
  const auto address = free_.find_room(needed, page);
  if (!address) return std::nullopt;
  const bool opened =
      *has_guards_ ? advise(*address, bytes, madv_guard_remove) : protect(*address, bytes, PROT_READ | PROT_WRITE);
  if (!opened) return std::nullopt;
  free_.remove(*address, needed);
  ++count_;
  return address;
}

/// Makes pages inaccessible and gives their memory back; false when they stay accessible and as they are.
bool Suballocator::close(uint64_t address, uint64_t bytes, bool is_replaced) {
  const int protection = *has_guards_ ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (is_replaced && mmap(pointer(address), bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                          -1, 0) == MAP_FAILED) {
    return false;
  }
  if (*has_guards_) return advise(address, bytes, madv_guard_install);
  if (free_.count() < max_inaccessible_runs) protect(address, bytes, PROT_NONE);  // otherwise open, and zeros
  return advise(address, bytes, MADV_DONTNEED);
}

std::optional<Suballocator::Block> Suballocator::give_back(uint64_t address, uint64_t bytes, bool is_replaced) {
  const std::lock_guard lock(mutex_);
  --count_;
  if (!close(address, bytes, is_replaced)) return std::nullopt;  // not to be handed out any more
  try {
    free_.add(address, with_guard(bytes));
  } catch (const std::bad_alloc&) {  // lost, too: freeing does not fail
    return std::nullopt;
  }
  // Blocks may be neighbours, and what is free in them is then one run.
  const auto block = std::prev(blocks_.upper_bound(address));
  const uint64_t begin = block->first, end = begin + block->second;
  const auto run = free_.find(address);
  if (!run || run->address > begin || run->address + run->bytes < end) return std::nullopt;
  try {
    free_.remove(begin, block->second);
  } catch (const std::bad_alloc&) {  // then the block is kept
    return std::nullopt;
  }
  const Block gone{begin, block->second};
  blocks_.erase(block);
  return gone;
}

size_t Suballocator::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

}  // namespace Atoll::machine
