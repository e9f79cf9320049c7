// Floating-point exceptions: TRAPSTS.EXCP collects them, and those that MODE.EXCP_EN enables stop the wave. Which are
// raised is what IEEE 754 says, and the ISA guides of the two that it does not know (input denormal, integer division
// by zero).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>

#include "engine/engines.h"
#include "engine/wave_runner.h"
#include "machine/fixture.h"
#include "machine/guest_vector.h"

namespace Atoll::test {

namespace {

using machine::WaveState;

constexpr uint32_t invalid = 1, denormal = 2, divided = 4, overflow = 8, underflow = 16, inexact = 32, integer = 64;
constexpr const char* read_status = "\ns_getreg_b32 s10, hwreg(HW_REG_TRAPSTS, 0, 9)";

uint32_t single(float value) { return std::bit_cast<uint32_t>(value); }

/// A wave of a kernel that watches, with single-precision numbers in v1 to v3 and double-precision ones in v[12:17].
struct Watching : WaveRunner {
  explicit Watching(float a = 0, float b = 0, float c = 0) : WaveRunner("gfx90a") {
    wave().watches_exceptions = true;
    const float values[] = {a, b, c};
    for (unsigned i = 0; i < 3; ++i) {
      std::ranges::fill(v(1 + i), single(values[i]));
      const auto wide = std::bit_cast<uint64_t>(static_cast<double>(values[i]));
      set_rows(12 + 2 * i, [&](unsigned) { return wide; });
    }
  }
  uint32_t raised(const std::string& source) {
    EXPECT_EQ(run(source + read_status), WaveState::ended) << source;
    return s(10);
  }
};

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
constexpr float tiny = 0x1p-130f, largest = std::numeric_limits<float>::max();

TEST(Exceptions, AreCollectedInTheTrapStatus) {
  const struct {
    const char* source;
    float a, b, c;
    uint32_t raised;
  } cases[] = {
      {"v_rcp_f32 v4, v1", 0, 0, 0, divided},
      {"v_rcp_f32 v4, v1", -4, 0, 0, 0},
      {"v_rsq_f32 v4, v1", 0, 0, 0, divided},
      {"v_rsq_f32 v4, v1", -1, 0, 0, invalid},
      {"v_log_f32 v4, v1", 0, 0, 0, divided},
      {"v_rcp_iflag_f32 v4, v1", 0, 0, 0, integer},
      {"v_sqrt_f32 v4, v1", -1, 0, 0, invalid},
      {"v_add_f32 v4, v1, v2", 1, 2, 0, 0},
      {"v_add_f32 v4, v1, v2", 1, 0x1p-30f, 0, inexact},
      {"v_add_f32 v4, v1, v2", inf, -inf, 0, invalid},
      {"v_add_f32 v4, v1, v2", inf, 1, 0, 0},
      {"v_add_f32 v4, v1, v2", nan, 1, 0, 0},
      {"v_add_f32 v4, v1, v2", largest, largest, 0, overflow | inexact},
      {"v_add_f32 v4, v1, v2", tiny, 1, 0, denormal | inexact},
      {"v_sub_f32 v4, v1, v2", 3, 1, 0, 0},
      {"v_subrev_f32 v4, v1, v2", 0x1p-30f, 1, 0, inexact},
      {"v_mul_f32 v4, v1, v2", 0x1p-80f, 0x1.1p-69f, 0, underflow | inexact},
      {"v_mul_f32 v4, v1, v2", 0x1p-80f, 0x1p-60f, 0, 0},  // denormal, but exact
      {"v_mul_f32 v4, v1, v2", 0, inf, 0, invalid},
      {"v_fma_f32 v4, v1, v2, v3", 3, 5, -15, 0},
      {"v_fma_f32 v4, v1, v2, v3", 0x1.000002p0f, 0x1.000002p0f, 0, inexact},
      {"v_mov_b32 v4, v3\nv_fmac_f32 v4, v1, v2", largest, 2, largest, overflow | inexact},
      {"v_mac_f32 v3, v1, v2", 3, 5, 1, 0},
      {"v_cvt_i32_f32 v4, v1", 1.5f, 0, 0, inexact},
      {"v_cvt_i32_f32 v4, v1", -7, 0, 0, 0},
      {"v_cvt_i32_f32 v4, v1", 3e9f, 0, 0, invalid},
      {"v_cvt_u32_f32 v4, v1", 3e9f, 0, 0, 0},
      {"v_cvt_u32_f32 v4, v1", -1, 0, 0, invalid},
      {"v_cvt_f16_f32 v4, v1", 1e6f, 0, 0, overflow | inexact},
      {"v_cvt_f16_f32 v4, v1", 1.0f / 3, 0, 0, inexact},
      {"v_cvt_f16_f32 v4, v1", 0x1p-26f, 0, 0, underflow | inexact},
      {"v_cvt_f16_f32 v4, v1", 0x1p-20f, 0, 0, 0},
      {"v_div_fixup_f32 v4, v1, v2, v3", inf, 0, 1, divided},
      {"v_div_fixup_f32 v4, v1, v2, v3", nan, 0, 0, invalid},
      {"v_div_fixup_f32 v4, v1, v2, v3", 2, 1, 2, 0},
      {"v_add_f64 v[4:5], v[12:13], v[14:15]", 1, 0x1p-60f, 0, inexact},
      {"v_mul_f64 v[4:5], v[12:13], v[14:15]", 3, 5, 0, 0},
      {"v_fma_f64 v[4:5], v[12:13], v[14:15], v[16:17]", 3, 5, 0x1p-60f, inexact},
      {"v_cvt_f32_f64 v4, v[12:13]", 0.1f, 0, 0, 0},
      {"v_rcp_f64 v[4:5], v[12:13]", 0, 0, 0, divided},
      {"v_cmp_lt_f32 vcc, v1, v2", nan, 1, 0, 0},
      {"v_cmp_lt_f32 vcc, v1, v2", tiny, 1, 0, denormal},
      {"v_add_f32 v4, -v1, |v2|", inf, -inf, 0, invalid},
      {"v_mul_f32_dpp v4, v1, v2 row_shl:1 row_mask:0xf bank_mask:0xf", 0, inf, 0, invalid},
      {"v_mov_b32 v4, v1", 0, 0, 0, 0},
      {"v_add_u32 v4, v1, v2", tiny, tiny, 0, 0},
  };
  for (const auto& c : cases) {
    Watching runner(c.a, c.b, c.c);
    EXPECT_EQ(runner.raised(c.source), c.raised) << c.source << fmt::format(", {} {} {}", c.a, c.b, c.c);
  }
}

TEST(Exceptions, OfHalvesAreCollectedForEach) {
  const struct {
    const char* source;
    uint32_t a, b, raised;
  } cases[] = {
      {"v_add_f16 v4, v1, v2", 0x7BFF, 0x7BFF, overflow | inexact},
      {"v_add_f16 v4, v1, v2", 0x3C00, 0x0001, denormal | inexact},
      {"v_mul_f16 v4, v1, v2", 0x0401, 0x3800, underflow | inexact},
      {"v_mul_f16 v4, v1, v2", 0x3C00, 0x4000, 0},
      {"v_rcp_f16 v4, v1", 0, 0, divided},
      {"v_pk_add_f16 v4, v1, v2", 0x7BFF3C00, 0x7BFF3C00, overflow | inexact},
      {"v_pk_mul_f16 v4, v1, v2", 0x3C007C00, 0x3C000000, invalid},
      {"v_pk_fma_f16 v4, v1, v2, v1", 0x3C003C00, 0x3C003C00, 0},
  };
  for (const auto& c : cases) {
    Watching runner;
    std::ranges::fill(runner.v(1), c.a);
    std::ranges::fill(runner.v(2), c.b);
    EXPECT_EQ(runner.raised(c.source), c.raised) << c.source << fmt::format(", {:#x} {:#x}", c.a, c.b);
  }
}

TEST(Exceptions, OfSignallingNansAreInvalid) {
  Watching runner;
  std::ranges::fill(runner.v(1), 0x7F800001u);
  EXPECT_EQ(runner.raised("v_max_f32 v4, v1, v2"), invalid);
  Watching other;
  std::ranges::fill(other.v(1), 0x7F800001u);
  EXPECT_EQ(other.raised("v_cmp_class_f32 vcc, v1, v2"), 0u);
}

// They stay until they are cleared, and lanes that are switched off raise none.
TEST(Exceptions, Stick) {
  Watching runner(0, 1);
  EXPECT_EQ(runner.raised("s_mov_b64 exec, 0\nv_rcp_f32 v4, v1\ns_mov_b64 exec, 1\n"
                          "v_rcp_f32 v5, v2\ns_getreg_b32 s11, hwreg(HW_REG_TRAPSTS, 0, 9)\n"
                          "v_rcp_f32 v4, v1\nv_add_f32 v4, v2, v2\ns_getreg_b32 s12, hwreg(HW_REG_TRAPSTS, 2, 1)\n"
                          "s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0\nv_sqrt_f32 v4, -v2"),
            invalid);
  EXPECT_EQ(runner.s(11), 0u);
  EXPECT_EQ(runner.s(12), 1u);
}

TEST(Exceptions, DoNotChangeResults) {
  Watching watching(3, 0.1f, 7);
  WaveRunner plain("gfx90a");
  for (unsigned i = 1; i < 4; ++i) std::ranges::copy(watching.v(i), plain.v(i));
  for (WaveRunner* runner : {static_cast<WaveRunner*>(&watching), &plain}) {
    ASSERT_EQ(runner->run("v_fma_f32 v4, v1, v2, -v3 mul:2\nv_mac_f32 v3, v1, v2\nv_add_f32 v5, v1, v2 clamp\n"
                          "v_cmp_gt_f32 vcc, v1, v2\nv_cvt_f16_f32 v6, v2\nv_pk_add_f16 v7, v6, v6\n"
                          "v_add_f16_sdwa v6, v6, v6 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 "
                          "src1_sel:WORD_0"),
              WaveState::ended);
  }
  for (unsigned i = 3; i < 8; ++i) EXPECT_EQ(watching.v(i)[5], plain.v(i)[5]) << i;
  EXPECT_EQ(watching.wave().vcc(), plain.wave().vcc());
}

TEST(Exceptions, StopTheWaveIfTheyAreEnabled) {
  Watching runner(1);
  runner.v(1)[17] = 0;
  ASSERT_EQ(runner.run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 14, 1), 1\nv_sqrt_f32 v4, -1.0\nv_rcp_f32 v4, v1\n"
                       "v_mov_b32 v5, 1"),
            WaveState::faulted);
  ASSERT_NE(runner.wave().fault, nullptr);
  EXPECT_EQ(runner.wave().fault->kind, machine::Fault::Kind::exception);
  EXPECT_EQ(runner.wave().fault->lane, 17u);
  EXPECT_NE(runner.wave().fault->what.find("division by zero"), std::string::npos) << runner.wave().fault->what;
  EXPECT_EQ(runner.v(5)[0], 0u);
}

// --- Kernels, of which the machine finds out whether they watch -----------------------------------------------------

support::Result<machine::KernelStatistics> run_kernel(const std::string& directive, const std::string& body,
                                                      const GuestVector<const void*>& arguments = {}) {
  const auto model = target::find_gpu("gfx90a");
  const auto make = engine::find_engine(std::getenv("ATOLL_ENGINE") != nullptr ? std::getenv("ATOLL_ENGINE") : "");
  const auto gpu = machine::Gpu::create(*model, *make, {.threads = 1});
  EXPECT_TRUE(gpu) << gpu.error().message;
  std::vector<std::string> directives{"next_free_vgpr 8", "next_free_sgpr 16", "user_sgpr_kernarg_segment_ptr 1"};
  if (!directive.empty()) directives.push_back(directive);
  const auto code = load(**gpu, assemble_kernel("gfx90a", directives, body));
  auto packet = packet_for(*code, {64, 1, 1}, {64, 1, 1});
  packet.kernarg_address = reinterpret_cast<uint64_t>(arguments.data());
  return (*gpu)->run(packet);
}

TEST(ExceptionsOfKernels, AreReadFromTheTrapStatus) {
  GuestVector<uint32_t> result(1);
  const GuestVector<const void*> arguments{result.data()};
  const auto ran = run_kernel("",
                              "s_load_dwordx2 s[2:3], s[0:1], 0x0\nv_rcp_f32 v2, 0\n"
                              "s_getreg_b32 s4, hwreg(HW_REG_TRAPSTS, 0, 9)\nv_mov_b32 v3, s4\nv_mov_b32 v4, 0\n"
                              "s_waitcnt lgkmcnt(0)\nglobal_store_dword v4, v3, s[2:3]\ns_endpgm",
                              arguments);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(result[0], divided);
}

TEST(ExceptionsOfKernels, StopThoseThatEnableThem) {
  const std::string body = "v_rcp_f32 v2, 0\ns_endpgm";
  EXPECT_TRUE(run_kernel("", body));
  EXPECT_TRUE(run_kernel("exception_fp_ieee_overflow 1", body));
  const auto stopped = run_kernel("exception_fp_ieee_div_zero 1", body);
  ASSERT_FALSE(stopped);
  for (const char* part : {"floating-point exception", "division by zero", "v_rcp_f32"}) {
    EXPECT_NE(stopped.error().message.find(part), std::string::npos) << stopped.error().message;
  }
  const auto by_mode = run_kernel("", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 4\n" + body);
  EXPECT_FALSE(by_mode);
}

}  // namespace

}  // namespace Atoll::test
