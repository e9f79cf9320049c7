// What a failure tells in fields, against where the test has put the mistake: the source line and the lane of a stray
// access, the kind of each error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "atoll/atoll.h"
#include "library/kernels.h"

namespace Atoll {
namespace {

using testing::HasSubstr;

/// The line of a text on which these words are, from 1 on.
uint32_t line_of(const std::string& text, const std::string& words) {
  const size_t at = text.find(words);
  return static_cast<uint32_t>(1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n'));
}

constexpr const char* failing_kernels = R"(
kernel void stray_lane(global int* out) {
  uint i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i == 64 + 37)
    out[1 << 28] = 7;
}
kernel void past_end(global int* out) {
  out[__builtin_amdgcn_workitem_id_x()] = 7;
}
kernel void trap(void) {
  __builtin_trap();
}
kernel void forever(global volatile int* out) { while (*out == 0) {} }
kernel void wild_jump(void) {
  __asm__ volatile("s_mov_b32 s4, 0x7000\n s_mov_b32 s5, 0\n s_setpc_b64 s[4:5]" ::: "s4", "s5");
}
kernel void wild_call(void) {
  __asm__ volatile("s_mov_b32 s4, 0x7000\n s_mov_b32 s5, 0\n s_swappc_b64 s[6:7], s[4:5]" ::: "s4", "s5", "s6", "s7");
}
kernel void wild_call_over_address(void) {
  __asm__ volatile("s_mov_b32 s4, 0x7000\n s_mov_b32 s5, 0\n s_swappc_b64 s[4:5], s[4:5]" ::: "s4", "s5");
}
kernel void wild_return(void) {  // after a jump that is right
  __asm__ volatile("s_getpc_b64 s[4:5]\n s_add_u32 s4, s4, 12\n s_addc_u32 s5, s5, 0\n s_setpc_b64 s[4:5]\n"
                   "s_mov_b32 s30, 0x7000\n s_mov_b32 s31, 0\n s_setpc_b64 s[30:31]" ::: "s4", "s5", "s30", "s31");
}
)";

class Failures : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory = new test::TemporaryDirectory;
    test::write_file(*directory / "failing.cl", failing_kernels);
    const auto compiled = test::run_command(
        fmt::format("cd {} && clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O2 -g failing.cl -o "
                    "failing.co 2>&1",
                    directory->path().string()));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  }
  static void TearDownTestSuite() { delete directory; }

  static Gpu gpu(double timeout) { return value_of(Gpu::create("gfx90a", {.timeout_seconds = timeout})); }
  static Code load(const Gpu& gpu) { return value_of(gpu.load_file(*directory / "failing.co")); }

  static inline test::TemporaryDirectory* directory = nullptr;
};

TEST_F(Failures, CheckersFindWhatDoesNotFault) {
  std::string report;
  const Gpu on =
      value_of(Gpu::create("gfx90a", {.check = "memory", .on_finding = [&](std::string_view text) { report = text; }}));
  const auto data = value_of(on.allocate<int>(60));
  const Code code = load(on);
  ASSERT_TRUE(on.launch(code, "past_end", {.grid = {60}, .block = {60}}, data));
  EXPECT_TRUE(on.findings().empty());
  ASSERT_TRUE(on.launch(code, "past_end", {.grid = {64}, .block = {64}}, data));
  ASSERT_EQ(on.findings().size(), 1U);
  const Finding finding = on.findings()[0];
  EXPECT_EQ(finding.checker, "memory");
  EXPECT_EQ(finding.kind, "out-of-bounds");
  EXPECT_EQ(finding.kernel, "past_end");
  EXPECT_EQ(finding.line, line_of(failing_kernels, "out[__builtin_amdgcn_workitem_id_x()]"));
  EXPECT_THAT(finding.message, HasSubstr("right after the end of 240 bytes"));
  EXPECT_EQ(report, finding.report);
}

TEST_F(Failures, AnUnknownCheckerIsToldByTheNamesThatThereAre) {
  const auto gpu = Gpu::create("gfx90a", {.check = "racing"});
  ASSERT_FALSE(gpu);
  EXPECT_THAT(gpu.error().message, HasSubstr("unknown checker 'racing'; use memory"));
}

TEST_F(Failures, AStrayAccessIsToldByLineLaneAndAddress) {
  const Gpu on = gpu(60);
  const auto data = value_of(on.allocate<int>(128));
  const auto done = on.launch(load(on), "stray_lane", {.grid = {128}, .block = {64}}, data);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, FailureKind::memory_fault);
  ASSERT_TRUE(done.error().fault);
  const KernelFault& fault = *done.error().fault;
  EXPECT_EQ(fault.kind, KernelFault::Kind::memory);
  EXPECT_EQ(fault.kernel, "stray_lane");
  EXPECT_THAT(fault.instruction, HasSubstr("store_dword"));
  EXPECT_THAT(fault.source_file, testing::EndsWith("failing.cl"));
  EXPECT_EQ(fault.line, line_of(failing_kernels, "out[1 << 28]"));
  EXPECT_GT(fault.column, 0u);
  EXPECT_EQ(fault.address, reinterpret_cast<uint64_t>(data.data()) + (uint64_t{4} << 28));
  EXPECT_TRUE(fault.is_write);
  EXPECT_EQ(fault.work_group, (std::array<uint32_t, 3>{1, 0, 0}));
  EXPECT_TRUE(fault.lane_known);
  EXPECT_EQ(fault.lane, 37u);
  EXPECT_EQ(fault.work_item, (std::array<uint32_t, 3>{37, 0, 0}));
}

TEST_F(Failures, AWildJumpIsReportedAtTheJump) {
  const Gpu on = gpu(60);
  const Code code = load(on);
  for (const auto& [kernel, jump] :
       {std::pair{"wild_jump", "s_setpc_b64 s[4:5]"}, std::pair{"wild_call", "s_swappc_b64 s[6:7], s[4:5]"},
        std::pair{"wild_call_over_address", "s_swappc_b64 s[4:5], s[4:5]"},
        std::pair{"wild_return", "s_setpc_b64 s[30:31]"}}) {
    const auto done = on.launch(code, kernel, {});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, FailureKind::memory_fault) << kernel;
    EXPECT_THAT(done.error().message, HasSubstr("jumped to 0x7000, where there is no code"));
    const std::string& message = done.error().message;
    const size_t at = message.find("reached by   ");
    ASSERT_NE(at, std::string::npos) << message;
    const std::string line = message.substr(at, message.find('\n', at) - at);
    EXPECT_THAT(line, HasSubstr(jump));
    const uint32_t first = line_of(failing_kernels, fmt::format("void {}(", kernel)) + 1;
    EXPECT_THAT(line, HasSubstr(fmt::format("failing.cl:{}", first)));
  }
}

TEST_F(Failures, TrapsAndTimeoutsAreToldApart) {
  const Gpu on = gpu(0.2);
  const auto trapped = on.launch(load(on), "trap", {});
  ASSERT_FALSE(trapped);
  EXPECT_EQ(trapped.error().kind, FailureKind::aborted);
  ASSERT_TRUE(trapped.error().fault);
  EXPECT_EQ(trapped.error().fault->kind, KernelFault::Kind::abort);
  const auto late = on.launch(load(on), "forever", {}, value_of(on.allocate<int>(1)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, FailureKind::aborted);
  ASSERT_TRUE(late.error().fault);
  EXPECT_EQ(late.error().fault->kind, KernelFault::Kind::timeout);
  EXPECT_EQ(late.error().fault->kernel, "forever");
}

TEST_F(Failures, AKernelCanBeInterrupted) {
  const Gpu on = gpu(60);
  const auto stream = value_of(on.create_stream());
  const auto flag = value_of(on.allocate<int>(1));
  const auto event = stream.launch(load(on), "forever", {}, flag);
  ASSERT_TRUE(event) << event.error().message;
  // An interruption is of what runs by then, and whether the kernel has begun cannot be seen.
  while (!event->wait_for(0.01)) on.interrupt();
  const auto done = event->wait();
  ASSERT_FALSE(done);
  ASSERT_TRUE(done.error().fault);
  EXPECT_EQ(done.error().fault->kind, KernelFault::Kind::interrupted);
}

TEST(FailureKinds, AreThoseOfTheMistake) {
  EXPECT_EQ(Gpu::create("voodoo2").error().kind, FailureKind::not_found);
  const Gpu gpu = value_of(Gpu::create("gfx90a"));
  EXPECT_EQ(gpu.load_file("/nonexistent").error().kind, FailureKind::system);
  EXPECT_EQ(gpu.allocate<double>(SIZE_MAX / 2).error().kind, FailureKind::out_of_resources);
  EXPECT_FALSE(gpu.load_file("/nonexistent").error().fault);
  EXPECT_EQ(name_of(FailureKind::system), "system");
}

TEST(ValueOf, ThrowsWhatWentWrong) {
  try {
    value_of(Gpu::create("voodoo2"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("voodoo2"));
    EXPECT_EQ(error.failure().kind, FailureKind::not_found);
  }
}

TEST(Version, IsThatOfTheHeaders) {
  EXPECT_EQ(version(), ATOLL_VERSION_STRING);
  EXPECT_EQ(version(), fmt::format("{}.{}.{}", ATOLL_VERSION_MAJOR, ATOLL_VERSION_MINOR, ATOLL_VERSION_PATCH));
  EXPECT_GE(ATOLL_VERSION_NUMBER, ATOLL_MAKE_VERSION(0, 1, 0));
}

}  // namespace
}  // namespace Atoll
