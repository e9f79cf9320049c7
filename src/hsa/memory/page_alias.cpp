// hsa: a second address for memory of the program's own (page_alias.h).
#include "hsa/memory/page_alias.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "machine/memory/address_range.h"

namespace Atoll::hsa {

namespace {

constexpr uint64_t page = 4096;
constexpr const char* file_name = "atoll locked memory";

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

/// Calls visit(begin, end, permissions, name) for every mapping that overlaps [begin, end).
template <typename Visit>
void for_each_mapping(uint64_t begin, uint64_t end, const Visit& visit) {
  std::ifstream maps("/proc/self/maps");  // proc(5): "address perms offset dev inode pathname"
  for (std::string line; std::getline(maps, line);) {
    uint64_t from = 0, to = 0;
    const char* const last = line.data() + line.size();
    const auto dash = std::from_chars(line.data(), last, from, 16);
    if (dash.ptr == last || dash.ptr + 1 == last) continue;
    const auto space = std::from_chars(dash.ptr + 1, last, to, 16);
    if (last - space.ptr < 5) continue;
    const std::string_view permissions(space.ptr + 1, 4);
    const size_t name = line.find_first_of("/[");
    if (from < end && to > begin) {
      visit(from, to, permissions,
            name == std::string::npos ? std::string_view() : std::string_view(line).substr(name));
    }
  }
}

/// Whether the pages are all there, private, writable, and not on the caller's or the first thread's stack.
bool can_move(uint64_t begin, uint64_t end) {
  uint64_t covered = 0;
  bool fit = true;
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  for_each_mapping(begin, end, [&](uint64_t from, uint64_t to, std::string_view permissions, std::string_view name) {
    covered += std::min(to, end) - std::max(from, begin);
    fit = fit && permissions == "rw-p" && name != "[stack]" && !(here >= from && here < to);
  });
  return fit && covered == end - begin;
}

}  // namespace

/// The first segment at or after `address`, where none crosses the address any more.
PageAliases::Segments::iterator PageAliases::split(uint64_t address) {
  auto after = segments_.lower_bound(address);
  if (after == segments_.begin()) return after;
  const auto before = std::prev(after);
  if (before->second.end <= address) return after;
  Segment rest = before->second;
  rest.offset += address - before->first;
  before->second.end = address;
  return segments_.emplace_hint(after, address, std::move(rest));
}

/// Moves private pages into a memory file that is mapped in their place.
bool PageAliases::share(uint64_t begin, uint64_t end) {
  if (!can_move(begin, end)) return false;
  auto file = machine::MemoryFile::create(file_name, end - begin);
  if (!file || !machine::move_into_file(begin, end, **file, 0)) return false;
  segments_.emplace(begin, Segment{.end = end, .file = std::move(*file), .offset = 0, .users = 0});
  return true;
}

/// The way back. Pages that the program has unmapped in the meantime, or put to another use, are left alone.
void PageAliases::make_private(uint64_t begin, const Segment& segment) {
  const uint64_t size = segment.end - begin;
  uint64_t ours = 0;
  for_each_mapping(begin, segment.end, [&](uint64_t from, uint64_t to, std::string_view, std::string_view name) {
    if (name.find(file_name) != std::string_view::npos) ours += std::min(to, segment.end) - std::max(from, begin);
  });
  if (ours == size) machine::make_private(begin, segment.end);
}

uint64_t PageAliases::add(uint64_t address, uint64_t size) {
  const uint64_t begin = address / page * page, end = (address + size + page - 1) / page * page;
  const std::scoped_lock lock(mutex_);
  split(begin);
  split(end);
  for (uint64_t at = begin; at < end;) {  // what is between the segments that are there
    const auto next = segments_.lower_bound(at);
    if (next != segments_.end() && next->first == at) {
      at = next->second.end;
      continue;
    }
    const uint64_t until = next == segments_.end() ? end : std::min(end, next->first);
    if (!share(at, until)) return 0;
    at = until;
  }
  auto& addresses = machine::AddressRange::of_process();
  const auto alias = addresses.take(end - begin + page, page);  // the page behind it is inaccessible
  if (!alias) return 0;
  const uint64_t alias_begin = *alias;
  for (auto segment = segments_.find(begin); segment != segments_.end() && segment->first < end; ++segment) {
    const auto& [at, it] = *segment;
    if (mmap(pointer(alias_begin + (at - begin)), it.end - at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             it.file->descriptor(), static_cast<off_t>(it.offset)) == MAP_FAILED) {
      addresses.give_back(alias_begin, end - begin + page);
      return 0;
    }
  }
  for (auto segment = segments_.find(begin); segment != segments_.end() && segment->first < end; ++segment) {
    ++segment->second.users;
  }
  return alias_begin + (address - begin);
}

void PageAliases::remove(uint64_t alias, uint64_t address, uint64_t size) {
  const uint64_t begin = address / page * page, end = (address + size + page - 1) / page * page;
  const std::scoped_lock lock(mutex_);
  machine::AddressRange::of_process().give_back(alias / page * page, end - begin + page);
  split(begin);
  split(end);
  for (auto segment = segments_.lower_bound(begin); segment != segments_.end() && segment->first < end;) {
    if (segment->second.users > 0 && --segment->second.users > 0) {
      ++segment;
      continue;
    }
    make_private(segment->first, segment->second);
    segment = segments_.erase(segment);
  }
}

}  // namespace Atoll::hsa
