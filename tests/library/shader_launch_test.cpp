// Compute shaders of OS ABI amdpal, made by llc, with user data in SGPRs as the metadata maps it. Results are the
// host's, in both engines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "atoll/atoll.h"
#include "support/command.h"

namespace Atoll {
namespace {

using testing::HasSubstr;

constexpr uint32_t items = 192, group = 64;

/// Numbers of registers (LLVM 22, AMDGPUPALMetadata.cpp).
constexpr uint32_t rsrc2 = 0x2e13, user_data_0 = 0x2e40;
/// COMPUTE_PGM_RSRC2: SCRATCH_EN, and TGID_X_EN with this many user SGPRs.
constexpr uint32_t work_group_x(uint32_t user_sgprs) { return user_sgprs << 1 | 1u << 7; }

/// Metadata of register pairs, as a front end hands them to LLVM.
std::string metadata(const std::vector<std::pair<uint32_t, uint32_t>>& registers) {
  std::string text;
  for (const auto& [number, value] : registers)
    text += (text.empty() ? "i32 " : ", i32 ") + std::to_string(number) + ", i32 " + std::to_string(value);
  return "!amdgpu.pal.metadata = !{!0}\n!0 = !{" + text + "}\n";
}

/// The address that two SGPRs have, and the work-item's number in the grid. GFX12 has work-group ids in TTMPs.
const std::string prologue = R"(
  %a = insertelement <2 x i32> poison, i32 %lo, i64 0
  %b = insertelement <2 x i32> %a, i32 %hi, i64 1
  %address = bitcast <2 x i32> %b to i64
  %p = inttoptr i64 %address to ptr addrspace(1)
  %base = mul i32 %group, 64
  %packed = and i32 %id, 1023
  %i = add i32 %base, %packed
  %e = getelementptr i32, ptr addrspace(1) %p, i32 %i
)";

struct Subject {
  std::string gpu, attributes, engine;
};
void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.gpu << ' ' << subject.engine; }

class ShaderLaunch : public testing::TestWithParam<Subject> {
 protected:
  /// Compiles and links IR to a code object of amdpal.
  std::string compile(std::string ir) const {
    if (GetParam().gpu.starts_with("gfx12")) {
      const std::string_view argument = ", i32 inreg %group", first_use = "  %base = mul";
      if (const size_t at = ir.find(argument); at != std::string::npos) {
        ir.erase(at, argument.size());
        ir.insert(ir.find(first_use), "  %group = call i32 @llvm.amdgcn.workgroup.id.x()\n");
        ir += "declare i32 @llvm.amdgcn.workgroup.id.x()\n";
      }
    }
    test::write_file(directory_ / "s.ll", ir);
    const std::string path = directory_ / "s.so";
    const auto made = test::run_command(
        "cd " + directory_.path().string() + " && llc-22 -mtriple=amdgcn--amdpal -mcpu=" + GetParam().gpu + " " +
        GetParam().attributes + " -filetype=obj s.ll -o s.o 2>&1 && ld.lld-22 -shared s.o -o s.so 2>&1");
    EXPECT_EQ(made.exit_code, 0) << made.output;
    return path;
  }
  Gpu make_gpu() const { return value_of(Gpu::create(GetParam().gpu, {.engine = GetParam().engine, .check = "all"})); }

  /// Launches `shader` on `items` work-items, whose buffer begins with 0, 1, 2, ...; user data from entry `first` on
  /// are the buffer's address, then `more`.
  Expected<std::vector<uint32_t>> run(const std::string& ir, uint32_t first, const std::vector<UserData>& more) {
    const Gpu gpu = make_gpu();
    const auto code = gpu.load_file(compile(ir));
    if (!code) return std::unexpected(code.error());
    const auto buffer = value_of(gpu.allocate<uint32_t>(items));
    for (uint32_t i = 0; i < items; ++i) buffer.span()[i] = i;
    std::vector<UserData> data{{.entry = first, .value = Argument(static_cast<const Buffer&>(buffer))}};
    data.insert(data.end(), more.begin(), more.end());
    const auto done = gpu.launch_shader(*code, "shader", {.grid = {items}, .block = {group}}, data);
    if (!done) return std::unexpected(done.error());
    EXPECT_EQ(done->work_groups, items / group);
    for (const Finding& finding : gpu.findings()) ADD_FAILURE() << finding.report;
    return buffer.read();
  }

  const test::TemporaryDirectory directory_;
};

TEST_P(ShaderLaunch, UserDataIsInSgprsAsTheMetadataMapsIt) {
  const std::string ir =
      "define amdgpu_cs void @shader(i32 inreg %factor, i32 inreg %lo, i32 inreg %hi, i32 inreg %group, i32 %id) {" +
      prologue +
      "  %v = load i32, ptr addrspace(1) %e\n  %r = mul i32 %v, %factor\n  store i32 %r, ptr addrspace(1) %e\n  ret "
      "void\n}\n" +
      metadata({{rsrc2, work_group_x(3)}, {user_data_0, 9}, {user_data_0 + 1, 5}, {user_data_0 + 2, 6}});
  const auto result = run(ir, 5, {{.entry = 9, .value = uint32_t{7}}});
  ASSERT_TRUE(result) << result.error().message;
  for (uint32_t i = 0; i < items; ++i) ASSERT_EQ((*result)[i], i * 7) << i;
  const auto missing = run(ir, 5, {});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("user data entry 9 in s0, which is not set"));
}

TEST_P(ShaderLaunch, WithoutAMappingEntryNIsInSN) {
  const std::string ir =
      "define amdgpu_cs void @shader(i32 inreg %lo, i32 inreg %hi, i32 inreg %term, i32 inreg %group, i32 %id) {" +
      prologue +
      "  %v = load i32, ptr addrspace(1) %e\n  %r = add i32 %v, %term\n  store i32 %r, ptr addrspace(1) %e\n  ret "
      "void\n}\n" +
      metadata({{rsrc2, work_group_x(3)}});
  const auto result = run(ir, 0, {{.entry = 2, .value = uint32_t{1000}}});
  ASSERT_TRUE(result) << result.error().message;
  for (uint32_t i = 0; i < items; ++i) ASSERT_EQ((*result)[i], i + 1000) << i;
}

TEST_P(ShaderLaunch, UserDataThatIsSpilledIsInTheTable) {
  const std::string ir =
      "define amdgpu_cs void @shader(i32 inreg %table, i32 inreg %lo, i32 inreg %hi, i32 inreg %group, i32 %id) {" +
      prologue +
      "  %pc = call i64 @llvm.amdgcn.s.getpc()\n  %high = and i64 %pc, -4294967296\n  %low = zext i32 %table to i64\n"
      "  %at = or i64 %high, %low\n  %t = inttoptr i64 %at to ptr addrspace(4)\n"
      "  %entry = getelementptr i32, ptr addrspace(4) %t, i32 100\n  %v = load i32, ptr addrspace(4) %entry\n"
      "  %r = add i32 %v, %i\n  store i32 %r, ptr addrspace(1) %e\n  ret void\n}\n"
      "declare i64 @llvm.amdgcn.s.getpc()\n" +
      metadata({{rsrc2, work_group_x(3)}, {user_data_0, 0x10000002}, {user_data_0 + 1, 0}, {user_data_0 + 2, 1}});
  const auto result = run(ir, 0, {{.entry = 100, .value = uint32_t{0x5000}}});
  ASSERT_TRUE(result) << result.error().message;
  for (uint32_t i = 0; i < items; ++i) ASSERT_EQ((*result)[i], 0x5000 + i) << i;
}

TEST_P(ShaderLaunch, ScratchIsFoundThroughTheGlobalTable) {
  const std::string ir =
      "define amdgpu_cs void @shader(i32 inreg %git, i32 inreg %lo, i32 inreg %hi, i32 inreg %group, i32 %id) {" +
      prologue +
      "  %stack = alloca [16 x i32], addrspace(5)\n  %k = and i32 %i, 15\n"
      "  %q = getelementptr [16 x i32], ptr addrspace(5) %stack, i32 0, i32 %k\n"
      "  store volatile i32 %i, ptr addrspace(5) %q\n  %v = load volatile i32, ptr addrspace(5) %q\n"
      "  %r = mul i32 %v, 3\n  store i32 %r, ptr addrspace(1) %e\n  ret void\n}\n" +
      metadata({{rsrc2, work_group_x(3)}, {user_data_0, 0x10000000}, {user_data_0 + 1, 0}, {user_data_0 + 2, 1}});
  const auto result = run(ir, 0, {});
  ASSERT_TRUE(result) << result.error().message;
  for (uint32_t i = 0; i < items; ++i) ASSERT_EQ((*result)[i], i * 3) << i;
}

TEST_P(ShaderLaunch, WavesOfAWorkGroupShareLds) {
  const std::string ir =
      "@lds = internal addrspace(3) global [64 x i32] poison\n"
      "define amdgpu_cs void @shader(i32 inreg %lo, i32 inreg %hi, i32 inreg %group, i32 %id) {" +
      prologue +
      "  %l = getelementptr [64 x i32], ptr addrspace(3) @lds, i32 0, i32 %packed\n  store i32 %i, ptr addrspace(3) "
      "%l\n"
      "  fence syncscope(\"workgroup\") release\n  call void @llvm.amdgcn.s.barrier()\n"
      "  fence syncscope(\"workgroup\") acquire\n  %other = sub i32 63, %packed\n"
      "  %m = getelementptr [64 x i32], ptr addrspace(3) @lds, i32 0, i32 %other\n  %v = load i32, ptr addrspace(3) "
      "%m\n"
      "  store i32 %v, ptr addrspace(1) %e\n  ret void\n}\ndeclare void @llvm.amdgcn.s.barrier()\n" +
      metadata({{rsrc2, work_group_x(2)}});
  const auto result = run(ir, 0, {});
  ASSERT_TRUE(result) << result.error().message;
  for (uint32_t i = 0; i < items; ++i) ASSERT_EQ((*result)[i], i / 64 * 64 + 63 - i % 64) << i;
}

TEST_P(ShaderLaunch, GraphicsStagesAreRefusedByName) {
  const Gpu gpu = make_gpu();
  const auto code = gpu.load_file(compile("define amdgpu_vs void @shader() {\n  ret void\n}\n"));
  ASSERT_TRUE(code) << code.error().message;
  const auto done = gpu.launch_shader(*code, "shader", {.grid = {64}, .block = {64}}, {});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("graphics stages are not executed"));
}

std::vector<Subject> subjects() {
  std::vector<Subject> list;
  for (const char* engine : {"interpreter", "compiled"})
    for (const auto& [gpu, attributes] : {std::pair{"gfx900", "-mattr=-xnack"},
                                          {"gfx1030", ""},
                                          {"gfx1100", ""},
                                          {"gfx1100", "-mattr=+wavefrontsize64"},
                                          {"gfx1200", ""}})
      list.push_back({gpu, attributes, engine});
  return list;
}
INSTANTIATE_TEST_SUITE_P(All, ShaderLaunch, testing::ValuesIn(subjects()));

}  // namespace
}  // namespace Atoll
