// What becomes of code as text (atoll-compiler --dump-regions), and what is wrong with plans that are made wrong.
#include "compiler/lowering/region_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/driver/compile.h"
#include "engine/wave_runner.h"
#include "isa/decode.h"
#include "semantics/host_vectors.h"

namespace Atoll::test {
namespace {

using compiler::MemoryOperands;
using compiler::MemorySpace;
using compiler::RegionItem;
using compiler::RegionPlan;
using testing::HasSubstr;

std::string dump(const std::string& source) {
  const target::Processor& processor = *target::find_processor("gfx90a");
  const std::vector<uint8_t> code = assemble(source, "gfx90a");
  const auto base = reinterpret_cast<uint64_t>(code.data());
  const auto flow = engine::follow(base, {}, base, base + code.size(), processor);
  const auto bytes = engine::TranslationRequest::serialise(processor, *flow, base, 0);
  return compiler::dump_regions(*engine::TranslationRequest::parse(bytes));
}

TEST(RegionDump, SaysWhatEachInstructionIs) {
  const std::string text = dump(R"(
    v_add_u32 v2, v0, v1
    global_load_dword v3, v[4:5], off
    s_waitcnt 0
    v_cmp_lt_u32 vcc, 3, v1
    s_and_saveexec_b64 s[4:5], vcc
    ds_write_b32 v2, v3
    s_barrier
    v_mov_b32 v0, 0
    s_endpgm)");
  EXPECT_THAT(text, HasSubstr("v_add_u32                VALU"));
  EXPECT_THAT(text, HasSubstr("global_load_dword        load, global"));
  EXPECT_THAT(text, HasSubstr("s_and_saveexec_b64       varying mask"));
  EXPECT_THAT(text, HasSubstr("ds_write_b32             store, LDS"));
  EXPECT_THAT(text, testing::Not(HasSubstr("WRONG")));
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

}  // namespace
}  // namespace Atoll::test
