// observe: maintains the map of live, quarantined and remembered blocks.
#include "observe/shadow/allocations.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "observe/race/thread_slots.h"

namespace Atoll::observe {

namespace {

/// The block that this thread found last.
struct LastHit {
  uint64_t generation = 0, begin = 1, end = 0;
};
struct LastHits {
  std::array<LastHit, 4> list;
  unsigned next = 0;
};

}  // namespace

std::string words_for(const Block& block) {
  using enum machine::MemoryEvent::Kind;
  const char* of = "device memory";
  if (block.kind == host) of = "host memory for GPUs";
  if (block.kind == kernarg) of = "memory for kernel arguments";
  if (block.kind == managed) of = "managed memory";
  if (block.kind == registered) of = "registered host memory";
  return fmt::format("{} byte{} of {}", block.size, block.size == 1 ? "" : "s", of);
}

Allocations::~Allocations() { release_all(); }

void Allocations::release_all() {
  std::vector<std::function<void()>> released;
  {
    const std::unique_lock lock(mutex_);
    for (const uint64_t address : kept_) {
      released.push_back(std::move(blocks_.at(address).release));
      blocks_.erase(address);
    }
    kept_.clear();
    kept_bytes_ = 0;
  }
  for (const auto& each : released) each();
}

void Allocations::add(Block block) {
  block.reserved = std::max(block.reserved, block.size);
  const std::unique_lock lock(mutex_);
  insert(std::move(block));
}

void Allocations::insert(Block block) {
  erase_overlapping(block.begin, block.begin + block.reserved);
  const uint64_t begin = block.begin;
  blocks_.insert_or_assign(begin, Entry{.block = std::move(block), .release = {}});
}

/// Removes blocks whose memory has a new owner.
void Allocations::erase_overlapping(uint64_t begin, uint64_t end) {
  auto position = blocks_.lower_bound(begin);
  if (position != blocks_.begin()) {
    const Block& before = std::prev(position)->second.block;
    if (before.begin + before.reserved > begin) --position;
  }
  while (position != blocks_.end() && position->first < end) {
    std::erase(remembered_, position->first);
    position = blocks_.erase(position);
    generation_.store(next_epoch(), std::memory_order_release);
  }
}

bool Allocations::free(uint64_t address, std::string_view function, const HostStack& stack,
                       std::function<void()> release) {
  std::vector<std::function<void()>> released;
  {
    const std::unique_lock lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end() || found->second.block.is_free) return false;
    Entry& entry = found->second;
    entry.block.is_free = true;
    entry.block.freed = stack;
    entry.block.free_function = function;
    generation_.store(next_epoch(), std::memory_order_release);
    if (entry.block.is_of_program()) {
      released.push_back(std::move(release));
      remembered_.push_back(address);
    } else {
      entry.release = std::move(release);
      kept_.push_back(address);
      kept_bytes_ += entry.block.reserved;
    }
    trim(released);
  }
  for (const auto& each : released) each();
  return true;
}

bool Allocations::free_in_stream(uint64_t address, std::string_view function, const HostStack& stack,
                                 SubmittedPackets submitted) {
  const std::unique_lock lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.block.is_free) return false;
  Block& block = found->second.block;
  block.freed_after = std::make_shared<const SubmittedPackets>(std::move(submitted));
  block.freed = stack;
  block.free_function = function;
  generation_.store(next_epoch(), std::memory_order_release);
  return true;
}

bool Allocations::reuse(uint64_t address, uint64_t bytes, std::string_view function, const HostStack& stack) {
  const std::unique_lock lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.block.is_free || bytes > found->second.block.reserved) return false;
  Block& block = found->second.block;
  block.freed_after = nullptr;
  block.size = bytes;
  block.allocated = stack;
  block.function = function;
  generation_.store(next_epoch(), std::memory_order_release);
  return true;
}

void Allocations::add_suballocation(Block block) {
  block.is_suballocation = true;
  block.reserved = std::max(block.reserved, block.size);
  const uint64_t begin = block.begin, end = block.begin + block.reserved;
  const std::unique_lock lock(mutex_);
  auto position = blocks_.lower_bound(end);
  while (position != blocks_.begin()) {
    const Block& before = (--position)->second.block;
    if (before.begin + before.reserved <= begin) break;
    if (!before.is_suballocation) return;
  }
  insert(std::move(block));
}

/// Releases the oldest quarantined blocks beyond the limits.
void Allocations::trim(std::vector<std::function<void()>>& released) {
  while (kept_bytes_ > max_kept) {
    const uint64_t oldest = kept_.front();
    kept_.pop_front();
    Entry& entry = blocks_.at(oldest);  // its addresses cannot have been reused
    kept_bytes_ -= entry.block.reserved;
    released.push_back(std::exchange(entry.release, {}));
    remembered_.push_back(oldest);
  }
  while (remembered_.size() > max_remembered) {
    blocks_.erase(remembered_.front());
    remembered_.pop_front();
  }
}

bool Allocations::is_live(uint64_t address, uint64_t end) const { return live_around(address, end).has_value(); }

std::optional<std::pair<uint64_t, uint64_t>> Allocations::live_around(uint64_t address, uint64_t end) const {
  const uint64_t generation = generation_.load(std::memory_order_acquire);
  auto& hits = thread_slot<LastHits, 1>(0);
  for (const LastHit& hit : hits.list) {
    if (hit.generation == generation && address >= hit.begin && address <= end && end <= hit.end)
      return std::pair(hit.begin, hit.end);
  }
  const std::shared_lock lock(mutex_);
  auto position = blocks_.upper_bound(address);
  if (position == blocks_.begin()) return std::nullopt;
  const Block& block = std::prev(position)->second.block;
  if (block.is_free || block.freed_after || end < address || !block.holds(address, end - address)) return std::nullopt;
  if (block.kind == machine::MemoryEvent::Kind::kernarg) return std::nullopt;
  hits.list[hits.next++ % hits.list.size()] = {generation, block.begin, block.end()};
  return std::pair(block.begin, block.end());
}

std::optional<Block> Allocations::find(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  auto position = blocks_.upper_bound(address);
  if (position == blocks_.begin()) return std::nullopt;
  const Block& block = std::prev(position)->second.block;
  if (address - block.begin >= block.reserved) return std::nullopt;
  return block;
}

std::optional<Block> Allocations::nearest(uint64_t address, uint64_t reach) const {
  const std::shared_lock lock(mutex_);
  std::optional<Block> best;
  uint64_t least = reach;
  const auto look_at = [&](const Block& block) {
    if (block.is_free) return;
    const uint64_t distance = address < block.begin ? block.begin - address : address - std::min(address, block.end());
    if (distance > least) return;
    least = distance;
    best = block;
  };
  auto position = blocks_.upper_bound(address);
  if (position != blocks_.begin()) look_at(std::prev(position)->second.block);
  if (position != blocks_.end()) look_at(position->second.block);
  return best;
}

std::vector<Block> Allocations::live() const {
  const std::shared_lock lock(mutex_);
  std::vector<Block> blocks;
  for (const auto& [begin, entry] : blocks_)
    if (!entry.block.is_free && !entry.block.freed_after) blocks.push_back(entry.block);
  return blocks;
}

}  // namespace Atoll::observe
