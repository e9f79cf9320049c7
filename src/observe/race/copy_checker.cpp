// observe: compares copies with the shadow cells of kernels' accesses, and with each other.
#include "observe/race/copy_checker.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "observe/report/place.h"

namespace Atoll::observe {

/// The copy that the calling thread executes; 0: none, so the copy is a synchronous one by the host.
static thread_local uint32_t copy_in_flight = 0;

void CopyChecker::copy_starts(uint64_t copy, std::span<const uint64_t> signals) {
  copy_in_flight = order_.copy_starts(copy, signals);
}

void CopyChecker::copy_ends(uint64_t, uint64_t completion_signal) {
  if (const uint32_t number = std::exchange(copy_in_flight, 0); number != 0)
    order_.runs().copy_ends(number, completion_signal);
}

void CopyChecker::copied(const machine::CopyEvent& copy) {
  const uint32_t run = copy_in_flight != 0 ? copy_in_flight : order_.runs().host_copies();
  if (run == 0 || copy.bytes == 0) return;
  CopyAccess access{.run = run, .function = std::string(copy.function), .asked = asked_.find(copy)};
  for (const bool writes : {false, true}) {
    access.begin = writes ? copy.destination : copy.source;
    if (access.begin == 0) continue;
    access.end = access.begin + copy.bytes;
    access.writes = writes;
    check(access);
    copies_.add(access);
  }
}

/// Checks a copy against accesses of kernels and other copies.
void CopyChecker::check(const CopyAccess& copy) {
  std::optional<Conflict> conflict;
  for (uint64_t at = copy.begin; at < copy.end && !conflict;) {
    const uint64_t page = AccessHistory::page_of(at), end = std::min(copy.end, (page + 1) * AccessHistory::page_bytes);
    AccessHistory::Part& part = cells_.part(page);
    const std::lock_guard lock(part.mutex);
    AccessHistory::Blocks* const blocks = part.find(page);
    for (; at < end && blocks != nullptr;) {
      const uint64_t block = at / CellBlock::bytes * CellBlock::bytes, until = std::min(end, block + CellBlock::bytes);
      part.bytes += (*blocks)[block % AccessHistory::page_bytes / CellBlock::bytes].visit(
          part.arena(), static_cast<uint32_t>(at - block), static_cast<uint32_t>(until - block), 0,
          [&](const Cell& cell, uint32_t offset, uint32_t) {
            if (conflict) return;
            if (!order_.ordered_before_copy(copy.run, cell.write.when)) {
              conflict = {.other = cell.write, .other_writes = true, .address = block + offset, .count = 1};
            } else if (copy.writes) {
              for (const Mark& read : cell.reads) {
                if (conflict || order_.ordered_before_copy(copy.run, read.when)) continue;
                conflict = {.other = read, .other_writes = false, .address = block + offset, .count = 1};
              }
            }
          });
      at = until;
    }
    at = end;
  }
  if (conflict) {
    return reports_.report_copy(copy, conflict->address,
                                conflict->other_writes ? "a kernel has written" : "a kernel has read",
                                reports_.stack_of(conflict->other));
  }
  const auto others = copies_.all([&](const CopyAccess& other) {
    return other.run != copy.run && (other.writes || copy.writes) && other.begin < copy.end && copy.begin < other.end &&
           !order_.runs().comes_before(other.run, copy.run);
  });
  if (others.empty()) return;
  const CopyAccess& other = *others.front();
  reports_.report_copy(copy, std::max(copy.begin, other.begin),
                       other.writes ? "another copy has written" : "another copy has read",
                       {.title = "the other copy", .frames = lines_of(other.asked, other.function)});
}

/// Checks an access against completed copies that are not ordered before its dispatch.
void CopyChecker::check_access(const machine::Wave& wave, const machine::AccessEvent& access, GroupClocks& group) {
  if (const uint64_t version = copies_.version(); version != group.copies_version) {
    group.copies =
        copies_.all([&](const CopyAccess& copy) { return !order_.runs().comes_before(copy.run, group.dispatch); });
    group.copies_version = version;
  }
  for (const auto& copy : group.copies) {
    if (!copy->writes && !access.writes) continue;
    for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const uint64_t address = access.addresses[lane];
      if (address >= copy->end || address + access.bytes <= copy->begin) continue;
      Later later{access.pc, access.space, access.bytes, verb_of(access), {}, copy};
      later.conflict = {.lane = lane, .other_writes = copy->writes, .address = address, .count = 1};
      reports_.report(wave, later);
      break;
    }
  }
}

}  // namespace Atoll::observe
