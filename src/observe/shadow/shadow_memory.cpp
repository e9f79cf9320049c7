// observe: reads, writes and copies shadow pages.
#include "observe/shadow/shadow_memory.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace Atoll::observe {

ShadowMemory::Page* ShadowMemory::written() {
  static Page page{};
  return &page;
}

ShadowMemory::~ShadowMemory() {
  for (const auto& [begin, range] : ranges_) drop(*range);
}

void ShadowMemory::drop(Range& range) {
  for (std::atomic<Page*>& slot : range.pages) {
    Page* const page = slot.load(std::memory_order_relaxed);
    if (page == nullptr || page == written()) continue;
    delete page;
    used_ -= page_bytes;
  }
}

void ShadowMemory::add(Allocation allocation) {
  if (allocation.size == 0) return;
  const std::unique_lock lock(mutex_);
  const uint64_t begin = allocation.begin, end = begin + allocation.size;
  auto at = ranges_.lower_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second->end > begin) --at;
  while (at != ranges_.end() && at->first < end) {
    drop(*at->second);
    at = ranges_.erase(at);
  }
  allocations_.push_back(std::move(allocation));
  ranges_[begin] = std::make_unique<Range>(begin, end, static_cast<uint32_t>(allocations_.size()));
}

void ShadowMemory::remove(uint64_t address) {
  const std::unique_lock lock(mutex_);
  const auto at = ranges_.find(address);
  if (at == ranges_.end()) return;
  drop(*at->second);
  ranges_.erase(at);
}

const ShadowMemory::Range* ShadowMemory::find(uint64_t address) const {
  const auto above = ranges_.upper_bound(address);
  if (above == ranges_.begin()) return nullptr;
  const Range* range = std::prev(above)->second.get();
  return address < range->end ? range : nullptr;
}

/// Calls `visit(range, index, offset, done, count)` for each page of the range: the tracked range (null: untracked),
/// page index, offset in the page, number of bytes before it, and its number of bytes.
template <typename Visit>
void ShadowMemory::for_each_page(uint64_t address, uint64_t bytes, const Visit& visit) const {
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t at = address + done;
    const Range* const range = find(at);
    if (range == nullptr) {
      const auto next = ranges_.upper_bound(at);
      const uint64_t until = next == ranges_.end() ? bytes : std::min(bytes, next->first - address);
      visit(nullptr, 0, 0, done, until - done);
      done = until;
      continue;
    }
    const uint64_t offset = (at - range->begin) % page_bytes;
    const uint64_t count = std::min({bytes - done, page_bytes - offset, range->end - at});
    visit(range, (at - range->begin) / page_bytes, offset, done, count);
    done += count;
  }
}

void ShadowMemory::read(uint64_t address, uint8_t* undefined, uint64_t bytes) const {
  const std::shared_lock lock(mutex_);
  for_each_page(address, bytes,
                [&](const Range* range, uint64_t index, uint64_t offset, uint64_t done, uint64_t count) {
                  const Page* page = range == nullptr ? written() : range->pages[index].load(std::memory_order_acquire);
                  if (page == nullptr) {
                    std::memset(undefined + done, 0xFF, count);
                  } else {
                    std::memcpy(undefined + done, page->data() + offset, count);
                  }
                });
}

ShadowMemory::Page* ShadowMemory::page_to_change(Range& range, uint64_t index, uint8_t filled_with) {
  std::atomic<Page*>& slot = range.pages[index];
  Page* page = slot.load(std::memory_order_acquire);
  while (page == nullptr || page == written()) {
    const bool starts_written = page == written();
    if (starts_written && filled_with == 0) return nullptr;
    if (used_.load(std::memory_order_relaxed) >= max_bytes) {
      if (!is_full_.exchange(true)) full_();
      slot.store(written(), std::memory_order_release);
      return nullptr;
    }
    Page* const made = new Page;
    made->fill(starts_written ? 0 : 0xFF);
    if (slot.compare_exchange_strong(page, made, std::memory_order_acq_rel)) {
      used_ += page_bytes;
      return made;
    }
    delete made;
  }
  return page;
}

void ShadowMemory::write(uint64_t address, const uint8_t* undefined, uint64_t bytes) {
  const std::shared_lock lock(mutex_);
  for_each_page(address, bytes,
                [&](const Range* known, uint64_t index, uint64_t offset, uint64_t done, uint64_t count) {
                  if (known == nullptr) return;
                  // Ranges are exclusive to this object. Readers share only the pages, which are atomic.
                  auto& range = const_cast<Range&>(*known);
                  const uint64_t whole = std::min(page_bytes, range.end - range.begin - index * page_bytes);
                  const uint8_t* from = undefined == nullptr ? nullptr : undefined + done;
                  uint8_t any = 0, all = 0xFF;
                  for (uint64_t i = 0; from != nullptr && i < count; ++i) {
                    any |= from[i];
                    all &= from[i];
                  }
                  Page* page = range.pages[index].load(std::memory_order_acquire);
                  if (page == written() && any == 0) return;
                  if (page == nullptr && from != nullptr && all == 0xFF) return;
                  if (any == 0 && offset == 0 && count == whole && page == nullptr) {
                    if (range.pages[index].compare_exchange_strong(page, written(), std::memory_order_acq_rel)) return;
                  }
                  page = page_to_change(range, index, any);
                  if (page == nullptr) return;
                  if (from == nullptr) {
                    std::memset(page->data() + offset, 0, count);
                  } else {
                    std::memcpy(page->data() + offset, from, count);
                  }
                });
}

void ShadowMemory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  std::array<uint8_t, page_bytes> undefined;
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t count = std::min<uint64_t>(bytes - done, undefined.size());
    read(from + done, undefined.data(), count);
    write(to + done, undefined.data(), count);
    done += count;
  }
}

ShadowMemory::Count ShadowMemory::count(uint64_t address, uint64_t bytes) const {
  const std::shared_lock lock(mutex_);
  Count result;
  const Range* const first = find(address);
  result.is_tracked = first != nullptr && bytes <= first->end - address;
  if (!result.is_tracked) return result;
  for_each_page(address, bytes,
                [&](const Range* range, uint64_t index, uint64_t offset, uint64_t done, uint64_t count) {
                  const Page* page = range == nullptr ? written() : range->pages[index].load(std::memory_order_acquire);
                  if (page == written()) return;
                  for (uint64_t i = 0; i < count; ++i) {
                    if (page != nullptr && (*page)[offset + i] == 0) continue;
                    if (result.undefined++ == 0) result.first = done + i;
                  }
                });
  return result;
}

void ShadowMemory::define_all(uint64_t address) {
  uint64_t begin = 0, bytes = 0;
  {
    const std::shared_lock lock(mutex_);
    const Range* const range = find(address);
    if (range == nullptr) return;
    begin = range->begin;
    bytes = range->end - range->begin;
  }
  write(begin, nullptr, bytes);
}

ShadowMemory::Written ShadowMemory::written_around(uint64_t address, uint64_t bytes) const {
  const std::shared_lock lock(mutex_);
  const uint64_t end = address + bytes;
  const Range* const range = find(address);
  if (range == nullptr) {  // untracked up to the next range
    const auto next = ranges_.upper_bound(address);
    const uint64_t begin = next == ranges_.begin() ? 0 : std::prev(next)->second->end;
    const uint64_t until = next == ranges_.end() ? UINT64_MAX : next->first;
    return {.is_written = end <= until, .begin = begin, .end = until};
  }
  if (end > range->end) return {};
  const auto is_zero = [](const uint8_t* from, uint64_t count) {
    return count == 0 || (*from == 0 && std::memcmp(from, from + 1, count - 1) == 0);
  };
  const auto is_whole = [&](uint64_t index) {
    const Page* page = range->pages[index].load(std::memory_order_acquire);
    if (page == written()) return true;
    return page != nullptr &&
           is_zero(page->data(), std::min(page_bytes, range->end - range->begin - index * page_bytes));
  };
  const uint64_t first = (address - range->begin) / page_bytes, last = (end - 1 - range->begin) / page_bytes;
  for (uint64_t index = first; index <= last; ++index) {
    if (is_whole(index)) continue;
    // Not the whole page is initialized: return only these bytes.
    Written alone{.is_written = true};
    for_each_page(address, bytes, [&](const Range*, uint64_t at, uint64_t offset, uint64_t, uint64_t count) {
      const Page* page = range->pages[at].load(std::memory_order_acquire);
      alone.is_written = alone.is_written && page != nullptr && is_zero(page->data() + offset, count);
    });
    return alone;
  }
  constexpr uint64_t max_pages = 256;
  uint64_t from = first, until = last + 1;
  while (from > 0 && first - from < max_pages && is_whole(from - 1)) --from;
  while (until < range->pages.size() && until - last < max_pages && is_whole(until)) ++until;
  return {.is_written = true,
          .begin = range->begin + from * page_bytes,
          .end = std::min(range->end, range->begin + until * page_bytes)};
}

uint32_t ShadowMemory::number_at(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const Range* const range = find(address);
  return range == nullptr ? 0 : range->number;
}

std::optional<ShadowMemory::Allocation> ShadowMemory::allocation(uint32_t number) const {
  const std::shared_lock lock(mutex_);
  if (number == 0 || number > allocations_.size()) return std::nullopt;
  return allocations_[number - 1];
}

}  // namespace Atoll::observe
