// memory_model: the hardware behind the memory model. A Generation has the caches, the operations that write them back
// and invalidate them, the counters of outstanding operations, and for each scope what code has to do. Instructions are
// opcodes with a cache policy; their text is printed from them. generations.cpp has the table. sequence.h makes code of
// it, and the checkers and hazards read the same rows.
// Source: user guide, "Memory Model" for GFX6-GFX9, GFX90A, GFX942, GFX10-GFX11, GFX12 and GFX125x; where its text has
// lost cells, what LLVM 22 generates (tests/memory_model compares all of it).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "isa/opcode.h"
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
  std::string_view name;    ///< "vmcnt"
  isa::Opcode wait;         ///< waits for it; s_waitcnt has several counters
  std::string_view counts;  ///< the operations it counts
  std::string_view order;   ///< in which order it counts them down
};

/// The cache policy of an instruction. Where a policy names a scope (GFX942, GFX12), wider scopes bypass more caches.
struct CachePolicy {
  bool glc = false, slc = false, dlc = false;  ///< slc is nt on GFX942
  uint8_t scope = 0;                           ///< 0 CU, 1 work-group or SE, 2 agent, 3 system; sc0 and sc1 on GFX942
  uint8_t temporal_hint = 0;
  constexpr bool empty() const { return *this == CachePolicy{}; }
  friend constexpr bool operator==(const CachePolicy&, const CachePolicy&) = default;
  friend constexpr CachePolicy operator|(const CachePolicy& a, const CachePolicy& b) {
    return {.glc = a.glc || b.glc,
            .slc = a.slc || b.slc,
            .dlc = a.dlc || b.dlc,
            .scope = static_cast<uint8_t>(a.scope | b.scope),
            .temporal_hint = static_cast<uint8_t>(a.temporal_hint | b.temporal_hint)};
  }
};

/// The caches by their place between a wave and memory. A set of them is a mask.
enum class Cache : uint8_t {
  vector,  ///< of a CU, or from GFX12.5 on of a WGP
  scalar,
  array,  ///< of a shader array (GFX10, GFX11)
  l2,
  memory_side,
};
using Caches = uint8_t;
constexpr Caches mask(Cache cache) { return static_cast<Caches>(1u << static_cast<unsigned>(cache)); }
constexpr bool has(Caches set, Cache cache) { return (set & mask(cache)) != 0; }

struct CacheFact {
  Cache cache;
  std::string_view name;    ///< "L1"
  std::string_view of;      ///< what has one: "each CU"
  Scope shared;             ///< the widest scope whose waves are certain to use the same one
  Scope shared_when_split;  ///< likewise in WGP mode or with split work-groups
  bool writes_back;         ///< it may hold what memory has not got yet; others write through
  CachePolicy bypass;  ///< the least policy with which a load bypasses it; empty if none is needed or there is none
  std::string_view coherence;
};

enum class CacheAction : uint8_t { write_back, invalidate };

/// A cache operation as the model uses it.
struct CacheOperation {
  isa::Opcode opcode;
  CachePolicy policy;
  CacheAction action;
  Caches caches;                     ///< those that it works on
  std::string_view does;             ///< which lines of them, in words
  Counter counter = Counter::count;  ///< counts it until it is done; Counter::count: none
  bool when_split = false;           ///< with split work-groups only
};

/// What the accesses and fences of one scope need. The scopes that have no row (the narrower ones) need nothing.
struct ScopeRule {
  Scope scope;
  When when;
  CachePolicy load, store, rmw;
  bool acquire_waits;                          ///< for the acquiring access to vector memory before what follows it
  bool release_waits;                          ///< for vector memory before the releasing access
  std::span<const CacheOperation> write_back;  ///< at a release, before its wait
  std::span<const CacheOperation> invalidate;  ///< at an acquire, after its wait
  bool waits_around;  ///< waits before the write-back, too, and after the invalidation (gfx1250)
  std::string_view why_policy, why_wait, why_write_back, why_invalidate;  ///< reasons in the hardware
};

/// Policy of loads and stores that are not atomic.
struct MarkedPolicy {
  CachePolicy volatile_load, volatile_store, nontemporal_load, nontemporal_store, last_use;
  bool combined;  ///< a volatile access can be nontemporal, too; otherwise volatile wins
  std::string_view why_volatile, why_nontemporal, why_last_use;
};

/// The instructions of 32 bits that access a space. Opcode::invalid: the generation has none.
struct AccessOpcodes {
  isa::Opcode load, store, add, add_return;
};

struct Accesses {
  AccessOpcodes global, generic, private_, local;
  CachePolicy returns;  ///< of an atomic that returns the old value
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
  Accesses accesses;
  MarkedPolicy marked;
  std::span<const CounterFact> counters;
  std::span<const CacheFact> caches;
  std::span<const CacheOperation> cache_operations;
  std::span<const ScopeRule> rules;

  const CounterFact* find(Counter counter) const;
  /// The rule for a scope, or nullptr if nothing is needed.
  const ScopeRule* rule(Scope scope, const Placement& placement) const;
  /// The widest operation that this instruction is: one of the same opcode whose scope is not wider. Null if it is
  /// none.
  const CacheOperation* cache_operation(isa::Opcode opcode, uint8_t scope) const;
  /// A processor of the generation, for names and encodings.
  const target::Processor& processor() const;
  /// "buffer_inv sc1", "global_load_b32 glc": an instruction without registers.
  std::string text(isa::Opcode opcode, const CachePolicy& policy = {}) const;
  /// The texts of operations, separated by "; ".
  std::string text(std::span<const CacheOperation> operations) const;
  /// "s_waitcnt vmcnt(0)": a wait until the counter is 0.
  std::string wait_text(const CounterFact& fact) const;
};

std::span<const Generation> generations();
const Generation& generation_of(const target::Processor& processor);

}  // namespace Atoll::memory_model
