// memory_model: the table of generations. See generation.h for what the columns mean.
//
// Policies are spelled as the assembler does. Reasons complete a sentence whose first half sequence.cpp has: "... has
// completed: <why_wait>".
#include "memory_model/generation.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace Atoll::memory_model {

namespace {

// Counters.

constexpr std::string_view in_order = "in the order of issue";
constexpr std::string_view lds_counts = "LDS, GDS and scalar accesses, messages; flat accesses, too";
constexpr std::string_view lds_order = "LDS accesses in the order of issue; scalar ones in any order";
constexpr std::string_view flat_exception =
    "in the order of issue; flat accesses can be out of order where they may access LDS";

constexpr CounterFact gfx6_counters[] = {
    {Counter::load, "vmcnt", "s_waitcnt vmcnt(0)", "loads, stores and atomics of vector memory", in_order},
    {Counter::lds, "lgkmcnt", "s_waitcnt lgkmcnt(0)", "LDS, GDS and scalar accesses, messages", lds_order},
};
constexpr CounterFact gfx7_counters[] = {
    {Counter::load, "vmcnt", "s_waitcnt vmcnt(0)", "loads, stores and atomics of vector memory", flat_exception},
    {Counter::lds, "lgkmcnt", "s_waitcnt lgkmcnt(0)", lds_counts, lds_order},
};
constexpr CounterFact gfx10_counters[] = {
    {Counter::load, "vmcnt", "s_waitcnt vmcnt(0)", "loads, samples and atomics that return, of vector memory",
     in_order},
    {Counter::store, "vscnt", "s_waitcnt_vscnt null, 0x0", "stores and atomics that return nothing", in_order},
    {Counter::lds, "lgkmcnt", "s_waitcnt lgkmcnt(0)", lds_counts, lds_order},
};
constexpr CounterFact gfx12_counters[] = {
    {Counter::bvh, "bvhcnt", "s_wait_bvhcnt 0x0", "ray tracing's intersections", in_order},
    {Counter::sample, "samplecnt", "s_wait_samplecnt 0x0", "image samples and gathers", in_order},
    {Counter::load, "loadcnt", "s_wait_loadcnt 0x0", "loads and atomics that return, of vector memory", in_order},
    {Counter::store, "storecnt", "s_wait_storecnt 0x0", "stores and atomics that return nothing, write-backs",
     in_order},
    {Counter::lds, "dscnt", "s_wait_dscnt 0x0", "LDS accesses; flat accesses, too", in_order},
    {Counter::scalar, "kmcnt", "s_wait_kmcnt 0x0", "scalar loads and messages", "in any order"},
};
constexpr CounterFact gfx12_5_counters[] = {
    {Counter::load, "loadcnt", "s_wait_loadcnt 0x0", "loads, atomics that return, invalidations", in_order},
    {Counter::store, "storecnt", "s_wait_storecnt 0x0", "stores and atomics that return nothing, write-backs",
     in_order},
    {Counter::lds, "dscnt", "s_wait_dscnt 0x0", "LDS accesses; flat accesses, too", in_order},
    {Counter::scalar, "kmcnt", "s_wait_kmcnt 0x0", "scalar loads and messages", "in any order"},
    {Counter::async, "asynccnt", "s_wait_asynccnt 0x0", "asynchronous copies between memory and LDS", in_order},
    {Counter::tensor, "tensorcnt", "s_wait_tensorcnt 0x0", "copies of tensors between memory and LDS", in_order},
    {Counter::xnack, "xcnt", "s_wait_xcnt 0x0", "memory operations until their addresses are translated", in_order},
};

// Caches.

constexpr std::string_view restricted_scalar =
    "not with the vector caches; it holds what does not change during a dispatch only";
constexpr std::string_view l2_by_memory_type =
    "with other agents where the memory's type makes it so or bypasses it; else at the ends of dispatches";
constexpr std::string_view by_invalidation = "by invalidation";

constexpr CacheFact gfx6_caches[] = {
    {"L1", "each CU", Scope::workgroup, Scope::workgroup, false, by_invalidation},
    {"scalar L1", "a group of CUs", Scope::workgroup, Scope::workgroup, false, restricted_scalar},
    {"L2", "each agent", Scope::agent, Scope::agent, true, l2_by_memory_type},
};
constexpr CacheFact gfx90a_caches[] = {
    {"L1", "each CU", Scope::workgroup, Scope::wavefront, false, by_invalidation},
    {"scalar L1", "a group of CUs", Scope::workgroup, Scope::wavefront, false, restricted_scalar},
    {"L2", "each agent", Scope::agent, Scope::agent, true,
     "with other agents by write-back (memory types RW and NC) and invalidation (NC); types CC and UC need none"},
};
constexpr CacheFact gfx942_caches[] = {
    {"L1", "each CU", Scope::workgroup, Scope::wavefront, false, by_invalidation},
    {"scalar L1", "a group of CUs", Scope::workgroup, Scope::wavefront, false, restricted_scalar},
    {"L2", "a group of CUs, of which an agent may have several", Scope::workgroup, Scope::workgroup, true,
     "with other L2s by write-back and by invalidation of lines whose memory is not local"},
};
constexpr CacheFact gfx10_caches[] = {
    {"L0", "each CU", Scope::workgroup, Scope::wavefront, false, by_invalidation},
    {"scalar L0", "each WGP", Scope::workgroup, Scope::workgroup, false, restricted_scalar},
    {"L1", "each shader array", Scope::workgroup, Scope::workgroup, false, by_invalidation},
    {"L2", "each agent", Scope::agent, Scope::agent, true, l2_by_memory_type},
    {"MALL", "GPU memory (from GFX10.3 on)", Scope::system, Scope::system, true, "with everybody: a part of memory"},
};
constexpr CacheFact gfx12_caches[] = {
    {"L0", "each CU", Scope::workgroup, Scope::wavefront, false, by_invalidation},
    {"scalar L0", "each WGP", Scope::workgroup, Scope::workgroup, false, restricted_scalar},
    {"L2", "each agent", Scope::agent, Scope::agent, true, "with other agents by write-back, and by memory type"},
    {"MALL", "GPU memory", Scope::system, Scope::system, true, "with everybody: a part of memory"},
};
constexpr CacheFact gfx12_5_caches[] = {
    {"WGP$", "each WGP, with its LDS", Scope::workgroup, Scope::workgroup, false,
     "by invalidation; its two queues are not in order with each other"},
    {"scalar L0", "each WGP", Scope::workgroup, Scope::workgroup, false, restricted_scalar},
    {"L2", "some of an agent's shader engines", Scope::cluster, Scope::cluster, true,
     "with other L2s by write-back and invalidation, or by memory type"},
};

// Cache operations.

constexpr CacheOperation gfx6_cache_operations[] = {
    {"buffer_wbinvl1", CacheAction::invalidate, "L1", false, Counter::count},
};
constexpr CacheOperation gfx7_cache_operations[] = {
    {"buffer_wbinvl1_vol", CacheAction::invalidate, "volatile lines of L1 (all but scratch)", false, Counter::count},
};
constexpr CacheOperation gfx90a_cache_operations[] = {
    {"buffer_wbl2", CacheAction::write_back, "dirty lines of L2", true, Counter::load},
    {"buffer_invl2", CacheAction::invalidate, "lines of L2 of memory type NC", false, Counter::count},
    {"buffer_wbinvl1_vol", CacheAction::invalidate, "volatile lines of L1 (all but scratch)", false, Counter::count},
};
constexpr CacheOperation gfx942_cache_operations[] = {
    {"buffer_wbl2 sc1", CacheAction::write_back, "dirty lines of L2, where an agent has several", true, Counter::load},
    {"buffer_wbl2 sc0 sc1", CacheAction::write_back, "dirty lines of L2", true, Counter::load},
    {"buffer_inv sc0", CacheAction::invalidate, "L1 where work-groups are split", false, Counter::count},
    {"buffer_inv sc1", CacheAction::invalidate, "L1, and lines of L2 of other memory where an agent has several L2s",
     false, Counter::count},
    {"buffer_inv sc0 sc1", CacheAction::invalidate, "L1, and lines of L2 of memory that is not local", false,
     Counter::count},
};
constexpr CacheOperation gfx10_cache_operations[] = {
    {"buffer_gl1_inv", CacheAction::invalidate, "L1", false, Counter::count},
    {"buffer_gl0_inv", CacheAction::invalidate, "L0", false, Counter::count},
};
constexpr CacheOperation gfx12_cache_operations[] = {
    {"global_wb scope:SCOPE_SYS", CacheAction::write_back, "all caches, to memory", true, Counter::store},
    {"global_inv scope:SCOPE_SE", CacheAction::invalidate, "L0", true, Counter::load},
    {"global_inv scope:SCOPE_DEV", CacheAction::invalidate, "caches below L2", true, Counter::load},
    {"global_inv scope:SCOPE_SYS", CacheAction::invalidate, "caches that are not the system's", true, Counter::load},
};
constexpr CacheOperation gfx12_5_cache_operations[] = {
    {"global_wb scope:SCOPE_DEV", CacheAction::write_back, "caches that are not the agent's", true, Counter::store},
    {"global_wb scope:SCOPE_SYS", CacheAction::write_back, "all caches, to memory", true, Counter::store},
    {"global_inv scope:SCOPE_SE", CacheAction::invalidate, "WGP$", true, Counter::load},
    {"global_inv scope:SCOPE_DEV", CacheAction::invalidate, "caches that are not the agent's", true, Counter::load},
    {"global_inv scope:SCOPE_SYS", CacheAction::invalidate, "caches that are not the system's", true, Counter::load},
};

// Rules of the scopes.

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

constexpr ScopeRule gfx6_rules[] = {
    {Scope::workgroup, When::always, "", "", "", false, false, "", "", false, {}, same_l1_in_order, {}, {}},
    {Scope::agent,
     When::always,
     "glc",
     "",
     "",
     true,
     true,
     "",
     "buffer_wbinvl1",
     false,
     miss_l1,
     channels,
     {},
     l1_of_other_cus},
    {Scope::system,
     When::always,
     "glc",
     "",
     "",
     true,
     true,
     "",
     "buffer_wbinvl1",
     false,
     miss_l1,
     channels,
     {},
     l1_of_other_cus},
};
constexpr ScopeRule gfx7_rules[] = {
    {Scope::workgroup, When::always, "", "", "", false, false, "", "", false, {}, same_l1_in_order, {}, {}},
    {Scope::agent,
     When::always,
     "glc",
     "",
     "",
     true,
     true,
     "",
     "buffer_wbinvl1_vol",
     false,
     miss_l1,
     channels,
     {},
     l1_of_other_cus},
    {Scope::system,
     When::always,
     "glc",
     "",
     "",
     true,
     true,
     "",
     "buffer_wbinvl1_vol",
     false,
     miss_l1,
     channels,
     {},
     l1_of_other_cus},
};
constexpr ScopeRule gfx90a_rules[] = {
    {Scope::workgroup, When::whole_work_groups, "", "", "", false, false, "", "", false, {}, same_l1_in_order, {}, {}},
    {Scope::workgroup,
     When::split_work_groups,
     "glc",
     "",
     "",
     true,
     true,
     "",
     "buffer_wbinvl1_vol",
     false,
     miss_l1,
     split_waves,
     {},
     split_waves},
    {Scope::agent,
     When::always,
     "glc",
     "",
     "",
     true,
     true,
     "",
     "buffer_wbinvl1_vol",
     false,
     miss_l1,
     channels,
     {},
     l1_of_other_cus},
    {Scope::system, When::always, "glc", "", "", true, true, "buffer_wbl2", "buffer_invl2; buffer_wbinvl1_vol", false,
     miss_l1, channels, l2_keeps_writes, l2_of_other_agents},
};
constexpr ScopeRule gfx942_rules[] = {
    {Scope::workgroup,
     When::whole_work_groups,
     "sc0",
     "sc0",
     "",
     false,
     false,
     "",
     "",
     false,
     level_is_scope,
     same_l1_in_order,
     {},
     {}},
    {Scope::workgroup,
     When::split_work_groups,
     "sc0",
     "sc0",
     "",
     true,
     true,
     "",
     "buffer_inv sc0",
     false,
     level_is_scope,
     split_waves,
     {},
     split_waves},
    {Scope::agent, When::always, "sc1", "sc1", "", true, true, "buffer_wbl2 sc1", "buffer_inv sc1", false,
     level_is_scope, channels, "an agent may have several L2s, which keep what was written",
     "the L1 of a CU, and the L2 of a group of CUs, does not see what others write"},
    {Scope::system, When::always, "sc0 sc1", "sc0 sc1", "sc1", true, true, "buffer_wbl2 sc0 sc1", "buffer_inv sc0 sc1",
     false, level_is_scope, channels, l2_keeps_writes, l2_of_other_agents},
};

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

constexpr ScopeRule gfx10_rules[] = {
    {Scope::workgroup,
     When::wgp_mode,
     "glc",
     "",
     "",
     true,
     true,
     "",
     "buffer_gl0_inv",
     false,
     miss_l0,
     both_cus,
     {},
     both_cus},
    {Scope::workgroup, When::cu_mode, "", "", "", false, true, "", "", false, one_cu, transitive, {}, {}},
    {Scope::agent,
     When::always,
     "glc dlc",
     "",
     "",
     true,
     true,
     "",
     "buffer_gl1_inv; buffer_gl0_inv",
     false,
     miss_l0_l1,
     quadrants,
     {},
     l0_l1_of_others},
    {Scope::system,
     When::always,
     "glc dlc",
     "",
     "",
     true,
     true,
     "",
     "buffer_gl1_inv; buffer_gl0_inv",
     false,
     miss_l0_l1,
     quadrants,
     {},
     l0_l1_of_others},
};
constexpr ScopeRule gfx11_rules[] = {
    {Scope::workgroup,
     When::wgp_mode,
     "glc",
     "",
     "",
     true,
     true,
     "",
     "buffer_gl0_inv",
     false,
     miss_l0,
     both_cus,
     {},
     both_cus},
    {Scope::workgroup, When::cu_mode, "", "", "", false, true, "", "", false, one_cu, transitive, {}, {}},
    {Scope::agent,
     When::always,
     "glc",
     "",
     "",
     true,
     true,
     "",
     "buffer_gl1_inv; buffer_gl0_inv",
     false,
     miss_l0_l1_by_glc,
     quadrants,
     {},
     l0_l1_of_others},
    {Scope::system,
     When::always,
     "glc",
     "",
     "",
     true,
     true,
     "",
     "buffer_gl1_inv; buffer_gl0_inv",
     false,
     miss_l0_l1_by_glc,
     quadrants,
     {},
     l0_l1_of_others},
};
constexpr ScopeRule gfx12_rules[] = {
    {Scope::workgroup,
     When::wgp_mode,
     "scope:SCOPE_SE",
     "scope:SCOPE_SE",
     "scope:SCOPE_SE",
     true,
     true,
     "",
     "global_inv scope:SCOPE_SE",
     false,
     level_is_scope,
     both_cus,
     {},
     both_cus},
    {Scope::workgroup, When::cu_mode, "", "", "", false, true, "", "", false, one_cu, transitive, {}, {}},
    {Scope::agent,
     When::always,
     "scope:SCOPE_DEV",
     "scope:SCOPE_DEV",
     "scope:SCOPE_DEV",
     true,
     true,
     "",
     "global_inv scope:SCOPE_DEV",
     false,
     level_is_scope,
     quadrants,
     {},
     "L0 does not see what other CUs write"},
    {Scope::system, When::always, "scope:SCOPE_SYS", "scope:SCOPE_SYS", "scope:SCOPE_SYS", true, true,
     "global_wb scope:SCOPE_SYS", "global_inv scope:SCOPE_SYS", false, level_is_scope, quadrants, l2_keeps_writes,
     l2_of_other_agents},
};

constexpr std::string_view two_queues = "the WGP$ has a queue for each pair of SIMDs, not in order with each other";
constexpr std::string_view l1_queues = "the L1 buffer has a queue for each WGP, not in order with each other";
constexpr std::string_view several_l2 = "an agent may have several L2s, which keep what was written";
constexpr std::string_view wgp_cache_of_others = "the WGP$ does not see what other WGPs write";

constexpr ScopeRule gfx12_5_rules[] = {
    {Scope::workgroup,
     When::always,
     "",
     "",
     "",
     true,
     true,
     "",
     "",
     false,
     "the waves of a work-group use the same WGP$",
     two_queues,
     {},
     {}},
    {Scope::cluster,
     When::always,
     "scope:SCOPE_SE",
     "scope:SCOPE_SE",
     "scope:SCOPE_SE",
     true,
     true,
     "",
     "global_inv scope:SCOPE_SE",
     false,
     level_is_scope,
     l1_queues,
     {},
     wgp_cache_of_others},
    {Scope::agent, When::always, "scope:SCOPE_DEV", "scope:SCOPE_DEV", "scope:SCOPE_DEV", true, true,
     "global_wb scope:SCOPE_DEV", "global_inv scope:SCOPE_DEV", true, level_is_scope, l1_queues, several_l2,
     wgp_cache_of_others},
    {Scope::system, When::always, "scope:SCOPE_SYS", "scope:SCOPE_SYS", "scope:SCOPE_SYS", true, true,
     "global_wb scope:SCOPE_SYS", "global_inv scope:SCOPE_SYS", true, level_is_scope, l1_queues, l2_keeps_writes,
     l2_of_other_agents},
};

// Loads and stores that are marked.

constexpr std::string_view no_last_use = "there is no such policy: it is a load like any other";
constexpr MarkedPolicy gfx6_marked = {
    "glc", "", "glc slc", "glc slc", "", false, miss_l1, "glc and slc: L1 evicts the line, L2 streams it", no_last_use};
constexpr MarkedPolicy gfx942_marked = {
    "sc0 sc1", "sc0 sc1", "nt", "nt", "", false, level_is_scope, "nt: caches give up the line first", no_last_use};
constexpr MarkedPolicy gfx10_marked = {"glc dlc",  "",    "slc",      "glc slc",
                                       "",         false, miss_l0_l1, "slc: L2 streams the line, L0 and L1 evict it",
                                       no_last_use};
constexpr MarkedPolicy gfx11_marked = {"glc dlc",
                                       "dlc",
                                       "slc dlc",
                                       "glc slc dlc",
                                       "",
                                       false,
                                       "glc has a load miss in L0 and L1, dlc keeps the line out of the MALL",
                                       "slc: L2 streams the line; dlc: the MALL does not take it",
                                       no_last_use};
constexpr MarkedPolicy gfx12_marked = {"scope:SCOPE_SYS",
                                       "scope:SCOPE_SYS",
                                       "th:TH_LOAD_NT",
                                       "th:TH_STORE_NT",
                                       "th:TH_LOAD_LU",
                                       true,
                                       level_is_scope,
                                       "th: a temporal hint to every cache, not to keep the line",
                                       "th: the caches may drop the line, dirty or not"};

constexpr Mnemonics gfx6_mnemonics = {
    "buffer_",      "",           "buffer_",        "load_dword", "store_dword", "atomic_add", "ds_read_b32",
    "ds_write_b32", "ds_add_u32", "ds_add_rtn_u32", "glc"};
constexpr Mnemonics gfx7_mnemonics = {"flat_",       "flat_",          "buffer_",     "load_dword",
                                      "store_dword", "atomic_add",     "ds_read_b32", "ds_write_b32",
                                      "ds_add_u32",  "ds_add_rtn_u32", "glc"};
constexpr Mnemonics gfx9_mnemonics = {"global_",     "flat_",          "buffer_",     "load_dword",
                                      "store_dword", "atomic_add",     "ds_read_b32", "ds_write_b32",
                                      "ds_add_u32",  "ds_add_rtn_u32", "glc"};
constexpr Mnemonics gfx942_mnemonics = {"global_",     "flat_",          "scratch_",    "load_dword",
                                        "store_dword", "atomic_add",     "ds_read_b32", "ds_write_b32",
                                        "ds_add_u32",  "ds_add_rtn_u32", "sc0"};
constexpr Mnemonics gfx11_mnemonics = {"global_",    "flat_",          "scratch_",    "load_b32",
                                       "store_b32",  "atomic_add_u32", "ds_load_b32", "ds_store_b32",
                                       "ds_add_u32", "ds_add_rtn_u32", "glc"};
constexpr Mnemonics gfx12_mnemonics = {"global_",    "flat_",          "scratch_",           "load_b32",
                                       "store_b32",  "atomic_add_u32", "ds_load_b32",        "ds_store_b32",
                                       "ds_add_u32", "ds_add_rtn_u32", "th:TH_ATOMIC_RETURN"};

constexpr Generation table[] = {
    {.name = "GFX6",
     .processors = "gfx600 to gfx602",
     .mnemonics = gfx6_mnemonics,
     .marked = gfx6_marked,
     .counters = gfx6_counters,
     .caches = gfx6_caches,
     .cache_operations = gfx6_cache_operations,
     .rules = gfx6_rules},
    {.name = "GFX7-GFX8",
     .processors = "gfx700 to gfx810",
     .mnemonics = gfx7_mnemonics,
     .marked = gfx6_marked,
     .counters = gfx7_counters,
     .caches = gfx6_caches,
     .cache_operations = gfx7_cache_operations,
     .rules = gfx7_rules},
    {.name = "GFX9",
     .processors = "gfx900 to gfx909, gfx90c",
     .drops_fine_grained_float_atomics = true,
     .mnemonics = gfx9_mnemonics,
     .marked = gfx6_marked,
     .counters = gfx7_counters,
     .caches = gfx6_caches,
     .cache_operations = gfx7_cache_operations,
     .rules = gfx7_rules},
    {.name = "GFX90A",
     .processors = "gfx90a",
     .splits_work_groups = true,
     .drops_fine_grained_float_atomics = true,
     .mnemonics = gfx9_mnemonics,
     .marked = gfx6_marked,
     .counters = gfx7_counters,
     .caches = gfx90a_caches,
     .cache_operations = gfx90a_cache_operations,
     .rules = gfx90a_rules},
    {.name = "GFX942",
     .processors = "gfx942, gfx950",
     .splits_work_groups = true,
     .mnemonics = gfx942_mnemonics,
     .marked = gfx942_marked,
     .counters = gfx7_counters,
     .caches = gfx942_caches,
     .cache_operations = gfx942_cache_operations,
     .rules = gfx942_rules},
    {.name = "GFX10",
     .processors = "gfx1010 to gfx1036",
     .places_by_cu_mode = true,
     .drops_fine_grained_float_atomics = true,
     .mnemonics = gfx9_mnemonics,
     .marked = gfx10_marked,
     .counters = gfx10_counters,
     .caches = gfx10_caches,
     .cache_operations = gfx10_cache_operations,
     .rules = gfx10_rules},
    {.name = "GFX11",
     .processors = "gfx1100 to gfx1172",
     .places_by_cu_mode = true,
     .drops_fine_grained_float_atomics = true,
     .mnemonics = gfx11_mnemonics,
     .marked = gfx11_marked,
     .counters = gfx10_counters,
     .caches = gfx10_caches,
     .cache_operations = gfx10_cache_operations,
     .rules = gfx11_rules},
    {.name = "GFX12",
     .processors = "gfx1200, gfx1201",
     .places_by_cu_mode = true,
     .waits_before_system_store = true,
     .mnemonics = gfx12_mnemonics,
     .marked = gfx12_marked,
     .counters = gfx12_counters,
     .caches = gfx12_caches,
     .cache_operations = gfx12_cache_operations,
     .rules = gfx12_rules},
    {.name = "GFX12.5",
     .processors = "gfx1250, gfx1251",
     .has_clusters = true,
     .private_atomics = true,
     .waits_for_translation = true,
     .mnemonics = gfx12_mnemonics,
     .marked = gfx12_marked,
     .counters = gfx12_5_counters,
     .caches = gfx12_5_caches,
     .cache_operations = gfx12_5_cache_operations,
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

const CacheOperation* Generation::cache_operation(std::string_view instruction) const {
  const auto found = std::ranges::find(cache_operations, instruction, &CacheOperation::instruction);
  return found == cache_operations.end() ? nullptr : &*found;
}

std::span<const Generation> generations() { return table; }

const Generation& generation_of(const target::Processor& processor) {
  return table[row_of[static_cast<size_t>(processor.generation)]];
}

}  // namespace Atoll::memory_model
