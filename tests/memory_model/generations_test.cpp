// The table of generations: that its parts fit each other, and sequences that the user guide spells out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>

#include "memory_model/sequence.h"
#include "target/processor.h"

namespace Atoll {
namespace {

using memory_model::CacheAction;
using memory_model::Counter;
using memory_model::Generation;
using memory_model::Operation;
using memory_model::Placement;
using memory_model::Step;
using memory_model::StepKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Generation& generation(std::string_view processor) {
  return memory_model::generation_of(*target::find_processor(processor));
}

std::vector<std::string> code(std::string_view processor, const char* text, const Placement& placement = {}) {
  const auto steps = memory_model::sequence(generation(processor), *memory_model::parse_operation(text), placement);
  std::vector<std::string> instructions;
  if (!steps) return {steps.error().message};
  for (const Step& each : *steps) instructions.push_back(each.instruction);
  return instructions;
}

TEST(MemoryModelTable, EveryStepHasAReasonAndEveryCacheOperationIsKnown) {
  for (const Generation& each : memory_model::generations()) {
    for (const Operation& operation : memory_model::every_operation()) {
      for (const Placement& placement :
           {Placement{}, Placement{.cu_mode = true}, Placement{.split_work_groups = true}}) {
        const auto steps = memory_model::sequence(each, operation, placement);
        if (!steps) continue;
        for (const Step& step : *steps) {
          const bool plain = operation == Operation{.access = operation.access, .space = operation.space};
          EXPECT_TRUE(plain || !step.reason.empty()) << each.name << ' ' << to_string(operation);
          EXPECT_EQ(step.kind == StepKind::wait, step.waits != 0);
          const auto* cache = each.cache_operation(step.opcode, step.policy.scope);
          EXPECT_EQ(cache != nullptr, step.kind == StepKind::write_back || step.kind == StepKind::invalidate)
              << step.instruction;
          if (cache != nullptr)
            EXPECT_EQ(cache->action == CacheAction::write_back, step.kind == StepKind::write_back) << step.instruction;
        }
      }
    }
  }
}

TEST(MemoryModelTable, EveryProcessorHasTheGenerationOfItsName) {
  for (const auto& [processor, name] : {std::pair{"gfx601", "GFX6"},
                                        {"gfx705", "GFX7-GFX8"},
                                        {"gfx810", "GFX7-GFX8"},
                                        {"gfx908", "GFX9"},
                                        {"gfx90c", "GFX9"},
                                        {"gfx90a", "GFX90A"},
                                        {"gfx950", "GFX942"},
                                        {"gfx9-4-generic", "GFX942"},
                                        {"gfx1036", "GFX10"},
                                        {"gfx1151", "GFX11"},
                                        {"gfx1170", "GFX11"},
                                        {"gfx1201", "GFX12"},
                                        {"gfx1251", "GFX12.5"}})
    EXPECT_EQ(generation(processor).name, name) << processor;
}

TEST(MemoryModelTable, CountersThatACacheOperationCompletesByAreTheGenerations) {
  for (const Generation& each : memory_model::generations()) {
    for (const auto& operation : each.cache_operations)
      EXPECT_EQ(operation.counter != Counter::count, each.find(operation.counter) != nullptr)
          << each.name << ' ' << each.text(operation.opcode, operation.policy);
    for (const auto& operation : each.cache_operations) {
      EXPECT_TRUE(
          std::ranges::any_of(each.caches, [&](const auto& cache) { return has(operation.caches, cache.cache); }))
          << each.name << ' ' << each.text(operation.opcode, operation.policy);
    }
    EXPECT_NE(each.find(Counter::load), nullptr);
    EXPECT_NE(each.find(Counter::lds), nullptr);
  }
}

// The user guide's rows, as its tables have them.
TEST(MemoryModelTable, HasTheUserGuidesSequences) {
  EXPECT_THAT(code("gfx900", "atomic load acquire agent generic"),
              ElementsAre("flat_load_dword glc", "s_waitcnt vmcnt(0) lgkmcnt(0)", "buffer_wbinvl1_vol"));
  EXPECT_THAT(code("gfx900", "atomic store release workgroup local"), ElementsAre("ds_write_b32"));
  EXPECT_THAT(code("gfx90a", "fence acq_rel system"),
              ElementsAre("buffer_wbl2", "s_waitcnt vmcnt(0) lgkmcnt(0)", "buffer_invl2", "buffer_wbinvl1_vol"));
  EXPECT_THAT(code("gfx942", "atomicrmw acq_rel system generic"),
              ElementsAre("buffer_wbl2 sc0 sc1", "s_waitcnt vmcnt(0) lgkmcnt(0)", "flat_atomic_add sc0 sc1",
                          "s_waitcnt vmcnt(0) lgkmcnt(0)", "buffer_inv sc0 sc1"));
  EXPECT_THAT(code("gfx1030", "atomicrmw no-return acq_rel workgroup local"),
              ElementsAre("s_waitcnt vmcnt(0)", "s_waitcnt_vscnt null, 0x0", "ds_add_u32", "s_waitcnt lgkmcnt(0)",
                          "buffer_gl0_inv"));
  EXPECT_THAT(code("gfx1100", "fence release agent local"), ElementsAre("s_waitcnt lgkmcnt(0)"));
  EXPECT_THAT(
      code("gfx1200", "atomic store release system global"),
      ElementsAre("global_wb scope:SCOPE_SYS", "s_wait_bvhcnt 0x0", "s_wait_samplecnt 0x0", "s_wait_loadcnt 0x0",
                  "s_wait_storecnt 0x0", "s_wait_dscnt 0x0", "global_store_b32 scope:SCOPE_SYS"));
  EXPECT_THAT(
      code("gfx1250", "fence acq_rel agent"),
      ElementsAre("s_wait_loadcnt 0x0", "s_wait_storecnt 0x0", "global_wb scope:SCOPE_DEV", "s_wait_loadcnt 0x0",
                  "s_wait_storecnt 0x0", "s_wait_dscnt 0x0", "global_inv scope:SCOPE_DEV", "s_wait_loadcnt 0x0"));
}

TEST(MemoryModelTable, PlacementDecidesWhatAWorkGroupShares) {
  const char* load = "atomic load acquire workgroup global";
  EXPECT_THAT(code("gfx1030", load), ElementsAre("global_load_dword glc", "s_waitcnt vmcnt(0)", "buffer_gl0_inv"));
  EXPECT_THAT(code("gfx1030", load, {.cu_mode = true}), ElementsAre("global_load_dword"));
  EXPECT_THAT(code("gfx1030", load, {.single_wave = true}), ElementsAre("global_load_dword"));
  EXPECT_THAT(code("gfx90a", load), ElementsAre("global_load_dword"));
  EXPECT_THAT(code("gfx90a", load, {.split_work_groups = true}),
              ElementsAre("global_load_dword glc", "s_waitcnt vmcnt(0)", "buffer_wbinvl1_vol"));
  EXPECT_THAT(code("gfx90a", "fence acq_rel workgroup", {.single_wave = true}), IsEmpty());
  EXPECT_THAT(code("gfx90a", "load local", {.split_work_groups = true})[0], HasSubstr("no local memory"));
  EXPECT_THAT(code("gfx600", "load generic")[0], HasSubstr("no flat instructions"));
}

}  // namespace
}  // namespace Atoll
