// memory_model: the hardware behind the memory model, a Generation for every kind of it: which caches there are, who
// shares them, what writes them back and invalidates them, which counters say that an operation has completed; and,
// scope by scope, what code has to do about them. generations.cpp has the table; sequence.h makes code of it, and
// checkers read it.
// Source: user guide, "Memory Model" for GFX6-GFX9, GFX90A, GFX942, GFX10-GFX11, GFX12 and GFX125x; where its text has
// lost cells, what LLVM 22 generates (tests/memory_model compares all of it).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "memory_model/operation.h"
#include "target/processor.h"

namespace Atoll::memory_model {

/// How a kernel's waves are placed, which decides what the waves of a work-group share.
struct Placement {
  bool cu_mode = false;            ///< GFX10 to GFX12: on one CU of a WGP, not on both (-mcumode)
  bool split_work_groups = false;  ///< gfx90a and later CDNA: a work-group's waves may be on several CUs (tgsplit)
  bool single_wave = false;        ///< a work-group has one wave: its scope is the wavefront's
};

/// When a row of the table holds.
enum class When : uint8_t {
  always,
  wgp_mode,
  cu_mode,
  whole_work_groups,  ///< no tgsplit
  split_work_groups
};

/// The counters of a wave's operations that are under way, by what they count first. A set of them is a mask.
enum class Counter : uint8_t {
  load,    ///< vmcnt, loadcnt
  store,   ///< vscnt, storecnt; there is none where vmcnt counts stores, too
  sample,  ///< samplecnt
  bvh,     ///< bvhcnt
  lds,     ///< lgkmcnt, dscnt
  scalar,  ///< kmcnt
  async,   ///< asynccnt
  tensor,  ///< tensorcnt
  xnack,   ///< xcnt
  count
};
using Counters = uint16_t;
constexpr Counters mask(Counter counter) { return static_cast<Counters>(1u << static_cast<unsigned>(counter)); }
constexpr bool has(Counters set, Counter counter) { return (set & mask(counter)) != 0; }

struct CounterFact {
  Counter counter;
  std::string_view name;         ///< "vmcnt"
  std::string_view instruction;  ///< that waits for it: "s_waitcnt vmcnt(0)"
  std::string_view counts;       ///< which operations it counts
  std::string_view order;        ///< in which order it counts them down
};

struct CacheFact {
  std::string_view name;    ///< "L1"
  std::string_view of;      ///< what has one: "each CU"
  Scope shared;             ///< the widest scope whose waves are certain to use the same one
  Scope shared_when_split;  ///< likewise in WGP mode or with split work-groups
  bool writes_back;         ///< it may hold what memory has not got yet; others write through
  std::string_view coherence;
};

enum class CacheAction : uint8_t { write_back, invalidate };

/// A cache operation as the model uses it.
struct CacheOperation {
  std::string_view instruction;  ///< "buffer_inv sc1"
  CacheAction action;
  std::string_view does;  ///< in words, to which caches
  bool counted;           ///< whether a counter tells when it is done
  Counter counter;        ///< which, where it is counted
};

/// What the accesses and fences of one scope need. The scopes that have no row (the narrower ones) need nothing.
struct ScopeRule {
  Scope scope;
  When when;
  std::string_view load, store, rmw;  ///< cache policy that the instruction carries: "glc dlc", "scope:SCOPE_DEV"
  bool acquire_waits;                 ///< for the acquiring access to vector memory before what follows it
  bool release_waits;                 ///< for vector memory before the releasing access
  std::string_view write_back;        ///< cache operations at a release, before its wait; separated by "; "
  std::string_view invalidate;        ///< at an acquire, after its wait
  bool waits_around;                  ///< waits before the write-back, too, and after the invalidation (gfx1250)
  std::string_view why_policy, why_wait, why_write_back, why_invalidate;  ///< reasons in the hardware
};

/// Policy of loads and stores that are not atomic.
struct MarkedPolicy {
  std::string_view volatile_load, volatile_store, nontemporal_load, nontemporal_store, last_use;
  bool combined;  ///< a volatile access can be nontemporal, too; otherwise volatile wins
  std::string_view why_volatile, why_nontemporal, why_last_use;
};

/// The first words of a mnemonic for each space, and the rest for an access of 32 bits.
struct Mnemonics {
  std::string_view global, generic, private_;  ///< "global_", "flat_", "scratch_"; generic: empty if there is none
  std::string_view load, store, add;           ///< "load_b32", "store_b32", "atomic_add_u32"
  std::string_view local_load, local_store, local_add, local_add_return;
  std::string_view returns;  ///< modifier of an atomic that returns the old value
};

struct Generation {
  std::string_view name;                   ///< "GFX10"
  std::string_view processors;             ///< in words: "gfx1010 to gfx1036"
  bool places_by_cu_mode = false;          ///< there are CU and WGP mode
  bool splits_work_groups = false;         ///< there is tgsplit
  bool has_clusters = false;               ///< work-group clusters; without them that scope is the agent's
  bool private_atomics = false;            ///< atomics on private memory are atomics on its flat address (gfx1250)
  bool waits_before_system_store = false;  ///< a volatile store waits for what is before it (GFX12.0)
  bool waits_for_translation = false;      ///< waits for xcnt before accesses that must be done once (gfx1250)
  /// Floating-point atomics on fine-grained memory change nothing and return 0 (ROCm documentation, "Hardware atomics
  /// operation support").
  bool drops_fine_grained_float_atomics = false;
  Mnemonics mnemonics;
  MarkedPolicy marked;
  std::span<const CounterFact> counters;
  std::span<const CacheFact> caches;
  std::span<const CacheOperation> cache_operations;
  std::span<const ScopeRule> rules;

  const CounterFact* find(Counter counter) const;
  /// The rule for a scope, or nullptr if nothing is needed.
  const ScopeRule* rule(Scope scope, const Placement& placement) const;
  const CacheOperation* cache_operation(std::string_view instruction) const;
};

std::span<const Generation> generations();
const Generation& generation_of(const target::Processor& processor);

}  // namespace Atoll::memory_model
