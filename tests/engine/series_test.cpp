// Kernels whose waves the compiled engine runs in series (machine::WaveBatch), seen from outside: results, statistics
// and faults are those of each wave.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "engine/compiled/compiled_engine.h"
#include "machine/fixture.h"
#include "machine/guest_vector.h"
#include "support/parameter_name.h"

namespace Atoll::test {
namespace {

using testing::HasSubstr;

class SeriesOnGpu : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override { setenv("ATOLL_COMPILE", "wait", 1); }
  void TearDown() override { unsetenv("ATOLL_COMPILE"); }

  void start(const std::string& body, const std::string& denormals = "float_denorm_mode_32 3",
             const std::string& processor = "gfx90a") {
    const auto model = target::find_gpu(processor);
    ASSERT_TRUE(model) << model.error().message;
    auto made = machine::Gpu::create(*model, engine::make_compiled_engine, {.threads = GetParam()});
    ASSERT_TRUE(made) << made.error().message;
    gpu_ = *std::move(made);
    code_ = load(*gpu_, assemble_kernel(processor,
                                        {"next_free_vgpr 8", "next_free_sgpr 16", denormals,
                                         "user_sgpr_kernarg_segment_ptr 1", "system_sgpr_workgroup_id_x 1",
                                         "system_sgpr_workgroup_id_y 1", "system_vgpr_workitem_id 1"},
                                        body));
  }
  auto run(std::array<uint32_t, 3> grid, std::array<uint16_t, 3> group, const GuestVector<const void*>& arguments) {
    auto packet = packet_for(*code_, grid, group);
    packet.kernarg_address = reinterpret_cast<uint64_t>(arguments.data());
    return gpu_->run(packet);
  }

  std::unique_ptr<machine::Gpu> gpu_;
  std::shared_ptr<machine::LoadedCode> code_;
};

INSTANTIATE_TEST_SUITE_P(Threads, SeriesOnGpu, testing::Values(1, 2), test::NamedByParameter());

TEST_P(SeriesOnGpu, WhatIsNotCompiledYetCountsAsInterpreted) {
  unsetenv("ATOLL_COMPILE");
  // Code that no cache has.
  start(fmt::format("s_mov_b32 s4, {:#x}\ns_barrier\nv_mov_b32 v1, s4\ns_endpgm", std::random_device()()));
  const auto ran = run({3 * 128, 1, 1}, {128, 1, 1}, {});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->wave_instructions, 3u * 2 * 4);
  EXPECT_EQ(ran->interpreted_instructions, ran->wave_instructions);
}

TEST_P(SeriesOnGpu, EveryWorkItemKnowsItsPlace) {
  // 5 by 4 work-groups of 24 by 10 work-items, those at the edges smaller.
  constexpr uint32_t width = 24 * 4 + 7, height = 10 * 3 + 4;
  start(R"(
    v_and_b32 v1, 0x3ff, v0
    v_bfe_u32 v2, v0, 10, 10
    s_mul_i32 s2, s2, 24
    s_mul_i32 s3, s3, 10
    v_add_u32 v1, s2, v1
    v_add_u32 v2, s3, v2
    s_load_dwordx2 s[0:1], s[0:1], 0x0
    v_mul_u32_u24 v3, 103, v2
    v_add_u32 v3, v3, v1
    v_lshlrev_b32 v3, 2, v3
    v_lshlrev_b32 v2, 8, v2
    v_cmp_gt_u32 vcc, 20, v1
    s_and_saveexec_b64 s[4:5], vcc
    v_add_u32 v5, v5, v1
    s_mov_b64 exec, s[4:5]
    v_add_u32 v5, v5, v2
    s_waitcnt lgkmcnt(0)
    global_load_dword v4, v3, s[0:1]
    v_add_u32 v5, 1, v5
    s_waitcnt vmcnt(0)
    v_add_u32 v4, v4, v5
    global_store_dword v3, v4, s[0:1]
    s_endpgm)");
  GuestVector<uint32_t> out(width * height);
  const GuestVector<const void*> arguments{out.data()};
  constexpr uint32_t rounds = 30;
  for (uint32_t round = 0; round < rounds; ++round) {
    const auto ran = run({width, height, 1}, {24, 10, 1}, arguments);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->work_groups, 20u);
    // Whole work-groups have four waves, those at the right 70 work-items, those below 96 and the one at the corner 28.
    constexpr uint32_t waves = 12 * 4 + 3 * 2 + 4 * 2 + 1;
    EXPECT_EQ(ran->waves, waves);
    EXPECT_EQ(ran->wave_instructions, uint64_t{waves} * 23);
    EXPECT_EQ(ran->interpreted_instructions, 0u);
  }
  EXPECT_EQ(gpu_->engine_report().translations.size(), 1u);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      EXPECT_EQ(out[y * width + x], rounds * ((x < 20 ? x : 0) + 256 * y + 1)) << x << ", " << y;
    }
  }
}

/// GFX12 has the ids of work-groups and of waves in TTMPs. The waves have 32 lanes.
TEST_P(SeriesOnGpu, EveryWaveKnowsItsNumber) {
  start(R"(
    s_load_b64 s[0:1], s[0:1], 0x0
    s_bfe_u32 s4, ttmp8, 0x50019
    s_lshl_b32 s5, ttmp9, 4
    s_lshl_b32 s6, ttmp9, 9
    s_add_co_u32 s4, s4, s5
    v_and_b32 v1, 0x3ff, v0
    v_lshl_add_u32 v1, v1, 2, s6
    v_mov_b32 v2, s4
    s_wait_kmcnt 0x0
    global_store_b32 v1, v2, s[0:1]
    s_endpgm)",
        "float_denorm_mode_32 3", "gfx1201");
  constexpr uint32_t groups = 40;
  GuestVector<uint32_t> out(groups * 128);
  const GuestVector<const void*> arguments{out.data()};
  const auto ran = run({groups * 128, 1, 1}, {128, 1, 1}, arguments);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->waves, groups * 4);
  EXPECT_EQ(ran->wave_instructions, uint64_t{groups} * 4 * 11);
  EXPECT_EQ(ran->interpreted_instructions, 0u);
  for (uint32_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i / 128 * 16 + i % 128 / 32) << i;
}

/// Code that flushes denormals, but not always, and ends when it does not.
TEST_P(SeriesOnGpu, EveryWaveBeginsInTheKernelsMode) {
  start(R"(
    v_and_b32 v0, 0x3ff, v0
    s_lshl_b32 s2, s2, 8
    v_add_u32 v1, s2, v0
    s_load_dwordx2 s[0:1], s[0:1], 0x0
    v_lshlrev_b32 v3, 3, v1
    v_mul_f32 v4, 1.0, v1
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
    v_add_f32 v5, v1, v1
    s_waitcnt lgkmcnt(0)
    global_store_dwordx2 v3, v[4:5], s[0:1]
    s_endpgm)",
        "float_denorm_mode_32 0");
  constexpr uint32_t items = 256 * 9;
  GuestVector<uint32_t> out(items * 2, 1);
  const GuestVector<const void*> arguments{out.data()};
  const auto ran = run({items, 1, 1}, {256, 1, 1}, arguments);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->wave_instructions, items / 64 * uint64_t{11});
  ASSERT_EQ(gpu_->engine_report().translations.size(), 1u);
  EXPECT_EQ(gpu_->engine_report().translations[0].fallbacks, 0u);
  for (uint32_t item = 0; item < items; ++item) {  // numbers of items are denormals
    EXPECT_EQ(out[item * 2], 0u) << item;
    EXPECT_EQ(out[item * 2 + 1], 2 * item) << item;
  }
}

TEST_P(SeriesOnGpu, AFaultIsThatOfItsWave) {
  start(R"(
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_and_b32 v0, 0x3ff, v0
    s_lshl_b32 s3, s2, 10
    v_lshlrev_b32 v1, 2, v0
    v_add_u32 v1, s3, v1
    s_waitcnt lgkmcnt(0)
    global_load_dword v2, v1, s[4:5]
    s_endpgm)");
  // 1024 bytes for each work-group; what is mapped ends where lane 9 of the third wave of work-group 37 would read.
  constexpr uint64_t mapped = 37 * 1024 + 2 * 256 + 9 * 4, pages = 11 * 4096;
  constexpr uint64_t begin = pages - mapped;
  GuestVector<uint8_t> memory(pages);
  const GuestVector<const void*> arguments{memory.data() + begin};
  const auto good = run({37 * 256, 1, 1}, {256, 1, 1}, arguments);
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(gpu_->engine_report().translations.size(), 1u);
  const auto bad = run({38 * 256, 1, 1}, {256, 1, 1}, arguments);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("(37, 0, 0), wave 2"));
  EXPECT_THAT(bad.error().message, HasSubstr("global_load_dword v2, v1, s[4:5]"));
  EXPECT_THAT(bad.error().message, HasSubstr("(137, 0, 0)"));
}

}  // namespace
}  // namespace Atoll::test
