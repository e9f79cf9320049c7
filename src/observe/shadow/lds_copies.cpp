// observe: tracks which bytes of LDS are accessed by outstanding copies.
#include "observe/shadow/lds_copies.h"

#include <algorithm>
#include <bit>

namespace Atoll::observe {

namespace {

/// Calls `visit(lane, address)` for each accessing lane.
template <typename Visit>
void for_each_address(const machine::AccessEvent& access, const Visit& visit) {
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    visit(lane, access.addresses[lane]);
  }
}

}  // namespace

bool LdsCopy::has(uint64_t address, uint32_t bytes) const {
  if (address >= end || address + bytes <= begin) return false;
  return std::ranges::any_of(
      ranges, [&](const auto& range) { return address < range.second && range.first < address + bytes; });
}

uint64_t LdsCopies::issue(uint64_t pc, uint32_t wave, memory_model::Counters counters, bool fills) {
  copies_.push_back({.number = ++last_, .pc = pc, .wave = wave, .counters = counters, .fills = fills});
  return last_;
}

void LdsCopies::add(uint64_t number, const machine::AccessEvent& access) {
  const auto copy = std::ranges::find(copies_, number, &LdsCopy::number);
  if (copy == copies_.end()) return;
  for_each_address(access, [&](unsigned, uint64_t address) {
    const uint64_t end = address + access.bytes;
    copy->begin = std::min(copy->begin, address);
    copy->end = std::max(copy->end, end);
    if (!copy->ranges.empty() && copy->ranges.back().second == address) {
      copy->ranges.back().second = end;
    } else {
      copy->ranges.emplace_back(address, end);
    }
  });
}

void LdsCopies::done(uint64_t number) {
  std::erase_if(copies_, [&](const LdsCopy& copy) { return copy.number == number; });
}

void LdsCopies::arrive(uint32_t wave, uint64_t barrier) {
  for (LdsCopy& copy : copies_) {
    if (copy.wave == wave && !copy.barrier) copy.barrier = barrier;
  }
}

void LdsCopies::arrive_alone(uint64_t number, uint64_t barrier) {
  const auto copy = std::ranges::find(copies_, number, &LdsCopy::number);
  if (copy != copies_.end()) copy->barrier = barrier;
}

void LdsCopies::read(const machine::AccessEvent& access) {
  if (copies_.empty()) return;
  std::erase_if(copies_, [&](const LdsCopy& copy) {
    bool reads = false;
    if (copy.barrier) {
      for_each_address(access, [&](unsigned, uint64_t address) {
        reads |= address <= *copy.barrier && *copy.barrier < address + access.bytes;
      });
    }
    return reads;
  });
}

std::optional<LdsCopies::Conflict> LdsCopies::conflict(const machine::AccessEvent& access, uint64_t own) const {
  for (const LdsCopy& copy : copies_) {
    if (copy.number == own) continue;
    const bool is_fill_of_two = copy.fills && own != 0 && !access.reads;
    if (is_fill_of_two || (!copy.fills && !access.writes)) continue;
    std::optional<Conflict> found;
    for_each_address(access, [&](unsigned lane, uint64_t address) {
      if (!found && copy.has(address, access.bytes)) found = Conflict{&copy, address, lane};
    });
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace Atoll::observe
