// observe: models the caches between waves and memory for the order checker. For each kind of GPU it describes which
// caches loads go through, which loads bypass them, what invalidates them, and when other waves see a store.
//
// The model keeps times instead of data: for each cache, the time since which its contents may have been cached.
// Placement is the worst that the memory model permits. Each work-group has CUs, a shader array and (on GPUs with
// several L2s) an L2 of its own. In WGP mode a work-group's waves alternate between two CUs; split work-groups have one
// CU per wave.
//
// Scalar loads go through a scalar cache, which the work-group's CUs share (except for split work-groups), and then
// through the levels behind the CU's vector cache. The scalar cache sees no stores, including the wave's own, and only
// s_dcache_inv invalidates it. Compilers use scalar loads for data that does not change during a dispatch. Source: user
// guide, "Memory Model". The caches and their invalidations are the rows of memory_model/generation.h.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/instruction.h"
#include "memory_model/generation.h"
#include "target/processor.h"

namespace Atoll::machine {
struct LaunchState;
}  // namespace Atoll::machine

namespace Atoll::observe {

/// The caches that loads go through, the innermost (a CU's) first; the others belong to the work-group.
struct CacheHierarchy {
  std::vector<memory_model::CacheFact> levels;
  /// The last level is L2, whose contents have to be written back before other L2s see them.
  bool has_several_l2 = false;
  const memory_model::Generation* generation = nullptr;

  /// Returns a bit for each level in that set of caches.
  uint8_t levels_of(memory_model::Caches caches) const;
  /// Returns a bit for each level that the instruction invalidates.
  uint8_t invalidated_levels(const isa::Instruction& instruction, bool splits_work_groups) const;
};

const CacheHierarchy& hierarchy_of(const target::Processor& processor);

/// After a wave executes the instruction, whose stores its loads are guaranteed to see.
enum class Invalidates : uint8_t {
  nothing,
  for_group,  ///< other waves of the work-group
  for_agent   ///< waves of all work-groups
};
Invalidates invalidates(const CacheHierarchy& hierarchy, const isa::Instruction& instruction);

/// Returns the scope of an access or a cache operation: 0 wave or CU, 1 work-group, 2 agent, 3 system.
uint8_t scope_of(const isa::Instruction& instruction);

/// How the waves of a kernel's work-groups are placed.
memory_model::Placement placement_of(const target::Processor& processor, const machine::LaunchState& launch);

/// Tracks, per cache of a work-group, the time of its last invalidation.
class CacheTimes {
 public:
  CacheTimes() = default;
  /// Starts with empty caches at time `now`.
  CacheTimes(const CacheHierarchy& hierarchy, const memory_model::Placement& placement, size_t waves, uint64_t now);

  unsigned cu_of(uint32_t wave) const;
  size_t cu_count() const { return cus_.size(); }
  /// True if other waves of a CU see its stores and loads in issue order.
  bool in_order() const { return in_order_; }
  /// True if waiting for one wave's operation also waits for all earlier operations of its CU.
  bool waits_for_all() const { return waits_for_all_; }

  /// The oldest times whose values a load may return, for stores of other work-groups and for stores of the
  /// work-group's other CU.
  struct Since {
    uint64_t others = 0, group = 0;
  };
  Since since(uint32_t wave, const isa::Instruction& load, uint64_t now) const;
  /// Executes an instruction; returns false if it invalidates nothing.
  bool invalidate(uint32_t wave, const isa::Instruction& instruction, uint64_t now);
  /// Invalidates all caches of the wave except the scalar cache.
  void invalidate_all(uint32_t wave, uint64_t now);

  /// Returns the same for a scalar load.
  Since scalar_since(uint32_t wave, const isa::Instruction& load, uint64_t now) const;
  /// Executes an invalidation of the scalar cache.
  void invalidate_scalar(uint32_t wave, const isa::Instruction& instruction, uint64_t now);
  void invalidate_scalar(uint32_t wave, uint64_t now);

 private:
  void invalidate_levels(uint32_t wave, uint8_t levels, uint64_t now);
  size_t scalar_of(uint32_t wave) const { return wave % scalar_.size(); }
  bool passes(const memory_model::CacheFact& level, const isa::Instruction& load) const;

  struct Cu {
    uint64_t since = 0;      ///< for stores of other work-groups
    uint64_t refreshed = 0;  ///< time of the last full invalidation, for stores of the work-group's other CU
  };
  const CacheHierarchy* hierarchy_ = nullptr;
  memory_model::Placement placement_{};
  bool in_order_ = true, waits_for_all_ = true;
  std::vector<Cu> cus_;
  std::vector<Cu> scalar_;       ///< the work-group's scalar caches, with the same fields
  std::vector<uint64_t> outer_;  ///< levels 1 and up
};

}  // namespace Atoll::observe
