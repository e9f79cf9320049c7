#include "machine/memory/free_list.h"

#include <iterator>
#include <new>

#include "support/bytes.h"

namespace Atoll::machine {

void FreeList::add(uint64_t address, uint64_t bytes) {
  uint64_t end = address + bytes;
  if (const auto after = runs_.find(end); after != runs_.end()) {
    end += after->second;
    erase(after);
  }
  if (const auto above = runs_.lower_bound(address); above != runs_.begin()) {
    const auto before = std::prev(above);
    if (before->first + before->second == address) {
      address = before->first;
      erase(before);
    }
  }
  const auto run = runs_.emplace(address, end - address).first;
  try {
    by_size_.emplace(end - address, address);
  } catch (const std::bad_alloc&) {
    runs_.erase(run);
    throw;
  }
}

/// Splits the extent: the parts before and after stay free. They are inserted first, so that nothing is lost when
/// memory runs out.
void FreeList::remove(uint64_t address, uint64_t bytes) {
  const auto run = std::prev(runs_.upper_bound(address));
  const uint64_t begin = run->first, end = begin + run->second;
  if (address + bytes != end) {
    const auto after = runs_.emplace(address + bytes, end - (address + bytes)).first;
    try {
      by_size_.emplace(after->second, after->first);
    } catch (const std::bad_alloc&) {
      runs_.erase(after);
      throw;
    }
  }
  auto node = by_size_.extract({run->second, begin});
  if (address == begin) {
    runs_.erase(run);
    return;
  }
  run->second = address - begin;
  node.value() = {run->second, begin};
  by_size_.insert(std::move(node));
}

std::optional<FreeList::Run> FreeList::find(uint64_t address) const {
  const auto above = runs_.upper_bound(address);
  if (above == runs_.begin()) return std::nullopt;
  const auto run = std::prev(above);
  if (address - run->first >= run->second) return std::nullopt;
  return Run{.address = run->first, .bytes = run->second};
}

std::optional<uint64_t> FreeList::find_room(uint64_t bytes, uint64_t alignment) const {
  for (auto at = by_size_.lower_bound({bytes, 0}); at != by_size_.end(); ++at) {
    const auto [size, begin] = *at;
    const uint64_t address = support::align_up(begin, alignment);
    if (address - begin <= size - bytes) return address;
  }
  return std::nullopt;
}

void FreeList::erase(Map::iterator run) {
  by_size_.erase({run->second, run->first});
  runs_.erase(run);
}

}  // namespace Atoll::machine
