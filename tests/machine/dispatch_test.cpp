// Launches that are refused, and why.
#include "machine/wave/dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.h"

namespace Atoll::machine {
namespace {

using support::ErrorKind;
using testing::HasSubstr;

const std::vector<std::string> plain{"next_free_vgpr 8", "next_free_sgpr 16"};

class DispatchChecks : public testing::Test {
 protected:
  std::unique_ptr<Gpu> gpu = test::make_gpu("gfx900", [](Wave&, uint64_t) { return WaveState::ended; });
  std::shared_ptr<LoadedCode> code = test::load(*gpu, test::assemble_kernel("gfx900", plain));
  aql::KernelDispatchPacket packet = test::packet_for(*code, {64, 1, 1}, {64, 1, 1});

  void expect_refused(ErrorKind kind, const std::string& why) {
    const auto result = gpu->run(packet);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, kind);
    EXPECT_THAT(result.error().message, HasSubstr(why));
  }
};

TEST_F(DispatchChecks, AGoodPacketRunsAndIsCounted) {
  packet.grid_size_x = 1000;
  const auto result = gpu->run(packet);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->kernel, "k");
  EXPECT_EQ(result->work_groups, 16u);
  EXPECT_EQ(result->waves, 16u);
  ASSERT_TRUE(gpu->run(packet));
  ASSERT_EQ(gpu->statistics().size(), 1u);
  EXPECT_EQ(gpu->statistics()[0].calls, 2u);
  EXPECT_EQ(gpu->statistics()[0].work_groups, 32u);
  code.reset();
  ASSERT_EQ(gpu->statistics().size(), 1u) << "what it cost is known after it was unloaded";
  EXPECT_EQ(gpu->statistics()[0].calls, 2u);
}

TEST(DispatchProgress, WhatIsAheadIsAsWhatHasEnded) {
  Dispatch dispatch;
  dispatch.launch.work_group_count = dispatch.progress.work_groups_left = 10;
  dispatch.progress.next_work_group = 3;
  EXPECT_FALSE(instructions_ahead(dispatch).has_value()) << "nothing is known";
  dispatch.progress.wave_instructions = 200;
  dispatch.progress.work_groups_left = 8;
  EXPECT_EQ(instructions_ahead(dispatch), 700U);
  dispatch.progress.next_work_group = 13;  // two threads have tried to take the last
  EXPECT_EQ(instructions_ahead(dispatch), 0U);
  dispatch.progress.next_work_group = 1;
  dispatch.launch.work_group_count = uint64_t{1} << 62;
  dispatch.progress.work_groups_left = dispatch.launch.work_group_count - 1;
  EXPECT_EQ(instructions_ahead(dispatch), UINT64_MAX) << "no less for being very much";
}

TEST(DispatchProgress, WhatIsAheadIsNeverMoreThanHasNotBegun) {
  constexpr uint64_t groups = 20'000, of_a_wave = 50;
  uint64_t begun = 0;
  // On one thread: what others end while it looks would be counted by halves.
  const auto gpu = test::make_gpu("gfx900",
                                  [&](Wave& wave, uint64_t) {
                                    ++begun;
                                    wave.instructions += of_a_wave;
                                    const uint64_t ahead = instructions_ahead(*wave.work_group->dispatch).value_or(0);
                                    EXPECT_LE(ahead, (groups - begun) * of_a_wave);
                                    EXPECT_EQ(ahead % of_a_wave, 0U);
                                    return WaveState::ended;
                                  },
                                  {.threads = 1});
  const auto code = test::load(*gpu, test::assemble_kernel("gfx900", plain));
  ASSERT_TRUE(gpu->run(test::packet_for(*code, {64 * groups, 1, 1}, {64, 1, 1})));
  EXPECT_EQ(begun, groups);
}

TEST_F(DispatchChecks, TheKernelObjectMustBeAKernel) {
  packet.kernel_object += 64;
  expect_refused(ErrorKind::not_found, "no loaded kernel");
  packet.kernel_object = 0;
  expect_refused(ErrorKind::not_found, "no loaded kernel");
  packet.kernel_object = 0xFFFF'FFFF'FFFF'FFC0;
  expect_refused(ErrorKind::not_found, "no loaded kernel");
}

TEST_F(DispatchChecks, DimensionsMustMakeSense) {
  packet.setup = 0;
  expect_refused(ErrorKind::incompatible, "0 dimensions");
  packet.setup = 1;
  packet.grid_size_y = 2;
  expect_refused(ErrorKind::incompatible, "its y sizes are not 1");
  packet.setup = 2;
  packet.grid_size_y = 0;
  expect_refused(ErrorKind::incompatible, "grid's y size is 0");
  packet.grid_size_y = 1;
  packet.workgroup_size_x = 0;
  expect_refused(ErrorKind::incompatible, "work-group's x size is 0");
}

TEST_F(DispatchChecks, UnusedDimensionsMayBeLeftZero) {
  packet.setup = 1;
  packet.grid_size_y = packet.grid_size_z = 0;
  packet.workgroup_size_y = packet.workgroup_size_z = 0;
  EXPECT_TRUE(gpu->run(packet));
}

TEST_F(DispatchChecks, AWorkGroupHasAtMost1024WorkItems) {
  packet.workgroup_size_x = 1024;
  EXPECT_TRUE(gpu->run(packet));
  packet.workgroup_size_x = 513;
  packet.workgroup_size_y = 2;
  expect_refused(ErrorKind::invalid_argument, "at most 1024");
}

TEST_F(DispatchChecks, TheGridMustBeCountable) {
  packet.grid_size_x = packet.grid_size_y = packet.grid_size_z = UINT32_MAX;
  packet.workgroup_size_x = 1;
  expect_refused(ErrorKind::incompatible, "more work-groups than can be counted");
}

TEST_F(DispatchChecks, LdsMustFit) {
  packet.group_segment_size = 65536;
  EXPECT_TRUE(gpu->run(packet));
  packet.group_segment_size = 65537;
  expect_refused(ErrorKind::out_of_resources, "65537 bytes of LDS");
}

TEST_F(DispatchChecks, ScratchMustFit) {
  packet.private_segment_size = 100000;
  EXPECT_TRUE(gpu->run(packet));
  packet.private_segment_size = 140000;
  expect_refused(ErrorKind::out_of_resources, "140000 bytes of scratch");
}

/// COMPUTE_TMPRING_SIZE.WAVESIZE has 13 bits of 1 KiB until GFX10, 15 bits of 256 bytes on GFX11, 18 on GFX12.
TEST(DispatchLimits, ScratchOfAWaveIsTheGenerations) {
  struct Limit {
    const char* gpu;
    uint32_t fits, does_not;  ///< bytes for each of 32 or 64 lanes
  };
  for (const Limit& limit : {Limit{"gfx90a", 131'000, 131'073}, Limit{"gfx1030", 262'000, 262'145},
                             Limit{"gfx1100", 262'000, 262'145}, Limit{"gfx1201", 2'097'000, 2'097'153}}) {
    SCOPED_TRACE(limit.gpu);
    const auto gpu = test::make_gpu(limit.gpu, [](Wave&, uint64_t) { return WaveState::ended; });
    const auto code = test::load(*gpu, test::assemble_kernel(limit.gpu, plain));
    auto packet = test::packet_for(*code, {64, 1, 1}, {64, 1, 1});
    packet.private_segment_size = limit.fits;
    const auto fits = gpu->run(packet);
    EXPECT_TRUE(fits) << fits.error().message;
    packet.private_segment_size = limit.does_not;
    const auto refused = gpu->run(packet);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::out_of_resources);
  }
}

// HIP 6.4 and 7.2 launch copy kernels of their own with twice as many, and no GPU minds.
TEST_F(DispatchChecks, AWorkGroupMayBeLargerThanItsKernelWasCompiledFor) {
  const std::string metadata = R"(
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 128
...
.end_amdgpu_metadata)";
  const auto limited = test::load(*gpu, test::assemble_kernel("gfx900", plain, "s_endpgm", metadata));
  packet = test::packet_for(*limited, {256, 1, 1}, {128, 1, 1});
  EXPECT_TRUE(gpu->run(packet));
  packet.workgroup_size_x = 256;
  const auto larger = gpu->run(packet);
  ASSERT_TRUE(larger) << larger.error().message;
  EXPECT_EQ(larger->waves, 4u);
}

TEST(GpuCreation, RefusesProcessorsThatItCannotRun) {
  target::GpuModel model = target::find_gpu("gfx900").value();
  target::Processor newer = *target::find_processor("gfx1250");
  newer.name = "gfx1310";
  newer.generation = static_cast<target::Generation>(static_cast<int>(newer.generation) + 1);
  model.target.processor = &newer;
  const auto gpu = Gpu::create(model, [](const target::Target&) {
    return std::make_unique<test::FunctionEngine>([](Wave&, uint64_t) { return WaveState::ended; });
  });
  ASSERT_FALSE(gpu);
  EXPECT_THAT(gpu.error().message, HasSubstr("gfx1310"));
}

}  // namespace
}  // namespace Atoll::machine
