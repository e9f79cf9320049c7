// memory_model: the table of generations. See generation.h for what the columns mean.
//
// Reasons complete a sentence whose first half sequence.cpp has: "... has
// completed: <why_wait>".
#include "memory_model/generation.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "isa/opcode_map.h"
#include "isa/print.h"
#include "isa/table.h"

namespace Atoll::memory_model {

namespace {

using isa::Opcode;

// Counters.

constexpr std::string_view in_order = "in the order of issue";
constexpr std::string_view lds_counts = "LDS, GDS and scalar accesses, messages; flat accesses, too";
constexpr std::string_view lds_order = "LDS accesses in the order of issue; scalar ones in any order";
constexpr std::string_view flat_exception =
    "in the order of issue; flat accesses can be out of order where they may access LDS";

constexpr CounterFact gfx6_counters[] = {
    {Counter::load, "vmcnt", Opcode::s_waitcnt, "loads, stores and atomics of vector memory", in_order},
    {Counter::lds, "lgkmcnt", Opcode::s_waitcnt, "LDS, GDS and scalar accesses, messages", lds_order},
};
constexpr CounterFact gfx7_counters[] = {
    {Counter::load, "vmcnt", Opcode::s_waitcnt, "loads, stores and atomics of vector memory", flat_exception},
    {Counter::lds, "lgkmcnt", Opcode::s_waitcnt, lds_counts, lds_order},
};
constexpr CounterFact gfx10_counters[] = {
    {Counter::load, "vmcnt", Opcode::s_waitcnt, "loads, samples and atomics that return, of vector memory", in_order},
    {Counter::store, "vscnt", Opcode::s_waitcnt_vscnt, "stores and atomics that return nothing", in_order},
    {Counter::lds, "lgkmcnt", Opcode::s_waitcnt, lds_counts, lds_order},
};
constexpr CounterFact gfx12_counters[] = {
    {Counter::bvh, "bvhcnt", Opcode::s_wait_bvhcnt, "ray tracing's intersections", in_order},
    {Counter::sample, "samplecnt", Opcode::s_wait_samplecnt, "image samples and gathers", in_order},
    {Counter::load, "loadcnt", Opcode::s_wait_loadcnt, "loads and atomics that return, of vector memory", in_order},
    {Counter::store, "storecnt", Opcode::s_wait_storecnt, "stores and atomics that return nothing, write-backs",
     in_order},
    {Counter::lds, "dscnt", Opcode::s_wait_dscnt, "LDS accesses; flat accesses, too", in_order},
    {Counter::scalar, "kmcnt", Opcode::s_wait_kmcnt, "scalar loads and messages", "in any order"},
};
constexpr CounterFact gfx12_5_counters[] = {
    {Counter::load, "loadcnt", Opcode::s_wait_loadcnt, "loads, atomics that return, invalidations", in_order},
    {Counter::store, "storecnt", Opcode::s_wait_storecnt, "stores and atomics that return nothing, write-backs",
     in_order},
    {Counter::lds, "dscnt", Opcode::s_wait_dscnt, "LDS accesses; flat accesses, too", in_order},
    {Counter::scalar, "kmcnt", Opcode::s_wait_kmcnt, "scalar loads and messages", "in any order"},
    {Counter::async, "asynccnt", Opcode::s_wait_asynccnt, "asynchronous copies between memory and LDS", in_order},
    {Counter::tensor, "tensorcnt", Opcode::s_wait_tensorcnt, "copies of tensors between memory and LDS", in_order},
    {Counter::xnack, "xcnt", Opcode::s_wait_xcnt, "memory operations until their addresses are translated", in_order},
};

// Cache policies.

constexpr CachePolicy none{}, glc{.glc = true}, slc{.slc = true}, dlc{.dlc = true}, nt{.slc = true};
constexpr CachePolicy se{.scope = 1}, agent{.scope = 2}, system{.scope = 3};
constexpr CachePolicy hint_nt{.temporal_hint = 1}, hint_last_use{.temporal_hint = 3}, hint_return{.temporal_hint = 1};

// Caches.

constexpr std::string_view restricted_scalar =
    "not with the vector caches; it holds what does not change during a dispatch only";
constexpr std::string_view l2_by_memory_type =
    "with other agents where the memory's type makes it so or bypasses it; else at the ends of dispatches";
constexpr std::string_view by_invalidation = "by invalidation";

constexpr CacheFact gfx6_caches[] = {
    {Cache::vector, "L1", "each CU", Scope::workgroup, Scope::workgroup, false, glc, by_invalidation},
    {Cache::scalar, "scalar L1", "a group of CUs", Scope::workgroup, Scope::workgroup, false, {}, restricted_scalar},
    {Cache::l2, "L2", "each agent", Scope::agent, Scope::agent, true, {}, l2_by_memory_type},
};
constexpr CacheFact gfx90a_caches[] = {
    {Cache::vector, "L1", "each CU", Scope::workgroup, Scope::wavefront, false, glc, by_invalidation},
    {Cache::scalar, "scalar L1", "a group of CUs", Scope::workgroup, Scope::wavefront, false, {}, restricted_scalar},
    {Cache::l2,
     "L2",
     "each agent",
     Scope::agent,
     Scope::agent,
     true,
     {},
     "with other agents by write-back (memory types RW and NC) and invalidation (NC); types CC and UC need none"},
};
constexpr CacheFact gfx942_caches[] = {
    {Cache::vector, "L1", "each CU", Scope::workgroup, Scope::wavefront, false, agent, by_invalidation},
    {Cache::scalar, "scalar L1", "a group of CUs", Scope::workgroup, Scope::wavefront, false, {}, restricted_scalar},
    {Cache::l2, "L2", "a group of CUs, of which an agent may have several", Scope::workgroup, Scope::workgroup, true,
     agent, "with other L2s by write-back and by invalidation of lines whose memory is not local"},
};
constexpr CacheFact gfx10_caches[] = {
    {Cache::vector, "L0", "each CU", Scope::workgroup, Scope::wavefront, false, glc, by_invalidation},
    {Cache::scalar, "scalar L0", "each WGP", Scope::workgroup, Scope::workgroup, false, {}, restricted_scalar},
    {Cache::array, "L1", "each shader array", Scope::workgroup, Scope::workgroup, false, dlc, by_invalidation},
    {Cache::l2, "L2", "each agent", Scope::agent, Scope::agent, true, {}, l2_by_memory_type},
    {Cache::memory_side,
     "MALL",
     "GPU memory (from GFX10.3 on)",
     Scope::system,
     Scope::system,
     true,
     {},
     "with everybody: a part of memory"},
};
constexpr CacheFact gfx11_caches[] = {
    {Cache::vector, "L0", "each CU", Scope::workgroup, Scope::wavefront, false, glc, by_invalidation},
    {Cache::scalar, "scalar L0", "each WGP", Scope::workgroup, Scope::workgroup, false, {}, restricted_scalar},
    {Cache::array, "L1", "each shader array", Scope::workgroup, Scope::workgroup, false, glc, by_invalidation},
    {Cache::l2, "L2", "each agent", Scope::agent, Scope::agent, true, {}, l2_by_memory_type},
    {Cache::memory_side,
     "MALL",
     "GPU memory (from GFX10.3 on)",
     Scope::system,
     Scope::system,
     true,
     {},
     "with everybody: a part of memory"},
};
constexpr CacheFact gfx12_caches[] = {
    {Cache::vector, "L0", "each CU", Scope::workgroup, Scope::wavefront, false, se, by_invalidation},
    {Cache::scalar, "scalar L0", "each WGP", Scope::workgroup, Scope::workgroup, false, {}, restricted_scalar},
    {Cache::l2,
     "L2",
     "each agent",
     Scope::agent,
     Scope::agent,
     true,
     {},
     "with other agents by write-back, and by memory type"},
    {Cache::memory_side,
     "MALL",
     "GPU memory",
     Scope::system,
     Scope::system,
     true,
     {},
     "with everybody: a part of memory"},
};
constexpr CacheFact gfx12_5_caches[] = {
    {Cache::vector, "WGP$", "each WGP, with its LDS", Scope::workgroup, Scope::workgroup, false, se,
     "by invalidation; its two queues are not in order with each other"},
    {Cache::scalar, "scalar L0", "each WGP", Scope::workgroup, Scope::workgroup, false, {}, restricted_scalar},
    {Cache::l2, "L2", "some of an agent's shader engines", Scope::cluster, Scope::cluster, true, agent,
     "with other L2s by write-back and invalidation, or by memory type"},
};

// Cache operations. Rules name parts of these arrays.

constexpr Caches vector = mask(Cache::vector), array = mask(Cache::array), l2 = mask(Cache::l2),
                 vector_and_l2 = vector | l2;

constexpr CacheOperation gfx6_operations[] = {
    {Opcode::buffer_wbinvl1, none, CacheAction::invalidate, vector, "L1"},
};
constexpr CacheOperation gfx7_operations[] = {
    {Opcode::buffer_wbinvl1_vol, none, CacheAction::invalidate, vector, "volatile lines of L1 (all but scratch)"},
};
constexpr CacheOperation gfx90a_operations[] = {
    {Opcode::buffer_wbl2, none, CacheAction::write_back, l2, "dirty lines of L2", Counter::load},
    {Opcode::buffer_invl2, none, CacheAction::invalidate, l2, "lines of L2 of memory type NC"},
    {Opcode::buffer_wbinvl1_vol, none, CacheAction::invalidate, vector, "volatile lines of L1 (all but scratch)"},
};
constexpr CacheOperation gfx942_operations[] = {
    {Opcode::buffer_wbl2, agent, CacheAction::write_back, l2, "dirty lines of L2, where an agent has several",
     Counter::load},
    {Opcode::buffer_wbl2, system, CacheAction::write_back, l2, "dirty lines of L2", Counter::load},
    {Opcode::buffer_inv, se, CacheAction::invalidate, vector, "L1 where work-groups are split", Counter::count, true},
    {Opcode::buffer_inv, agent, CacheAction::invalidate, vector_and_l2,
     "L1, and lines of L2 of other memory where an agent has several L2s"},
    {Opcode::buffer_inv, system, CacheAction::invalidate, vector_and_l2,
     "L1, and lines of L2 of memory that is not local"},
};
constexpr CacheOperation gfx10_operations[] = {
    {Opcode::buffer_gl1_inv, none, CacheAction::invalidate, array, "L1"},
    {Opcode::buffer_gl0_inv, none, CacheAction::invalidate, vector, "L0"},
};
constexpr CacheOperation gfx12_operations[] = {
    {Opcode::global_wb, system, CacheAction::write_back, l2, "all caches, to memory", Counter::store},
    {Opcode::global_inv, se, CacheAction::invalidate, vector, "L0", Counter::load},
    {Opcode::global_inv, agent, CacheAction::invalidate, vector, "caches below L2", Counter::load},
    {Opcode::global_inv, system, CacheAction::invalidate, vector, "caches that are not the system's", Counter::load},
};
constexpr CacheOperation gfx12_5_operations[] = {
    {Opcode::global_wb, agent, CacheAction::write_back, l2, "caches that are not the agent's", Counter::store},
    {Opcode::global_wb, system, CacheAction::write_back, l2, "all caches, to memory", Counter::store},
    {Opcode::global_inv, se, CacheAction::invalidate, vector, "WGP$", Counter::load},
    {Opcode::global_inv, agent, CacheAction::invalidate, vector_and_l2, "caches that are not the agent's",
     Counter::load},
    {Opcode::global_inv, system, CacheAction::invalidate, vector_and_l2, "caches that are not the system's",
     Counter::load},
};

// Rules of the scopes.

constexpr std::span<const CacheOperation> part(std::span<const CacheOperation> all, size_t first, size_t count = 1) {
  return all.subspan(first, count);
}

constexpr std::string_view same_l1_in_order =
    "the waves of a work-group use the same L1, which keeps their accesses in order";
constexpr std::string_view channels = "L2 has channels with a queue each, so that accesses can overtake each other";
constexpr std::string_view split_waves = "with tgsplit the waves of a work-group are on several CUs, each with its L1";
constexpr std::string_view l1_of_other_cus = "the L1 of a CU does not see what other CUs write";
constexpr std::string_view l2_of_other_agents =
    "the L2 of an agent does not see what other agents write to their memory";
constexpr std::string_view l2_keeps_writes = "L2 keeps what was written to memory that others do not look for there";
constexpr std::string_view miss_l1 = "glc has the load miss in L1";
constexpr std::string_view level_is_scope = "the policy says the scope: caches below it are passed by";

// clang-format off
constexpr ScopeRule gfx6_rules[] = {
    {Scope::workgroup, When::always, none, none, none, false, false, {}, {}, false,
     {}, same_l1_in_order, {}, {}},
    {Scope::agent, When::always, glc, none, none, true, true, {}, part(gfx6_operations, 0), false,
     miss_l1, channels, {}, l1_of_other_cus},
    {Scope::system, When::always, glc, none, none, true, true, {}, part(gfx6_operations, 0), false,
     miss_l1, channels, {}, l1_of_other_cus},
};
constexpr ScopeRule gfx7_rules[] = {
    {Scope::workgroup, When::always, none, none, none, false, false, {}, {}, false,
     {}, same_l1_in_order, {}, {}},
    {Scope::agent, When::always, glc, none, none, true, true, {}, part(gfx7_operations, 0), false,
     miss_l1, channels, {}, l1_of_other_cus},
    {Scope::system, When::always, glc, none, none, true, true, {}, part(gfx7_operations, 0), false,
     miss_l1, channels, {}, l1_of_other_cus},
};
constexpr ScopeRule gfx90a_rules[] = {
    {Scope::workgroup, When::whole_work_groups, none, none, none, false, false, {}, {}, false,
     {}, same_l1_in_order, {}, {}},
    {Scope::workgroup, When::split_work_groups, glc, none, none, true, true, {}, part(gfx90a_operations, 2), false,
     miss_l1, split_waves, {}, split_waves},
    {Scope::agent, When::always, glc, none, none, true, true, {}, part(gfx90a_operations, 2), false,
     miss_l1, channels, {}, l1_of_other_cus},
    {Scope::system, When::always, glc, none, none, true, true,
     part(gfx90a_operations, 0), part(gfx90a_operations, 1, 2), false,
     miss_l1, channels, l2_keeps_writes, l2_of_other_agents},
};
constexpr ScopeRule gfx942_rules[] = {
    {Scope::workgroup, When::whole_work_groups, se, se, none, false, false, {}, {}, false,
     level_is_scope, same_l1_in_order, {}, {}},
    {Scope::workgroup, When::split_work_groups, se, se, none, true, true, {}, part(gfx942_operations, 2), false,
     level_is_scope, split_waves, {}, split_waves},
    {Scope::agent, When::always, agent, agent, none, true, true,
     part(gfx942_operations, 0), part(gfx942_operations, 3), false,
     level_is_scope, channels, "an agent may have several L2s, which keep what was written",
     "the L1 of a CU, and the L2 of a group of CUs, does not see what others write"},
    {Scope::system, When::always, system, system, agent, true, true,
     part(gfx942_operations, 1), part(gfx942_operations, 4), false,
     level_is_scope, channels, l2_keeps_writes, l2_of_other_agents},
};
// clang-format on

constexpr std::string_view both_cus = "in WGP mode the waves of a work-group are on both CUs, each with its L0";
constexpr std::string_view one_cu = "in CU mode the waves of a work-group use the same L0";
constexpr std::string_view transitive =
    "in CU mode they share an L0, but another of them may pass the data on to a wider scope after it";
constexpr std::string_view quadrants =
    "an L0 has a queue for each quadrant of L1, so that accesses can overtake each other";
constexpr std::string_view l0_l1_of_others =
    "L0 and L1 do not see what other shader arrays write; the outer cache is "
    "invalidated first, so that the inner one cannot take old data from it";
constexpr std::string_view miss_l0 = "glc has the load miss in L0";
constexpr std::string_view miss_l0_l1 = "glc has the load miss in L0, and dlc in L1";
constexpr std::string_view miss_l0_l1_by_glc = "glc has the load miss in L0 and L1";

// clang-format off
constexpr ScopeRule gfx10_rules[] = {
    {Scope::workgroup, When::wgp_mode, glc, none, none, true, true, {}, part(gfx10_operations, 1), false,
     miss_l0, both_cus, {}, both_cus},
    {Scope::workgroup, When::cu_mode, none, none, none, false, true, {}, {}, false,
     one_cu, transitive, {}, {}},
    {Scope::agent, When::always, glc | dlc, none, none, true, true, {}, part(gfx10_operations, 0, 2), false,
     miss_l0_l1, quadrants, {}, l0_l1_of_others},
    {Scope::system, When::always, glc | dlc, none, none, true, true, {}, part(gfx10_operations, 0, 2), false,
     miss_l0_l1, quadrants, {}, l0_l1_of_others},
};
constexpr ScopeRule gfx11_rules[] = {
    {Scope::workgroup, When::wgp_mode, glc, none, none, true, true, {}, part(gfx10_operations, 1), false,
     miss_l0, both_cus, {}, both_cus},
    {Scope::workgroup, When::cu_mode, none, none, none, false, true, {}, {}, false,
     one_cu, transitive, {}, {}},
    {Scope::agent, When::always, glc, none, none, true, true, {}, part(gfx10_operations, 0, 2), false,
     miss_l0_l1_by_glc, quadrants, {}, l0_l1_of_others},
    {Scope::system, When::always, glc, none, none, true, true, {}, part(gfx10_operations, 0, 2), false,
     miss_l0_l1_by_glc, quadrants, {}, l0_l1_of_others},
};
constexpr ScopeRule gfx12_rules[] = {
    {Scope::workgroup, When::wgp_mode, se, se, se, true, true, {}, part(gfx12_operations, 1), false,
     level_is_scope, both_cus, {}, both_cus},
    {Scope::workgroup, When::cu_mode, none, none, none, false, true, {}, {}, false,
     one_cu, transitive, {}, {}},
    {Scope::agent, When::always, agent, agent, agent, true, true, {}, part(gfx12_operations, 2), false,
     level_is_scope, quadrants, {}, "L0 does not see what other CUs write"},
    {Scope::system, When::always, system, system, system, true, true,
     part(gfx12_operations, 0), part(gfx12_operations, 3), false,
     level_is_scope, quadrants, l2_keeps_writes, l2_of_other_agents},
};
// clang-format on

constexpr std::string_view two_queues = "the WGP$ has a queue for each pair of SIMDs, not in order with each other";
constexpr std::string_view l1_queues = "the L1 buffer has a queue for each WGP, not in order with each other";
constexpr std::string_view several_l2 = "an agent may have several L2s, which keep what was written";
constexpr std::string_view wgp_cache_of_others = "the WGP$ does not see what other WGPs write";

// clang-format off
constexpr ScopeRule gfx12_5_rules[] = {
    {Scope::workgroup, When::always, none, none, none, true, true, {}, {}, false,
     "the waves of a work-group use the same WGP$", two_queues, {}, {}},
    {Scope::cluster, When::always, se, se, se, true, true, {}, part(gfx12_5_operations, 2), false,
     level_is_scope, l1_queues, {}, wgp_cache_of_others},
    {Scope::agent, When::always, agent, agent, agent, true, true,
     part(gfx12_5_operations, 0), part(gfx12_5_operations, 3), true,
     level_is_scope, l1_queues, several_l2, wgp_cache_of_others},
    {Scope::system, When::always, system, system, system, true, true,
     part(gfx12_5_operations, 1), part(gfx12_5_operations, 4), true,
     level_is_scope, l1_queues, l2_keeps_writes, l2_of_other_agents},
};
// clang-format on

// Loads and stores that are marked.

constexpr std::string_view no_last_use = "there is no such policy: it is a load like any other";
constexpr MarkedPolicy gfx6_marked = {glc,        none,  glc | slc, glc | slc,
                                      none,       false, miss_l1,   "glc and slc: L1 evicts the line, L2 streams it",
                                      no_last_use};
constexpr MarkedPolicy gfx942_marked = {
    system, system, nt, nt, none, false, level_is_scope, "nt: caches give up the line first", no_last_use};
constexpr MarkedPolicy gfx10_marked = {glc | dlc,  none,  slc,        glc | slc,
                                       none,       false, miss_l0_l1, "slc: L2 streams the line, L0 and L1 evict it",
                                       no_last_use};
constexpr MarkedPolicy gfx11_marked = {glc | dlc,
                                       dlc,
                                       slc | dlc,
                                       glc | slc | dlc,
                                       none,
                                       false,
                                       "glc has a load miss in L0 and L1, dlc keeps the line out of the MALL",
                                       "slc: L2 streams the line; dlc: the MALL does not take it",
                                       no_last_use};
constexpr MarkedPolicy gfx12_marked = {system,
                                       system,
                                       hint_nt,
                                       hint_nt,
                                       hint_last_use,
                                       true,
                                       level_is_scope,
                                       "th: a temporal hint to every cache, not to keep the line",
                                       "th: the caches may drop the line, dirty or not"};

// Accesses.

constexpr AccessOpcodes buffer_accesses = {Opcode::buffer_load_dword, Opcode::buffer_store_dword,
                                           Opcode::buffer_atomic_add, Opcode::buffer_atomic_add};
constexpr AccessOpcodes flat_accesses = {Opcode::flat_load_dword, Opcode::flat_store_dword, Opcode::flat_atomic_add,
                                         Opcode::flat_atomic_add};
constexpr AccessOpcodes global_accesses = {Opcode::global_load_dword, Opcode::global_store_dword,
                                           Opcode::global_atomic_add, Opcode::global_atomic_add};
constexpr AccessOpcodes scratch_accesses = {Opcode::scratch_load_dword, Opcode::scratch_store_dword, {}, {}};
constexpr AccessOpcodes lds_accesses = {Opcode::ds_read_b32, Opcode::ds_write_b32, Opcode::ds_add_u32,
                                        Opcode::ds_add_rtn_u32};

constexpr Accesses gfx6_accesses = {buffer_accesses, {}, buffer_accesses, lds_accesses, glc};
constexpr Accesses gfx7_accesses = {flat_accesses, flat_accesses, buffer_accesses, lds_accesses, glc};
constexpr Accesses gfx9_accesses = {global_accesses, flat_accesses, buffer_accesses, lds_accesses, glc};
constexpr Accesses gfx942_accesses = {global_accesses, flat_accesses, scratch_accesses, lds_accesses, se};
constexpr Accesses gfx11_accesses = {global_accesses, flat_accesses, scratch_accesses, lds_accesses, glc};
constexpr Accesses gfx12_accesses = {global_accesses, flat_accesses, scratch_accesses, lds_accesses, hint_return};

constexpr Generation table[] = {
    {.name = "GFX6",
     .processors = "gfx600 to gfx602",
     .accesses = gfx6_accesses,
     .marked = gfx6_marked,
     .counters = gfx6_counters,
     .caches = gfx6_caches,
     .cache_operations = gfx6_operations,
     .rules = gfx6_rules},
    {.name = "GFX7-GFX8",
     .processors = "gfx700 to gfx810",
     .accesses = gfx7_accesses,
     .marked = gfx6_marked,
     .counters = gfx7_counters,
     .caches = gfx6_caches,
     .cache_operations = gfx7_operations,
     .rules = gfx7_rules},
    {.name = "GFX9",
     .processors = "gfx900 to gfx909, gfx90c",
     .drops_fine_grained_float_atomics = true,
     .accesses = gfx9_accesses,
     .marked = gfx6_marked,
     .counters = gfx7_counters,
     .caches = gfx6_caches,
     .cache_operations = gfx7_operations,
     .rules = gfx7_rules},
    {.name = "GFX90A",
     .processors = "gfx90a",
     .splits_work_groups = true,
     .drops_fine_grained_float_atomics = true,
     .accesses = gfx9_accesses,
     .marked = gfx6_marked,
     .counters = gfx7_counters,
     .caches = gfx90a_caches,
     .cache_operations = gfx90a_operations,
     .rules = gfx90a_rules},
    {.name = "GFX942",
     .processors = "gfx942, gfx950",
     .splits_work_groups = true,
     .accesses = gfx942_accesses,
     .marked = gfx942_marked,
     .counters = gfx7_counters,
     .caches = gfx942_caches,
     .cache_operations = gfx942_operations,
     .rules = gfx942_rules},
    {.name = "GFX10",
     .processors = "gfx1010 to gfx1036",
     .places_by_cu_mode = true,
     .drops_fine_grained_float_atomics = true,
     .accesses = gfx9_accesses,
     .marked = gfx10_marked,
     .counters = gfx10_counters,
     .caches = gfx10_caches,
     .cache_operations = gfx10_operations,
     .rules = gfx10_rules},
    {.name = "GFX11",
     .processors = "gfx1100 to gfx1172",
     .places_by_cu_mode = true,
     .drops_fine_grained_float_atomics = true,
     .accesses = gfx11_accesses,
     .marked = gfx11_marked,
     .counters = gfx10_counters,
     .caches = gfx11_caches,
     .cache_operations = gfx10_operations,
     .rules = gfx11_rules},
    {.name = "GFX12",
     .processors = "gfx1200, gfx1201",
     .places_by_cu_mode = true,
     .waits_before_system_store = true,
     .accesses = gfx12_accesses,
     .marked = gfx12_marked,
     .counters = gfx12_counters,
     .caches = gfx12_caches,
     .cache_operations = gfx12_operations,
     .rules = gfx12_rules},
    {.name = "GFX12.5",
     .processors = "gfx1250, gfx1251",
     .has_clusters = true,
     .private_atomics = true,
     .waits_for_translation = true,
     .accesses = gfx12_accesses,
     .marked = gfx12_marked,
     .counters = gfx12_5_counters,
     .caches = gfx12_5_caches,
     .cache_operations = gfx12_5_operations,
     .rules = gfx12_5_rules},
};

/// The row of the table, by target::Generation.
constexpr std::array<uint8_t, 14> row_of = {0, 1, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 7, 8};
static_assert(row_of.size() == static_cast<size_t>(target::Generation::gfx12_5) + 1);

bool holds(When when, const Placement& placement) {
  switch (when) {
    case When::always:
      return true;
    case When::wgp_mode:
      return !placement.cu_mode;
    case When::cu_mode:
      return placement.cu_mode;
    case When::whole_work_groups:
      return !placement.split_work_groups;
    case When::split_work_groups:
      return placement.split_work_groups;
  }
  return false;
}

}  // namespace

const CounterFact* Generation::find(Counter counter) const {
  const auto found = std::ranges::find(counters, counter, &CounterFact::counter);
  return found == counters.end() ? nullptr : &*found;
}

const ScopeRule* Generation::rule(Scope scope, const Placement& placement) const {
  if (scope == Scope::cluster && !has_clusters) scope = Scope::agent;
  if (scope == Scope::workgroup && placement.single_wave) scope = Scope::wavefront;
  const auto found = std::ranges::find_if(
      rules, [&](const ScopeRule& each) { return each.scope == scope && holds(each.when, placement); });
  return found == rules.end() ? nullptr : &*found;
}

const CacheOperation* Generation::cache_operation(isa::Opcode opcode, uint8_t scope) const {
  const CacheOperation* widest = nullptr;
  for (const CacheOperation& each : cache_operations) {
    if (each.opcode != opcode || each.policy.scope > scope) continue;
    if (widest == nullptr || each.policy.scope >= widest->policy.scope) widest = &each;
  }
  return widest;
}

const target::Processor& Generation::processor() const {
  return *std::ranges::find_if(target::processors(),
                               [&](const target::Processor& each) { return &generation_of(each) == this; });
}

std::string Generation::text(isa::Opcode opcode, const CachePolicy& policy) const {
  const target::Processor& example = processor();
  isa::Instruction instruction;
  instruction.opcode = opcode;
  instruction.generation = example.generation;
  instruction.encoding = isa::row_of(instruction).encoding;
  instruction.slc = policy.slc;
  instruction.dlc = policy.dlc;
  instruction.temporal_hint = policy.temporal_hint;
  const bool has_scope_bits = example.has(target::Feature::gfx940_insts);
  instruction.glc = policy.glc || (has_scope_bits && (policy.scope & 1) != 0);
  instruction.scc = has_scope_bits && (policy.scope & 2) != 0;
  if (!has_scope_bits) instruction.scope = policy.scope;
  return isa::print(instruction, example);
}

std::string Generation::text(std::span<const CacheOperation> operations) const {
  std::string list;
  for (const CacheOperation& each : operations) {
    if (!list.empty()) list += "; ";
    list += text(each.opcode, each.policy);
  }
  return list;
}

std::string Generation::wait_text(const CounterFact& fact) const {
  std::string text(isa::opcode_map_of(processor()).name(fact.wait));
  if (fact.wait == Opcode::s_waitcnt) return text.append(" ").append(fact.name).append("(0)");
  return text += fact.wait == Opcode::s_waitcnt_vscnt ? " null, 0x0" : " 0x0";
}

std::span<const Generation> generations() { return table; }

const Generation& generation_of(const target::Processor& processor) {
  return table[row_of[static_cast<size_t>(processor.generation)]];
}

}  // namespace Atoll::memory_model
