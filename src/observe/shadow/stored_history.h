// observe: of each dword that stores have changed lately, the values that they replaced, and who stored when and
// whether others have seen it: what the order checker gives loads to read.
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

/// Operations of a counter: those up to a time are done at a later one.
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

/// A dispatch: what it has stored is seen by all when it has ended.
struct StoringDispatch {
  uint64_t number = 0;
  uint64_t begin = 0, end = never;
};

/// What is kept of a work-group's stores, longer than the work-group.
struct StoringGroup {
  std::shared_ptr<const machine::Kernel> kernel;
  const StoringDispatch* dispatch = nullptr;
  const CacheHierarchy* hierarchy = nullptr;
  uint32_t id[3]{};
  /// Of each wave, or of each CU where a wait is for all that the CU has begun; by the counter: of loads, of stores.
  std::vector<std::array<Completions, 2>> completions;
  struct WriteBack {
    uint32_t wave;
    uint64_t issue, done;
  };
  std::vector<WriteBack> write_backs;  ///< of the L2 that it uses
};

/// A store to a dword.
struct Stored {
  uint32_t replaced = 0;  ///< the value before
  uint8_t bytes = 0;      ///< a bit for each that it wrote
  bool is_atomic = false, by_store_counter = false, writes_through = false;
  uint8_t lane = 0;
  uint32_t wave = 0, queue = 0;  ///< whose operation it is, and in whose completions it is
  StoringGroup* group = nullptr;
  uint64_t time = 0, pc = 0;
  uint64_t order = 0;  ///< of the stores to a dword, the later the greater: as `time`, where none was late
  uint64_t seen_in_group = never, seen = never;  ///< when another wave of the work-group has read it, and any other

  /// When it is certain to be in L2.
  uint64_t in_l2() const {
    const uint64_t done = group->completions[queue][by_store_counter ? 1 : 0].of(time);
    return std::min({done, seen_in_group, seen, group->dispatch->end});
  }
  /// When it is certain to be where other work-groups look for it.
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

/// The oldest first, as memory has got them.
using DwordHistory = std::vector<Stored>;

class StoredHistory {
 public:
  static constexpr size_t most_of_a_dword = 8, max_dwords = size_t{4} << 20;

  DwordHistory* find(uint64_t address) {
    const auto at = dwords_.find(address / 4);
    return at == dwords_.end() ? nullptr : &at->second;
  }
  /// Where there are too many, all are forgotten, and loads get what memory has.
  void add(uint64_t address, const Stored& store) {
    if (dwords_.size() >= max_dwords) dwords_.clear();
    DwordHistory& history = dwords_[address / 4];
    if (!history.empty() && history.back().time == store.time && history.back().group == store.group) {
      // Lanes that wrote other bytes of it, or the same.
      Stored& same = history.back();
      same.bytes |= store.bytes;
      return;
    }
    if (history.size() >= most_of_a_dword) history.erase(history.begin());
    history.push_back(store);
  }
  /// Has a store to a whole dword come after those that were executed later, and says what memory holds then: `has` is
  /// what it holds now. Not where that could be told from outside: where somebody has read it, or changed what it
  /// stored.
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
