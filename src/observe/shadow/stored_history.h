// observe: the store history of recently changed dwords: replaced values, the storing wave and time, and visibility.
// The order checker chooses from it the values that loads return.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine/wave/dispatch.h"
#include "observe/order/cache_hierarchy.h"

namespace Atoll::observe {

inline constexpr uint64_t never = UINT64_MAX;

/// Completion times of a counter's operations: those issued up to a time are complete at a later time.
class Completions {
 public:
  void add(uint64_t up_to, uint64_t now) {
    if (done_.empty() || done_.back().first < up_to) done_.emplace_back(up_to, now);
  }
  uint64_t last() const { return done_.empty() ? 0 : done_.back().first; }
  uint64_t of(uint64_t operation) const {
    const auto at = std::ranges::lower_bound(done_, operation, {}, &std::pair<uint64_t, uint64_t>::first);
    return at == done_.end() ? never : at->second;
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> done_;
};

/// A dispatch. All its stores are visible when it has ended.
struct StoringDispatch {
  uint64_t number = 0;
  uint64_t begin = 0, end = never;
};

/// The part of a work-group that outlives it, for its stores.
struct StoringGroup {
  std::shared_ptr<const machine::Kernel> kernel;
  const StoringDispatch* dispatch = nullptr;
  const CacheHierarchy* hierarchy = nullptr;
  uint32_t id[3]{};
  /// Per wave, or per CU where a wait covers all operations of the CU: completion times of loads and of stores.
  std::vector<std::array<Completions, 2>> completions;
  struct WriteBack {
    uint32_t wave;
    uint64_t issue, done;
  };
  std::vector<WriteBack> write_backs;  ///< of its L2
};

/// A store to a dword.
struct Stored {
  uint32_t replaced = 0;  ///< the previous value
  uint8_t bytes = 0;      ///< mask of written bytes
  bool is_atomic = false, by_store_counter = false, writes_through = false;
  uint8_t lane = 0;
  uint32_t wave = 0, queue = 0;  ///< the storing wave, and the index of its completions
  StoringGroup* group = nullptr;
  uint64_t time = 0, pc = 0;
  uint64_t order = 0;  ///< order of stores to the dword; equals `time` unless one was delayed
  /// time of the first read by another wave of the work-group, and by any other wave
  uint64_t seen_in_group = never, seen = never;

  /// Returns the time from which it is guaranteed to be in L2.
  uint64_t in_l2() const {
    const uint64_t done = group->completions[queue][by_store_counter ? 1 : 0].of(time);
    return std::min({done, seen_in_group, seen, group->dispatch->end});
  }
  /// Returns the time from which it is guaranteed to be visible to other work-groups.
  uint64_t in_memory() const {
    uint64_t when = in_l2();
    if (!group->hierarchy->has_several_l2) return when;
    const uint64_t others = std::min(seen, group->dispatch->end);
    if (writes_through) return std::min(others, group->completions[queue][by_store_counter ? 1 : 0].of(time));
    for (const StoringGroup::WriteBack& each : group->write_backs) {
      if (each.issue >= when || (each.wave == wave && each.issue > time)) return std::min(others, each.done);
    }
    return others;
  }
};

/// The oldest first, in memory order.
using DwordHistory = std::vector<Stored>;

class StoredHistory {
 public:
  static constexpr size_t most_of_a_dword = 8, max_dwords = size_t{4} << 20;

  DwordHistory* find(uint64_t address) {
    const auto at = dwords_.find(address / 4);
    return at == dwords_.end() ? nullptr : &at->second;
  }
  /// If there are too many entries all are dropped, and loads return the current memory.
  void add(uint64_t address, const Stored& store) {
    if (dwords_.size() >= max_dwords) dwords_.clear();
    DwordHistory& history = dwords_[address / 4];
    if (!history.empty() && history.back().time == store.time && history.back().group == store.group) {
      // Another lane has written the same or other bytes of the dword.
      Stored& same = history.back();
      same.bytes |= store.bytes;
      return;
    }
    if (history.size() >= most_of_a_dword) history.erase(history.begin());
    history.push_back(store);
  }
  /// Delays a store to a whole dword past later stores, and returns the resulting memory contents. `has` is the current
  /// contents. Returns nullopt if the delay would be observable: the dword has been read, or an atomic has modified the
  /// stored value.
  std::optional<uint32_t> delay(uint64_t address, uint64_t time, uint32_t has, uint64_t now, bool group_is_in_order) {
    DwordHistory* history = find(address);
    if (history == nullptr) return std::nullopt;
    const auto late = std::ranges::find(*history, time, &Stored::time);
    if (late == history->end() || std::next(late) == history->end()) return std::nullopt;
    if (late->in_l2() != never) return std::nullopt;
    for (auto at = late; at != history->end(); ++at) {
      if (at->bytes != 0xF || at->is_atomic) return std::nullopt;
      if (at == late) continue;
      if (at->group == late->group && (at->wave == late->wave || group_is_in_order)) return std::nullopt;
    }
    const uint32_t value = std::next(late)->replaced;
    std::next(late)->replaced = late->replaced;
    late->replaced = has;
    late->order = now;
    std::rotate(late, std::next(late), history->end());
    return value;
  }
  void forget(uint64_t begin, uint64_t end) {
    if ((end - begin) / 4 > dwords_.size()) {
      std::erase_if(dwords_, [&](const auto& each) { return each.first >= begin / 4 && each.first < (end + 3) / 4; });
    } else {
      for (uint64_t dword = begin / 4; dword < (end + 3) / 4; ++dword) dwords_.erase(dword);
    }
  }
  void clear() { dwords_.clear(); }
  bool empty() const { return dwords_.empty(); }

 private:
  std::unordered_map<uint64_t, DwordHistory> dwords_;
};

}  // namespace Atoll::observe
