// Translated code against the interpreter where lanes are rare: NaNs of all kinds, and what reciprocal roots are
// special for, in code that is done first as if there were none.
#include <array>
#include <bit>

#include <fmt/format.h>

#include "comparison.h"

namespace Atoll::test {
namespace {

constexpr std::array<uint32_t, 16> rare_words{0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF812345, 0x7FF80000, 0xFFF00001,
                                              0x7F800000, 0xFF800000, 0x00000001, 0x80000000, 0x00000000, 0x7FFFFFFF,
                                              0xBF800000, 0x7E007C01, 0xFC00FE00, 0x807FFFFF};

/// Ordinary numbers in v1 to v13, and rare words in every `distance`th place on the average.
void set_numbers(WaveRunner& runner, uint32_t seed, uint32_t distance) {
  std::mt19937 random(seed);
  for (unsigned i = 1; i <= 13; ++i) {
    for (uint32_t& lane : runner.v(i)) {
      lane = static_cast<uint32_t>(0x3F000000 + (random() & 0x01FFFFFF) + (random() << 31));
      if (random() % distance == 0) lane = rare_words[random() % rare_words.size()];
    }
  }
}

/// A program of vector instructions drawn at random. v1 to v8 are sources and results, v[10:13] two doubles.
class Program {
 public:
  /// `sums_only`: of sums and products in single precision.
  explicit Program(uint32_t seed, bool sums_only = false) : random_(seed), kinds_(sums_only ? 8 : 22) {}

  std::string lines(unsigned count) {
    std::string all;
    for (unsigned i = 0; i < count; ++i) all += line() + "\n";
    return all;
  }

 private:
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  std::string v() { return fmt::format("v{}", 1 + pick(8)); }
  std::string source() {
    switch (pick(8)) {
      case 0:
        return "-" + v();
      case 1:
        return "|" + v() + "|";
      default:
        return v();
    }
  }
  std::string line() {
    switch (pick(kinds_)) {
      case 0:
      case 1:
        return fmt::format("v_add_f32 {}, {}, {}", v(), source(), source());
      case 2:
        return fmt::format("v_sub_f32 {}, {}, {}", v(), source(), source());
      case 3:
      case 4:
        return fmt::format("v_mul_f32 {}, {}, {}", v(), source(), source());
      case 5:
      case 6:
        return fmt::format("v_fma_f32 {}, {}, {}, {}", v(), source(), source(), source());
      case 7:
        return fmt::format("v_mad_f32 {}, {}, {}, {}", v(), source(), source(), source());
      case 8:
        return fmt::format("v_{}_f32 {}, {}", std::array{"rsq", "rcp", "sqrt", "fract"}[pick(4)], v(), source());
      case 9:
        return fmt::format("v_{}_f32 {}, {}, {}", std::array{"min", "max"}[pick(2)], v(), source(), source());
      case 10:
        return fmt::format("v_{}_f32 {}, {}, {}, {}", std::array{"med3", "min3", "max3"}[pick(3)], v(), source(),
                           source(), source());
      case 11:
        return fmt::format("v_cmp_{}_f32 vcc, {}, {}\nv_cndmask_b32 {}, {}, {}, vcc",
                           std::array{"lt", "nge", "u", "o"}[pick(4)], v(), v(), v(), v(), v());
      case 12:
        return fmt::format("v_{}_b32 {}, {}, {}", std::array{"xor", "and", "or"}[pick(3)], v(), v(), v());
      case 13:
        return fmt::format("v_add_u32 {}, {}, {}", v(), v(), v());
      case 14:
        return fmt::format("v_fma_f64 v[10:11], v[10:11], v[12:13], v[10:11]");
      case 15:
        return fmt::format("v_{}_f64 v[12:13], v[10:11], v[12:13]", std::array{"add", "mul", "min"}[pick(3)]);
      case 16:
        return fmt::format("v_cvt_{}_f32 {}, {}", std::array{"i32", "u32", "f16"}[pick(3)], v(), v());
      case 17:
        return fmt::format("v_pk_mul_f32 v[6:7], v[2:3], v[4:5]");
      case 18:
        return fmt::format("v_add_f16 {}, {}, {}", v(), v(), v());
      case 19:
        return fmt::format("v_pk_fma_f16 {}, {}, {}, {} op_sel_hi:[{},1,1]", v(), v(), v(), v(), pick(2));
      case 20:
        return fmt::format("v_pk_{}_f16 {}, {}, {}", std::array{"add", "mul"}[pick(2)], v(), v(), v());
      default:
        return fmt::format("v_mul_f32 {}, {}, {} clamp", v(), v(), v());
    }
  }

  std::mt19937 random_;
  unsigned kinds_;
};

TEST(RareLanes, OneNaNInASum) {
  Comparison(R"(
    v_add_f32 v5, v1, v2
    v_mul_f32 v6, v5, v3
    v_fma_f32 v7, v6, v4, v5
    v_sub_f32 v8, v7, v6)")
      .with([](WaveRunner& runner) {
        set_numbers(runner, 1, ~0u);
        runner.v(2)[37] = 0xFF812345;
      })
      .run();
}

TEST(RareLanes, InvalidOperationsYieldThePositiveNaN) {
  Comparison comparison(R"(
    v_sub_f32 v5, v1, v1
    v_mul_f32 v6, v1, v2
    v_add_f32 v7, v6, v3)");
  comparison
      .with([](WaveRunner& runner) {
        set_numbers(runner, 1, ~0u);
        runner.v(1)[20] = 0x7F800000;
        runner.v(2)[20] = 0;
      })
      .run();
  for (const unsigned reg : {5u, 6u, 7u}) EXPECT_EQ(comparison.expected().v(reg)[20], 0x7FC00000u);
}

TEST(RareLanes, ANaNThatIsSwallowedLater) {
  Comparison(R"(
    v_add_f32 v5, v1, v2
    v_mul_f32 v6, v5, v3
    v_cmp_lt_f32 vcc, v6, v4
    v_cndmask_b32 v7, v3, v6, vcc
    v_min_f32 v8, v6, v1
    v_cvt_i32_f32 v9, v6
    v_mov_b32 v6, 0)")
      .with([](WaveRunner& runner) { set_numbers(runner, 2, 9); })
      .run();
}

TEST(RareLanes, LanesThatExecLeavesOutLater) {
  // The second product is looked at in fewer lanes than the sum, which is left in all of them.
  Comparison(R"(
    v_add_f32 v5, v1, v2
    v_cmp_lt_u32 vcc, 5, v0
    s_and_saveexec_b64 s[4:5], vcc
    v_mul_f32 v6, v5, v3
    s_mov_b64 exec, s[4:5]
    v_add_f32 v7, v5, v4)")
      .with([](WaveRunner& runner) {
        set_numbers(runner, 3, ~0u);
        runner.v(2)[2] = 0xFF812345;
        runner.v(2)[21] = 0xFF812345;
      })
      .run();
}

TEST(RareLanes, InLoops) {
  for (const uint32_t distance : {2u, 50u, ~0u}) {
    Comparison comparison(R"(
      s_movk_i32 s4, 0
    again:
      v_sub_f32 v5, v1, v2
      v_fma_f32 v6, v5, v5, v3
      v_rsq_f32 v7, v6
      v_mul_f32 v7, v7, v5
      v_fma_f32 v8, v7, v1, v8
      v_add_f32 v2, v2, v4
      s_add_i32 s4, s4, 1
      s_cmp_lt_u32 s4, 20
      s_cbranch_scc1 again)");
    comparison.with([&](WaveRunner& runner) { set_numbers(runner, 4, distance); }).run();
    EXPECT_THAT(comparison.plan(), HasPlan("loop region"));
  }
}

/// A loop of twelve rounds around these lines.
std::string loop_of(const std::string& lines) {
  return "s_movk_i32 s4, 0\nagain:\n" + lines + "\ns_add_i32 s4, s4, 1\ns_cmp_lt_u32 s4, 12\ns_cbranch_scc1 again\n";
}

/// NaNs of packed halves are looked for in the last result of a chain only. They come about at its beginning here, in
/// either half, of operands and of infinities.
TEST(RareLanes, NaNsOfHalvesInAChain) {
  const std::string fma = "v_pk_fma_f16 v5, v1, v2, v5\nv_pk_fma_f16 v6, v3, v2, v6\n";
  const std::string chain = fma + fma + "v_pk_add_f16 v5, v5, v4\nv_pk_mul_f16 v5, v5, v4\nv_pk_fmac_f16 v6, v3, v2\n";
  for (const std::string& code : {chain, loop_of(chain)}) {
    for (const uint64_t exec : {~uint64_t{0}, uint64_t{0x0F0F'0000'FFFF'00F1}}) {
      for (const uint32_t mode : {0x3F0u, 0x330u, 0x3F8u}) {  // as usual; without denormal halves; rounding down
        Comparison comparison(code);
        comparison.with([&](WaveRunner& runner) {
          runner.wave().set_exec(exec);
          runner.wave().mode = mode;
          runner.wave().float_mode = machine::float_mode_of(mode, runner.wave().float_mode);
          for (unsigned i = 1; i <= 6; ++i) {
            for (unsigned lane = 0; lane < 64; ++lane) runner.v(i)[lane] = 0x3C003C00 + ((lane * i) << 16) - lane * 7;
          }
          runner.v(5)[3] = 0x3C00FD01;                                 // a NaN in the lower half
          runner.v(2)[9] = 0x7E123C00;                                 // in the upper one
          runner.v(6)[17] = 0x7C00FC00, runner.v(3)[17] = 0xFC007C00;  // infinities of both signs
          runner.v(3)[21] = 0x7C00FC00, runner.v(2)[21] = 0x00008000;  // and times zero
          runner.v(1)[40] = 0x00010001, runner.v(5)[40] = 0x80018001;  // sums that become zero
          runner.v(1)[41] = 0x3C00BC00, runner.v(2)[41] = 0x3C003C00, runner.v(5)[41] = 0xBC003C00;
        });
        comparison.run();
        EXPECT_THAT(comparison.plan(), HasPlan(without_fallbacks));
        if (testing::Test::HasFailure()) FAIL() << code << ", EXEC " << exec << ", MODE " << mode;
      }
    }
  }
}

TEST(RareLanes, SumsOfLoopsBecomeNaNsOnTheWay) {
  // v5 grows past the largest number in some lanes, so that infinities of both signs meet; v3 is a NaN from the start
  // in others. Each NaN has come about in a round of its own.
  const char* const bodies[] = {
      // Sums and what leads to them, one after the other in a round too.
      "v_mul_f32 v5, v5, v6\nv_fma_f32 v8, v5, v1, v8\nv_sub_f32 v9, v9, v5\nv_add_f32 v9, v9, v8",
      "v_mul_f32 v5, v5, v6\nv_fma_f32 v7, v5, v3, v4\nv_fma_f32 v8, v7, v1, v8\nv_sub_f32 v8, v8, v5",
      // A sum that decides what happens to others, as a number and by its bits.
      "v_mul_f32 v5, v5, v6\nv_sub_f32 v8, v5, v8\nv_cmp_lt_f32 vcc, v8, v2\nv_cndmask_b32 v9, v9, v8, vcc",
      "v_mul_f32 v5, v5, v6\nv_sub_f32 v8, v5, v8\nv_add_u32 v9, v9, v8",
      // A NaN that is a number again in the next round.
      "v_mul_f32 v5, v5, v6\nv_sub_f32 v8, v5, v8\nv_max_f32 v8, v8, v2\nv_add_f32 v9, v9, v8",
      // Lanes that the rounds leave out.
      ("v_mul_f32 v5, v5, v6\nv_cmp_gt_u32 vcc, 20, v0\ns_and_saveexec_b64 s[6:7], vcc\nv_sub_f32 v8, v5, "
       "v8\ns_mov_b64 "
       "exec, s[6:7]\nv_add_f32 v9, v9, v8"),
  };
  for (const std::string body : bodies) {
    for (const uint64_t exec : {~uint64_t{0}, uint64_t{0x0F0F'0000'FFFF'00F1}}) {
      Comparison comparison(loop_of(body));
      comparison.with([&](WaveRunner& runner) {
        runner.wave().set_exec(exec);
        for (unsigned lane = 0; lane < 64; ++lane) {
          runner.v(1)[lane] = std::bit_cast<uint32_t>(lane % 5 == 0 ? -1.5F : 1.0F);
          runner.v(2)[lane] = std::bit_cast<uint32_t>(3.0F);
          runner.v(3)[lane] = lane % 11 == 3 ? 0xFF812345 : std::bit_cast<uint32_t>(0.5F);
          runner.v(4)[lane] = std::bit_cast<uint32_t>(static_cast<float>(lane));
          runner.v(5)[lane] = std::bit_cast<uint32_t>(1.0F);
          runner.v(6)[lane] = std::bit_cast<uint32_t>(lane % 3 == 1 ? 1e4F + 1e8F * static_cast<float>(lane) : 1.25F);
          runner.v(8)[lane] = runner.v(9)[lane] = lane % 17 == 4 ? 0x7F800001 : 0;
        }
      });
      comparison.run();
      EXPECT_THAT(comparison.plan(), HasPlan("loop region"));
      if (testing::Test::HasFailure()) FAIL() << body << ", EXEC " << exec;
    }
  }
}

TEST(RareLanes, RandomLoops) {
  for (uint32_t seed = 100; seed < 160; ++seed) {
    Program program(seed, /*sums_only=*/seed % 3 != 0);
    const std::string body = program.lines(1 + seed % 12);
    const uint32_t distance = std::array{3u, 40u, 1000u, ~0u}[seed % 4];
    Comparison comparison(loop_of(body));
    comparison
        .with([&](WaveRunner& runner) {
          set_numbers(runner, seed, distance);
          if (seed % 5 == 0) runner.wave().set_exec(0xFF00'0F0F'FFFF'1234);
        })
        .run();
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed << "\n" << body;
  }
}

TEST(RareLanes, RandomInstructions) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Program program(seed);
    const std::string first = program.lines(20), second = program.lines(15);
    const uint32_t distance = std::array{1u, 3u, 40u, 1000u}[seed % 4];
    Comparison comparison(first + "v_cmp_gt_u32 vcc, 45, v0\ns_and_saveexec_b64 s[4:5], vcc\n" + second +
                          "s_mov_b64 exec, s[4:5]\n" + program.lines(5));
    comparison
        .with([&](WaveRunner& runner) {
          set_numbers(runner, seed, distance);
          if (seed % 5 == 0) runner.wave().set_exec(0xFF00'0F0F'FFFF'1234);
        })
        .run();
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed << "\n" << first << second;
  }
}

}  // namespace
}  // namespace Atoll::test
