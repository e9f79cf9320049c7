// observe: the fast and the slow path of accesses through the shadow cells of LDS and memory.
#include "observe/race/shadow_accesses.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "observe/race/access_pieces.h"
#include "observe/race/lane_races.h"
#include "observe/report/place.h"
#include "observe/shadow/stored_value.h"

namespace Atoll::observe {

using machine::AccessEvent;
using machine::Space;

namespace {

/// True for loads that may be atomic by their cache policy, from work-group scope on.
bool may_be_atomic_load(const isa::Instruction& instruction) {
  return instruction.glc || instruction.scc || instruction.scope != 0;
}

/// Returns the lanes from `first` on that change bytes in [begin, end), which their elements cover without gaps. A
/// store of the value already in memory changes nothing.
uint64_t changing_lanes(const machine::Wave& wave, const AccessEvent& access, unsigned first, uint64_t begin,
                        uint64_t end) {
  uint64_t changing = 0;
  const unsigned last = first + lanes_in(access.pattern.follows, first);
  for (unsigned lane = first; lane <= last && access.addresses[lane] < end; ++lane) {
    const uint64_t element = access.addresses[lane];
    const uint64_t from = std::max(begin, element) - element, to = std::min(end - element, uint64_t{access.bytes});
    const auto value = stored_value(wave, access, lane);
    if (!value || !holds(wave, access, lane, *value, from, to)) changing |= uint64_t{1} << lane;
  }
  return changing;
}

}  // namespace

/// The progress of an access through its shadow cells, piece by piece.
struct ShadowAccesses::Pass {
  Pass(const machine::Wave& wave_, const AccessEvent& access_, GroupClocks& group_, WaveClock& clock_,
       const GroupClocks::RecentSite& site)
      : wave(wave_),
        access(access_),
        group(group_),
        clock(clock_),
        mark{.when = {clock_.task, clock_.time}, .site = site.site},
        spins(site.spins) {}

  void begin_piece(unsigned lane, uint64_t first, uint64_t past_last, std::optional<unsigned> spread) {
    begin = at = first;
    end = past_last;
    mark.lane = lane;
    mark.spread = spread.value_or(0);
  }
  uint64_t block() const { return at / CellBlock::bytes * CellBlock::bytes; }
  bool is_load() const { return access.reads && !access.writes; }

  const machine::Wave& wave;
  const AccessEvent& access;
  GroupClocks& group;
  WaveClock& clock;
  Mark mark;  ///< access record of the piece's first byte
  const bool spins;
  const AccessHistory::Part* part = nullptr;  ///< shard of the memory; null: LDS
  uint64_t begin = 0, at = 0, end = 0;        ///< bounds of the piece, and the current position
  Conflict conflict;
  Conflict incomplete;  ///< a conflict that is not a race on this GPU: WaveClock::incomplete
  Doubt doubt;
  /// An atomic with a result acquires. One without cannot observe what precedes it.
  const bool returns = access.is_atomic && access.reads && access.instruction.destinations != 0;
  /// True for a load that acquires.
  const bool acquires =
      is_load() && (spins || (access.space == Space::global && may_be_atomic_load(access.instruction)));
  /// True if the access is certainly not atomic.
  const bool is_plain = !access.is_atomic && !acquires && !(access.writes && access.instruction.scope != 0);
};

/// A load that waits for an ordinary store acquires what it released: the store counts as atomic.
void ShadowAccesses::acquire_cell(Pass& pass, Cell& cell) {
  const Moment when = cell.write.when;
  const bool is_near = when.task >= pass.group.first_task && when.task < pass.group.end_task();
  const bool in_lds = pass.access.space == Space::lds;
  const VectorClock released = order_.released_by(when, in_lds || (is_near && pass.group.is_in_order));
  if (in_lds) {  // LDS is not cached
    pass.clock.learn(released);
    order_.remember(pass.clock);
  } else {
    if (is_near && pass.group.is_in_order) {
      order_.acquire_in_order(pass.group, pass.clock, released);
    } else {
      order_.acquire_near(pass.group, pass.clock, released);
    }
    pass.clock.pending.clock.learn(released);
  }
  cell.is_atomic = true;
}

/// Returns a wave of the work-group that accessed the location by an atomic and is not in this wave's clock. The cell
/// has only the last one, which may be this wave.
static std::optional<Moment> unknown_atomic(const ShadowAccesses::Pass& pass, uint64_t address) {
  const auto unknown_of = [&](const VectorClock& released) -> std::optional<Moment> {
    for (const Moment& moment : released.moments()) {
      const bool is_near = moment.task >= pass.group.first_task && moment.task < pass.group.end_task();
      if (is_near && moment.task != pass.clock.task && pass.clock.known->of(moment.task) < moment.time) return moment;
    }
    return std::nullopt;
  };
  if (pass.part == nullptr) {
    const std::span<const uint32_t> times = pass.group.lds_releases.times(address);
    const LdsLimits& limits = pass.group.limits_of(pass.clock);
    // Knowing a release implies the releasing wave's clock for the work-group.
    bool all_known = times.size() <= limits.size();
    for (uint32_t wave = 0; all_known && wave < times.size(); ++wave) {
      all_known = PackedMark::of({pass.group.first_task + wave, times[wave]}, 0) <= limits[wave];
    }
    return all_known ? std::nullopt : unknown_of(pass.group.lds_releases.clock(address));
  }
  const auto at = pass.part->atomics.find(address);
  return at == pass.part->atomics.end() || at->second.empty() ? std::nullopt : unknown_of(at->second.clock());
}

/// `dwords`: number of dwords that share the cell; 0: the cell of one byte.
void ShadowAccesses::access_cell(Pass& pass, uint64_t address, uint32_t dwords, Cell& cell, const Mark& mark) {
  const AccessEvent& access = pass.access;
  WaveClock& clock = pass.clock;
  const GroupClocks& group = pass.group;
  const unsigned lane = mark.lane, count = std::max(1u, dwords * 4 / access.bytes);
  const bool is_plain_store = access.writes && !access.is_atomic;
  const auto add_to = [&](Conflict& conflict, const Mark& other, bool other_writes) {
    unsigned conflicting_lane = lane, conflicting_lanes = count;
    Mark other_mark = other;
    if (is_plain_store) {
      const uint64_t end = address + std::max(1u, dwords * 4);
      const uint64_t changing = changing_lanes(pass.wave, access, lane, address, end);
      if (changing == 0) return;
      conflicting_lane = static_cast<unsigned>(std::countr_zero(changing));
      conflicting_lanes = static_cast<unsigned>(std::popcount(changing));
      other_mark = other.at((conflicting_lane - lane) * access.bytes / 4);
    }
    if (conflict.count == 0) {
      conflict = {conflicting_lane, other_mark, other_writes, access.addresses[conflicting_lane], 0};
    }
    conflict.count += conflicting_lanes;
  };
  const auto doubt = [&](uint32_t load_site, const Mark& other, bool other_writes) {
    if (pass.doubt.conflict.count == 0) pass.doubt.load_site = load_site;
    add_to(pass.doubt.conflict, other, other_writes);
  };
  const bool write_is_ordered = order_.ordered(group, clock, cell.write.when);
  // Atomic use of a location is forgotten after the dispatch.
  if (cell.is_atomic && write_is_ordered && cell.write.when.task != 0 &&
      order_.task(cell.write.when.task).dispatch != group.dispatch) {
    cell.is_atomic = false;
  }
  if (pass.acquires) {
    if (!write_is_ordered && (!cell.is_atomic || cell.is_stored)) acquire_cell(pass, cell);
    return;
  }
  // Stores to atomically accessed locations may be atomic; the encoding does not distinguish them.
  const bool may_be_atomic = access.is_atomic || (access.writes && (cell.is_atomic || access.instruction.scope != 0));
  if (!write_is_ordered && !(may_be_atomic && cell.is_atomic)) {
    if (access.is_atomic && pass.spins && cell.is_stored) {
      acquire_cell(pass, cell);
      cell.plain_write = {};
    } else if (pass.is_load() && cell.is_atomic && order_.ordered(group, clock, cell.plain_write.when)) {
      doubt(mark.site, cell.write, true);
      constexpr size_t most = 64;
      if (clock.loads_of_atomics.size() < most) {
        clock.loads_of_atomics.push_back({mark.site, access.space, lane, access.addresses[lane]});
      }
    } else {
      add_to(pass.conflict, cell.write, true);
    }
  } else if (access.is_atomic && !order_.ordered(group, clock, cell.plain_write.when)) {
    add_to(pass.conflict, cell.plain_write, true);
  } else if (pass.is_load() && cell.is_atomic && cell.write.when.task == clock.task) {
    if (const auto other = unknown_atomic(pass, address)) {
      Mark mark_of_other = cell.write;
      mark_of_other.when = *other;
      doubt(mark.site, mark_of_other, true);
    }
  }
  if (!clock.incomplete.empty() && !access.is_atomic && !cell.is_atomic) {
    if (clock.knows_incomplete(cell.write.when)) add_to(pass.incomplete, cell.write, true);
    for (const Mark& read : cell.reads) {
      if (access.writes && clock.knows_incomplete(read.when)) add_to(pass.incomplete, read, false);
    }
  }
  if (access.writes) {
    for (const Mark& read : cell.reads) {
      if (access.is_atomic && read.when.task == clock.task) {
        if (read.when.time >= clock.since_barrier && read.lane == mark.lane) reports_.retried(clock, read.site);
      } else if (!order_.ordered(group, clock, read.when)) {
        access.is_atomic ? doubt(read.site, read, false) : add_to(pass.conflict, read, false);
      }
    }
    cell.write = mark;
    cell.is_stored = !access.is_atomic;
    if (!may_be_atomic) cell.plain_write = mark;
    cell.is_atomic |= access.is_atomic;
  } else {
    cell.add_read(mark);
  }
}

/// Common case: no atomics, and all earlier accesses are known from cached answers. Returns false, without any effect,
/// if the slow path is needed.
static bool passes(WaveClock& clock, Cell& cell, const Mark& mark, bool writes) {
  if (cell.is_atomic || !clock.incomplete.empty() || !clock.knows_at_once(cell.write.when)) return false;
  if (!writes) {
    cell.add_read(mark);
    return true;
  }
  if (!clock.knows_at_once(cell.reads[0].when) || !clock.knows_at_once(cell.reads[1].when)) return false;
  cell.write = cell.plain_write = mark;
  cell.is_stored = true;
  return true;
}

/// The rest of the piece, as far as it is in the block at an address. How many bytes of the host's that takes.
size_t ShadowAccesses::access_block(Pass& pass, CellArena& arena, CellBlock& block, uint64_t address,
                                    std::optional<unsigned> spread) {
  const auto first = static_cast<uint32_t>(pass.at - address);
  const auto end = static_cast<uint32_t>(std::min<uint64_t>(pass.end - address, CellBlock::bytes));
  pass.at = address + end;
  return block.visit(arena, first, end, spread,
                     [&](Cell& cell, uint32_t offset, uint32_t dwords) __attribute__((always_inline)) {
                       const Mark own = mark_at(pass.mark, spread, address + offset - pass.begin);
                       if (pass.is_plain && passes(pass.clock, cell, own, pass.access.writes)) return;
                       access_cell(pass, address + offset, dwords, cell, own);
                     });
}

/// Checks an ordinary access to LDS on the fast path.
LdsPass ShadowAccesses::pass_lds(GroupClocks& group, WaveClock& clock, const AccessEvent& access,
                                 const GroupClocks::RecentSite& site) {
  const bool may_be_atomic = access.writes ? access.instruction.scope != 0 || !group.lds_releases.empty() : site.spins;
  if (access.is_atomic || may_be_atomic || !clock.incomplete.empty()) return {};
  Mark mark{.when = {clock.task, clock.time}};
  mark.site = site.site;
  return group.lds.pass(access, group.limits_of(clock), mark);
}

void ShadowAccesses::access_lds(Pass& pass) {
  const AccessEvent& access = pass.access;
  GroupClocks& group = pass.group;
  WaveClock& clock = pass.clock;
  LdsPass result;
  if (access.is_atomic) result = group.lds.pass_atomic(access, group.limits_of(clock), pass.mark, clock.since_barrier);
  if (!result.passes) access_lds_cells(pass);
  // LDS completes a wave's accesses in order and is not cached. An atomic, or a store to an atomically accessed
  // location, therefore releases all earlier accesses; a load that waits for it acquires.
  const bool acquires = pass.returns || pass.acquires;
  if (!access.is_atomic && (group.lds_releases.empty() || !(acquires || access.writes))) return;
  const uint64_t size = group.lds.bytes();
  if (acquires) {
    VectorClock all = *clock.known;
    // Lanes of one instruction release at the same time, so each clock is joined once.
    std::vector<uint32_t> learnt;
    for_each_address(access, [&](uint64_t address) {
      if (address >= size) return;
      const std::span<const uint32_t> times = group.lds_releases.times(address);
      if (times.empty() || std::ranges::equal(times, learnt)) return;
      all.learn(group.lds_releases.clock(address));
      learnt.assign(times.begin(), times.end());
    });
    order_.know(clock, std::move(all));
  }
  if (!access.writes) return;
  const uint32_t wave = clock.task - group.first_task;
  uint32_t time = 0;
  for_each_address(access, [&](uint64_t address) {
    if (address >= size || (!access.is_atomic && !group.lds_releases.has(address))) return;
    if (time == 0) {
      clock.pass_time();
      time = WaveClock::completed(clock.time);
      group.lds_releases.knows(wave, time, clock.known);
    }
    group.lds_releases.release(address, wave, time, acquires);
  });
}

void ShadowAccesses::access_lds_cells(Pass& pass) {
  const uint64_t size = pass.group.lds.bytes();
  for_each_piece(pass.access, [&](unsigned lane, uint64_t begin, uint64_t end, std::optional<unsigned> spread) {
    if (begin >= size) return;
    pass.begin_piece(lane, begin, std::min(end, size), spread);
    pass.group.lds.visit(static_cast<uint32_t>(begin), static_cast<uint32_t>(pass.end),
                         [&](Cell& cell, uint32_t offset, uint32_t dwords) {
                           const Mark own = mark_at(pass.mark, spread, offset - begin);
                           if (pass.is_plain && passes(pass.clock, cell, own, pass.access.writes)) return;
                           access_cell(pass, offset, dwords, cell, own);
                         });
  });
}

/// Fast path of an ordinary access to memory: everything before it is known, and no atomic has accessed the cells.
/// Returns false if the slow path is needed; the access can then be repeated.
bool ShadowAccesses::pass_global(GroupClocks& group, WaveClock& clock, const AccessEvent& access,
                                 const GroupClocks::RecentSite& site) {
  const bool may_be_atomic = access.writes ? access.instruction.scope != 0 : may_be_atomic_load(access.instruction);
  if (access.is_atomic || site.spins || may_be_atomic || !clock.incomplete.empty()) return false;
  if (!copies_.needs_no_check(group)) return false;
  Mark mark{.when = {clock.task, clock.time}};
  mark.site = site.site;
  bool is_known = true;
  AccessHistory::Part* part = nullptr;
  AccessHistory::Blocks* blocks = nullptr;
  uint64_t page = UINT64_MAX;
  std::unique_lock<SpinLock> lock;
  const auto turn_to = [&](uint64_t number) {
    if (number == page) return;
    page = number;
    lock = {};
    part = &cells_.part(number);
    lock = std::unique_lock(part->mutex);
    blocks = &part->page(number);
    is_known = !access.writes || part->atomics.empty();
  };
  const auto pass_piece = [&](unsigned lane, uint64_t begin, uint64_t end, std::optional<unsigned> spread) {
    mark.lane = lane;
    mark.spread = spread.value_or(0);
    for (uint64_t at = begin; is_known && at < end;) {
      turn_to(AccessHistory::page_of(at));
      if (!is_known) return;
      const uint64_t block = at / CellBlock::bytes * CellBlock::bytes;
      const uint64_t until = std::min(end, block + CellBlock::bytes);
      part->bytes += (*blocks)[at % AccessHistory::page_bytes / CellBlock::bytes].visit(
          part->arena(), static_cast<uint32_t>(at - block), static_cast<uint32_t>(until - block), spread,
          [&](Cell& cell, uint32_t offset, uint32_t) {
            if (is_known) is_known = passes(clock, cell, mark_at(mark, spread, block + offset - begin), access.writes);
          });
      at = until;
    }
  };
  // Lanes at consecutive addresses usually form one piece.
  const std::optional<unsigned> spread = spread_of(access);
  if (spread && access.pattern.follows == (access.lanes & (access.lanes - 1)) && access.pattern.begin % 4 == 0) {
    pass_piece(static_cast<unsigned>(std::countr_zero(access.lanes)), access.pattern.begin, access.pattern.end, spread);
  } else {
    for_each_piece(access, pass_piece);
  }
  if (!is_known) return false;
  if (access.writes) {
    clock.stores_in_flight = true;
  } else {
    if (clock.has_fresh_caches()) ++clock.loads_since_invalidation;
    if (!access.is_scalar) clock.loads_in_flight = true;
  }
  return true;
}

void ShadowAccesses::access_global(Pass& pass) {
  const AccessEvent& access = pass.access;
  GroupClocks& group = pass.group;
  WaveClock& clock = pass.clock;
  AccessHistory::Part* part = nullptr;
  AccessHistory::Blocks* page = nullptr;
  uint64_t page_number = UINT64_MAX;
  std::unique_lock<SpinLock> lock;
  bool has_atomics = false;
  const auto turn_to = [&](uint64_t address) {
    const uint64_t number = AccessHistory::page_of(address);
    if (number == page_number) return;
    lock = {};
    part = &cells_.part(number);
    lock = std::unique_lock(part->mutex);
    page = &part->page(number);
    page_number = number;
    has_atomics |= !part->atomics.empty();
  };
  for_each_piece(access, [&](unsigned lane, uint64_t begin, uint64_t end, std::optional<unsigned> spread) {
    pass.begin_piece(lane, begin, end, spread);
    while (pass.at < pass.end) {
      turn_to(pass.at);
      pass.part = part;
      CellBlock& block = (*page)[pass.at % AccessHistory::page_bytes / CellBlock::bytes];
      part->bytes += access_block(pass, part->arena(), block, pass.block(), spread);
    }
  });
  // A read-modify-write atomic acquires earlier releases of its location, and releases. So does a store or load of an
  // atomically accessed location, as far as the encoding distinguishes them.
  const bool acquires = pass.returns || pass.acquires;
  if (access.is_atomic || (has_atomics && (acquires || access.writes))) {
    const Knowledge released = clock.released();
    for_each_address(access, [&](uint64_t address) {
      turn_to(address);
      if (!access.is_atomic && part->atomics.empty()) return;
      auto at = part->atomics.find(address);
      if (at == part->atomics.end()) {
        if (!access.is_atomic) return;
        at = part->atomics.try_emplace(address).first;
      }
      Place& place = at->second;
      if (acquires) {
        if (!place.empty()) order_.acquire_near(group, clock, place.clock());
        clock.pending.add(address);
      }
      if (access.writes) place.learn(released, clock.task);
      if (!group.is_in_order || group.waves.size() == 1) return;
      VectorClock& in_order = group.released_in_order[address];
      if (acquires && !in_order.empty()) order_.acquire_in_order(group, clock, in_order);
      if (access.writes) {
        in_order.learn_of(*clock.known, group.first_task, group.end_task());
        in_order.learn({clock.task, clock.time - 1});  // access() has already counted the write itself
      }
    });
  }
  lock = {};
  if (acquires) {
    if (clock.has_fresh_caches()) order_.invalidate(clock);
  } else if (pass.is_load() && clock.has_fresh_caches()) {
    ++clock.loads_since_invalidation;
  }
  if (access.reads && !access.is_scalar) clock.loads_in_flight = true;
  if (access.writes) clock.stores_in_flight = true;
}

void ShadowAccesses::access(const machine::Wave& wave, const AccessEvent& access) {
  if (access.space == Space::scratch) return;
  const auto [group, clock] = order_.clocks_of(wave);
  if (clock == nullptr) return;
  if (access.writes) clock->pass_store();
  const GroupClocks::RecentSite& site = sites_.number_of(wave, access, *group);
  if (access.space == Space::lds) {
    // Copies from memory use other counters.
    const isa::Encoding encoding = access.instruction.encoding;
    if (encoding == isa::Encoding::ds || encoding == isa::Encoding::flat) clock->begin_lds_access(access.writes);
  }
  LdsPass ordinary;
  if (access.space == Space::global) {
    ordinary.passes = ordinary.overlaps = pass_global(*group, *clock, access, site);
  } else {
    ordinary = pass_lds(*group, *clock, access, site);
  }
  if (ordinary.passes) {
    if (access.writes && ordinary.overlaps && std::popcount(access.lanes) > 1) check_lanes(findings_, wave, access);
    return;
  }
  access_closely(wave, access, *group, *clock, site);
}

/// Checks an access on the slow path.
void ShadowAccesses::access_closely(const machine::Wave& wave, const AccessEvent& access, GroupClocks& group,
                                    WaveClock& clock, const GroupClocks::RecentSite& site) {
  Pass pass(wave, access, group, clock, site);
  if (access.space == Space::lds) {
    access_lds(pass);
  } else {
    access_global(pass);
    copies_.check_access(wave, access, group);
  }
  if (access.is_atomic && !clock.loads_of_atomics.empty()) {
    for (const WaveClock::Load& load : clock.loads_of_atomics) {
      const bool is_same = load.space == access.space && (access.lanes >> load.lane & 1) != 0 &&
                           access.addresses[load.lane] == load.address;
      if (is_same) reports_.retried(clock, load.site);
    }
  }
  if (pass.doubt.conflict.count != 0) {
    reports_.defer(wave, clock, group.dispatch,
                   {access.pc, access.space, access.bytes, verb_of(access), pass.doubt.conflict}, pass.doubt.load_site);
  }
  if (pass.conflict.count != 0) {
    reports_.report(wave, {access.pc, access.space, access.bytes, verb_of(access), pass.conflict});
  }
  if (pass.incomplete.count != 0) {
    reports_.report_incomplete(wave, {access.pc, access.space, access.bytes, verb_of(access), pass.incomplete});
  }
  if (access.writes && !access.is_atomic && std::popcount(access.lanes) > 1) check_lanes(findings_, wave, access);
}

}  // namespace Atoll::observe
