// Clusters of work-groups (GFX12.5): HIP kernels that clang 22 compiles, whose work-groups say where they are, by
// clang's builtins, and wait for those of their cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "atoll/atoll.h"
#include "support/command.h"

namespace Atoll {
namespace {

constexpr const char* source = R"(
#define KERNEL extern "C" __attribute__((global))
typedef unsigned u32;

template <bool in_cluster>
__attribute__((device)) void tell(u32* out) {
  const u32 x = __builtin_amdgcn_workgroup_id_x(), y = __builtin_amdgcn_workgroup_id_y(),
            z = __builtin_amdgcn_workgroup_id_z();
  u32* own = out + ((z * 4 + y) * 6 + x) * 16;
  own[0] = x;
  own[1] = y;
  own[2] = z;
  own[15] = 1;
  if (!in_cluster) return;
  own[3] = __builtin_amdgcn_cluster_id_x();
  own[4] = __builtin_amdgcn_cluster_id_y();
  own[5] = __builtin_amdgcn_cluster_id_z();
  own[6] = __builtin_amdgcn_cluster_workgroup_id_x();
  own[7] = __builtin_amdgcn_cluster_workgroup_id_y();
  own[8] = __builtin_amdgcn_cluster_workgroup_id_z();
  own[9] = __builtin_amdgcn_cluster_workgroup_max_id_x();
  own[10] = __builtin_amdgcn_cluster_workgroup_max_id_y();
  own[11] = __builtin_amdgcn_cluster_workgroup_max_id_z();
  own[12] = __builtin_amdgcn_cluster_workgroup_flat_id();
  own[13] = __builtin_amdgcn_cluster_workgroup_max_flat_id();
}

KERNEL __attribute__((cluster_dims(3, 2, 2))) void places(u32* out) { tell<true>(out); }
KERNEL void no_cluster_known(u32* out) { tell<false>(out); }
KERNEL __attribute__((no_cluster)) void without(u32* out) { tell<false>(out); }
KERNEL __attribute__((cluster_dims(8, 2, 1))) void large(u32* out) {
  out[__builtin_amdgcn_workgroup_id_y() * 8 + __builtin_amdgcn_workgroup_id_x()] = 7;
}

template <bool waits>
__attribute__((device)) void exchange_by(u32* data, u32 rounds) {
  const u32 x = __builtin_amdgcn_workgroup_id_x(), y = __builtin_amdgcn_workgroup_id_y(),
            lane = __builtin_amdgcn_workitem_id_x();
  const u32 own = (y * 4 + x) * 128 + lane;
  for (u32 round = 0; round < rounds; ++round) {
    u32 sum = round;
    for (u32 j = 0; j < 2; ++j)
      for (u32 i = 0; i < 2; ++i) sum += data[((y / 2 * 2 + j) * 4 + x / 2 * 2 + i) * 128 + lane];
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    waits ? __builtin_amdgcn_s_cluster_barrier() : __builtin_amdgcn_s_barrier();
    data[own] = sum * (own + 3);
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    waits ? __builtin_amdgcn_s_cluster_barrier() : __builtin_amdgcn_s_barrier();
  }
}
// In each round every work-group reads what all of its cluster have left in the round before.
KERNEL __attribute__((cluster_dims(2, 2, 1), amdgpu_flat_work_group_size(128, 128))) void exchange(u32* data, u32 rounds) {
  exchange_by<true>(data, rounds);
}
KERNEL __attribute__((cluster_dims(2, 2, 1), amdgpu_flat_work_group_size(128, 128))) void race(u32* data, u32 rounds) {
  exchange_by<false>(data, rounds);
}
)";

class Clusters : public testing::Test {
 protected:
  void SetUp() override {
    test::write_file(directory / "clusters.hip", source);
    const auto compiled = test::run_command(
        fmt::format("cd {} && clang++-22 -x hip --cuda-device-only --no-gpu-bundle-output --offload-arch=gfx1250 "
                    "-nogpuinc -nogpulib -O2 clusters.hip -o clusters.co 2>&1",
                    directory.path().string()));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
    load({.timeout_seconds = 60});
  }
  void load(const GpuOptions& options) {
    auto created = Gpu::create("gfx1250", options);
    ASSERT_TRUE(created) << created.error().message;
    gpu = *created;
    auto loaded = gpu.load_file(directory / "clusters.co");
    ASSERT_TRUE(loaded) << loaded.error().message;
    code = *loaded;
  }

  test::TemporaryDirectory directory;
  Gpu gpu;
  Code code;
};

TEST_F(Clusters, WorkGroupsKnowTheirPlaces) {
  const auto out = gpu.allocate<uint32_t>(6 * 4 * 4 * 16).value();
  ASSERT_TRUE(gpu.launch(code, "places", {.grid = {6, 4, 4}}, out));
  for (uint32_t z = 0; z < 4; ++z) {
    for (uint32_t y = 0; y < 4; ++y) {
      for (uint32_t x = 0; x < 6; ++x) {
        const auto own = out.span().subspan(((z * 4 + y) * 6 + x) * 16, 16);
        const uint32_t number = (z % 2 * 2 + y % 2) * 3 + x % 3;
        EXPECT_THAT(own,
                    testing::ElementsAre(x, y, z, x / 3, y / 2, z / 2, x % 3, y % 2, z % 2, 2, 1, 1, number, 11, 0, 1))
            << x << ", " << y << ", " << z;
      }
    }
  }
}

// Code that was compiled for any launch reads from a hardware register whether it is in a cluster.
TEST_F(Clusters, CodeForAnyLaunchKnowsThatItIsInNone) {
  for (const char* kernel : {"no_cluster_known", "without"}) {
    const auto out = gpu.allocate<uint32_t>(6 * 4 * 4 * 16).value();
    ASSERT_TRUE(gpu.launch(code, kernel, {.grid = {6, 4, 4}}, out)) << kernel;
    for (uint32_t i = 0; i < 6 * 4 * 4; ++i) {
      EXPECT_THAT(out.span().subspan(i * 16, 3), testing::ElementsAre(i % 6, i / 6 % 4, i / 24)) << kernel << " " << i;
      EXPECT_EQ(out.span()[i * 16 + 15], 1u) << kernel << " " << i;
    }
  }
}

TEST_F(Clusters, WorkGroupsWaitForThoseOfTheirCluster) {
  constexpr uint32_t across = 4, down = 64, items = 128, rounds = 10;
  const auto data = gpu.allocate<uint32_t>(across * down * items).value();
  std::vector<uint32_t> expected(data.span().size());
  for (uint32_t i = 0; i < expected.size(); ++i) data.span()[i] = expected[i] = i * 2654435761u;
  ASSERT_TRUE(gpu.launch(code, "exchange", {.grid = {across * items, down}, .block = {items}}, data, rounds));
  for (uint32_t round = 0; round < rounds; ++round) {
    const std::vector<uint32_t> before = expected;
    for (uint32_t i = 0; i < expected.size(); ++i) {
      const uint32_t lane = i % items, x = i / items % across / 2 * 2, y = i / items / across / 2 * 2;
      uint32_t sum = round;
      for (const auto& [dx, dy] : {std::pair{0u, 0u}, {1u, 0u}, {0u, 1u}, {1u, 1u}}) {
        sum += before[((y + dy) * across + x + dx) * items + lane];
      }
      expected[i] = sum * (i + 3);
    }
  }
  EXPECT_TRUE(std::ranges::equal(data.span(), expected));
}

TEST_F(Clusters, LaunchesThatDoNotFitAreRefused) {
  const auto out = gpu.allocate<uint32_t>(6 * 4 * 4 * 16).value();
  const auto odd = gpu.launch(code, "places", {.grid = {6, 3, 4}}, out);
  ASSERT_FALSE(odd);
  EXPECT_THAT(odd.error().message, testing::AllOf(testing::HasSubstr("clusters of 3 x 2 x 2 work-groups"),
                                                  testing::HasSubstr("a grid of 3 work-groups in y")));
  const auto large = gpu.allocate<uint32_t>(32).value();
  ASSERT_TRUE(gpu.launch(code, "large", {.grid = {8, 4}}, large));
  EXPECT_THAT(large.span(), testing::Each(7u));
}

TEST_F(Clusters, TheirBarrierOrdersWhatTheirWorkGroupsDo) {
  load({.timeout_seconds = 60, .check = "race"});
  const auto data = gpu.allocate<uint32_t>(4 * 4 * 128).value();
  std::ranges::fill(data.span(), 1);
  ASSERT_TRUE(gpu.launch(code, "exchange", {.grid = {4 * 128, 4}, .block = {128}}, data, 3u));
  EXPECT_TRUE(gpu.findings().empty());
  ASSERT_TRUE(gpu.launch(code, "race", {.grid = {4 * 128, 4}, .block = {128}}, data, 3u));
  EXPECT_FALSE(gpu.findings().empty());
}

}  // namespace
}  // namespace Atoll
