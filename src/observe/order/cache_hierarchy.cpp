// observe: the cache hierarchy of each generation and the invalidation of its levels.
#include "observe/order/cache_hierarchy.h"

#include <algorithm>
#include <array>

#include "machine/wave/launch_state.h"

namespace Atoll::observe {

namespace {

using isa::Opcode;
using memory_model::Placement;
using memory_model::Scope;

constexpr uint8_t workgroup_scope = 1, agent_scope = 2;
constexpr uint8_t inner = 1, second = 2;

constexpr CacheLevel gfx6_levels[] = {{.name = "L1", .glc = true}};
constexpr CacheLevel gfx942_levels[] = {{.name = "L1", .scope = agent_scope}, {.name = "L2", .scope = agent_scope}};
constexpr CacheLevel gfx10_levels[] = {{.name = "L0", .glc = true}, {.name = "L1", .dlc = true}};
constexpr CacheLevel gfx11_levels[] = {{.name = "L0", .glc = true}, {.name = "L1", .glc = true}};
constexpr CacheLevel gfx12_levels[] = {{.name = "L0", .scope = workgroup_scope}};
constexpr CacheLevel gfx12_5_levels[] = {{.name = "WGP$", .scope = workgroup_scope},
                                         {.name = "L2", .scope = agent_scope}};

constexpr Invalidation gfx6_invalidations[] = {
    {Opcode::buffer_wbinvl1, 0, inner}, {Opcode::buffer_wbinvl1_vol, 0, inner}, {Opcode::buffer_wbinvl1_sc, 0, inner}};
constexpr Invalidation gfx942_invalidations[] = {
    {.opcode = Opcode::buffer_inv, .scope = workgroup_scope, .levels = inner, .when_split = true},
    {Opcode::buffer_inv, agent_scope, inner | second}};
constexpr Invalidation gfx10_invalidations[] = {{Opcode::buffer_gl0_inv, 0, inner},
                                                {Opcode::buffer_gl1_inv, 0, second}};
constexpr Invalidation gfx12_invalidations[] = {{Opcode::global_inv, workgroup_scope, inner}};
constexpr Invalidation gfx12_5_invalidations[] = {{Opcode::global_inv, workgroup_scope, inner},
                                                  {Opcode::global_inv, agent_scope, inner | second}};

CacheHierarchy hierarchy_of(const memory_model::Generation& generation) {
  if (generation.name == "GFX942") {
    return {gfx942_levels, gfx942_invalidations, true, Opcode::buffer_wbl2, &generation};
  }
  if (generation.name == "GFX10") return {gfx10_levels, gfx10_invalidations, false, {}, &generation};
  if (generation.name == "GFX11") return {gfx11_levels, gfx10_invalidations, false, {}, &generation};
  if (generation.name == "GFX12") return {gfx12_levels, gfx12_invalidations, false, {}, &generation};
  if (generation.name == "GFX12.5") {
    return {gfx12_5_levels, gfx12_5_invalidations, true, Opcode::global_wb, &generation};
  }
  return {gfx6_levels, gfx6_invalidations, false, {}, &generation};
}

}  // namespace

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
  const auto outermost = static_cast<uint8_t>(1u << (hierarchy.levels.size() - 1));
  Invalidates result = Invalidates::nothing;
  for (const Invalidation& each : hierarchy.invalidations) {
    if (each.opcode != instruction.opcode || scope_of(instruction) < each.scope) continue;
    // On this GPU a narrower scope also invalidates the level; the memory model uses agent scope for all.
    const bool is_wide = each.scope == 0 || scope_of(instruction) >= agent_scope;
    if ((each.levels & outermost) != 0 && is_wide) return Invalidates::for_agent;
    if ((each.levels & inner) != 0) result = Invalidates::for_group;
  }
  return result;
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

bool CacheTimes::passes(const CacheLevel& level, const isa::Instruction& load) const {
  if ((level.glc && load.glc) || (level.dlc && load.dlc)) return true;
  if (level.scope == 0) return false;
  // With split work-groups, work-group scope is wider than a CU.
  const bool is_inner = &level == hierarchy_->levels.data();
  const uint8_t scope = placement_.split_work_groups && is_inner ? std::min(level.scope, workgroup_scope) : level.scope;
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
  uint8_t levels = 0;
  for (const Invalidation& each : hierarchy_->invalidations) {
    if (each.opcode == instruction.opcode && (each.scope == 0 || scope_of(instruction) >= each.scope) &&
        (!each.when_split || placement_.split_work_groups)) {
      levels |= each.levels;
    }
  }
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

void CacheTimes::invalidate_scalar(uint32_t wave, isa::Opcode opcode, uint64_t now) {
  switch (opcode) {
    case Opcode::s_dcache_inv:
    case Opcode::s_dcache_inv_vol:
      scalar_[scalar_of(wave)] = {outer_.size() > 1 ? outer_[1] : now, now};
      break;
    case Opcode::s_gl1_inv:
      invalidate_levels(wave, second, now);
      break;
    default:
      break;
  }
}

}  // namespace Atoll::observe
