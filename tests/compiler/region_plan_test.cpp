// Printed plans (atoll-compiler --dump-regions), and the validation of invalid plans.
#include "compiler/lowering/region_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/driver/compile.h"
#include "compiler/driver/measure.h"
#include "compiler/lowering/plan_text.h"
#include "compiler/lowering/plan_validation.h"
#include "engine/wave_runner.h"
#include "isa/decode.h"
#include "plan_matcher.h"
#include "semantics/host_vectors.h"
#include "support/command.h"
#include "support/parameter_name.h"

namespace Atoll::test {
namespace {

using compiler::MemoryOperands;
using compiler::MemorySpace;
using compiler::RegionItem;
using compiler::RegionPlan;
using testing::HasSubstr;
using testing::Not;

engine::TranslationRequest request_of(const std::string& source, std::string_view processor = "gfx90a",
                                      unsigned wave_size = 64) {
  target::Target target = *target::find_processor(processor);
  target.wave_size = static_cast<uint8_t>(wave_size);
  const std::vector<uint8_t> code = assemble(source, processor, wave_size);
  const auto base = reinterpret_cast<uint64_t>(code.data());
  const auto flow = engine::follow(base, {}, base, base + code.size(), target);
  return *engine::TranslationRequest::parse(engine::TranslationRequest::serialise(target, *flow, base, 0));
}

std::string dump(const std::string& source, std::string_view processor = "gfx90a", unsigned wave_size = 64) {
  std::string text;
  const auto done = compiler::dump_regions(request_of(source, processor, wave_size), text);
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_THAT(text, Not(HasSubstr("WRONG")));
  return text;
}

TEST(RegionDump, SaysWhatEachInstructionIs) {
  const std::string text = dump(R"(
    v_add_u32 v2, v0, v1
    global_load_dwordx2 v[6:7], v[4:5], off offset:24
    s_waitcnt 0
    v_cmp_lt_u32 vcc, 3, v1
    s_and_saveexec_b64 s[4:5], vcc
    ds_write2_b32 v2, v6, v7 offset0:1 offset1:3
    s_barrier
    v_mov_b32 v0, 0
    s_endpgm)");
  EXPECT_THAT(text, HasPlan(R"(
    region at 0x0
    v_add_u32 VALU
    NEXT: global_load_dwordx2 load, global, 8 bytes at 24
    NEXT: v_cmp_lt_u32 VALU
    NEXT: s_and_saveexec_b64 varying mask
    NEXT: ds_write2_b32 store, LDS, 4 bytes at 4
    NOT: interpreter fallback)"));
}

TEST(RegionDump, SaysWhichRegistersARegionReadsHoldsAndWrites) {
  // v3 is stored after the barrier, and v5 is dead.
  const std::string text = dump(R"(
    v_add_u32 v2, v0, v1
    s_add_u32 s6, s4, 1
    v_mul_lo_u32 v3, v2, s6
    v_mov_b32 v5, s9
    s_barrier
    global_store_dword v[8:9], v3, off
    s_endpgm)");
  EXPECT_THAT(text, HasSubstr("region at 0x0 to 0x10: 3 items\n"
                              "  reads v[0:1] s4 s9\n"
                              "  holds v[0:3] v5\n"
                              "  loop over items 0 to 2 writes v3\n"));
  EXPECT_THAT(text, HasSubstr("s_add_u32                scalar, before the loop"));
}

TEST(RegionDump, ExecHiIsARegisterLikeOthersInWavesOf32Lanes) {
  const std::string source = R"(
    v_add_nc_u32 v2, v0, v1
    v_add_nc_u32 v3, exec_hi, v2
    s_barrier
    global_store_dword v[8:9], v3, off
    s_endpgm)";
  EXPECT_THAT(dump(source, "gfx1030", 32), HasSubstr("  reads v[0:1] exec_hi\n"));
  EXPECT_THAT(dump(source, "gfx1030", 64), HasSubstr("  reads v[0:1]\n"));
}

TEST(RegionDump, SaysWhatIsLiveAndWhatBlocksMakeOfMasks) {
  const std::string text = dump(R"(
    v_cmp_lt_u32 vcc, s2, v1
    s_mov_b64 s[6:7], exec
    s_and_b64 exec, exec, vcc
    s_cbranch_execz over
    v_mov_b32 v3, v2
  over:
    s_mov_b64 exec, s[6:7]
    global_store_dword v[8:9], v3, off
    s_endpgm)");
  EXPECT_THAT(text, HasPlan(R"(
    block 0x0 to 0xc, entry
    NEXT: live scalars s2
    NEXT: live in active lanes v[1:3] v[8:9]
    mask s[6:7] = exec_lo exec_hi before
    NEXT: mask vcc_lo vcc_hi subset of exec before
    NEXT: mask exec_lo exec_hi subset of exec before
    block 0x10 to 0x10
    NEXT: live scalars s[6:7]
    NEXT: live in active lanes v2 v[8:9]
    NOT: mask
    block 0x14 to 0x20
    NEXT: live scalars s[6:7])"));
}

TEST(RegionDump, TheTranslationLimitCutsARegion) {
  engine::TranslationRequest request = request_of(R"(
    v_add_u32 v2, v0, v1
    v_add_u32 v3, v2, v1
    v_add_u32 v4, v3, v1
    s_barrier
    global_store_dword v[8:9], v4, off
    s_endpgm)");
  request.flow.aids.limit = 8;
  std::string text;
  ASSERT_TRUE(compiler::dump_regions(request, text));
  EXPECT_THAT(text, HasPlan(R"(
    region at 0x0 to 0x4: 2 items
    interpreter fallback at 0x8: v_add_u32
    NEXT: interpreter fallback at 0x10: global_store_dword
    NOT: region at)"));
}

TEST(IrDump, HasTheCodeAfterEachStep) {
  const engine::TranslationRequest request = request_of("v_add_u32 v2, v0, v1\ns_setpc_b64 s[0:1]");
  std::string all, one;
  ASSERT_TRUE(compiler::dump_ir(request, "", all));
  EXPECT_THAT(all, HasPlan(R"(
    ; after lowering
    NEXT: ; Function Attrs
    NEXT: define i8 @code0
    ; after optimise
    add
    ; after slow-paths
    ; after mask-scalarization
    ; after mask-expansion
    define i8 @code0)"));
  ASSERT_TRUE(compiler::dump_ir(request, "optimise", one));
  EXPECT_THAT(one, HasPlan("; after optimise\nNOT: ; after"));
}

TEST(PlanMatcher, FindsLinesInOrder) {
  const std::string text = "one  two\nthree\n four\n";
  EXPECT_EQ(plan_mismatch(text, "two\nNEXT: three\nfour"), std::nullopt);
  EXPECT_EQ(plan_mismatch(text, "one two\nNOT: three\nfour"), "has 'three', which NOT: excludes");
  EXPECT_EQ(plan_mismatch(text, "one\nNEXT: four"), "has 'three' where 'four' is next");
  EXPECT_EQ(plan_mismatch(text, "three\none"), "lacks 'one'");
  EXPECT_EQ(plan_mismatch(text, "three\nNOT: four"), "has 'four', which NOT: excludes");
}

TEST(RegionDump, SaysWhichMasksARegionMakes) {
  const std::string text = dump(R"(
    v_cmp_lt_u32 s[6:7], v1, v2
    v_cmp_gt_u32 s[8:9], v1, v2
    s_barrier
    v_cndmask_b32 v3, v1, v2, s[6:7]
    global_store_dword v[8:9], v3, off
    s_endpgm)");
  EXPECT_THAT(text, HasSubstr("  loop over items 0 to 1 writes mask s6\n"));
}

/// Sums up in v1 what is at v[2:3], s0 times.
constexpr const char* loop = R"(
    s_mov_b32 s0, 4
    s_mov_b32 s1, 1.0
  again:
    v_add_f32 v1, s1, v1
    global_load_dword v4, v[2:3], off offset:16
    s_waitcnt vmcnt(0)
    v_add_f32 v1, v1, v4
    s_sub_u32 s0, s0, 1
    s_cmp_lg_u32 s0, 0
    s_cbranch_scc1 again
    global_store_dword v[2:3], v1, off
    s_endpgm)";

TEST(RegionDump, SaysHowALoopGoesOnAndWhatItLeaves) {
  const std::string text = dump(loop);
  EXPECT_THAT(text, HasSubstr("loop region at 0x8: 1 blocks, 1 exits"));
  EXPECT_THAT(text,
              HasSubstr("  reads v[1:3] s[0:1]\n"
                        "  holds v[1:4]\n"
                        "  writes v1\n"
                        "  block 0x8 to 0x24: if scc back to 0x8, otherwise out to 0x28; the same for all chunks\n"));
  EXPECT_THAT(text, HasSubstr("global_load_dword        load, global, 4 bytes at 16"));
  EXPECT_THAT(text, HasSubstr("s_sub_u32                scalar, the same for each chunk"));
}

TEST(RegionDump, SaysThatChunksLeaveALoopByThemselves) {
  const std::string text = dump(R"(
    s_mov_b64 s[4:5], exec
  again:
    v_sub_u32 v1, v1, v2
    v_cmp_lt_u32 vcc, v2, v1
    s_and_b64 exec, exec, vcc
    s_cbranch_execnz again
    s_mov_b64 exec, s[4:5]
    global_store_dword v[2:3], v1, off
    s_endpgm)");
  EXPECT_THAT(text, HasSubstr("if exec back to 0x4, otherwise out to 0x14; each chunk decides for itself"));
}

TEST(RegionDump, RegionsMayBeginWithWhatIsDoneAfterTheirLoop) {
  const std::string text = dump(R"(
    v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]
    s_or_saveexec_b64 s[4:5], s[6:7]
    v_mov_b32 v2, v3
    s_barrier
    global_store_dword v[8:9], v2, off
    s_endpgm)");
  EXPECT_THAT(text, HasSubstr("region at 0x0 to 0xc: 3 items, every chunk"));
  EXPECT_THAT(text, HasSubstr("matrix, after the loop"));
}

/// Plans of instructions that are decoded here.
class Plan {
 public:
  explicit Plan(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      const auto decoded = isa::decode(assemble(line, "gfx90a"), *target::find_processor("gfx90a"));
      instructions_.push_back(std::make_unique<isa::Instruction>(*decoded));
      RegionItem& item = plan.items.emplace_back();
      item.instruction = instructions_.back().get();
      item.pc = 8 * plan.items.size();
      if (const auto operands = compiler::memory_operands(*item.instruction)) {
        item.access.emplace();
        item.access->operands = *operands;
      } else {
        item.is_vector = true;
      }
    }
  }
  std::string faults() const {
    std::string text;
    for (const std::string& fault : compiler::faults_of(plan)) text += fault + "; ";
    return text;
  }

  /// As the compiler has it: in one loop, after which these rows and scalars are needed.
  Plan& finish(std::initializer_list<unsigned> rows, std::initializer_list<unsigned> scalars = {}) {
    using Lowering = compiler::VaryingMasks::Lowering;
    for (size_t i = 0; i < plan.items.size(); ++i) {
      RegionItem& item = plan.items[i];
      const Lowering how = plan.masks.lowering(*item.instruction, i != 0);
      item.is_vector = how == Lowering::lanes;
      plan.every_chunk |= how == Lowering::on_varying_masks;
      item.exec_written = plan.masks.exec_written;
      plan.masks.step(*item.instruction, how);
      plan.steps.push_back({.instruction = item.instruction, .pc = item.pc, .how = how, .items_end = i + 1});
    }
    for (const unsigned key : rows) plan.live.active.set(key);
    for (const unsigned reg : scalars) plan.live.scalars.set(reg);
    plan.plan_loops(2);
    return *this;
  }

  RegionPlan plan;

 private:
  std::vector<std::unique_ptr<isa::Instruction>> instructions_;
};

TEST(RegionPlan, StoresAndLoadsOfTheSameMemoryDoNotMeet) {
  const std::string load = "global_load_dword v3, v[4:5], off", store = "global_store_dword v[4:5], v3, off";
  const std::string write = "ds_write_b32 v2, v3", read = "ds_read_b32 v3, v2";
  EXPECT_EQ(Plan({load, "v_add_u32 v3, v3, v3", write}).faults(), "");
  EXPECT_THAT(Plan({store, load}).faults(), HasSubstr("global_load_dword at 0x10 meets a store"));
  EXPECT_THAT(Plan({load, store}).faults(), HasSubstr("global_store_dword at 0x10 stores after a load"));
  EXPECT_EQ(Plan({store, write}).faults(), "");
  EXPECT_THAT(Plan({write, read}).faults(), HasSubstr("ds_read_b32 at 0x10 meets a store"));

  Plan versioned({load, store});
  versioned.plan.last_store = 1;
  EXPECT_THAT(versioned.faults(), HasSubstr("in one form"));
  versioned.plan.is_versioned = true;
  EXPECT_EQ(versioned.faults(), "");
}

TEST(RegionPlan, NothingNeedsWhatAMatrixInstructionYields) {
  Plan plan({"v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]", "v_accvgpr_read_b32 v2, a1"});
  plan.plan.items[0].is_vector = false;
  plan.plan.items[0].is_matrix = true;
  EXPECT_THAT(plan.faults(), HasSubstr("v_accvgpr_read_b32 at 0x10 works on what a matrix"));
}

TEST(RegionPlan, NothingMayFailAfterAStoreThatWaits) {
  Plan plan({"ds_write_b32 v2, v3", "global_load_dword v3, v[4:5], off"});
  plan.plan.items[0].is_deferred = true;
  EXPECT_THAT(plan.faults(), HasSubstr("may fail after a store that waits"));
}

TEST(RegionPlan, WhatIsNeededAfterwardsIsWritten) {
  Plan plan({"v_add_u32 v2, v0, v1", "v_mov_b32 v3, v2", "v_cmp_lt_u32 s[6:7], v1, v2"});
  plan.finish({3, 200}, {6, 7});
  EXPECT_EQ(plan.faults(), "");
  EXPECT_EQ(compiler::names_of(plan.plan.loops.at(0).results.rows), "v3");
  EXPECT_EQ(plan.plan.loops.at(0).results.masks, std::vector<unsigned>{6});

  compiler::ChunkResults& results = plan.plan.loops[0].results;
  results.rows.reset(3);
  EXPECT_THAT(plan.faults(), HasSubstr("v3 is needed after the region and not written"));
  results.rows.set(3).set(7);
  EXPECT_THAT(plan.faults(), HasSubstr("v7 is written and has no value in the region"));
  results.rows.reset(7);
  results.masks = {};
  EXPECT_THAT(plan.faults(), HasSubstr("s6 is a mask that is needed and not gathered"));
  results.masks = {6, 20};
  EXPECT_THAT(plan.faults(), HasSubstr("s20 is gathered and does not vary"));
}

TEST(RegionPlan, LoopsHaveAllItemsOnce) {
  Plan plan({"v_add_u32 v2, v0, v1", "v_mov_b32 v3, v2", "v_mov_b32 v4, v2"});
  plan.finish({3, 4});
  EXPECT_EQ(plan.faults(), "");
  plan.plan.loops[0].end = 2;
  plan.plan.loops[0].results.rows.reset(4);
  EXPECT_THAT(plan.faults(), HasSubstr("items from 2 on are in no loop"));
  plan.plan.loops[0].first = 1;
  EXPECT_THAT(plan.faults(), HasSubstr("does not begin at item 0"));
}

TEST(RegionPlan, MasksAreWhatTheInstructionsMakeOfThem) {
  const std::vector<std::string> lines{"v_cmp_lt_u32 vcc, v0, v1", "s_and_saveexec_b64 s[4:5], vcc",
                                       "v_mov_b32 v3, v2"};
  EXPECT_EQ(Plan(lines).finish({3}).faults(), "");

  Plan without_masks(lines);
  without_masks.finish({3}).plan.masks = {};
  EXPECT_THAT(without_masks.faults(), HasSubstr("the masks after the region are other ones"));

  Plan before_loop(lines);
  before_loop.finish({3}).plan.steps[1].how = compiler::VaryingMasks::Lowering::scalars;
  EXPECT_THAT(before_loop.faults(),
              HasSubstr("s_and_saveexec_b64 at 0x10 cannot be executed in the way that the plan has for it"));

  Plan few_chunks(lines);
  few_chunks.finish({3}).plan.every_chunk = false;
  EXPECT_THAT(few_chunks.faults(),
              HasSubstr("s_and_saveexec_b64 at 0x10 is needed of chunks without active lanes, too"));
}

TEST(RegionPlan, StridesNeedTheLanesThatTheyAreKnownOf) {
  Plan plan({"v_cmp_lt_u32 vcc, v0, v1", "s_and_b64 exec, exec, vcc", "global_load_dwordx2 v[2:3], v[4:5], off"});
  plan.finish({2, 3});
  EXPECT_EQ(plan.faults(), "");
  plan.plan.items[2].address.emplace();
  plan.plan.items[2].stride = 8;
  EXPECT_THAT(plan.faults(), HasSubstr("global_load_dwordx2 at 0x18 has a stride that needs lanes which may be off"));
  plan.plan.items[2].stride = 20;
  EXPECT_THAT(plan.faults(), HasSubstr("cannot have a stride of 20"));
}

/// The plan of a loop that is assembled here.
class PlannedLoop {
 public:
  explicit PlannedLoop(const std::string& source) : request_(request_of(source)), liveness_(request_.flow) {
    const auto loops = compiler::find_loop_regions(request_.flow, liveness_);
    EXPECT_EQ(loops.size(), 1u);
    if (!loops.empty()) plan = compiler::plan_loop(loops[0], request_.flow, liveness_);
  }
  std::string faults() const { return faults_in(request_.flow, liveness_); }
  /// If the plan were of other code.
  std::string faults_for(const std::string& source) const {
    const engine::TranslationRequest request = request_of(source);
    return faults_in(request.flow, compiler::Liveness(request.flow));
  }

  compiler::LoopPlan plan;

 private:
  std::string faults_in(const engine::ControlFlow& flow, const compiler::Liveness& liveness) const {
    return fmt::format("{}", fmt::join(compiler::faults_of(plan, flow, liveness), "; "));
  }

  engine::TranslationRequest request_;
  compiler::Liveness liveness_;
};

TEST(LoopPlan, WhatExitsNeedIsWritten) {
  PlannedLoop planned(loop);
  EXPECT_EQ(planned.faults(), "");
  planned.plan.results.rows.reset(1);
  EXPECT_EQ(planned.faults(), "0x28 needs v1, which the loop does not write back");

  PlannedLoop counting(std::string(loop).replace(std::string(loop).find("global_store"), 0, "v_add_u32 v1, v1, s0\n"));
  EXPECT_EQ(counting.faults(), "");
  EXPECT_EQ(counting.plan.words, std::vector<unsigned>{0});
  counting.plan.words.clear();
  EXPECT_EQ(counting.faults(), "0x28 needs s0, which the loop does not write back");
}

TEST(LoopPlan, AllWaysAreKnown) {
  PlannedLoop without_exit(loop);
  without_exit.plan.region.exits.clear();
  EXPECT_THAT(without_exit.faults(), HasSubstr("0x8 leads to 0x28, which is neither in the loop nor an exit"));
  EXPECT_THAT(without_exit.faults(), HasSubstr("0x8 is a loop without an exit"));

  PlannedLoop elsewhere(loop);
  elsewhere.plan.region.entry = 0;
  EXPECT_THAT(elsewhere.faults(), HasSubstr("0x0 is the loop's entry and not in it"));
  EXPECT_THAT(elsewhere.faults(), HasSubstr("0x8 is entered from outside of the loop"));
  EXPECT_THAT(elsewhere.faults(), HasSubstr("0x0 is not a loop: nothing branches back to it"));

  PlannedLoop larger(loop);
  larger.plan.region.blocks.insert(0x1000);
  EXPECT_THAT(larger.faults(), HasSubstr("0x1000 is an unknown block"));
}

TEST(LoopPlan, MasksAreWhatTheInstructionsMakeOfThem) {
  const std::string source = R"(
    s_mov_b64 s[4:5], exec
  again:
    v_sub_u32 v1, v1, v2
    v_cmp_lt_u32 vcc, v2, v1
    s_and_b64 exec, exec, vcc
    s_cbranch_execnz again
    s_mov_b64 exec, s[4:5]
    global_store_dword v[2:3], v1, off
    s_endpgm)";
  PlannedLoop planned(source);
  EXPECT_EQ(planned.faults(), "");
  planned.plan.region.states[0x4] = {};
  EXPECT_THAT(planned.faults(), HasSubstr("0x4 is come to from 0x4 with other masks than are known"));
}

TEST(LoopPlan, NothingIsStored) {
  // As above for a loop with a store in place of the load.
  std::string storing = loop;
  const std::string load = "global_load_dword v4, v[2:3], off";
  storing.replace(storing.find(load), load.size(), "global_store_dword v[2:3], v4, off");
  EXPECT_THAT(PlannedLoop(loop).faults_for(storing), HasSubstr("0xc is a store, which another chunk's load may meet"));
}

/// The kernels of tests/kernels as clang compiles them: whatever regions they have, their plans are right.
class RegionPlansOfKernels : public testing::TestWithParam<std::string> {};

TEST_P(RegionPlansOfKernels, AreRight) {
  const std::string& processor = GetParam();
  const TemporaryDirectory directory;
  const std::string object = directory / "kernels";
  for (const char* source :
       {"-x c -std=c2x KERNELS/integers.h", "-x c -std=c2x KERNELS/floats.h", "-x c -std=c2x KERNELS/control_flow.h",
        "-x c -std=c2x KERNELS/memory.h", "-x c -std=c2x KERNELS/algorithms.h",
        "-x c++ -std=c++20 -fno-rtti -fno-exceptions KERNELS/classes.h", "-x c -std=c2x KERNELS/brains.c",
        "-x cl -cl-std=CL2.0 KERNELS/groups.cl", "-x cl -cl-std=CL2.0 KERNELS/atomics.cl"}) {
    std::string file = source;
    file.replace(file.find("KERNELS"), 7, KERNELS);
    const auto compiled = run_command(fmt::format(
        "clang-22 -target amdgcn-amd-amdhsa -nogpulib -fvisibility=default -ffp-contract=off -w -O3 -mcpu={} {} -o {} "
        "2>&1",
        processor, file, object));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
    testing::internal::CaptureStdout();
    const int exit_code = compiler::print_regions(object, processor, "");
    const std::string text = testing::internal::GetCapturedStdout();
    EXPECT_EQ(exit_code, 0) << file;
    EXPECT_THAT(text, Not(HasSubstr("WRONG"))) << file;
    EXPECT_THAT(text, HasSubstr("region at ")) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RegionPlansOfKernels, testing::Values("gfx90a", "gfx1201"), test::NamedByParameter());

}  // namespace
}  // namespace Atoll::test
