// observe: chooses the values that loads return, delays stores, and reports ordinary loads that return stale values.
#include "observe/order/order_checker.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "hazards/counters.h"
#include "isa/effects.h"
#include "isa/table.h"
#include "isa/unit.h"
#include "machine/gpu.h"
#include "machine/report/fault_guard.h"
#include "observe/race/active_work_groups.h"
#include "observe/report/place.h"
#include "observe/shadow/load_shape.h"
#include "observe/shadow/stored_history.h"
#include "semantics/memory/memory_access.h"
#include "support/demangle.h"

namespace Atoll::observe {

namespace {

using isa::Encoding;
using isa::Instruction;
using isa::Opcode;
using isa::OperandKind;
using machine::AccessEvent;
using machine::Wave;
using memory_model::Counter;
using memory_model::Scope;

constexpr const char* checker = "order";

/// Mixes the bits of a number (SplitMix64).
uint64_t mixed(uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15;
  x = (x ^ x >> 30) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ x >> 27) * 0x94D0'49BB'1331'11EB;
  return x ^ x >> 31;
}

/// True for GFX12.5's copies between memory and LDS, which have a counter of their own.
bool is_async_copy(const Instruction& instruction) {
  const isa::InstructionRow& row = isa::row(instruction.opcode);
  return instruction.generation >= target::Generation::gfx12_5 &&
         (row.has(isa::flag::to_lds) || row.has(isa::flag::from_lds));
}

/// True for ordinary loads by their cache policy. Atomic loads may legitimately return old values.
bool is_plain(const Instruction& instruction) { return !instruction.glc && !instruction.scc && instruction.scope == 0; }

/// A replacement value for a register.
struct Patch {
  uint8_t lane = 0, word = 0;
  uint32_t value = 0, mask = 0;  ///< `mask`: bits that are replaced
};

/// A load that its wave has not waited for.
struct Load {
  uint64_t time = 0, pc = 0;
  bool is_late = false, passes_filter = false;
  bool is_scalar = false;  ///< if so, dwords take the place of lanes
  LoadShape shape{};
  uint64_t lanes = 0, random = 0;
  CacheTimes::Since since{};
  std::array<uint64_t, 64> addresses{};
  std::vector<Patch> patches{};
};

/// Returns whether the address ranges of two loads overlap.
bool overlap(const Load& one, const Load& other) {
  const auto range = [](const Load& load) {
    std::pair<uint64_t, uint64_t> all{never, 0};
    for (uint64_t lanes = load.lanes; lanes != 0; lanes &= lanes - 1) {
      const uint64_t address = load.addresses[static_cast<unsigned>(std::countr_zero(lanes))];
      all = {std::min(all.first, address), std::max(all.second, address + load.shape.bytes)};
    }
    return all;
  };
  const auto [begin, end] = range(one);
  const auto [other_begin, other_end] = range(other);
  return begin < other_end && other_begin < end;
}

struct WaveState {
  uint64_t operation = 0;                          ///< time of its last vector memory operation
  std::array<std::vector<uint64_t>, 2> in_flight;  ///< times of outstanding loads and stores
  std::vector<Load> loads;
  std::vector<std::pair<unsigned, uint32_t>> scalars;   ///< results of scalar loads, by register
  uint64_t loaded = 0, stored = 0, scalars_loaded = 0;  ///< counts, for the random choice
  /// Addresses and times of stores that may be delayed.
  std::vector<std::pair<uint64_t, uint64_t>> late_stores;
  bool passes_global_sync = false;
  bool has_invalidated_inner = false;  ///< and executed no vector memory operation since

  /// Drops loads into registers that a later load fills without an intervening wait.
  void give_up(const AccessEvent& access) {
    const Instruction& instruction = access.instruction;
    if (loads.empty() || instruction.destinations == 0) return;
    const isa::Operand& result = instruction.dst();
    for (Load& load : loads) {
      if (load.shape.kind != result.kind || load.shape.reg >= result.reg + result.words ||
          result.reg >= load.shape.reg + load.shape.words) {
        continue;
      }
      load.lanes &= ~access.lanes;
      std::erase_if(load.patches, [&](const Patch& patch) { return (access.lanes >> patch.lane & 1) != 0; });
    }
  }
};

struct RunningGroup {
  StoringGroup* stores = nullptr;
  CacheTimes caches;
  uint64_t choice = 0;  ///< the work-group's part of the seed
  bool counts_stores_apart = false;
  std::vector<WaveState> waves;
  std::vector<std::array<uint64_t, 2>> last_store;  ///< issue times, indexed as StoringGroup::completions
  /// The latest store that its waves have seen, by dword (Stored::order). Scalar loads have a separate map, because
  /// their cache is separate.
  std::unordered_map<uint64_t, uint64_t> seen, seen_by_scalars;

  uint32_t queue_of(uint32_t wave) const { return caches.waits_for_all() ? caches.cu_of(wave) : wave; }
};

/// A store that an ordinary load apparently should have seen.
struct Missed {
  Stored store;
  uint64_t address = 0;
  unsigned lane = 0;
  bool is_complete = false;  ///< at the load's issue
  uint32_t got = 0, has = 0;
};

class OrderChecker final : public Checker, public machine::InstrumentationClient {
 public:
  OrderChecker(Findings& findings, uint64_t seed) : findings_(findings), seed_(seed) {}

  machine::EventMask watched() const override {
    return {.dispatches = true, .work_groups = true, .instructions = true, .accesses = true, .memory = true};
  }
  machine::InstrumentationClient* instrumentation() override { return this; }
  machine::InstrumentationRequest requested() const override { return {.loads = true}; }

  void dispatch_begins(const machine::Dispatch& dispatch) override;
  void dispatch_ends(const machine::Dispatch& dispatch) override;
  void work_group_begins(const machine::WorkGroup& group) override;
  void work_group_ends(const machine::WorkGroup& group) override { running_.erase(group); }
  void override_loaded_values(Wave& wave, const Instruction& next) override;
  void instruction(const Wave& wave, uint64_t pc, const Instruction& instruction) override;
  void access(const Wave& wave, const AccessEvent& access) override;
  void allocated(const machine::MemoryEvent& memory) override { forget_stores(memory.address, memory.size); }
  void copying(const machine::CopyEvent& copy) override { forget_stores(copy.destination, copy.bytes); }

 private:
  struct Place {
    RunningGroup* group = nullptr;
    WaveState* wave = nullptr;
  };
  Place place_of(const Wave& wave) const {
    RunningGroup* group = running_.find(wave.work_group);
    if (group == nullptr || group->stores == nullptr || wave.index >= group->waves.size()) return {};
    return {group, &group->waves[wave.index]};
  }
  void forget_stores(uint64_t address, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    history_.forget(address, address + bytes);
  }

  void finish_late_stores(const RunningGroup& group, WaveState& state, const hazards::CounterWaits& waits);
  void wait(const Wave& wave, RunningGroup& group, WaveState& state, const hazards::CounterWaits& waits);
  void store(const Wave& wave, RunningGroup& group, WaveState& state, const AccessEvent& access);
  void scalar_load(const Wave& wave, RunningGroup& group, WaveState& state, const AccessEvent& access);
  bool any_history(const Load& load);
  void choose(const Wave& wave, RunningGroup& group, Load& load);
  uint32_t value_of(RunningGroup& group, uint32_t wave, const Load& load, uint64_t address, unsigned lane, uint32_t has,
                    uint32_t looked_at, std::optional<Missed>& missed);
  void report(const Wave& wave, const Load& load, const Missed& missed);

  Findings& findings_;
  const uint64_t seed_;
  ActiveWorkGroups<RunningGroup> running_;

  std::mutex mutex_;  ///< protects the following members and the store data of work-groups
  uint64_t now_ = 1, dispatch_count_ = 0;
  StoredHistory history_;
  std::map<const machine::Dispatch*, StoringDispatch*> dispatches_;  ///< running dispatches
  std::vector<std::unique_ptr<StoringDispatch>> kept_dispatches_;
  std::vector<std::unique_ptr<StoringGroup>> kept_groups_;
};

// --- Dispatches and waves ------------------------------------------------------------------------------------------

void OrderChecker::dispatch_begins(const machine::Dispatch& dispatch) {
  const std::lock_guard lock(mutex_);
  if (dispatches_.empty()) {
    history_.clear();
    kept_groups_.clear();
    kept_dispatches_.clear();
  }
  kept_dispatches_.push_back(
      std::make_unique<StoringDispatch>(StoringDispatch{.number = dispatch_count_++, .begin = ++now_}));
  dispatches_[&dispatch] = kept_dispatches_.back().get();
}

void OrderChecker::dispatch_ends(const machine::Dispatch& dispatch) {
  const std::lock_guard lock(mutex_);
  const auto at = dispatches_.find(&dispatch);
  if (at == dispatches_.end()) return;
  at->second->end = ++now_;
  dispatches_.erase(at);
}

void OrderChecker::work_group_begins(const machine::WorkGroup& group) {
  const machine::Dispatch& dispatch = *group.dispatch;
  const target::Processor& processor = dispatch.gpu->processor();
  auto running = std::make_unique<RunningGroup>();
  const CacheHierarchy& hierarchy = hierarchy_of(processor);
  const memory_model::Placement placement = placement_of(processor, dispatch.launch);
  {
    const std::lock_guard lock(mutex_);
    const auto at = dispatches_.find(group.dispatch);
    if (at == dispatches_.end()) return;
    running->caches = CacheTimes(hierarchy, placement, group.waves.size(), at->second->begin);
    auto stores = std::make_unique<StoringGroup>();
    stores->kernel = dispatch.kernel;
    stores->dispatch = at->second;
    stores->hierarchy = &hierarchy;
    std::ranges::copy(group.id, stores->id);
    const size_t queues = running->caches.waits_for_all() ? running->caches.cu_count() : group.waves.size();
    stores->completions.resize(queues);
    running->last_store.resize(queues);
    running->stores = stores.get();
    kept_groups_.push_back(std::move(stores));
    running->choice =
        mixed(seed_ ^ mixed(at->second->number ^ mixed(group.id[0] + mixed(group.id[1] + mixed(group.id[2])))));
  }
  running->counts_stores_apart = hierarchy.generation->find(Counter::store) != nullptr;
  running->waves.resize(group.waves.size());
  running_.add(group, std::move(running));
}

// --- Instructions -------------------------------------------------------------------------------------------------

/// Returns the time of the last operation completed by a wait for at most `at_most` outstanding ones; 0: none.
uint64_t waited_for(const std::vector<uint64_t>& in_flight, uint32_t at_most) {
  return at_most >= in_flight.size() ? 0 : in_flight[in_flight.size() - at_most - 1];
}

void OrderChecker::override_loaded_values(Wave& wave, const Instruction& next) {
  const auto [group, state] = place_of(wave);
  if (state == nullptr || (state->loads.empty() && state->late_stores.empty() && state->scalars.empty())) return;
  const auto waits = hazards::counter_waits(next);
  if (!waits) return;
  if (waits->of(Counter::scalar) == 0) {
    for (const auto& [reg, value] : state->scalars) wave.scalar[reg] = value;
    state->scalars.clear();
  }
  if (!state->late_stores.empty()) finish_late_stores(*group, *state, *waits);
  const uint64_t until = waited_for(state->in_flight[0], waits->of(Counter::load));
  size_t settled = 0;
  for (Load& load : state->loads) {
    if (load.time > until) break;
    if (load.is_late) choose(wave, *group, load);
    machine::Row* rows = load.shape.kind == OperandKind::vgpr ? wave.vgpr : wave.agpr;
    const uint32_t count = load.shape.kind == OperandKind::vgpr ? wave.vgprs : wave.agprs;
    for (const Patch& patch : load.patches) {
      if (load.shape.reg + uint32_t{patch.word} >= count) continue;
      uint32_t& held = rows[load.shape.reg + patch.word][patch.lane];
      held = (held & ~patch.mask) | patch.value;
    }
    ++settled;
  }
  state->loads.erase(state->loads.begin(), state->loads.begin() + static_cast<std::ptrdiff_t>(settled));
}

/// Commits stores that have been waited for, some of them ordered after later stores.
void OrderChecker::finish_late_stores(const RunningGroup& group, WaveState& state, const hazards::CounterWaits& waits) {
  const Counter counter = group.counts_stores_apart ? Counter::store : Counter::load;
  const uint64_t until = waited_for(state.in_flight[group.counts_stores_apart ? 1 : 0], waits.of(counter));
  for (const auto& [address, time] : state.late_stores) {
    uint32_t has = 0;
    if (time > until || !machine::read_guest(&has, address, sizeof has)) continue;
    std::optional<uint32_t> value;
    {
      const std::lock_guard lock(mutex_);
      // A delay would be observable if a wave has read a later store.
      const auto has_seen_later = [&](const std::unordered_map<uint64_t, uint64_t>& all) {
        const auto seen = all.find(address);
        return seen != all.end() && seen->second > time;
      };
      if (has_seen_later(group.seen) || has_seen_later(group.seen_by_scalars)) continue;
      value = history_.delay(address, time, has, ++now_, group.caches.in_order());
    }
    if (value) *reinterpret_cast<volatile uint32_t*>(address) = *value;  // inside guarded(): the memory may be unmapped
  }
  std::erase_if(state.late_stores, [&](const auto& each) { return each.second <= until; });
}

void OrderChecker::wait(const Wave& wave, RunningGroup& group, WaveState& state, const hazards::CounterWaits& waits) {
  constexpr std::array counters = {Counter::load, Counter::store};
  for (size_t counter = 0; counter < counters.size(); ++counter) {
    std::vector<uint64_t>& in_flight = state.in_flight[counter];
    const uint64_t until = waited_for(in_flight, waits.of(counters[counter]));
    const uint32_t queue = group.queue_of(wave.index);
    // If a CU's accesses are in order, a wait for zero also covers the CU's other operations.
    const bool is_for_all = group.caches.waits_for_all() && waits.of(counters[counter]) == 0;
    const uint64_t done = is_for_all ? now_ : until;
    if (done == 0) continue;
    ++now_;
    Completions& completions = group.stores->completions[queue][counter];
    if (completions.last() < group.last_store[queue][counter]) completions.add(done, now_);
    for (StoringGroup::WriteBack& each : group.stores->write_backs) {
      const bool is_of_counter = (counter == 1) == group.counts_stores_apart;
      if (each.wave == wave.index && is_of_counter && each.issue <= until && each.done == never) each.done = now_;
    }
    std::erase_if(in_flight, [&](uint64_t time) { return time <= until; });
  }
}

void OrderChecker::instruction(const Wave& wave, uint64_t, const Instruction& instruction) {
  const bool is_memory = isa::is_vector_memory(instruction.encoding);
  const bool is_sync = instruction.encoding == Encoding::ds && isa::row(instruction.opcode).has(isa::flag::gws);
  const bool is_scalar = instruction.encoding == Encoding::smem && instruction.destinations == 0;
  const auto waits = hazards::counter_waits(instruction);
  if (!is_memory && !is_sync && !is_scalar && !waits) return;
  const auto [group, state] = place_of(wave);
  if (state == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (is_scalar) return group->caches.invalidate_scalar(wave.index, instruction, ++now_);
  if (is_sync) {
    state->passes_global_sync = true;
    return;
  }
  if (waits) {
    wait(wave, *group, *state, *waits);
    // Device libraries invalidate no caches after a grid barrier, which one wave per work-group takes part in.
    if (std::exchange(state->passes_global_sync, false)) {
      ++now_;
      for (uint32_t cu = 0; cu < group->caches.cu_count(); ++cu) {
        group->caches.invalidate_all(cu, now_);
        group->caches.invalidate_scalar(cu, now_);
      }
    }
    return;
  }
  const CacheHierarchy& hierarchy = *group->stores->hierarchy;
  ++now_;
  if (isa::row(instruction.opcode).has(isa::flag::cache_control)) {
    group->caches.invalidate(wave.index, instruction, now_);
    // Compilers until at least LLVM 15 invalidate the inner cache first; the following outer invalidation covers both.
    const isa::Computation& computes = isa::row_of(instruction).computes;
    if (computes.cache == isa::Cache::gl0) {
      state->has_invalidated_inner = true;
    } else if (computes.cache == isa::Cache::gl1 && state->has_invalidated_inner) {
      group->caches.invalidate_all(wave.index, now_);
    }
    const bool reaches_l2 = computes.cache == isa::Cache::l2 || computes.cache == isa::Cache::scope;
    const bool writes_back = reaches_l2 && computes.operation != isa::Operation::invalidate;
    if (hierarchy.has_several_l2 && writes_back && scope_of(instruction) >= 2) {
      group->stores->write_backs.push_back({wave.index, now_, never});
    }
    if (writes_back) {
      state->in_flight[group->counts_stores_apart ? 1 : 0].push_back(now_);
    } else if (const auto* fact = hierarchy.generation->cache_operation(instruction.opcode, scope_of(instruction));
               fact != nullptr && fact->counter == Counter::load) {
      state->in_flight[0].push_back(now_);
    }
    return;
  }
  state->operation = now_;
  state->has_invalidated_inner = false;
  if (is_async_copy(instruction)) return;
  // Ray intersections have a counter of their own from GFX12 on.
  if (instruction.encoding == Encoding::mimg && instruction.generation >= target::Generation::gfx12 &&
      !isa::effects_of(instruction).loads.any()) {
    return;
  }
  using enum semantics::MemoryAccess::Kind;
  const semantics::MemoryAccess::Kind kind = semantics::memory_access(instruction).kind;
  const bool brings_nothing = instruction.destinations == 0 && !instruction.lds && kind != load && kind != load_to_lds;
  state->in_flight[brings_nothing && group->counts_stores_apart ? 1 : 0].push_back(now_);
}

// --- Stores -------------------------------------------------------------------------------------------------------

void OrderChecker::access(const Wave& wave, const AccessEvent& access) {
  if (access.space != machine::Space::global || is_async_copy(access.instruction)) return;
  const auto [group, state] = place_of(wave);
  if (state == nullptr) return;
  if (access.is_scalar) return scalar_load(wave, *group, *state, access);
  state->give_up(access);
  if (access.writes) return store(wave, *group, *state, access);
  const auto shape = load_shape(wave, access.instruction, access.bytes);
  if (!shape) return;
  Load load{.time = state->operation, .pc = access.pc, .passes_filter = is_plain(access.instruction), .shape = *shape};
  load.lanes = access.lanes;
  load.random = mixed(group->choice ^ mixed(wave.index + (++state->loaded << 16)));
  load.is_late = (load.random >> 32 & 3) == 0;
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const uint64_t address = access.addresses[lane];
    if (shape->bytes % 4 == 0 ? address % 4 != 0 : address % 4 + shape->bytes > 4) load.lanes &= ~(uint64_t{1} << lane);
    load.addresses[lane] = address;
  }
  if (load.lanes == 0) return;
  // Loads of the same location are ordered: earlier loads choose their values first.
  for (Load& earlier : state->loads) {
    if (earlier.is_late && overlap(earlier, load)) {
      choose(wave, *group, earlier);
      earlier.is_late = false;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    load.since = group->caches.since(wave.index, access.instruction, now_);
  }
  if (!load.is_late) {
    choose(wave, *group, load);
    if (load.patches.empty()) return;
  }
  state->loads.push_back(std::move(load));
}

void OrderChecker::scalar_load(const Wave& wave, RunningGroup& group, WaveState& state, const AccessEvent& access) {
  const Instruction& instruction = access.instruction;
  constexpr uint32_t max_bytes = 64;
  if (access.writes || instruction.destinations != 1 || access.bytes == 0 || access.bytes > max_bytes) return;
  const semantics::MemoryAccess& moved = semantics::memory_access(instruction);
  const isa::Operand& result = instruction.dst();
  if (moved.kind != semantics::MemoryAccess::Kind::load || result.kind != OperandKind::scalar) return;
  std::erase_if(state.scalars, [&](const auto& each) {
    return each.first >= result.reg && each.first < unsigned{result.reg} + result.words;
  });
  if (result.reg == isa::scalar::null) return;
  // Cache policies of scalar loads, as of vector loads.
  const bool passes_caches = instruction.glc || instruction.scope != 0;
  Load load{.pc = access.pc, .passes_filter = !passes_caches, .is_scalar = true};
  load.shape = {.kind = OperandKind::scalar,
                .reg = result.reg,
                .words = 1,
                .bytes = static_cast<uint8_t>(std::min(access.bytes, 4u)),
                .sign_extend = moved.sign_extend};
  const uint32_t dwords = (access.bytes + 3) / 4;
  load.lanes = (uint64_t{1} << dwords) - 1;
  for (uint32_t dword = 0; dword < dwords; ++dword) load.addresses[dword] = access.addresses[0] + dword * 4;
  load.random = mixed(group.choice ^ mixed(wave.index + (++state.scalars_loaded << 16) + 2));
  {
    const std::lock_guard lock(mutex_);
    load.time = ++now_;
    load.since = group.caches.scalar_since(wave.index, instruction, now_);
  }
  choose(wave, group, load);
  for (const Patch& patch : load.patches) state.scalars.emplace_back(result.reg + patch.lane, patch.value);
}

void OrderChecker::store(const Wave& wave, RunningGroup& group, WaveState& state, const AccessEvent& access) {
  Stored stored{.is_atomic = access.is_atomic,
                .by_store_counter = group.counts_stores_apart && access.instruction.destinations == 0,
                .writes_through = access.is_atomic || scope_of(access.instruction) >= 2,
                .wave = wave.index,
                .queue = group.queue_of(wave.index),
                .group = group.stores,
                .time = state.operation,
                .pc = access.pc,
                .order = state.operation};
  constexpr size_t most_late = 256;
  const bool is_late = !access.is_atomic && state.late_stores.size() < most_late &&
                       (mixed(group.choice ^ mixed(wave.index + (++state.stored << 16) + 1)) & 3) == 0;
  std::vector<std::pair<uint64_t, Stored>> dwords;
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const uint64_t begin = access.addresses[lane], end = begin + access.bytes;
    const uint64_t first = begin & ~uint64_t{3}, count = (end + 3 - first) / 4;
    std::array<uint32_t, 64> replaced{};
    if (count > replaced.size() || !machine::read_guest(replaced.data(), first, count * 4)) continue;
    stored.lane = static_cast<uint8_t>(lane);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = first + i * 4;
      stored.replaced = replaced[i];
      stored.bytes = 0;
      for (uint64_t byte = 0; byte < 4; ++byte) {
        if (at + byte >= begin && at + byte < end) stored.bytes |= static_cast<uint8_t>(1u << byte);
      }
      dwords.emplace_back(at, stored);
      if (is_late && stored.bytes == 0xF) state.late_stores.emplace_back(at, stored.time);
    }
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [address, each] : dwords) history_.add(address, each);
  group.last_store[stored.queue][stored.by_store_counter ? 1 : 0] = stored.time;
}

// --- Loads --------------------------------------------------------------------------------------------------------

bool OrderChecker::any_history(const Load& load) {
  const std::lock_guard lock(mutex_);
  if (history_.empty()) return false;
  for (uint64_t lanes = load.lanes; lanes != 0; lanes &= lanes - 1) {
    const uint64_t address = load.addresses[static_cast<unsigned>(std::countr_zero(lanes))];
    for (unsigned word = 0; word < load.shape.dwords(); ++word) {
      if (history_.find(address + word * 4) != nullptr) return true;
    }
  }
  return false;
}

uint32_t bits_of(uint8_t bytes) {
  uint32_t bits = 0;
  for (unsigned byte = 0; byte < 4; ++byte) bits |= (bytes >> byte & 1) != 0 ? 0xFFu << byte * 8 : 0;
  return bits;
}

/// Chooses the value that a load returns.
void OrderChecker::choose(const Wave& wave, RunningGroup& group, Load& load) {
  if (!any_history(load)) return;
  std::array<std::array<uint32_t, 4>, 64> has{};
  uint64_t readable = 0;
  for (uint64_t lanes = load.lanes; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const uint64_t address = load.addresses[lane] & ~uint64_t{3};
    if (machine::read_guest(has[lane].data(), address, load.shape.dwords() * size_t{4})) {
      readable |= uint64_t{1} << lane;
    }
  }
  std::optional<Missed> missed;
  {
    const std::lock_guard lock(mutex_);
    for (uint64_t lanes = readable; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const uint64_t address = load.addresses[lane];
      const unsigned first = address & 3;  // not 0 only for elements within one dword
      const uint32_t mask = load.shape.bytes < 4 ? ((1u << load.shape.bytes * 8) - 1) << first * 8 : ~0u;
      std::array<uint32_t, 4> gets = has[lane];
      for (unsigned dword = 0; dword < load.shape.dwords(); ++dword) {
        const uint64_t at = (address & ~uint64_t{3}) + dword * 4;
        gets[dword] = value_of(group, wave.index, load, at, lane, has[lane][dword], mask, missed);
      }
      // A delayed load may return another value than the instruction itself loaded.
      if (!load.is_late && gets == has[lane]) continue;
      std::array<uint8_t, sizeof gets + 4> element{};
      std::memcpy(element.data(), gets.data(), sizeof gets);
      const LoadShape::Registers registers = load.shape.registers(element.data() + first);
      for (uint8_t word = 0; word < load.shape.words; ++word) {
        load.patches.push_back(
            {static_cast<uint8_t>(lane), word, registers.value[word] & registers.mask[word], registers.mask[word]});
      }
    }
  }
  if (missed) report(wave, load, *missed);
}

/// Returns the value of a dword for a load. `has` is the current value; `looked_at` are the bits that the load uses.
uint32_t OrderChecker::value_of(RunningGroup& group, uint32_t wave, const Load& load, uint64_t address, unsigned lane,
                                uint32_t has, uint32_t looked_at, std::optional<Missed>& missed) {
  DwordHistory* history = history_.find(address);
  if (history == nullptr) return has;
  const size_t count = history->size();
  const unsigned cu = group.caches.cu_of(wave);
  // The time from which this wave is guaranteed to see the store, to compare with its caches; 0: immediately.
  const auto seen_at = [&](const Stored& store) -> std::pair<uint64_t, uint64_t> {
    if (store.group != group.stores) return {store.in_memory(), load.since.others};
    if (load.is_scalar) return {store.in_l2(), load.since.group};
    if (store.wave == wave) return {0, 0};
    if (group.caches.cu_of(store.wave) == cu) {
      return group.caches.in_order() ? std::pair<uint64_t, uint64_t>{0, 0} : std::pair{store.in_l2(), load.time};
    }
    return {store.in_l2(), load.since.group};
  };
  // Stores before `first` are guaranteed to be visible. Stores from `end` on are invisible: the wave's own later ones
  // and, for an in-order cache, the CU's.
  size_t end = 0;
  for (; end < count; ++end) {
    const Stored& store = (*history)[end];
    if (store.group != group.stores || store.time <= load.time) continue;
    if (store.wave == wave || (group.caches.in_order() && group.caches.cu_of(store.wave) == cu)) break;
  }
  size_t first = end;
  auto& seen_here = load.is_scalar ? group.seen_by_scalars : group.seen;
  const auto seen = seen_here.find(address);
  for (; first > 0; --first) {
    const Stored& store = (*history)[first - 1];
    if (seen != seen_here.end() && store.order <= seen->second) break;
    const auto [when, since] = seen_at(store);
    if (when <= since) break;
  }
  size_t choice = end;
  if (first < end) {
    switch (load.random & 15) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
        choice = first;
        break;
      case 6:
      case 7:
        choice = first + mixed(load.random ^ address / 64) % (end - first + 1);  // elements are not torn
        break;
      default:
        break;
    }
  }
  uint32_t value = has, at_issue = has;
  for (size_t i = count; i-- > choice;) {
    const Stored& store = (*history)[i];
    const uint32_t bits = bits_of(store.bytes);
    value = (value & ~bits) | (store.replaced & bits);
    if (store.time > load.time) at_issue = value;
  }
  if (choice > 0) {
    Stored& read = (*history)[choice - 1];
    if (read.group == group.stores) {
      if (read.wave != wave) read.seen_in_group = std::min(read.seen_in_group, now_);
    } else {
      read.seen = std::min(read.seen, now_);
    }
    constexpr size_t most_seen = 1 << 18;
    if (seen_here.size() >= most_seen) seen_here.clear();
    seen_here[address] = read.order;
  }
  const auto is_missed = [&](const Stored& store) {
    return store.time < load.time && !store.is_atomic && (bits_of(store.bytes) & looked_at) != 0;
  };
  if (load.passes_filter && !missed && choice < count && ((value ^ at_issue) & looked_at) != 0 &&
      is_missed((*history)[choice])) {
    const Stored& store = (*history)[choice];
    missed = {.store = store,
              .address = address,
              .lane = load.is_scalar ? 0 : lane,
              .is_complete = seen_at(store).first <= load.time,
              .got = value & looked_at,
              .has = at_issue & looked_at};
  }
  return value;
}

// --- Reports ------------------------------------------------------------------------------------------------------

/// Returns the instructions of a list of cache operations, with the waits for vector memory.
std::string with_waits(const memory_model::Generation& generation, std::string_view operations) {
  std::string text(operations);
  const auto add = [&](Counter counter) {
    if (const memory_model::CounterFact* fact = generation.find(counter)) {
      text += fmt::format("{}{}", text.empty() ? "" : "; ", generation.wait_text(*fact));
    }
  };
  if (generation.find(Counter::store) == nullptr) add(Counter::load);
  add(Counter::store);
  return text;
}

void OrderChecker::report(const Wave& wave, const Load& load, const Missed& missed) {
  const char* kind = missed.is_complete ? "missing-acquire" : "missing-release";
  if (findings_.known(checker, kind, load.pc, 1)) return;
  const machine::WorkGroup& group = *wave.work_group;
  const Stored& store = missed.store;
  const StoringGroup* own = running_.find(&group)->stores;
  const bool same_group = own == store.group;
  const bool same_dispatch = own->dispatch == store.group->dispatch;
  const memory_model::Generation& generation = *store.group->hierarchy->generation;
  const memory_model::Placement placement = placement_of(group.dispatch->gpu->processor(), group.dispatch->launch);
  const Scope scope = same_group ? Scope::workgroup : Scope::agent;
  const memory_model::ScopeRule* rule = generation.rule(scope, placement);
  const std::string_view scope_name = memory_model::name(scope);

  Finding finding;
  finding.checker = checker;
  finding.kind = kind;
  set_place(finding, wave, load.pc, missed.lane);
  const bool is_own = same_group && store.wave == wave.index;
  const char* whose = is_own          ? "the wave itself"
                      : same_group    ? "another wave of its work-group"
                      : same_dispatch ? "a wave of another work-group"
                                      : "a wave of another dispatch";
  finding.message =
      missed.is_complete
          ? fmt::format("kernel '{}' reads what memory had before {} stored there: {} may still have that",
                        finding.kernel, whose, load.is_scalar ? "the cache of scalar loads" : "its caches")
          : fmt::format("kernel '{}' reads what memory had before {} stored there: nothing has made the store arrive",
                        finding.kernel, whose);
  finding.address =
      fmt::format("{:#x}, where the load got {:#x} and memory has {:#x}", missed.address, missed.got, missed.has);
  const std::string storing_wave = fmt::format("kernel '{}', work-group ({}, {}, {}), wave {}, lane {}",
                                               support::demangled(store.group->kernel->name), store.group->id[0],
                                               store.group->id[1], store.group->id[2], store.wave, store.lane);
  finding.stacks.push_back({.title = "the store",
                            .code = machine::code_address(wave, store.pc),
                            .describe = [storing_wave](const debug_info::CodePlace& place) {
                              std::vector<std::string> frames = source_and_instruction(place);
                              frames.push_back(storing_wave);
                              return frames;
                            }});
  if (missed.is_complete) {
    std::string invalidate = rule != nullptr ? generation.text(rule->invalidate) : std::string();
    if (load.is_scalar) {
      // Vector caches affect scalar loads if they are behind the CU's.
      const bool is_behind = !same_group && own->hierarchy->levels.size() > 1;
      invalidate = (is_behind ? invalidate + "; " : std::string()) + "s_dcache_inv";
    }
    finding.advice =
        fmt::format("missing before the load, after the synchronisation with the store: {}, an acquire at {} scope",
                    invalidate, scope_name);
  } else {
    finding.advice = fmt::format(
        "missing after the store, before the synchronisation with the load: {}, a release at {} scope",
        with_waits(generation, rule != nullptr ? generation.text(rule->write_back) : std::string()), scope_name);
  }
  findings_.add(load.pc, std::move(finding));
}

}  // namespace

std::unique_ptr<Checker> make_order_checker(Findings& findings, uint64_t seed) {
  return std::make_unique<OrderChecker>(findings, seed);
}

}  // namespace Atoll::observe
