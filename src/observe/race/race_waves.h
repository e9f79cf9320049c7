// observe: the race checker's state of running waves and work-groups: their vector clocks.
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

/// Two racing accesses: the later and the earlier one.
struct Conflict {
  unsigned lane = 0;
  Mark other{};
  bool other_writes = false;
  uint64_t address = 0, count = 0;
};

/// A deferred report of an atomic that races with an ordinary load of another wave. Such a load often precedes a
/// compare-and-swap loop, or an atomic that is skipped if it would change nothing; both are harmless. The report is
/// made when the dispatch ends, unless a lane has performed an atomic on the location that the same load instruction
/// read.
struct Doubt {
  Conflict conflict;
  uint32_t load_site = 0;
};

/// The later access, as far as a report needs it.
struct Later {
  uint64_t pc = 0;
  machine::Space space = machine::Space::global;
  uint32_t bytes = 0;
  const char* verb = "";
  Conflict conflict;
  std::shared_ptr<const CopyAccess> copy{};  ///< the earlier access if it was a copy
};

/// Acquires that take effect only when the wave invalidates its caches. Locations are joined with their release clock
/// at that time, so releases made meanwhile are included.
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

/// The clock of a running wave.
struct WaveClock {
  /// The upper bits of a time count operations that complete all earlier accesses; the lower bits count stores since
  /// then. Such a store may be an atomic that releases earlier accesses to waves that see accesses in program order.
  static constexpr uint32_t store_mask = (1u << 10) - 1, first_time = store_mask + 1;

  uint32_t task = 0;  ///< 0: out of task numbers, the wave is not checked
  uint32_t time = first_time;
  uint32_t since_barrier = first_time;  ///< time at which it passed the last barrier
  Knowledge known;                      ///< never null
  bool has_learnt = true;               ///< GroupClocks::limits are out of date with respect to `known`
  bool has_limits = false;              ///< GroupClocks::limits has an entry of this wave
  Pending pending;
  bool loads_in_flight = false, stores_in_flight = false;
  /// Ordinary loads since the last agent-scope invalidation, saturated at max_loads.
  uint8_t loads_since_invalidation = max_loads;
  static constexpr uint8_t max_loads = 4;
  /// True if almost nothing stale can be cached. Grid barriers (device libraries, samples of CUDA and HIP with a
  /// ticket) fence before the atomic and load other waves' stores right after it.
  bool has_fresh_caches() const { return loads_since_invalidation < max_loads; }
  /// Outstanding LDS accesses, the oldest first: the time of a write, or 0 for a read.
  std::vector<uint32_t> lds_in_flight;
  std::optional<uint64_t> global_sync;  ///< location at which it synchronises with waves of the whole GPU
  /// The last few ordinary loads of atomically written locations since the last barrier.
  struct Load {
    uint32_t site = 0;
    machine::Space space = machine::Space::global;
    unsigned lane = 0;
    uint64_t address = 0;
  };
  std::vector<Load> loads_of_atomics;
  /// Acquired times that were incomplete when released, since the last barrier: the latest one of each wave. Used with
  /// GroupClocks::is_in_order.
  std::vector<Moment> incomplete;
  uint32_t last_retried = 0;  ///< PC of a load that was followed by an atomic

  /// Resets the clock for a new wave, reusing its storage.
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
  /// True if happens-before follows from program order or from a cached answer.
  bool knows_at_once(Moment when) const {
    if (when.task == task || when.task == 0) return true;
    // Cached answers stay valid, because a wave's clock only grows.
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
    if (next > time) time = next;  // saturates at the last time, which over-approximates happens-before
    released_ = nullptr;
  }
  void pass_store() {
    if ((time & store_mask) != store_mask) ++time;
  }
  /// Forgets what counts only until the next barrier.
  void end_interval() {
    since_barrier = time;
    loads_of_atomics.clear();
    incomplete.clear();
  }
  void begin_lds_access(bool writes) {
    constexpr size_t most = 64;
    if (lds_in_flight.size() < most) lds_in_flight.push_back(writes ? time : 0);
  }
  void wait_for_lds(uint32_t left) {
    if (lds_in_flight.size() > left) lds_in_flight.erase(lds_in_flight.begin(), lds_in_flight.end() - left);
  }
  /// Returns the time up to which its accesses other than to memory are complete, which a barrier releases. Without a
  /// wait, accesses to LDS may still be outstanding at the barrier.
  uint32_t done() const {
    const auto first = std::ranges::find_if(lds_in_flight, [](uint32_t at) { return at != 0; });
    return first == lds_in_flight.end() ? time : *first - 1;
  }
  /// Returns the time up to which a wave's accesses were complete at time `at`.
  static uint32_t completed(uint32_t at) { return (at & ~store_mask) - 1; }
  void learns_incomplete(Moment until) {
    const auto known_of = std::ranges::find(incomplete, until.task, &Moment::task);
    if (known_of == incomplete.end()) {
      incomplete.push_back(until);
    } else {
      known_of->time = std::max(known_of->time, until.time);
    }
  }
  /// True if `when` was acquired although it was incomplete.
  bool knows_incomplete(Moment when) const {
    const auto known_of = std::ranges::find(incomplete, when.task, &Moment::task);
    return known_of != incomplete.end() && when.time > completed(known_of->time);
  }
  /// Returns the clock that a release of the completed accesses passes on.
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
  /// Returns the clock that a release of all accesses passes on, and ticks the wave's time.
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

  Knowledge released_;              ///< null: has to be computed
  std::array<Moment, 16> found_{};  ///< cached answers of knows(): latest joined time per task
};

struct GroupClocks {
  uint32_t dispatch = 0, first_task = 0;
  bool is_in_order = false;    ///< waves see each other's memory accesses in program order
  bool shares_caches = false;  ///< waves see each other's stores without invalidation
  bool is_clustered = false;   ///< a work-group scope invalidation covers the cluster
  const CacheHierarchy* caches = nullptr;
  const Knowledge nothing = std::make_shared<const VectorClock>();
  std::vector<WaveClock> waves;
  /// The joined clocks of the waves that have arrived at a barrier.
  struct Arrived {
    VectorClock clock;
    Pending pending;
    /// Joins the wave's clock up to `done` and ticks the wave's time.
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
  std::map<int32_t, Arrived> arrived_at_named;  ///< all phases joined
  Arrived ended;                                ///< likewise for ended waves
  LdsCells lds;
  LdsReleases lds_releases;
  std::vector<LdsLimits> limits;  ///< by wave; valid if WaveClock::has_learnt is false
  /// Release clocks by the address of an atomic, for readers in the same work-group, whether complete or not. Used only
  /// if is_in_order.
  std::unordered_map<uint64_t, VectorClock> released_in_order;
  struct RecentSite {
    uint64_t pc = 0;
    const char* verb = nullptr;
    uint32_t site = 0;
    bool spins = false;
  };
  std::array<RecentSite, 64> recent_sites{};  ///< by instruction; shared by all work-groups that used this object
  /// Copies that are not ordered before the dispatch, and the history version they were taken from.
  CopyHistory::Accesses copies;
  uint64_t copies_version = 0;

  uint32_t end_task() const { return first_task + static_cast<uint32_t>(waves.size()); }
  /// Returns, for each wave of the work-group, its latest time that happens before the given wave.
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
  /// Resets the clocks for another work-group.
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

/// Snapshots of running waves' clocks at their most recent times.
class Memories {
 public:
  void remember(const WaveClock& clock) {
    Part& part = part_of(clock.task);
    const std::lock_guard lock(part.mutex);
    part.of[clock.task].add(clock.time, clock.known);
  }
  /// Returns a task's clock at a time, or null if it was dropped.
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
  /// Ring buffer of a task's recent times.
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
