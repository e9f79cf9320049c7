// Functions of one half on each generation, with neg and abs, clamp, upper halves and lanes that are off: correctly
// rounded where the ISA guides define them, within a unit where they approximate. And the scalar functions of GFX11.5
// to GFX12 (S_RNDNE, V_S_*).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using target::Generation;
using test::Machine;
using test::WaveRunner;

double as_double(uint32_t half) { return static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(half))); }
uint16_t half_of(double number) { return std::bit_cast<uint16_t>(static_cast<_Float16>(number)); }
bool is_nan(uint32_t half) { return (half & 0x7FFF) > 0x7C00; }

/// Sine of an angle in turns, exact where the result is 0 or 1. Beyond 256 turns the angle counts as 0.
double sine(double turns) {
  if (std::abs(turns) > 256 && std::isfinite(turns)) return 0;
  const double part = turns - std::floor(turns);
  if (part == 0 || part == 0.5) return 0;
  return std::sin(part * 2 * 3.14159265358979323846);
}
double cosine(double turns) {
  if (std::abs(turns) > 256 && std::isfinite(turns)) return 1;
  const double part = turns - std::floor(turns);
  if (part == 0.25 || part == 0.75) return 0;
  return std::cos(part * 2 * 3.14159265358979323846);
}

struct Function {
  const char* row;
  double (*of)(double);
  bool approximates = false;
  bool is_integer = false;
};
constexpr Function functions[] = {
    {"v_rcp_f16", [](double a) { return 1 / a; }, true},
    {"v_sqrt_f16", [](double a) { return std::sqrt(a); }, true},
    {"v_rsq_f16", [](double a) { return 1 / std::sqrt(a); }, true},
    {"v_log_f16", [](double a) { return std::log2(a); }, true},
    {"v_exp_f16", [](double a) { return std::exp2(a); }, true},
    {"v_sin_f16", sine, true},
    {"v_cos_f16", cosine, true},
    {"v_rndne_f16", [](double a) { return std::nearbyint(a); }},
    {"v_trunc_f16", [](double a) { return std::trunc(a); }},
    {"v_ceil_f16", [](double a) { return std::ceil(a); }},
    {"v_floor_f16", [](double a) { return std::floor(a); }},
    {"v_fract_f16",
     [](double a) { return std::isinf(a) ? NAN : std::min(as_double(half_of(a - std::floor(a))), 0x1.ffcp-1); }},
    {"v_frexp_mant_f16",
     [](double a) {
       int exponent = 0;
       return std::isfinite(a) ? std::frexp(a, &exponent) : a;
     }},
    {"v_frexp_exp_i16_f16",
     [](double a) {
       int exponent = 0;
       if (std::isfinite(a)) std::frexp(a, &exponent);
       return static_cast<double>(exponent);
     },
     false, true},
};

/// How an instruction's operands are written, and what that makes of them.
struct Form {
  std::string suffix, result, source, after;
  bool upper = false, changes_sign = false, clamps = false;
};

std::vector<Form> forms_on(const target::Processor& processor) {
  const bool names_halves = processor.generation >= Generation::gfx11 && processor.generation < Generation::gfx12;
  const std::string low = names_halves ? ".l" : "";
  std::vector<Form> forms = {{"_e32", low, "v1" + low, ""},
                             {"_e64", low, "-|v1" + low + "|", "", false, true},
                             {"_e64", low, "v1" + low, " clamp", false, false, true}};
  if (names_halves) {
    forms.push_back({"_e64", ".h", "v1.h", "", true});
  } else if (processor.generation < Generation::gfx11) {
    forms.push_back({"_sdwa", "", "v1", " dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1", true});
  }
  return forms;
}

TEST(HalfFunctionsOnEachGeneration, AreRoundedAndLeaveTheOtherHalf) {
  constexpr unsigned first = 10, runs = 48;
  unsigned salt = 0;
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    if (target::find_processor(machine.processor)->generation < Generation::gfx8) continue;
    ++salt;
    const target::Processor& processor = *target::find_processor(machine.processor);
    const bool keeps_upper = processor.generation >= Generation::gfx10;
    struct Case {
      const Function* function;
      Form form;
    };
    std::vector<Case> cases;
    std::string source;
    for (const Form& form : forms_on(processor)) {
      for (const Function& function : functions) {
        const std::string name = test::name_on(processor, function.row);
        ASSERT_FALSE(name.empty()) << function.row;
        if (function.is_integer && form.clamps) continue;
        source += fmt::format("{}{} v{}{}, {}{}\n", name, form.suffix, first + cases.size(), form.result, form.source,
                              form.after);
        cases.push_back({&function, form});
      }
    }
    WaveRunner runner(machine.processor, "", machine.wave_size);
    ASSERT_EQ(runner.run(source), WaveState::ended);
    std::mt19937 random(salt);
    for (unsigned run = 0; run < runs; ++run) {
      const uint64_t exec = run == 0 ? 0 : run % 3 == 0 ? uint64_t{random()} << 32 | random() : ~uint64_t{0};
      std::vector<uint32_t> values(64), before(64);
      for (unsigned lane = 0; lane < 64; ++lane) {
        // All values of 16 bits come with some machine.
        const uint32_t value = ((run * 64 + lane) * 19 + salt) & 0xFFFF;
        constexpr uint32_t edges[] = {0, 1, 0x3FF, 0x400, 0x3C00, 0x3800, 0x7BFF, 0x7C00, 0x7C01, 0x7E00};
        const uint32_t edge = edges[random() % std::size(edges)] | (random() & 0x8000);
        runner.v(1)[lane] = values[lane] = value | (run % 2 == 0 ? edge : (value * 40503u & 0xFFFF)) << 16;
        before[lane] = static_cast<uint32_t>(random());
        for (unsigned i = 0; i < cases.size(); ++i) runner.v(first + i)[lane] = before[lane] + i;
      }
      runner.wave().set_exec(exec);
      runner.wave().pc = runner.code_address();
      runner.wave().state = WaveState::ready;
      ASSERT_EQ(runner.resume(), WaveState::ended);
      for (unsigned i = 0; i < cases.size(); ++i) {
        const auto& [function, form] = cases[i];
        for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
          const uint32_t got = runner.v(first + i)[lane], old = before[lane] + i;
          if ((exec >> lane & 1) == 0) {
            ASSERT_EQ(got, old) << function->row;
            continue;
          }
          const uint32_t operand = form.upper ? values[lane] >> 16 : values[lane] & 0xFFFF;
          const uint32_t other = form.upper ? old & 0xFFFF : keeps_upper ? old >> 16 : 0;
          ASSERT_EQ(form.upper ? got & 0xFFFF : got >> 16, other) << function->row << form.after;
          const uint32_t result = form.upper ? got >> 16 : got & 0xFFFF;
          const uint32_t signed_operand = form.changes_sign ? operand | 0x8000 : operand;
          double exact = function->of(as_double(signed_operand));
          if (function->is_integer) {
            ASSERT_EQ(static_cast<int16_t>(result), exact) << function->row << std::hex << ' ' << operand;
            continue;
          }
          if (form.clamps) exact = std::isnan(exact) ? 0 : std::clamp(exact, 0.0, 1.0);
          if (std::isnan(exact)) {
            ASSERT_TRUE(is_nan(result)) << function->row << form.suffix << std::hex << ' ' << operand;
            continue;
          }
          const uint32_t expected = half_of(exact);
          const unsigned distance = (result & 0x7FFF) > (expected & 0x7FFF) ? result - expected : expected - result;
          const bool same_sign = exact == 0 || ((result ^ expected) & 0x8000) == 0;
          ASSERT_TRUE(function->approximates
                          ? (distance & 0x7FFF) <= 1 && same_sign
                          : result == expected || (form.clamps && exact == 0 && (result & 0x7FFF) == 0))
              << fmt::format("{}{} of {:#x}: {:#x}, not {:#x}", function->row, form.after, signed_operand, result,
                             expected);
        }
      }
    }
  }
}

/// V_LDEXP_F16: the exponent is an integer of 16 bits.
TEST(HalfFunctionsOnEachGeneration, LdexpMovesTheExponent) {
  for (const Machine& machine : test::machines_from_gfx9) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const bool names_halves = processor.generation >= Generation::gfx11 && processor.generation < Generation::gfx12;
    WaveRunner runner(machine.processor, "", machine.wave_size);
    const uint64_t exec = 0xFFFF'FF7F'EFFF'FFFB;
    runner.wave().set_exec(exec);
    const bool has_upper = processor.generation < Generation::gfx12;
    ASSERT_EQ(runner.run(names_halves ? "v_ldexp_f16_e32 v3.l, v1.l, v2.l\nv_ldexp_f16_e64 v4.h, -v1.h, v2.h"
                         : has_upper  ? "v_ldexp_f16_e32 v3, v1, v2\nv_ldexp_f16_sdwa v4, -v1, v2 dst_sel:WORD_1 "
                                        "dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_1"
                                      : "v_ldexp_f16_e32 v3, v1, v2\nv_ldexp_f16_e64 v4, -v1, v2"),
              WaveState::ended);
    const bool keeps_upper = processor.generation >= Generation::gfx10;
    std::mt19937 random(3);
    constexpr int exponents[] = {-32768, -45, -25, -11, -3, -1, 0, 1, 9, 30, 44, 32767};
    for (unsigned run = 0; run < 64; ++run) {
      std::vector<uint32_t> a(64), b(64);
      for (unsigned lane = 0; lane < 64; ++lane) {
        runner.v(1)[lane] = a[lane] = static_cast<uint32_t>(random()) & (run % 4 == 0 ? 0x83FF'83FF : 0xFFFF'FFFF);
        const auto exponent = [&] {
          return static_cast<uint32_t>(exponents[random() % std::size(exponents)]) & 0xFFFF;
        };
        const uint32_t low = exponent();
        runner.v(2)[lane] = b[lane] = low | exponent() << 16;
        runner.v(3)[lane] = runner.v(4)[lane] = 0x1234'ABCD;
      }
      runner.wave().pc = runner.code_address();
      runner.wave().state = WaveState::ready;
      ASSERT_EQ(runner.resume(), WaveState::ended);
      const auto expect = [&](unsigned lane, uint32_t got, uint32_t number, uint32_t exponent) {
        const uint32_t expected = half_of(std::ldexp(as_double(number), static_cast<int16_t>(exponent)));
        if (is_nan(number)) {
          EXPECT_TRUE(is_nan(got)) << lane;
        } else {
          EXPECT_EQ(got, expected) << std::hex << number << " by " << exponent;
        }
      };
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
        const uint32_t three = runner.v(3)[lane], four = runner.v(4)[lane];
        if ((exec >> lane & 1) == 0) {
          EXPECT_EQ(three, 0x1234'ABCDu);
          EXPECT_EQ(four, 0x1234'ABCDu);
          continue;
        }
        expect(lane, three & 0xFFFF, a[lane] & 0xFFFF, b[lane] & 0xFFFF);
        EXPECT_EQ(three >> 16, keeps_upper ? 0x1234u : 0u);
        if (has_upper) {
          expect(lane, four >> 16, (a[lane] >> 16) ^ 0x8000, b[lane] >> 16);
          EXPECT_EQ(four & 0xFFFF, 0xABCDu);
        } else {
          expect(lane, four & 0xFFFF, (a[lane] & 0xFFFF) ^ 0x8000, b[lane] & 0xFFFF);
        }
      }
    }
  }
}

/// S_RNDNE_F32 and _F16, and the functions of the transcendental unit on scalars ("RDNA4" ISA guide, V_S_*): a half's
/// result clears the upper half.
TEST(HalfFunctionsOnEachGeneration, FunctionsOfScalars) {
  struct Scalar {
    const char* name;
    double (*of)(double);
  };
  constexpr Scalar scalars[] = {{"exp", [](double a) { return std::exp2(a); }},
                                {"log", [](double a) { return std::log2(a); }},
                                {"rcp", [](double a) { return 1 / a; }},
                                {"rsq", [](double a) { return 1 / std::sqrt(a); }},
                                {"sqrt", [](double a) { return std::sqrt(a); }}};
  unsigned machines = 0;
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (test::name_on(processor, "s_rndne_f32").empty()) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    ++machines;
    const bool has_functions = !test::name_on(processor, "v_s_exp_f32").empty();
    std::string source = "s_rndne_f32 s10, s1\ns_rndne_f16 s11, s2\n";
    for (unsigned i = 0; i < std::size(scalars) && has_functions; ++i) {
      source +=
          fmt::format("v_s_{0}_f32 s{1}, s1\nv_s_{0}_f16 s{2}, s2\nv_s_{0}_f32 s{3}, -|s1|\nv_s_{0}_f16 s{4}, |s2|\n",
                      scalars[i].name, 20 + i, 30 + i, 40 + i, 50 + i);
    }
    WaveRunner runner(machine.processor, "", machine.wave_size);
    runner.wave().set_exec(0);  // EXEC has no part in it
    ASSERT_EQ(runner.run(source), WaveState::ended);
    std::mt19937 random(7);
    for (unsigned run = 0; run < 2000; ++run) {
      constexpr float edges[] = {0,     -0.0f, 0.5f, 1.5f, 2.5f,     -0.5f,     -1.5f, 8388607.5f, -8388609,
                                 1e38f, 1,     4,    0.3f, INFINITY, -INFINITY, NAN,   127.5f,     -125.25f};
      const float single = run < std::size(edges) ? edges[run]
                           : run % 2 == 0         ? static_cast<float>(static_cast<int>(random() % 2000) - 1000) / 8
                                                  : std::bit_cast<float>(static_cast<uint32_t>(random()));
      const auto half = static_cast<uint32_t>(run < 1000 ? random() & 0xFFFF : half_of(single));
      const uint32_t scc = run & 1;
      runner.s(1) = std::bit_cast<uint32_t>(single);
      runner.s(2) = half | static_cast<uint32_t>(random()) << 16;
      runner.wave().scc = scc != 0;
      runner.wave().pc = runner.code_address();
      runner.wave().state = WaveState::ready;
      ASSERT_EQ(runner.resume(), WaveState::ended);
      EXPECT_EQ(runner.wave().scc, scc != 0);
      const auto single_at = [&](unsigned reg) { return std::bit_cast<float>(runner.s(reg)); };
      const float rounded = std::nearbyint(single);
      if (std::isnan(single)) {
        EXPECT_TRUE(std::isnan(single_at(10)));
      } else {
        EXPECT_EQ(runner.s(10), std::bit_cast<uint32_t>(rounded)) << single;
      }
      if (is_nan(half)) {
        EXPECT_TRUE(is_nan(runner.s(11))) << half;
      } else {
        EXPECT_EQ(runner.s(11), half_of(std::nearbyint(as_double(half)))) << half;
      }
      for (unsigned i = 0; i < std::size(scalars) && has_functions; ++i) {
        const auto check_single = [&](double operand, float got) {
          if (std::fpclassify(static_cast<float>(operand)) == FP_SUBNORMAL) return;  // counts as 0
          const double exact = scalars[i].of(operand);
          if (std::isnan(exact)) {
            EXPECT_TRUE(std::isnan(got)) << scalars[i].name << ' ' << operand;
          } else if (std::isinf(exact) || exact == 0) {
            EXPECT_EQ(got, exact) << scalars[i].name << ' ' << operand;
          } else if (std::abs(exact) < 0x1p-126) {
            EXPECT_EQ(got, 0) << scalars[i].name << ' ' << operand;  // is flushed
          } else if (std::abs(exact) >= 0x1.ffffffp127) {
            EXPECT_TRUE(std::isinf(got)) << scalars[i].name << ' ' << operand;
          } else {
            // Near 1 the logarithm's error is absolute.
            EXPECT_LE(std::abs(got - exact), std::max(std::abs(exact) * 0x1p-22, 0x1p-24))
                << scalars[i].name << ' ' << operand;
          }
        };
        const auto check_half = [&](uint32_t operand, uint32_t got) {
          const double exact = scalars[i].of(as_double(operand));
          EXPECT_EQ(got >> 16, 0u);
          if (std::isnan(exact)) {
            EXPECT_TRUE(is_nan(got)) << scalars[i].name << ' ' << operand;
          } else {
            EXPECT_LE(std::abs(static_cast<int>(got & 0x7FFF) - (half_of(exact) & 0x7FFF)), 1)
                << scalars[i].name << ' ' << operand;
          }
        };
        check_single(single, single_at(20 + i));
        check_half(half, runner.s(30 + i));
        check_single(-std::abs(static_cast<double>(single)), single_at(40 + i));
        check_half(half & 0x7FFF, runner.s(50 + i));
      }
    }
  }
  test::expect_machines(machines, 7);
}

}  // namespace
}  // namespace Atoll
