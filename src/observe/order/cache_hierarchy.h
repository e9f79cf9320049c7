// observe: the caches between waves and memory, as the order checker simulates them: what loads go through on each kind
// of GPU, which loads pass a cache by, what makes it forget, and when others see a store.
//
// No data are kept here, but times: of a cache, since when what it holds may have been in it. Work-groups are placed as
// badly as the memory model allows: each on CUs, in a shader array and, where a GPU has several L2s, at an L2 of its
// own; in WGP mode the waves of a work-group are on two CUs in turn, with split work-groups each on one of its own.
//
// Scalar loads go through a cache of their own, which the CUs of a work-group share (but for split ones), and then
// through what is behind the CU's vector cache. It sees no stores, not even those of the wave itself, and only
// s_dcache_inv makes it forget; compiled code loads by it what does not change during a dispatch.
// Source: user guide, "Memory Model"; memory_model/generation.h has the same facts as code sequences.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "isa/instruction.h"
#include "memory_model/generation.h"
#include "target/processor.h"

namespace Atoll::machine {
struct LaunchState;
}  // namespace Atoll::machine

namespace Atoll::observe {

/// A cache that loads go through. Which ones pass it by: those with one of these bits, or from this scope on (sc0 and
/// sc1 of gfx942 as two bits, the scope of GFX12; 0: there is none).
struct CacheLevel {
  std::string_view name;
  bool glc = false, dlc = false;
  uint8_t scope = 0;
};

/// An instruction that makes caches forget: from a scope on (0: always), the levels, a bit for each.
struct Invalidation {
  isa::Opcode opcode;
  uint8_t scope;
  uint8_t levels;
  bool when_split = false;  ///< only with split work-groups
};

struct CacheHierarchy {
  std::span<const CacheLevel> levels;  ///< the innermost first, which is a CU's; the others are a work-group's
  std::span<const Invalidation> invalidations;
  bool has_several_l2 = false;  ///< what L2 holds has to be written back for others to see it; it is the last level
  isa::Opcode write_back{};     ///< that does so, from the agent's scope on
  const memory_model::Generation* generation = nullptr;
};

const CacheHierarchy& hierarchy_of(const target::Processor& processor);

/// Of whose stores a wave's loads get nothing old any more once it has executed an instruction.
enum class Invalidates : uint8_t {
  nothing,
  for_group,  ///< those of its work-group
  for_agent   ///< those of all work-groups
};
Invalidates invalidates(const CacheHierarchy& hierarchy, const isa::Instruction& instruction);

/// The scope of an access or a cache operation: 0 the wave's or the CU's, 1 the work-group's, 2 the agent's, 3 the
/// system's.
uint8_t scope_of(const isa::Instruction& instruction);

/// How the waves of a kernel's work-groups are placed.
memory_model::Placement placement_of(const target::Processor& processor, const machine::LaunchState& launch);

/// Since when a work-group's caches hold what they hold.
class CacheTimes {
 public:
  CacheTimes() = default;
  /// All caches are empty at that time.
  CacheTimes(const CacheHierarchy& hierarchy, const memory_model::Placement& placement, size_t waves, uint64_t now);

  unsigned cu_of(uint32_t wave) const;
  size_t cu_count() const { return cus_.size(); }
  /// Whether stores of a CU's waves, and their loads, are seen by its other waves in the order of their issue.
  bool in_order() const { return in_order_; }
  /// Whether waiting for a wave's operation means that all are done that the CU had begun before it.
  bool waits_for_all() const { return waits_for_all_; }

  /// The time of which a load may bring the values, of what others have stored: those of other work-groups, and those
  /// on another CU of its own.
  struct Since {
    uint64_t others = 0, group = 0;
  };
  Since since(uint32_t wave, const isa::Instruction& load, uint64_t now) const;
  /// Executes an instruction; false: it invalidates nothing.
  bool invalidate(uint32_t wave, const isa::Instruction& instruction, uint64_t now);
  /// All that the wave's loads go through, but for the scalar cache.
  void invalidate_all(uint32_t wave, uint64_t now);

  /// The same of scalar loads.
  Since scalar_since(uint32_t wave, const isa::Instruction& load, uint64_t now) const;
  /// Of an instruction of scalar memory.
  void invalidate_scalar(uint32_t wave, isa::Opcode opcode, uint64_t now);

 private:
  void invalidate_levels(uint32_t wave, uint8_t levels, uint64_t now);
  size_t scalar_of(uint32_t wave) const { return wave % scalar_.size(); }
  bool passes(const CacheLevel& level, const isa::Instruction& load) const;

  struct Cu {
    uint64_t since = 0;      ///< of what others have stored
    uint64_t refreshed = 0;  ///< when it last forgot all, of what the work-group's other CU has stored
  };
  const CacheHierarchy* hierarchy_ = nullptr;
  memory_model::Placement placement_{};
  bool in_order_ = true, waits_for_all_ = true;
  std::vector<Cu> cus_;
  std::vector<Cu> scalar_;       ///< the work-group's scalar caches, in the same terms
  std::vector<uint64_t> outer_;  ///< of levels 1 and on
};

}  // namespace Atoll::observe
