// observe: what the race checker knows of the waves that run: their clocks, and those of their work-groups.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine/observer.h"
#include "observe/order/cache_hierarchy.h"
#include "observe/race/access_history.h"
#include "observe/race/race_copies.h"
#include "observe/race/vector_clock.h"
#include "observe/shadow/lds_cells.h"

namespace Atoll::observe {

/// Accesses that race: the later one and the earlier one.
struct Conflict {
  unsigned lane = 0;
  Mark other{};
  bool other_writes = false;
  uint64_t address = 0, count = 0;
};

/// An atomic of one wave and an ordinary load of another. Many a loop about a compare-and-swap begins with such a load,
/// and many an atomic is left out where a load says that it would change nothing; both are harmless. So these are told
/// when their dispatch ends, unless a lane has then done an atomic on what it has loaded by the same instruction.
struct Doubt {
  Conflict conflict;
  uint32_t load_site = 0;
};

/// What a report needs of the later one.
struct Later {
  uint64_t pc = 0;
  machine::Space space = machine::Space::global;
  uint32_t bytes = 0;
  const char* verb = "";
  Conflict conflict;
  std::shared_ptr<const CopyAccess> copy{};  ///< the earlier one, where that was a copy
};

/// What a wave has read that others released, and does not know of before its caches are invalidated: places, whose
/// clocks are looked at then (those who release there meanwhile count, too), and clocks.
struct Pending {
  std::vector<uint64_t> places;
  VectorClock clock;

  bool empty() const { return places.empty() && clock.empty(); }
  void clear() { *this = {}; }
  void add(uint64_t place) {
    if (!places.empty() && places.back() == place) return;
    if (places.size() >= sort_at) tidy();
    places.push_back(place);
  }
  void add(const Pending& more) {
    for (const uint64_t place : more.places) add(place);
    clock.learn(more.clock);
  }

 private:
  size_t sort_at = 256;

  void tidy() {
    std::ranges::sort(places);
    places.erase(std::ranges::unique(places).begin(), places.end());
    sort_at = std::max<size_t>(256, 2 * places.size());
  }
};

/// A wave that runs.
struct WaveClock {
  /// The upper bits of a time count what completes all accesses before it, the lower ones stores since then: these may
  /// be atomic ones that release what comes before them to waves that see accesses in the order of the program.
  static constexpr uint32_t store_mask = (1u << 10) - 1, first_time = store_mask + 1;

  uint32_t task = 0;  ///< 0: there are no more numbers, and it is not checked
  uint32_t time = first_time;
  uint32_t since_barrier = first_time;  ///< when it has passed the last one
  Knowledge known;                      ///< never null
  bool has_learnt = true;               ///< GroupClocks::limits are older than `known`
  bool has_limits = false;              ///< GroupClocks::limits are of this wave
  Pending pending;
  bool loads_in_flight = false, stores_in_flight = false;
  /// Ordinary loads since it has invalidated its caches, for the agent; more than a few are as good as none at all.
  uint8_t loads_since_invalidation = max_loads;
  static constexpr uint8_t max_loads = 4;
  /// Hardly anything can be old in its caches. Barriers of whole grids (device libraries; CUDA's and HIP's samples with
  /// a ticket) fence before the atomic, and load what others have written right after it.
  bool has_fresh_caches() const { return loads_since_invalidation < max_loads; }
  /// Of accesses of LDS that have not been waited for, the oldest first: when one has written; 0: it has only read.
  std::vector<uint32_t> lds_in_flight;
  std::optional<uint64_t> global_sync;  ///< the place where it has met waves of the whole GPU
  /// Ordinary loads of what atomics have written, since the last barrier: the last few.
  struct Load {
    uint32_t site = 0;
    machine::Space space = machine::Space::global;
    unsigned lane = 0;
    uint64_t address = 0;
  };
  std::vector<Load> loads_of_atomics;
  /// What it has learnt of since the last barrier although it was not complete: until when of a wave that has released
  /// that, one moment of each. GroupClocks::is_in_order.
  std::vector<Moment> incomplete;
  uint32_t last_retried = 0;  ///< the site of a load that an atomic has followed

  /// Begins another wave, which knows nothing yet. Keeps the memory of the one before.
  void begin(const Knowledge& nothing) {
    task = 0;
    time = since_barrier = first_time;
    has_limits = false;
    know(nothing);
    if (!pending.empty()) pending.clear();
    loads_in_flight = stores_in_flight = false;
    loads_since_invalidation = max_loads;
    lds_in_flight.clear();
    global_sync.reset();
    loads_of_atomics.clear();
    incomplete.clear();
    last_retried = 0;
    found_.fill({});
  }

  bool knows(Moment when) { return knows_at_once(when) || finds(when); }
  /// Whether it is known without looking further, as what it has itself done and what it has found lately.
  bool knows_at_once(Moment when) const {
    if (when.task == task || when.task == 0) return true;
    // What a wave knows it never forgets.
    const Moment& found = found_[when.task % found_.size()];
    return found.task == when.task && found.time >= when.time;
  }
  void learn(const VectorClock& more) {
    if (more.empty()) return;
    VectorClock joined = *known;
    joined.learn(more);
    know(std::make_shared<const VectorClock>(std::move(joined)));
  }
  void know(Knowledge all) {
    known = std::move(all);
    has_learnt = true;
    released_ = nullptr;
  }
  void pass_time() {
    const uint32_t next = (time | store_mask) + 1;
    if (next > time) time = next;  // at the end of all time, too much counts as known
    released_ = nullptr;
  }
  void pass_store() {
    if ((time & store_mask) != store_mask) ++time;
  }
  void begin_lds_access(bool writes) {
    constexpr size_t most = 64;
    if (lds_in_flight.size() < most) lds_in_flight.push_back(writes ? time : 0);
  }
  void wait_for_lds(uint32_t left) {
    if (lds_in_flight.size() > left) lds_in_flight.erase(lds_in_flight.begin(), lds_in_flight.end() - left);
  }
  /// Up to which time its accesses are complete, but for those of memory: what is handed on at a barrier. Without a
  /// wait before it, LDS may do what other waves do after it before that.
  uint32_t done() const {
    const auto first = std::ranges::find_if(lds_in_flight, [](uint32_t at) { return at != 0; });
    return first == lds_in_flight.end() ? time : *first - 1;
  }
  /// Up to which time a wave's accesses were complete at some time.
  static uint32_t completed(uint32_t at) { return (at & ~store_mask) - 1; }
  void learns_incomplete(Moment until) {
    const auto known_of = std::ranges::find(incomplete, until.task, &Moment::task);
    if (known_of == incomplete.end()) {
      incomplete.push_back(until);
    } else {
      known_of->time = std::max(known_of->time, until.time);
    }
  }
  /// Whether it knows of that without it having been complete.
  bool knows_incomplete(Moment when) const {
    const auto known_of = std::ranges::find(incomplete, when.task, &Moment::task);
    return known_of != incomplete.end() && when.time > completed(known_of->time);
  }
  /// What others know who synchronise with what it has completed.
  const Knowledge& released() {
    if (!released_) {
      if (completed(time) < first_time) {
        released_ = known;
      } else {
        VectorClock clock = *known;
        clock.learn({task, completed(time)});
        released_ = std::make_shared<const VectorClock>(std::move(clock));
      }
    }
    return released_;
  }
  /// What those know who synchronise with all that it has done. What it does from now on is later than that.
  const Knowledge& release_all() {
    pass_time();
    return released();
  }

 private:
  bool finds(Moment when) {
    const uint32_t until = known->of(when.task);
    if (until < when.time) return false;
    found_[when.task % found_.size()] = {.task = when.task, .time = until};
    return true;
  }

  Knowledge released_;              ///< null: has to be made anew
  std::array<Moment, 16> found_{};  ///< up to when tasks were known that have been asked for
};

struct GroupClocks {
  uint32_t dispatch = 0, first_task = 0;
  bool is_in_order = false;    ///< its waves see each other's accesses to memory in the order of the program
  bool shares_caches = false;  ///< nothing has to be invalidated for its waves to see each other's stores
  bool is_clustered = false;   ///< what invalidates for the work-group does for its cluster
  const CacheHierarchy* caches = nullptr;
  const Knowledge nothing = std::make_shared<const VectorClock>();
  std::vector<WaveClock> waves;
  /// What those know, and will know, who have arrived at a barrier.
  struct Arrived {
    VectorClock clock;
    Pending pending;
    /// What the wave has done until `done`. What it does from now on is later than that.
    void learn(WaveClock& wave, uint32_t done) {
      wave.pass_time();
      clock.learn(*wave.known);
      clock.learn({wave.task, done});
      pending.add(wave.pending);
    }
  };
  struct Complete {
    Knowledge known;
    Pending pending;
  };
  std::map<uint32_t, Arrived> arrived;  ///< by the barrier's phase
  std::map<uint32_t, Complete> complete;
  std::map<int32_t, Arrived> arrived_at_named;  ///< in all phases together
  Arrived ended;                                ///< likewise those that have ended
  LdsCells lds;
  LdsReleases lds_releases;
  std::vector<LdsLimits> limits;  ///< by wave; good unless WaveClock::has_learnt
  /// By the address of what an atomic has accessed in memory: what those of its waves know who read that, complete or
  /// not. Where it is in order only.
  std::unordered_map<uint64_t, VectorClock> released_in_order;
  struct RecentSite {
    uint64_t pc = 0;
    const char* verb = nullptr;
    uint32_t site = 0;
    bool spins = false;
  };
  std::array<RecentSite, 64> recent_sites{};  ///< by the instruction, of all work-groups that had these clocks
  /// Copies that the dispatch does not come after, and which version of the history these are of.
  CopyHistory::Accesses copies;
  uint64_t copies_version = 0;

  uint32_t end_task() const { return first_task + static_cast<uint32_t>(waves.size()); }
  /// Returns the last moments of the work-group's waves that a wave knows of.
  const LdsLimits& limits_of(WaveClock& wave) {
    LdsLimits& of_wave = limits[wave.task - first_task];
    if (!wave.has_learnt) return of_wave;
    wave.has_learnt = false;
    const auto count = static_cast<uint32_t>(std::min(waves.size(), of_wave.size()));
    if (!wave.has_limits) {
      wave.has_limits = true;
      for (uint32_t i = count; i < of_wave.size(); ++i) of_wave[i] = PackedMark::last_of(first_task + i, 0);
    }
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t task = first_task + i;
      of_wave[i] = PackedMark::last_of(task, task == wave.task ? UINT32_MAX : wave.known->of(task));
    }
    return of_wave;
  }
  /// For another work-group.
  void reuse() {
    arrived.clear();
    complete.clear();
    arrived_at_named.clear();
    ended.clock.clear();
    ended.pending.clear();
    released_in_order.clear();
    copies.clear();
    copies_version = 0;
  }
};

/// Holds what running waves knew at the last few of their moments.
class Memories {
 public:
  void remember(const WaveClock& clock) {
    Part& part = part_of(clock.task);
    const std::lock_guard lock(part.mutex);
    part.of[clock.task].add(clock.time, clock.known);
  }
  /// Returns what a task knew at a time; null: unknown.
  Knowledge at(Moment when) {
    Part& part = part_of(when.task);
    const std::lock_guard lock(part.mutex);
    const auto found = part.of.find(when.task);
    return found == part.of.end() ? nullptr : found->second.at(when.time);
  }
  template <typename Which>
  void forget(const Which& which) {
    for (Part& part : parts_) {
      const std::lock_guard lock(part.mutex);
      std::erase_if(part.of, [&](const auto& entry) { return which(entry.first); });
    }
  }

 private:
  /// A ring of a task's moments.
  class Moments {
   public:
    void add(uint32_t time, const Knowledge& known) {
      if (count_ != 0 && entry(count_ - 1).first == time) {
        entry(count_ - 1).second = known;
        return;
      }
      if (count_ == size) {
        begin_ = (begin_ + 1) % size;
        --count_;
      }
      entry(count_++) = {time, known};
    }
    Knowledge at(uint32_t time) const {
      uint32_t after = 0;
      while (after < count_ && entry(after).first <= time) ++after;
      return entry(after == 0 ? 0 : after - 1).second;
    }

   private:
    static constexpr uint32_t size = 16;
    using Entry = std::pair<uint32_t, Knowledge>;
    Entry& entry(uint32_t number) { return entries_[(begin_ + number) % size]; }
    const Entry& entry(uint32_t number) const { return entries_[(begin_ + number) % size]; }

    std::array<Entry, size> entries_{};
    uint32_t begin_ = 0, count_ = 0;
  };
  struct Part {
    SpinLock mutex;
    std::unordered_map<uint32_t, Moments> of;
  };
  Part& part_of(uint32_t task) { return parts_[task % parts_.size()]; }
  std::array<Part, 64> parts_;
};

}  // namespace Atoll::observe
