// observe: the fast paths of LDS shadow cells.
//
// Lanes with consecutive addresses form one run of dwords, which vector instructions compare and update. In other
// accesses each lane's dwords are a run.
#include "observe/shadow/lds_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "observe/race/access_pieces.h"
#include "semantics/host_isa.h"
#include "semantics/lanes/lanes.h"

namespace Atoll::observe {
ATOLL_HOST_ISA_BEGIN

namespace {

struct Access {
  const LdsRows& rows;
  const LdsLimits& limits;
  uint64_t mark;  ///< with lane 0
  uint32_t site;
};

[[gnu::always_inline]] inline uint64_t limit_of(const Access& access, uint64_t packed) {
  return access.limits[((packed >> PackedMark::task_shift) - access.rows.first_task) % 64];
}

/// Shorter runs are faster with scalar code.
constexpr uint32_t max_short_run = 8;

/// Returns whether all epochs of a chunk of dwords are known. They belong to few tasks; each iteration compares one.
[[gnu::always_inline]] inline bool is_chunk_known(const Access& access, const uint64_t* packed) {
  using Chunk = uint64_t __attribute__((ext_vector_type(semantics::chunk_lanes)));
  Chunk now;
  std::memcpy(&now, packed, sizeof now);
  for (uint32_t left = 0xFFFF; left != 0;) {
    const uint64_t first = packed[std::countr_zero(left)], limit = limit_of(access, first);
    if (first > limit) return false;
    const uint64_t begin = first >> PackedMark::task_shift << PackedMark::task_shift;
    left &= ~uint32_t{semantics::mask_of(now - begin <= Chunk(limit - begin)).bits};
  }
  return true;
}

/// Returns whether all epochs of a run are known.
[[gnu::always_inline]] inline bool are_known(const Access& access, const uint64_t* packed, uint32_t count) {
  if (count <= max_short_run) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (uint32_t i = 0; i < count; ++i) {
      if (packed[i] > limit_of(access, packed[i])) return false;
    }
    return true;
  }
  uint32_t i = 0;
  for (; i + semantics::chunk_lanes <= count; i += semantics::chunk_lanes) {
    if (!is_chunk_known(access, packed + i)) return false;
  }
#pragma clang loop vectorize(disable) unroll(disable)
  for (; i < count; ++i) {
    if (packed[i] > limit_of(access, packed[i])) return false;
  }
  return true;
}

[[gnu::always_inline]] inline bool has_atomics(const Access& access, uint32_t dword, uint32_t count) {
  if (!access.rows.has_atomics) return false;
  for (uint32_t at = dword; at < dword + count; ++at) {
    if ((access.rows.atomic[at / 64] >> (at % 64) & 1) != 0) return true;
  }
  return false;
}

/// `mark`: record of the first dword; that of dword i is larger by i >> shift.
[[gnu::always_inline]] inline bool pass_reads(const Access& access, uint32_t dword, uint32_t count, uint64_t mark,
                                              unsigned shift) {
  const LdsRows& rows = access.rows;
  if (!are_known(access, rows.writes.packed + dword, count) || has_atomics(access, dword, count)) return false;
  uint64_t* __restrict const reads = rows.reads.packed + dword, * __restrict const earlier =
                                                                    rows.earlier_reads.packed + dword;
  uint32_t* __restrict const sites = rows.reads.sites + dword, * __restrict const earlier_sites =
                                                                   rows.earlier_reads.sites + dword;
  // Known reads are overwritten, as are the wave's own: a write that races with them also races with this read.
  if (count > max_short_run && are_known(access, reads, count)) {
    for (uint32_t i = 0; i < count; ++i) reads[i] = mark + (i >> shift);
    for (uint32_t i = 0; i < count; ++i) sites[i] = access.site;
    return true;
  }
  if (count > max_short_run) {
    *rows.has_earlier_reads = true;
    const uint64_t task = mark >> PackedMark::task_shift;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t read = reads[i];
      const uint32_t site = sites[i];
      const bool is_other = read >> PackedMark::task_shift != task;
      earlier[i] = is_other ? read : earlier[i];
      earlier_sites[i] = is_other ? site : earlier_sites[i];
      reads[i] = mark + (i >> shift);
      sites[i] = access.site;
    }
    return true;
  }
#pragma clang loop vectorize(disable) unroll(disable)
  for (uint32_t i = 0; i < count; ++i) {
    if (const uint64_t read = reads[i]; read > limit_of(access, read)) {
      earlier[i] = read;
      earlier_sites[i] = sites[i];
      *rows.has_earlier_reads = true;
    }
    reads[i] = mark + (i >> shift);
    sites[i] = access.site;
  }
  return true;
}

[[gnu::always_inline]] inline void put(const LdsMarks& marks, uint32_t dword, uint32_t count, uint64_t mark,
                                       unsigned shift, uint32_t site) {
  for (uint32_t i = 0; i < count; ++i) marks.packed[dword + i] = mark + (i >> shift);
  for (uint32_t i = 0; i < count; ++i) marks.sites[dword + i] = site;
}

[[gnu::always_inline]] inline bool pass_writes(const Access& access, uint32_t dword, uint32_t count, uint64_t mark,
                                               unsigned shift, bool& overlaps) {
  const LdsRows& rows = access.rows;
  const uint64_t* const writes = rows.writes.packed + dword;
  if (!are_known(access, writes, count) || !are_known(access, rows.reads.packed + dword, count) ||
      (*rows.has_earlier_reads && !are_known(access, rows.earlier_reads.packed + dword, count)) ||
      has_atomics(access, dword, count)) {
    return false;
  }
  if (count <= max_short_run && !rows.has_atomics) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (uint32_t i = 0; i < count; ++i) {
      overlaps |= (writes[i] ^ mark) >> PackedMark::time_shift == 0;
      rows.writes.packed[dword + i] = mark + (i >> shift);
      rows.writes.sites[dword + i] = access.site;
    }
    return true;
  }
  uint64_t is_same = 0;
  for (uint32_t i = 0; i < count; ++i) is_same |= (writes[i] ^ mark) >> PackedMark::time_shift == 0 ? 1 : 0;
  overlaps |= is_same != 0;
  put(rows.writes, dword, count, mark, shift, access.site);
  if (!rows.has_atomics) return true;
  put(rows.plain_writes, dword, count, mark, shift, access.site);
  for (uint32_t at = dword; at < dword + count; ++at) rows.by_atomic[at / 64] &= ~(uint64_t{1} << (at % 64));
  return true;
}

[[gnu::always_inline]] inline bool pass_atomics(const Access& access, uint32_t dword, uint32_t count, uint64_t mark,
                                                unsigned shift, uint64_t since) {
  const LdsRows& rows = access.rows;
  const auto is_known = [&](uint64_t packed) { return packed <= limit_of(access, packed); };
  const auto is_ordered = [&](uint64_t read) {
    return is_known(read) && (read < since || read >> PackedMark::task_shift != mark >> PackedMark::task_shift);
  };
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t at = dword + i;
    const uint64_t bit = uint64_t{1} << (at % 64);
    if (!is_known(rows.plain_writes.packed[at]) || !is_ordered(rows.reads.packed[at]) ||
        (*rows.has_earlier_reads && !is_ordered(rows.earlier_reads.packed[at])) ||
        ((rows.atomic[at / 64] & bit) == 0 && !is_known(rows.writes.packed[at]))) {
      return false;
    }
    rows.writes.packed[at] = mark + (i >> shift);
    rows.writes.sites[at] = access.site;
    rows.atomic[at / 64] |= bit;
    rows.by_atomic[at / 64] |= bit;
  }
  return true;
}

/// Calls `visit(dword, count, mark, shift)` for runs of dwords, with 2^shift dwords per lane. Returns false if the
/// access is misaligned or out of bounds, or `visit` returns false. `dwords` per element; 0: variable.
template <uint32_t dwords, typename Visit>
[[gnu::always_inline]] inline bool for_each_run(const machine::AccessEvent& event, uint64_t mark, const Visit& visit) {
  const uint32_t each = dwords != 0 ? dwords : event.bytes / 4;
  const uint64_t follows = dwords != 0 ? event.pattern.follows : 0;
  constexpr unsigned shift = dwords == 0 ? 31 : static_cast<unsigned>(std::countr_zero(dwords));
  // A dword that several lanes read is checked once.
  uint64_t left = event.writes ? event.lanes : event.lanes & ~event.pattern.repeats;
  uint32_t last_begin = 0, last_end = 0;
  while (left != 0) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const auto address = static_cast<uint32_t>(event.addresses[lane]);
    if (address % 4 != 0) return false;
    left &= left - 1;
    const uint32_t dword = address / 4;
    const unsigned more = lanes_in(follows, lane);
    if (more == 0) {
      if (!visit(dword, each, mark + lane, shift)) return false;
      continue;
    }
    left = without(left, lane + 1, more);
    const uint32_t count = each * (1 + more);
    if (!event.writes) {
      if (dword >= last_begin && dword + count <= last_end) continue;
      last_begin = dword;
      last_end = dword + count;
    }
    if (!visit(dword, count, mark + lane, shift)) return false;
  }
  return true;
}

template <typename Visit>
[[gnu::always_inline]] inline bool for_each_run(const machine::AccessEvent& event, uint64_t mark, const Visit& visit) {
  switch (event.bytes) {
    case 4:
      return for_each_run<1>(event, mark, visit);
    case 8:
      return for_each_run<2>(event, mark, visit);
    case 16:
      return for_each_run<4>(event, mark, visit);
    default:
      return for_each_run<0>(event, mark, visit);
  }
}

bool is_inside(const LdsRows& rows, const machine::AccessEvent& event) {
  return event.bytes % 4 == 0 && event.pattern.end <= rows.bytes;
}

LdsPass pass_access(const LdsRows& rows, const machine::AccessEvent& event, const LdsLimits& limits, const Mark& mark) {
  LdsPass result;
  if (!is_inside(rows, event)) return result;
  const Access access{rows, limits, PackedMark::of(mark.when, 0), mark.site};
  if (event.writes) {
    result.passes = for_each_run(
        event, access.mark,
        [&](uint32_t dword, uint32_t count, uint64_t from, unsigned shift)
            __attribute__((always_inline)) { return pass_writes(access, dword, count, from, shift, result.overlaps); });
  } else {
    result.passes =
        for_each_run(event, access.mark,
                     [&](uint32_t dword, uint32_t count, uint64_t from, unsigned shift)
                         __attribute__((always_inline)) { return pass_reads(access, dword, count, from, shift); });
  }
  return result;
}

LdsPass pass_atomic(const LdsRows& rows, const machine::AccessEvent& event, const LdsLimits& limits, const Mark& mark,
                    uint32_t since) {
  if (!is_inside(rows, event)) return {};
  const Access access{rows, limits, PackedMark::of(mark.when, 0), mark.site};
  const uint64_t own = PackedMark::of({mark.when.task, since}, 0);
  const bool passes =
      for_each_run(event, access.mark,
                   [&](uint32_t dword, uint32_t count, uint64_t from, unsigned shift)
                       __attribute__((always_inline)) { return pass_atomics(access, dword, count, from, shift, own); });
  return {.passes = passes};
}

}  // namespace

extern const LdsRowFunctions level_functions;
constexpr LdsRowFunctions level_functions{.pass_access = &pass_access, .pass_atomic = &pass_atomic};

ATOLL_HOST_ISA_END
}  // namespace Atoll::observe
