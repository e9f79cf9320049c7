// The race checker's exemption for stores of the value that memory already holds, lane by lane. Two waves, of one
// work-group or of two, store to the same elements without an order. Lanes of a mask store what is there, all others a
// value of their wave's own. A race is reported exactly where a lane is not in the mask.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "atoll/atoll.h"
#include "support/command.h"

namespace Atoll {
namespace {

constexpr const char* source = R"(
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 128)))
typedef unsigned u32;
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
__attribute__((device)) void wait_for_group() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
template <typename T> __attribute__((device)) T value_of(u32 number) { return static_cast<T>(number); }
// Only the last dword differs.
template <> __attribute__((device)) u32x2 value_of<u32x2>(u32 number) { return u32x2{0, number}; }
template <> __attribute__((device)) u32x4 value_of<u32x4>(u32 number) { return u32x4{0, 0, 0, number}; }

// In wave `own` of those that store, whose lanes `equal` has of those that store what is there.
template <typename T>
__attribute__((device)) void store(T* places, unsigned long equal, u32 lane, u32 own, u32 stride) {
  places[lane * stride] = value_of<T>((equal >> lane & 1) != 0 ? 0 : 1 + own * 64 + lane);
}
template <typename T>
__attribute__((device)) void store_to_lds(T* out, unsigned long equal, u32 stride) {
  __attribute__((shared)) static T places[128];
  const u32 item = __builtin_amdgcn_workitem_id_x(), wave_size = __builtin_amdgcn_wavefrontsize();
  for (u32 i = item; i < 128; i += 2 * wave_size) places[i] = value_of<T>(0);
  wait_for_group();
  store(places, equal, item % wave_size, item / wave_size, stride);
  wait_for_group();
  out[item] = places[item % 64];
}
template <typename T>
__attribute__((device)) void store_in_group(T* out, unsigned long equal, u32 stride) {
  const u32 item = __builtin_amdgcn_workitem_id_x(), wave_size = __builtin_amdgcn_wavefrontsize();
  store(out, equal, item % wave_size, item / wave_size, stride);
}
template <typename T>
__attribute__((device)) void store_in_groups(T* out, unsigned long equal, u32 stride) {
  store(out, equal, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workgroup_id_x(), stride);
}
#define KERNELS(name, type)                                                                                  \
  KERNEL void lds_##name(type* out, unsigned long equal, u32 stride) { store_to_lds(out, equal, stride); }     \
  KERNEL void group_##name(type* out, unsigned long equal, u32 stride) { store_in_group(out, equal, stride); } \
  KERNEL void groups_##name(type* out, unsigned long equal, u32 stride) { store_in_groups(out, equal, stride); }
KERNELS(1, unsigned char)
KERNELS(2, unsigned short)
KERNELS(4, u32)
KERNELS(8, u32x2)
KERNELS(16, u32x4)
)";

struct Target {
  const char* gpu;
  uint32_t wave_size;
};
void PrintTo(const Target& target, std::ostream* out) { *out << target.gpu; }

class RaceLanes : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(Gpus, RaceLanes,
                         testing::Values(Target{"gfx803", 64}, Target{"gfx90a", 64}, Target{"gfx942", 64},
                                         Target{"gfx1030", 32}, Target{"gfx1100", 32}, Target{"gfx1201", 32},
                                         Target{"gfx1250", 32}));

uint64_t count_of(const Gpu& gpu) {
  uint64_t count = 0;
  for (const Finding& finding : gpu.findings()) {
    if (!finding.is_note) count += finding.count;
  }
  return count;
}

TEST_P(RaceLanes, EveryLaneIsComparedWithWhatMemoryHolds) {
  const auto& [name, wave_size] = GetParam();
  const test::TemporaryDirectory directory;
  test::write_file(directory / "lanes.hip", source);
  const auto compiled = test::run_command(
      fmt::format("cd {} && clang++-22 -x hip --cuda-device-only --no-gpu-bundle-output --offload-arch={} -nogpuinc "
                  "-nogpulib -O2 lanes.hip -o lanes.co 2>&1",
                  directory.path().string(), name));
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  const Gpu gpu = value_of(Gpu::create(name, {.timeout_seconds = 60, .check = "race", .on_finding = [](auto) {}}));
  const Code code = value_of(gpu.load_file(directory / "lanes.co"));

  const uint64_t all = wave_size == 64 ? ~uint64_t{0} : (uint64_t{1} << wave_size) - 1;
  std::vector<uint64_t> masks{0, all, all >> 1, all << 1 & all, 0x5555'5555'5555'5555 & all};
  for (const uint32_t lane : {0u, 1u, 13u, wave_size - 1}) {
    masks.push_back(uint64_t{1} << lane);
    masks.push_back(all & ~(uint64_t{1} << lane));
  }
  const auto out = gpu.allocate<uint32_t>(128 * 4).value();
  for (const char* where : {"lds", "group", "groups"}) {
    const bool of_one_group = std::string_view(where) != "groups";
    for (const uint32_t bytes : {1u, 2u, 4u, 8u, 16u}) {
      for (const uint32_t stride : {1u, 2u}) {
        for (const uint64_t equal : masks) {
          std::ranges::fill(out.span(), 0);
          const uint64_t before = count_of(gpu);
          const auto done = gpu.launch(code, fmt::format("{}_{}", where, bytes),
                                       {.grid = {2 * wave_size}, .block = {of_one_group ? 2 * wave_size : wave_size}},
                                       out, equal, stride);
          ASSERT_TRUE(done) << done.error().message;
          EXPECT_EQ(count_of(gpu) != before, equal != all)
              << where << ", " << bytes << " bytes, stride " << stride << fmt::format(", equal {:#x}", equal);
        }
      }
    }
  }
}

}  // namespace
}  // namespace Atoll
