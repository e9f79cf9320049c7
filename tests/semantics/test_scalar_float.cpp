// Scalar floating point (scalar_float.h): modes, modifiers, and what becomes of the register's upper half. What the
// instructions compute, test_pseudocode.cpp compares with the ISA guides.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "semantics/note_function.h"
#include "semantics/scalar/scalar_float.h"

namespace Atoll::semantics::test {
namespace {

using isa::DataType;
using isa::Opcode;

uint32_t word(float number) { return std::bit_cast<uint32_t>(number); }

isa::Instruction instruction_of(Opcode opcode, DataType type, unsigned sources) {
  isa::Instruction instruction;
  instruction.opcode = opcode;
  instruction.destinations = 1;
  instruction.operand_count = static_cast<uint8_t>(1 + sources);
  for (unsigned i = 0; i <= sources; ++i) instruction.operands[i].type = type;
  return instruction;
}

ScalarCall run(const isa::Instruction& instruction, ScalarCall call, const FloatMode& mode = {},
               target::Generation generation = target::Generation::gfx12) {
  scalar_float(instruction, generation, mode, call);
  note_function(Atoll::test::TestedBy::arithmetic, instruction.opcode, generation);
  return call;
}

TEST(ScalarFloat, HeedsRoundingAndDenormals) {
  const auto add = instruction_of(Opcode::s_add_f32, DataType::f32, 2);
  const ScalarCall sum{.src = {word(1), word(0x1p-30f)}, .dst = 0, .exec = 0, .scc = true};
  EXPECT_EQ(run(add, sum).dst, word(1));
  EXPECT_EQ(run(add, sum, {.round32 = Round::plus_infinity}).dst, word(1) + 1);
  EXPECT_TRUE(run(add, sum).scc);
  const ScalarCall denormals{.src = {1, 1}, .dst = 0, .exec = 0, .scc = false};
  EXPECT_EQ(run(add, denormals).dst, 2u);
  EXPECT_EQ(run(add, denormals, {.denormals32 = Denormals::flush_in_out}).dst, 0u);
}

// GFX12's are IEEE 754-2019's minimumNumber and maximumNumber, GFX11.7's IEEE 754-2008's minNum and maxNum, of which a
// signalling NaN is a NaN. Neither has an IEEE mode.
TEST(ScalarFloat, SignallingNansBeforeNumbersUntilGfx12) {
  using target::Generation;
  constexpr uint32_t signalling = 0x7F800123, quiet = 0x7FC00123, signalling_half = 0x7C12, quiet_half = 0x7E12;
  const FloatMode mode{.ieee = false, .has_ieee_mode = false};
  const auto both = [&](Opcode opcode, DataType type, uint64_t a, uint64_t b, Generation generation) {
    return run(instruction_of(opcode, type, 2), {.src = {a, b}, .dst = 0, .exec = 0, .scc = false}, mode, generation)
        .dst;
  };
  for (const Opcode opcode : {Opcode::s_min_f32, Opcode::s_max_f32}) {
    EXPECT_EQ(both(opcode, DataType::f32, signalling, word(1), Generation::gfx11_7), quiet);
    EXPECT_EQ(both(opcode, DataType::f32, word(1), signalling, Generation::gfx11_7), quiet);
    EXPECT_EQ(both(opcode, DataType::f32, quiet, word(1), Generation::gfx11_7), word(1));
    EXPECT_EQ(both(opcode, DataType::f32, signalling, word(1), Generation::gfx12), word(1));
  }
  for (const Opcode opcode : {Opcode::s_min_f16, Opcode::s_max_f16}) {
    EXPECT_EQ(both(opcode, DataType::f16, signalling_half, 0x3C00, Generation::gfx11_7), quiet_half);
    EXPECT_EQ(both(opcode, DataType::f16, signalling_half, 0x3C00, Generation::gfx12), 0x3C00u);
  }
  EXPECT_EQ(both(Opcode::s_min_f32, DataType::f32, word(1), word(2), Generation::gfx11_7), word(1));
  EXPECT_EQ(both(Opcode::s_max_f32, DataType::f32, word(1), word(2), Generation::gfx11_7), word(2));
}

TEST(ScalarFloat, HalvesClearTheUpperHalf) {
  const auto fmac = instruction_of(Opcode::s_fmac_f16, DataType::f16, 2);
  // 2 * 3 + 1; the upper halves are something else.
  EXPECT_EQ(run(fmac, {.src = {0x12344000, 0x56784200}, .dst = 0x9ABC3C00, .exec = 0, .scc = false}).dst, 0x4700u);
  const auto high = instruction_of(Opcode::s_cvt_hi_f32_f16, DataType::b32, 1);
  EXPECT_EQ(run(high, {.src = {0x3C00C000}, .dst = 0, .exec = 0, .scc = false}).dst, word(1));
}

TEST(ScalarFloat, ComparesSetScc) {
  isa::Instruction compare;
  compare.opcode = Opcode::s_cmp_nlt_f32;
  const ScalarCall nan{.src = {word(NAN), word(1)}, .dst = 7, .exec = 5, .scc = false};
  EXPECT_TRUE(run(compare, nan).scc);
  EXPECT_EQ(run(compare, nan).dst, 7u);
  EXPECT_EQ(run(compare, nan).exec, 5u);
  EXPECT_FALSE(run(compare, {.src = {word(0), word(1)}, .dst = 0, .exec = 0, .scc = true}).scc);
}

TEST(ScalarFloat, TranscendentalFunctionsHaveModifiers) {
  auto root = instruction_of(Opcode::v_s_sqrt_f32, DataType::f32, 1);
  root.operands[1].neg = root.operands[1].abs = true;
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(
      static_cast<uint32_t>(run(root, {.src = {word(4)}, .dst = 0, .exec = 0, .scc = false}).dst))));
  root.operands[1].neg = false;
  EXPECT_EQ(run(root, {.src = {word(-4)}, .dst = 0, .exec = 0, .scc = false}).dst, word(2));
  root.clamp = true;
  EXPECT_EQ(run(root, {.src = {word(-4)}, .dst = 0, .exec = 0, .scc = false}).dst, word(1));
  const auto half = instruction_of(Opcode::v_s_rcp_f16, DataType::f16, 1);
  EXPECT_EQ(run(half, {.src = {0x4000}, .dst = 0xFFFF0000, .exec = 0, .scc = false}).dst, 0x3800u);
}

TEST(ScalarFloat, InlineConstantsAreHalvesOfHalves) {
  auto floor = instruction_of(Opcode::s_floor_f16, DataType::b32, 1);
  floor.operands[1].kind = isa::OperandKind::constant;
  for (const auto& [single, half] : {std::pair{2.0f, 0x4000u}, {-0.5f, 0xBC00u}, {0.15915494f, 0u}}) {
    floor.operands[1].value = word(single);
    EXPECT_EQ(run(floor, {.src = {word(single)}, .dst = 0, .exec = 0, .scc = false}).dst, half) << single;
  }
  floor.operands[1].value = 0x3C00;
  floor.operands[1].is_literal = true;
  EXPECT_EQ(run(floor, {.src = {0x3C00}, .dst = 0, .exec = 0, .scc = false}).dst, 0x3C00u);
}

TEST(ScalarFloat, OnlyItsInstructionsHaveAnEquivalent) {
  EXPECT_EQ(lane_equivalent(Opcode::s_add_f32), Opcode::v_add_f32);
  EXPECT_EQ(lane_equivalent(Opcode::s_add_u32), Opcode::invalid);
  EXPECT_EQ(lane_equivalent(Opcode::invalid), Opcode::invalid);
}

}  // namespace
}  // namespace Atoll::semantics::test
