// observe: the cache hierarchy of each generation and the invalidation of its levels.
#include "observe/order/cache_hierarchy.h"

#include <algorithm>

#include "isa/table.h"
#include "machine/wave/launch_state.h"

namespace Atoll::observe {

namespace {

using isa::Operation;
using memory_model::Cache;
using memory_model::CacheFact;
using memory_model::Placement;
using memory_model::Scope;

constexpr uint8_t workgroup_scope = 1, agent_scope = 2;
constexpr uint8_t inner = 1, second = 2;

/// The levels of the memory model's caches that can hold a value older than memory's: those whose waves a narrower
/// scope than the agent's decides, other than the scalar cache.
CacheHierarchy hierarchy_of(const memory_model::Generation& generation) {
  CacheHierarchy hierarchy;
  hierarchy.generation = &generation;
  for (const CacheFact& each : generation.caches) {
    if (each.cache == Cache::scalar || each.shared >= Scope::agent) continue;
    hierarchy.levels.push_back(each);
    hierarchy.has_several_l2 |= each.cache == Cache::l2;
  }
  return hierarchy;
}

bool invalidates_vector_cache(isa::Cache cache) {
  switch (cache) {
    case isa::Cache::l1:
    case isa::Cache::l1_volatile:
    case isa::Cache::l1_system:
    case isa::Cache::gl0:
      return true;
    default:
      return false;
  }
}

}  // namespace

uint8_t CacheHierarchy::levels_of(memory_model::Caches caches) const {
  uint8_t bits = 0;
  for (size_t level = 0; level < levels.size(); ++level) {
    if (has(caches, levels[level].cache)) bits |= static_cast<uint8_t>(1u << level);
  }
  return bits;
}

uint8_t CacheHierarchy::invalidated_levels(const isa::Instruction& instruction, bool splits_work_groups) const {
  const isa::Computation& computes = isa::row_of(instruction).computes;
  if (computes.operation != Operation::invalidate && computes.operation != Operation::write_back_invalidate) return 0;
  if (invalidates_vector_cache(computes.cache)) return levels_of(mask(Cache::vector));
  if (computes.cache == isa::Cache::gl1) return levels_of(mask(Cache::array));
  memory_model::Caches caches = 0;
  for (const memory_model::CacheOperation& each : generation->cache_operations) {
    if (each.opcode != instruction.opcode || each.action != memory_model::CacheAction::invalidate) continue;
    const bool reaches = scope_of(instruction) >= each.policy.scope && (!each.when_split || splits_work_groups);
    if (reaches) caches |= each.caches;
  }
  return levels_of(caches);
}

const CacheHierarchy& hierarchy_of(const target::Processor& processor) {
  static const std::vector<CacheHierarchy> all = [] {
    std::vector<CacheHierarchy> list;
    for (const memory_model::Generation& each : memory_model::generations()) list.push_back(hierarchy_of(each));
    return list;
  }();
  return *std::ranges::find(all, &memory_model::generation_of(processor), &CacheHierarchy::generation);
}

uint8_t scope_of(const isa::Instruction& instruction) {
  if (instruction.generation >= target::Generation::gfx12) return instruction.scope;
  return static_cast<uint8_t>((instruction.glc ? 1 : 0) | (instruction.scc ? 2 : 0));
}

Invalidates invalidates(const CacheHierarchy& hierarchy, const isa::Instruction& instruction) {
  const uint8_t levels = hierarchy.invalidated_levels(instruction, true);
  const auto outermost = static_cast<uint8_t>(1u << (hierarchy.levels.size() - 1));
  // On some GPUs a narrower scope also invalidates the outermost level; the memory model uses agent scope for all.
  const bool is_wide =
      isa::row_of(instruction).computes.cache != isa::Cache::scope || scope_of(instruction) >= agent_scope;
  if ((levels & outermost) != 0 && is_wide) return Invalidates::for_agent;
  return (levels & inner) != 0 ? Invalidates::for_group : Invalidates::nothing;
}

Placement placement_of(const target::Processor& processor, const machine::LaunchState& launch) {
  const memory_model::Generation& generation = memory_model::generation_of(processor);
  return {.cu_mode = generation.places_by_cu_mode && !launch.is_wgp_mode,
          .split_work_groups = generation.splits_work_groups && launch.splits_work_groups};
}

CacheTimes::CacheTimes(const CacheHierarchy& hierarchy, const Placement& placement, size_t waves, uint64_t now)
    : hierarchy_(&hierarchy), placement_(placement) {
  const memory_model::Generation& generation = *hierarchy.generation;
  const memory_model::ScopeRule* rule = generation.rule(Scope::workgroup, placement);
  in_order_ = rule == nullptr || !rule->acquire_waits;
  waits_for_all_ = rule == nullptr || !rule->release_waits;
  const bool two = generation.places_by_cu_mode && !placement.cu_mode;
  cus_.resize(placement.split_work_groups ? std::max<size_t>(waves, 1) : two ? 2 : 1, {now, now});
  scalar_.resize(placement.split_work_groups ? std::max<size_t>(waves, 1) : 1, {now, now});
  outer_.resize(hierarchy.levels.size(), now);
}

unsigned CacheTimes::cu_of(uint32_t wave) const { return wave % static_cast<uint32_t>(cus_.size()); }

bool CacheTimes::passes(const CacheFact& level, const isa::Instruction& load) const {
  const memory_model::CachePolicy& bypass = level.bypass;
  if ((bypass.glc && load.glc) || (bypass.dlc && load.dlc)) return true;
  if (bypass.scope == 0) return false;
  // With split work-groups, work-group scope is wider than a CU.
  const bool is_inner = &level == hierarchy_->levels.data();
  const uint8_t scope =
      placement_.split_work_groups && is_inner ? std::min(bypass.scope, workgroup_scope) : bypass.scope;
  return scope_of(load) >= scope;
}

CacheTimes::Since CacheTimes::since(uint32_t wave, const isa::Instruction& load, uint64_t now) const {
  const Cu& cu = cus_[cu_of(wave)];
  if (!passes(hierarchy_->levels[0], load)) return {cu.since, cus_.size() == 1 ? now : cu.refreshed};
  for (size_t level = 1; level < outer_.size(); ++level) {
    if (!passes(hierarchy_->levels[level], load)) return {outer_[level], now};
  }
  return {now, now};
}

/// An invalidated cache becomes as recent as the next level.
void CacheTimes::invalidate_levels(uint32_t wave, uint8_t levels, uint64_t now) {
  for (size_t level = outer_.size(); level-- > 1;) {
    if ((levels >> level & 1) != 0) outer_[level] = level + 1 < outer_.size() ? outer_[level + 1] : now;
  }
  if ((levels & inner) != 0) cus_[cu_of(wave)] = {outer_.size() > 1 ? outer_[1] : now, now};
}

bool CacheTimes::invalidate(uint32_t wave, const isa::Instruction& instruction, uint64_t now) {
  const uint8_t levels = hierarchy_->invalidated_levels(instruction, placement_.split_work_groups);
  invalidate_levels(wave, levels, now);
  return levels != 0;
}

void CacheTimes::invalidate_all(uint32_t wave, uint64_t now) { invalidate_levels(wave, 0xFF, now); }

CacheTimes::Since CacheTimes::scalar_since(uint32_t wave, const isa::Instruction& load, uint64_t now) const {
  const Cu& cache = scalar_[scalar_of(wave)];
  // A cache policy that bypasses the CU's vector cache also bypasses the scalar cache.
  if (!passes(hierarchy_->levels[0], load)) return {cache.since, cache.refreshed};
  for (size_t level = 1; level < outer_.size(); ++level) {
    if (!passes(hierarchy_->levels[level], load)) return {outer_[level], now};
  }
  return {now, now};
}

void CacheTimes::invalidate_scalar(uint32_t wave, uint64_t now) {
  scalar_[scalar_of(wave)] = {outer_.size() > 1 ? outer_[1] : now, now};
}

void CacheTimes::invalidate_scalar(uint32_t wave, const isa::Instruction& instruction, uint64_t now) {
  const isa::Computation& computes = isa::row_of(instruction).computes;
  if (computes.operation != Operation::invalidate) return;
  if (computes.cache == isa::Cache::gl1) return invalidate_levels(wave, second, now);
  invalidate_scalar(wave, now);
}

}  // namespace Atoll::observe
