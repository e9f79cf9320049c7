// The registers with which PAL's compute shaders start, for code that llc made. Expectations are the user guide's
// "User Data" and "Compute User Data", and where LLVM's code looks for the scratch resource.
#include "machine/wave/pal_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>

#include "fixture.h"

namespace Atoll::machine {
namespace {

using testing::HasSubstr;

/// Numbers of registers (LLVM 22, AMDGPUPALMetadata.cpp).
constexpr uint32_t rsrc2 = 0x2e13, user_data_0 = 0x2e40;
constexpr uint32_t scratch_enabled = 1, work_group_ids = 7u << 7, two_more_work_item_ids = 2u << 11;
constexpr uint32_t user_sgprs(uint32_t count) { return count << 1; }

/// Links a function of this calling convention with register pairs as metadata, as a front end hands them to LLVM.
std::vector<uint8_t> make_shader(const std::string& processor, const std::string& convention, const std::string& body,
                                 const std::vector<std::pair<uint32_t, uint32_t>>& registers) {
  std::string pairs;
  for (const auto& [number, value] : registers)
    pairs += (pairs.empty() ? "i32 " : ", i32 ") + std::to_string(number) + ", i32 " + std::to_string(value);
  const test::TemporaryDirectory directory;
  test::write_file(directory / "s.ll", "define " + convention +
                                           " void @shader(i32 inreg %a, i32 inreg %b, i32 inreg %c) {\n" + body +
                                           "  ret void\n}\n!amdgpu.pal.metadata = !{!0}\n!0 = !{" + pairs + "}\n");
  const std::string attributes = processor == "gfx900" ? " -mattr=-xnack" : "";
  const auto run =
      test::run_command("cd " + directory.path().string() + " && llc-22 -mtriple=amdgcn--amdpal -mcpu=" + processor +
                        attributes + " -filetype=obj s.ll -o s.o 2>&1 && ld.lld-22 -shared s.o -o s.so 2>&1");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return test::read_bytes(directory / "s.so");
}

constexpr const char* processors[] = {"gfx900", "gfx1030", "gfx1100", "gfx1200"};
constexpr const char* stack = "  %s = alloca i32, addrspace(5)\n  store volatile i32 %a, ptr addrspace(5) %s\n";

/// The first state of waves in a launch of 2 x 1 x 1 work-groups of 64 work-items.
struct Seen {
  uint32_t group = 0, index = 0, wave_size = 0, mode = 0;
  uint64_t scratch = 0;
  std::array<uint32_t, 16> s{};
  uint32_t ttmp9 = 0, second_item_v0 = 0, second_item_v1 = 0;
  std::array<uint32_t, 4> resource{};  ///< of the global table, whose address is in s0
  uint64_t flat_scratch = 0, pc = 0;
};

std::vector<Seen> run(const std::string& processor, const std::vector<uint8_t>& file, const PalUserData& data,
                      const PalTables& tables, bool has_table, std::string* why = nullptr) {
  std::vector<Seen> waves;
  std::mutex mutex;
  const auto gpu = test::make_gpu(processor, [&](Wave& wave, uint64_t) {
    Seen seen;
    seen.group = wave.work_group->id[0];
    seen.index = wave.index;
    seen.wave_size = wave.wave_size;
    seen.mode = wave.mode;
    seen.scratch = reinterpret_cast<uint64_t>(wave.scratch);
    std::copy_n(wave.scalar, seen.s.size(), seen.s.begin());
    seen.ttmp9 = wave.scalar[isa::scalar::ttmp0 + 9];
    seen.second_item_v0 = wave.vgpr[0][1];
    seen.second_item_v1 = wave.vgpr[1][1];
    seen.flat_scratch = wave.scalar64(isa::scalar::flat_scratch_lo);
    seen.pc = wave.pc;
    if (has_table) {
      const uint64_t table = (wave.pc & ~uint64_t{UINT32_MAX}) | wave.scalar[0];
      std::memcpy(seen.resource.data(), reinterpret_cast<const void*>(table + 16), sizeof seen.resource);
    }
    const std::lock_guard lock(mutex);
    waves.push_back(seen);
    return WaveState::ended;
  });
  const auto code = test::load(*gpu, file);
  if (code == nullptr) return waves;
  if (code->entry_points().empty()) {
    ADD_FAILURE() << "no entry points";
    return waves;
  }
  const object::EntryPoint& shader = code->entry_points().front();
  auto launch = make_pal_launch(shader, code, data, tables, {128, 1, 1}, {64, 1, 1}, gpu->model());
  if (!launch) {
    if (why != nullptr) *why = launch.error().message;
    return waves;
  }
  const auto ran = gpu->run(std::move(*launch), shader.name, nullptr);
  EXPECT_TRUE(ran) << ran.error().message;
  return waves;
}

PalUserData entries(const std::vector<std::pair<unsigned, uint32_t>>& list) {
  PalUserData data;
  for (const auto& [entry, value] : list) data.entries[entry] = value;
  return data;
}

TEST(PalLaunch, UserDataAndWorkGroupIdsAreWhereTheMetadataSays) {
  for (const char* processor : processors) {
    SCOPED_TRACE(processor);
    const auto file = make_shader(processor, "amdgpu_cs", "",
                                  {{rsrc2, user_sgprs(3) | work_group_ids | two_more_work_item_ids},
                                   {user_data_0, 9},
                                   {user_data_0 + 1, 5},
                                   {user_data_0 + 2, 127}});
    const auto waves = run(processor, file, entries({{9, 90}, {5, 50}, {127, 1270}}), {}, false);
    const auto& model = *target::find_processor(processor);
    const unsigned wave_size = model.has_wave_size(32) ? 32 : 64;  // LLVM's default
    ASSERT_EQ(waves.size(), 2U * 64 / wave_size);
    for (const Seen& wave : waves) {
      EXPECT_EQ(wave.wave_size, wave_size);
      EXPECT_EQ(wave.s[0], 90U);
      EXPECT_EQ(wave.s[1], 50U);
      EXPECT_EQ(wave.s[2], 1270U);
      EXPECT_EQ(model.architected_work_group_ids ? wave.ttmp9 : wave.s[3], wave.group);
      EXPECT_EQ(wave.s[4] | wave.s[5], 0U) << "y and z";
      EXPECT_EQ(wave.second_item_v0 & 0x3FF, wave.index * wave_size + 1);
      EXPECT_EQ(wave.second_item_v0 >> 10, 0U) << "y and z are 0";
      EXPECT_EQ(wave.second_item_v1, 0U);
      EXPECT_EQ(wave.mode & 0xFF, 0xF0U) << "denormals are kept: LLVM's default";
      EXPECT_EQ(wave.mode >> 9 & 1, 0U) << "shaders have IEEE off";
    }
    std::string why;
    EXPECT_TRUE(run(processor, file, entries({{9, 90}, {127, 1}}), {}, false, &why).empty());
    EXPECT_THAT(why, HasSubstr("shader 'shader' reads user data entry 5 in s1, which is not set"));
  }
}

TEST(PalLaunch, WithoutAMappingEntryNIsInSN) {
  const auto file = make_shader("gfx1030", "amdgpu_cs", "", {{rsrc2, user_sgprs(4)}});
  for (const Seen& wave : run("gfx1030", file, entries({{1, 11}, {3, 33}}), {}, false)) {
    EXPECT_EQ(wave.s[1], 11U);
    EXPECT_EQ(wave.s[2], 0U);
    EXPECT_EQ(wave.s[3], 33U);
  }
  std::string why;
  run("gfx1030", file, entries({{4, 44}}), {}, false, &why);
  EXPECT_THAT(why, HasSubstr("has 4 user SGPRs; user data entry 4 is in none of them"));
}

TEST(PalLaunch, ScratchIsInTheGlobalTableOrInARegister) {
  for (const char* processor : processors) {
    SCOPED_TRACE(processor);
    const auto file = make_shader(processor, "amdgpu_cs", stack,
                                  {{rsrc2, user_sgprs(1) | scratch_enabled}, {user_data_0, 0x10000000}});
    const bool in_register = target::find_processor(processor)->flat_scratch == target::FlatScratch::architected;
    const auto waves = run(processor, file, {}, {}, true);
    ASSERT_FALSE(waves.empty());
    for (const Seen& wave : waves) {
      ASSERT_NE(wave.scratch, 0U);
      const uint64_t base = wave.resource[0] | uint64_t{wave.resource[1] & 0xFFFF} << 32;
      if (in_register) {
        EXPECT_EQ(wave.flat_scratch, wave.scratch);
      } else {
        EXPECT_EQ(base + wave.s[1], wave.scratch) << "s1 is the wave's offset, after the user SGPRs";
        EXPECT_EQ(wave.resource[3] >> 21 & 3, 3U) << "index stride 64, which code of waves of 32 changes";
        EXPECT_EQ(wave.resource[3] >> 23 & 1, 1U) << "adds the lane id";
      }
    }
  }
}

TEST(PalLaunch, TablesMustBeNearTheCode) {
  const auto file = make_shader("gfx1100", "amdgpu_cs", "", {{rsrc2, user_sgprs(1)}, {user_data_0, 0x10000002}});
  std::string why;
  EXPECT_TRUE(run("gfx1100", file, {}, {.spill = 0x1000}, false, &why).empty());
  EXPECT_THAT(why, HasSubstr("spill table of shader 'shader' at 0x1000 is not in the 4 GiB of its code"));
}

TEST(PalLaunch, GraphicsIsRefusedByName) {
  const auto file = make_shader("gfx1030", "amdgpu_vs", "", {{rsrc2, 0}});
  std::string why;
  EXPECT_TRUE(run("gfx1030", file, {}, {}, false, &why).empty());
  EXPECT_THAT(why, HasSubstr("graphics stages are not executed"));
}

}  // namespace
}  // namespace Atoll::machine
