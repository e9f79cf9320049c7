// Where code stops to look at whether what it reads is defined.
#include "compiler/analysis/check_intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "comparison.h"
#include "isa/table.h"
#include "target/processor.h"

namespace Atoll::test {
namespace {

using compiler::CheckInterval;
using testing::ElementsAre;

struct Found {
  std::vector<CheckInterval> intervals;
  std::vector<std::string> begins;  ///< with which instructions
};

/// Returns the stretches of code without branches. The interpreter's handler reports v_writelane_b32.
Found check_intervals_of(const std::string& source) {
  const std::vector<uint8_t> code = assemble(source + "\ns_endpgm", "gfx90a");
  const auto begin = reinterpret_cast<uint64_t>(code.data());
  const auto flow = engine::follow(begin, {}, begin, begin + code.size(), *target::find_processor("gfx90a"));
  if (!flow) throw std::runtime_error(flow.error().message);
  const engine::Block& block = flow->blocks.at(begin);
  Found found;
  found.intervals = compiler::check_intervals_of(
      block, flow->lane_mask_words(),
      [](const isa::Instruction& instruction) { return instruction.opcode == isa::Opcode::v_writelane_b32; });
  for (const CheckInterval& interval : found.intervals) {
    found.begins.emplace_back(isa::row(block.instructions[interval.first].instruction.opcode).name);
  }
  return found;
}

std::vector<unsigned> numbers(const isa::VectorSet& set) {
  std::vector<unsigned> found;
  for (unsigned i = 0; i < set.size(); ++i) {
    if (set[i]) found.push_back(i);
  }
  return found;
}

TEST(CheckIntervals, ReadWhatTheyHaveNotWritten) {
  const Found found = check_intervals_of(R"(
    v_mov_b32 v1, s4
    v_add_u32 v2, v1, v3
    v_mac_f32 v5, v2, v2
    s_add_u32 s6, s4, s7
    s_addc_u32 s8, s6, 0)");
  EXPECT_THAT(found.begins, ElementsAre("v_mov_b32", "s_endpgm"));
  const CheckInterval& interval = found.intervals[0];
  EXPECT_THAT(numbers(interval.reads), ElementsAre(3, 5));
  EXPECT_THAT(numbers(interval.writes), ElementsAre(1, 2, 5));
  EXPECT_TRUE(interval.reads_all.none());
  EXPECT_TRUE(interval.scalar_reads[4] && interval.scalar_reads[7]);
  EXPECT_FALSE(interval.scalar_reads[6] || interval.scalar_reads[isa::scc_number]);
  EXPECT_TRUE(interval.scalar_writes[8] && interval.scalar_writes[isa::scc_number]);
  EXPECT_FALSE(interval.accesses);
}

TEST(CheckIntervals, EndBeforeWhatTheyHaveLoadedIsUsed) {
  EXPECT_THAT(check_intervals_of(R"(
    global_load_dword v1, v[2:3], off
    v_add_u32 v4, v5, v6
    v_add_u32 v4, v4, v1)")
                  .begins,
              ElementsAre("global_load_dword", "v_add_u32", "s_endpgm"));
  // The instruction that writes the register would otherwise define it before the load is reported.
  EXPECT_THAT(check_intervals_of("ds_read_b32 v1, v2\nv_mov_b32 v1, 0").begins,
              ElementsAre("ds_read_b32", "v_mov_b32", "s_endpgm"));
  EXPECT_THAT(check_intervals_of("s_load_dwordx2 s[2:3], s[4:5], 0\ns_mov_b32 s7, s6\ns_mov_b32 s8, s3").begins,
              ElementsAre("s_load_dwordx2", "s_mov_b32", "s_endpgm"));
  EXPECT_THAT(check_intervals_of("global_store_dword v[2:3], v1, off\nv_mov_b32 v1, 0").begins,
              ElementsAre("global_store_dword", "s_endpgm"));
}

TEST(CheckIntervals, HaveTheSameLanesThroughout) {
  const Found found = check_intervals_of(R"(
    v_mov_b32 v1, 0
    v_cmp_lt_u32 vcc, v2, v3
    s_and_saveexec_b64 s[4:5], vcc
    v_mov_b32 v1, 1
    s_or_b64 exec, exec, s[4:5]
    v_mov_b32 v4, v1)");
  EXPECT_THAT(found.begins, ElementsAre("v_mov_b32", "v_mov_b32", "v_mov_b32", "s_endpgm"));
  // EXEC itself is never undefined.
  EXPECT_FALSE(found.intervals[1].scalar_reads[isa::scalar::exec_lo]);
  EXPECT_THAT(numbers(found.intervals[2].reads), ElementsAre(1));
}

TEST(CheckIntervals, LanesThatReadOthersNeedAllOfThem) {
  const Found found =
      check_intervals_of("v_mov_b32 v1, 0\nv_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0");
  EXPECT_TRUE(found.intervals[0].reads_all[1]);
}

TEST(CheckIntervals, WhatIsToldIsOneByItself) {
  const Found found = check_intervals_of("v_mov_b32 v1, 0\nv_writelane_b32 v2, s4, 3\nv_mov_b32 v3, v2");
  EXPECT_THAT(found.begins, ElementsAre("v_mov_b32", "v_writelane_b32", "v_mov_b32", "s_endpgm"));
  EXPECT_TRUE(found.intervals[1].must_report);
  EXPECT_TRUE(found.intervals[1].writes.none());
}

/// As (addend, sum, carry).
std::vector<std::array<uint64_t, 3>> upper_halves(const CheckInterval& interval) {
  std::vector<std::array<uint64_t, 3>> found;
  for (const machine::UpperHalf& half : interval.upper_halves) found.push_back({half.addend, half.sum, half.carry});
  return found;
}

TEST(CheckIntervals, MayAddWhatIsUndefinedToUpperHalves) {
  constexpr uint64_t none = machine::UpperHalf::none;
  using Half = std::array<uint64_t, 3>;
  const CheckInterval unused =
      check_intervals_of("v_mad_u64_u32 v[4:5], s[6:7], v1, s4, v[2:3]\nv_mov_b32 v6, v4").intervals[0];
  EXPECT_THAT(numbers(unused.reads), ElementsAre(1, 2));
  EXPECT_THAT(upper_halves(unused), ElementsAre(Half{3, 5, 6}));

  // The result goes to another sum, and is overwritten.
  const CheckInterval handed_on = check_intervals_of(R"(
    v_mad_u64_u32 v[4:5], s[6:7], v1, s4, v[2:3]
    v_mad_u64_u32 v[6:7], s[8:9], v1, s4, v[4:5]
    v_mov_b32 v5, 0
    s_mov_b64 s[8:9], 0)")
                                      .intervals[0];
  EXPECT_THAT(upper_halves(handed_on), ElementsAre(Half{3, none, 6}, Half{3, 7, none}));
}

TEST(CheckIntervals, NeedUpperHalvesThatTheyUse) {
  for (const std::string use : {"v_mov_b32 v6, v5", "s_mov_b32 s8, s7", "v_lshlrev_b64 v[8:9], 2, v[4:5]"}) {
    const CheckInterval interval =
        check_intervals_of("v_mad_u64_u32 v[4:5], s[6:7], v1, s4, v[2:3]\n" + use).intervals[0];
    EXPECT_THAT(numbers(interval.reads), ElementsAre(1, 2, 3)) << use;
    EXPECT_THAT(upper_halves(interval), ElementsAre()) << use;
  }
  // Cases: registers that are also used otherwise, that the stretch has written, and rows that others read.
  const CheckInterval factor = check_intervals_of("v_mad_u64_u32 v[4:5], s[6:7], v3, s4, v[2:3]").intervals[0];
  EXPECT_THAT(numbers(factor.reads), ElementsAre(2, 3));
  const CheckInterval written =
      check_intervals_of("v_mov_b32 v3, 0\nv_mad_u64_u32 v[4:5], s[6:7], v1, s4, v[2:3]").intervals[0];
  EXPECT_THAT(numbers(written.reads), ElementsAre(1, 2));
  EXPECT_THAT(upper_halves(written), ElementsAre());
  const CheckInterval across = check_intervals_of(
                                   "v_mad_u64_u32 v[4:5], s[6:7], v1, s4, v[2:3]\n"
                                   "v_mov_b32_dpp v6, v5 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0")
                                   .intervals[0];
  EXPECT_TRUE(across.reads_all[3]);
}

}  // namespace
}  // namespace Atoll::test
