// Launches as data: an SGPR program that no ABI has, and that no field of an earlier wave survives.
#include "machine/wave/launch_state.h"

#include <gtest/gtest.h>

#include <mutex>

#include "fixture.h"

namespace Atoll::machine {
namespace {

using Source = InitialScalar::Source;

constexpr std::array<uint32_t, 3> grid{96, 2, 1}, work_group{64, 1, 1};

/// A launch of the code's first instruction, with the sizes that a GPU needs.
LaunchState make_launch(const std::shared_ptr<LoadedCode>& code, const Gpu& gpu) {
  LaunchState launch;
  launch.code = code;
  launch.entry = code->base();
  launch.sgprs = 32;
  launch.vgprs = launch.max_vgprs = launch.named_vgprs = 4;
  launch.mode = 0xF0;
  EXPECT_TRUE(set_geometry(launch, grid, work_group, "k"));
  EXPECT_TRUE(set_residency(launch, std::nullopt, gpu.model(), "k"));
  return launch;
}

TEST(LaunchState, ScalarsAreWhereTheProgramSays) {
  std::mutex mutex;
  std::vector<std::array<uint32_t, 8>> seen;
  const auto gpu = test::make_gpu("gfx900", [&](Wave& wave, uint64_t) {
    const std::lock_guard lock(mutex);
    std::array<uint32_t, 8>& s = seen.emplace_back();
    std::copy_n(wave.scalar, s.size(), s.begin());
    const auto scratch = reinterpret_cast<uint64_t>(wave.scratch) - wave.scalar[6];
    EXPECT_EQ(wave.scalar64(4), scratch) << "s6 is the offset of the wave's scratch from what s[4:5] points to";
    EXPECT_EQ(wave.scalar[2], wave.work_group->id[0]);
    EXPECT_EQ(wave.scalar[0], wave.work_group->id[1]);
    return WaveState::ended;
  });
  const auto code = test::load(*gpu, test::assemble_kernel("gfx900", {"next_free_vgpr 4", "next_free_sgpr 8"}));
  LaunchState launch = make_launch(code, *gpu);
  ASSERT_TRUE(set_scratch(launch, 20, 20, gpu->processor(), "k"));
  launch.scalars.add({.source = Source::scratch_offset, .reg = 6});
  launch.scalars.add({.source = Source::work_group_id, .part = 0, .reg = 2});
  launch.scalars.add({.source = Source::scratch_address, .part = 1, .reg = 5});
  launch.scalars.add({.source = Source::scratch_address, .part = 0, .reg = 4});
  launch.scalars.add({.source = Source::work_group_id, .part = 1, .reg = 0});
  launch.scalars.add({.source = Source::literal, .reg = 7, .literal = 0xCAFE'F00D});
  const auto ran = gpu->run(std::move(launch), "odd", nullptr);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->kernel, "odd");
  EXPECT_EQ(ran->work_groups, 4U);
  ASSERT_EQ(seen.size(), 4U);
  for (const auto& s : seen) {
    EXPECT_EQ(s[7], 0xCAFE'F00DU);
    EXPECT_EQ(s[1], 0U) << "in no program: 0";
    EXPECT_EQ(s[3], 0U);
  }
  ASSERT_EQ(gpu->statistics().size(), 1U);
  EXPECT_EQ(gpu->statistics()[0].kernel, "odd");
}

TEST(LaunchState, NoFieldOfAnEarlierWaveSurvives) {
  unsigned waves = 0;
  const auto gpu = test::make_gpu(
      "gfx900",
      [&](Wave& wave, uint64_t) {
        ++waves;
        EXPECT_FALSE(wave.scc);
        EXPECT_FALSE(wave.seems_to_wait);
        EXPECT_EQ(wave.mode, 0xF0U);
        EXPECT_EQ(wave.status | wave.trap_status | wave.barrier_phase | wave.named_phase | wave.cluster_phase, 0U);
        EXPECT_EQ(wave.global_sync | wave.spin_backoff | wave.named_barrier, 0);
        EXPECT_EQ(wave.fingerprint | wave.instructions | wave.interpreted, 0U);
        EXPECT_EQ(wave.reported.from | wave.reported.until | wave.reported.number, 0U);
        EXPECT_EQ(wave.fault, nullptr);
        wave.scc = wave.seems_to_wait = true;
        wave.mode = wave.status = wave.trap_status = 0xFFFF;
        wave.barrier_phase = wave.named_phase = wave.cluster_phase = 3;
        wave.global_sync = wave.spin_backoff = wave.named_barrier = 1;
        wave.fingerprint = 7;
        wave.instructions = wave.interpreted = 5;
        wave.reported = {.from = 1, .until = 2, .number = 3};
        return WaveState::ended;
      },
      {.threads = 1});
  const auto code = test::load(*gpu, test::assemble_kernel("gfx900", {"next_free_vgpr 4", "next_free_sgpr 8"}));
  const auto ran = gpu->run(make_launch(code, *gpu), "k", nullptr);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(waves, 4U);
}

}  // namespace
}  // namespace Atoll::machine
