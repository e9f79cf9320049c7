// Launches of PAL's and Mesa3D's compute code, made by llc. Results are the host's, in both engines. The sweep of all
// shaders is shader_sweep.cpp; a sample of it runs here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "atoll/atoll.h"
#include "shader_cases.h"
#include "support/command.h"

namespace Atoll {
namespace {

using testing::HasSubstr;

struct Subject {
  size_t target = 0;  ///< in shader_targets()
  std::string engine;
};
void PrintTo(const Subject& subject, std::ostream* out) {
  *out << test::shader_targets()[subject.target].gpu << ' ' << subject.engine;
}
std::string name_of(const testing::TestParamInfo<Subject>& info) {
  return fmt::format("{}_{}", test::shader_targets()[info.param.target].gpu, info.param.engine);
}

class ShaderLaunch : public testing::TestWithParam<Subject> {
 protected:
  const test::ShaderTarget& target() const { return test::shader_targets()[GetParam().target]; }
  Gpu make_gpu(const std::string& check = "") const {
    return value_of(Gpu::create(target().gpu, {.engine = GetParam().engine, .check = check}));
  }
  const test::TemporaryDirectory directory_;
};

TEST_P(ShaderLaunch, ShadersOfTheSweepHaveTheHostsResults) {
  const Gpu gpu = make_gpu("memory,init");
  size_t index = GetParam().target;  // every eighth, others for each target
  for (const test::ShaderCase& shader : test::shader_cases()) {
    if (index++ % 8 != 0 || !runs_on(shader, target())) continue;
    EXPECT_EQ(run_case(shader, target(), gpu, directory_.path().string()), "") << shader.name;
  }
  for (const Finding& finding : gpu.findings()) ADD_FAILURE() << finding.report;
}

TEST_P(ShaderLaunch, MesaKernelsTakeTheirArgumentBuffer) {
  const Gpu gpu = make_gpu("memory");
  EXPECT_EQ(run_mesa_kernels(target(), gpu, directory_.path().string()), "");
  for (const Finding& finding : gpu.findings()) ADD_FAILURE() << finding.report;
}

std::vector<Subject> subjects() {
  std::vector<Subject> list;
  for (const char* engine : {"interpreter", "compiled"})
    for (size_t i = 0; i < test::shader_targets().size(); ++i) list.push_back({i, engine});
  return list;
}
INSTANTIATE_TEST_SUITE_P(All, ShaderLaunch, testing::ValuesIn(subjects()), name_of);

TEST(MesaLaunch, WhatMesaDoesNotSetIsNamed) {
  const test::TemporaryDirectory directory;
  const Gpu gpu = value_of(Gpu::create("gfx1030"));
  const auto object =
      test::compile_ir(test::mesa_kernels(), directory.path().string(), "amdgcn-mesa-mesa3d", "gfx1030", 0);
  ASSERT_TRUE(object) << object.error().message;
  const auto code = gpu.load_file(*object);
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_THAT(code->kernels(), testing::UnorderedElementsAre("scale", "stack", "size", "queue"));
  EXPECT_EQ(value_of(code->describe("scale")).argument_bytes, 40u);
  const auto buffer = value_of(gpu.allocate<uint32_t>(64));
  const Argument data(static_cast<const Buffer&>(buffer));
  const LaunchShape shape{.grid = {64}, .block = {64}};
  const auto queue = gpu.launch_with(*code, "queue", shape, {&data, 1});
  ASSERT_FALSE(queue);
  EXPECT_THAT(queue.error().message, HasSubstr("reads the queue pointer in user SGPRs, which Mesa3D does not set"));
  const auto too_few = gpu.launch_with(*code, "scale", shape, {&data, 1});
  ASSERT_FALSE(too_few);
  EXPECT_THAT(too_few.error().message, HasSubstr("kernel scale has 24 bytes of arguments, 8 are given"));
  const auto user_data = gpu.launch_shader(*code, "scale", shape, {});
  ASSERT_FALSE(user_data);
  EXPECT_THAT(user_data.error().message, HasSubstr("is a kernel, which takes arguments and no user data"));
}

/// Shaders on gfx1030 whose launch fails or is observed.
class ShaderMistake : public testing::Test {
 protected:
  std::string compile(const std::string& ir) const {
    const auto object = test::compile_ir(ir, directory_.path().string(), "amdgcn--amdpal", "gfx1030", 0);
    EXPECT_TRUE(object) << object.error().message;
    return object ? *object : "";
  }
  /// Launches a function of the IR with user data. Returns the message of the failure.
  Expected<LaunchResult> launch(const Gpu& gpu, const std::string& ir, const std::vector<UserData>& data,
                                const std::string& name = "_amdgpu_cs_main") const {
    const auto code = gpu.load_file(compile(ir));
    if (!code) return std::unexpected(code.error());
    return gpu.launch_shader(*code, name, {.grid = {64}, .block = {64}}, data);
  }
  std::string failure(const std::string& ir, const std::vector<UserData>& data,
                      const std::string& name = "_amdgpu_cs_main") const {
    const auto done = launch(value_of(Gpu::create("gfx1030")), ir, data, name);
    return done ? "" : done.error().message;
  }
  const test::TemporaryDirectory directory_;
};

constexpr const char* store = R"(
define amdgpu_cs void @_amdgpu_cs_main(i32 inreg %lo, i32 inreg %hi, i32 %id) {
  %a = insertelement <2 x i32> poison, i32 %lo, i64 0
  %b = insertelement <2 x i32> %a, i32 %hi, i64 1
  %c = bitcast <2 x i32> %b to i64
  %p = inttoptr i64 %c to ptr addrspace(1)
  %i = and i32 %id, 1023
  %e = getelementptr i32, ptr addrspace(1) %p, i32 %i
  store i32 %i, ptr addrspace(1) %e
  ret void
}
define amdgpu_cs void @other(i32 inreg %lo, i32 inreg %hi, i32 %id) {
  ret void
}
)";

std::string with_registers(std::string_view ir, std::string_view registers) {
  return fmt::format("{}!amdgpu.pal.metadata = !{{!0}}\n!0 = !{{{}}}\n", ir, registers);
}

TEST_F(ShaderMistake, UserDataThatNothingProvidesIsNamed) {
  // COMPUTE_PGM_RSRC2 with 2 user SGPRs; COMPUTE_USER_DATA_0 and 1.
  const std::string mapped = with_registers(store, "i32 11795, i32 4, i32 11840, i32 7, i32 11841, i32 8");
  EXPECT_THAT(failure(mapped, {{.entry = 7, .value = uint32_t{1}}}),
              HasSubstr("user data entry 8 in s1, which is not set"));
  const std::string plain = with_registers(store, "i32 11795, i32 4");
  EXPECT_THAT(failure(plain, {{.entry = 2, .value = uint32_t{1}}}),
              HasSubstr("has 2 user SGPRs; user data entry 2 is in none of them"));
  // BaseVertex is a draw's.
  const std::string graphics = with_registers(store, "i32 11795, i32 4, i32 11840, i32 268435459");
  EXPECT_THAT(failure(graphics, {}), HasSubstr("reads BaseVertex in s0, which a compute launch does not provide"));
  EXPECT_THAT(failure(plain, {{.entry = 127, .value = uint64_t{1}}}), HasSubstr("user data entries 127 to 128"));
  EXPECT_THAT(failure(plain, {{.entry = 0, .value = uint64_t{1}}, {.entry = 1, .value = uint32_t{1}}}),
              HasSubstr("user data entry 1 is set twice"));
  EXPECT_THAT(failure(plain, {}, "absent"), HasSubstr("there is no shader absent"));
}

TEST_F(ShaderMistake, MetadataThatContradictsTheCodeIsRefused) {
  // COMPUTE_USER_DATA_5 is mapped, and 2 registers are loaded.
  EXPECT_THAT(failure(with_registers(store, "i32 11795, i32 4, i32 11845, i32 7"), {}), HasSubstr("only 2 are loaded"));
}

TEST_F(ShaderMistake, GraphicsStagesAreRefusedByName) {
  EXPECT_THAT(failure("define amdgpu_vs void @shader() {\n  ret void\n}\n", {}, "shader"),
              HasSubstr("is of hardware stage vs; graphics stages are not executed"));
}

TEST_F(ShaderMistake, FurtherFunctionsAreEntryPoints) {
  const Gpu gpu = value_of(Gpu::create("gfx1030"));
  const auto code = gpu.load_file(compile(with_registers(store, "i32 11795, i32 4")));
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_THAT(code->kernels(), testing::UnorderedElementsAre("_amdgpu_cs_main", "other"));
  for (const char* name : {"_amdgpu_cs_main", "other"}) {
    const auto buffer = value_of(gpu.allocate<uint32_t>(64));
    const std::vector<UserData> data{{.entry = 0, .value = Argument(static_cast<const Buffer&>(buffer))}};
    const auto done = gpu.launch_shader(*code, name, {.grid = {64}, .block = {64}}, data);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->waves, 2u);
    EXPECT_EQ(buffer.span()[63], name == std::string("other") ? 0u : 63u);
  }
}

TEST_F(ShaderMistake, CheckersNameTheShader) {
  const Gpu gpu = value_of(Gpu::create("gfx1030", {.check = "memory"}));
  const auto buffer = value_of(gpu.allocate<uint32_t>(32));
  const auto done = launch(gpu, with_registers(store, "i32 11795, i32 4"),
                           {{.entry = 0, .value = Argument(static_cast<const Buffer&>(buffer))}});
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_FALSE(gpu.findings().empty());
  EXPECT_EQ(gpu.findings()[0].kind, "out-of-bounds");
  EXPECT_EQ(gpu.findings()[0].kernel, "_amdgpu_cs_main");
}

TEST_F(ShaderMistake, FaultsAreReportedAndLeaveACoreFile) {
  const std::string core = directory_ / "core";
  const Gpu gpu = value_of(Gpu::create("gfx1030", {.core_file = core}));
  const auto done = launch(gpu, with_registers(store, "i32 11795, i32 4"), {{.entry = 0, .value = uint64_t{4096}}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, FailureKind::memory_fault);
  ASSERT_TRUE(done.error().fault);
  EXPECT_EQ(done.error().fault->kernel, "_amdgpu_cs_main");
  EXPECT_THAT(done.error().message, HasSubstr("0x1000"));
  ASSERT_TRUE(std::filesystem::exists(core));
  EXPECT_GT(std::filesystem::file_size(core), 4096u);
}

}  // namespace
}  // namespace Atoll
