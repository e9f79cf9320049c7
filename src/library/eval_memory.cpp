#include "library/eval_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "engine/memory/gather_scatter.h"
#include "machine/report/fault_guard.h"

namespace Atoll::library {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

constexpr uint64_t page_bytes = 4096;

}  // namespace

EvalMemory::~EvalMemory() {
  for (const auto& [address, range] : pages_) munmap(reinterpret_cast<void*>(address), range.bytes);
}

Result<uint8_t*> EvalMemory::give(uint64_t address, uint64_t bytes, const std::string& text) {
  constexpr uint64_t most = uint64_t{1} << 32, address_end = uint64_t{1} << 47;
  if (bytes > most || address >= address_end)
    return fail(ErrorKind::invalid_argument, "{}: there is no such memory", text);
  const uint64_t end = (address + bytes + page_bytes - 1) / page_bytes * page_bytes;
  for (uint64_t page = address / page_bytes * page_bytes; page < end; page += page_bytes) {
    if (pages_.contains(page)) continue;
    const void* mapped = mmap(reinterpret_cast<void*>(page), page_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped == MAP_FAILED) {
      return fail(ErrorKind::out_of_resources, "{}: {:#x} cannot be mapped ({}); 0x10000000 usually can", text, page,
                  std::strerror(errno));
    }
    pages_[page] = {.bytes = page_bytes};
  }
  return reinterpret_cast<uint8_t*>(address);
}

void EvalMemory::allow(uint64_t address, uint64_t bytes, Use use) {
  if (bytes != 0) others_[address] = {.bytes = bytes, .use = use};
}

std::map<uint64_t, std::vector<uint8_t>> EvalMemory::content() const {
  std::map<uint64_t, std::vector<uint8_t>> content;
  for (const auto& [address, range] : pages_) {
    const auto* memory = reinterpret_cast<const uint8_t*>(address);
    content[address].assign(memory, memory + range.bytes);
  }
  return content;
}

std::string EvalMemory::neighbourhood(uint64_t address) const {
  const auto above = pages_.upper_bound(address);
  if (above == pages_.begin()) return "no memory is given there";
  const uint64_t end = std::prev(above)->first + std::prev(above)->second.bytes;
  if (address < end) return {};
  return fmt::format("{} bytes past the end of the memory that is given, at {:#x}", address - end, end);
}

bool EvalMemory::holds(uint64_t address, uint64_t bytes, bool writes) const {
  for (const auto* ranges : {&pages_, &others_}) {
    uint64_t at = address, left = bytes;
    for (auto range = ranges->upper_bound(at); range != ranges->begin(); range = ranges->upper_bound(at)) {
      const auto& [begin, held] = *std::prev(range);
      if (at - begin >= held.bytes || (writes && held.use == Use::read)) break;
      const uint64_t here = std::min(left, held.bytes - (at - begin));
      at += here;
      left -= here;
      if (left == 0) return true;
    }
  }
  return false;
}

void EvalMemory::access(const machine::Wave& wave, const machine::AccessEvent& access) {
  static_cast<void>(wave);
  if (access.space != machine::Space::global) return;
  engine::for_each_lane(access.lanes, [&](unsigned lane) {
    const uint64_t address = access.addresses[lane];
    if (!holds(address, access.bytes, access.writes)) machine::refuse_access(address, access.writes);
  });
}

}  // namespace Atoll::library
