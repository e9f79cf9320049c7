// Exceptions follow from the operation, whichever encoding or form an instruction has: those with a literal or a tied
// result raise what the three-address form raises. Expected is whether the host's arithmetic is exact.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

#include "isa/table.h"
#include "semantics/float/exceptions.h"

namespace Atoll::semantics::test {
namespace {

using isa::DataType;
using isa::Opcode;

uint32_t exceptions_of_one(Opcode opcode, DataType type, std::array<double, 3> values, double result) {
  isa::Instruction instruction;
  instruction.opcode = opcode;
  instruction.generation = target::Generation::gfx10;
  instruction.destinations = 1;
  instruction.operand_count = 4;
  for (unsigned i = 0; i < 4; ++i) instruction.operands[i].type = type;
  alignas(64) Row rows[4][2]{};
  for (unsigned i = 0; i < 4; ++i) {
    const double value = i < 3 ? values[i] : result;
    if (type == DataType::f32) {
      rows[i][0][0] = std::bit_cast<uint32_t>(static_cast<float>(value));
    } else {
      rows[i][0][0] = static_cast<uint32_t>(std::bit_cast<uint64_t>(value));
      rows[i][1][0] = static_cast<uint32_t>(std::bit_cast<uint64_t>(value) >> 32);
    }
  }
  const isa::Operand* operands[3];
  const Row* sources[3];
  for (unsigned i = 0; i < 3; ++i) operands[i] = &instruction.operands[i + 1], sources[i] = rows[i];
  return exceptions_of(
      {.instruction = instruction, .operands = operands, .sources = sources, .source_count = 3, .result = rows[3]}, 1,
      {});
}

TEST(Exceptions, LiteralFormsOfMultiplicationAndAdditionReportInexactResults) {
  for (const Opcode opcode : {Opcode::v_fma_f32, Opcode::v_fmaak_f32, Opcode::v_fmamk_f32, Opcode::v_mad_f32,
                              Opcode::v_madak_f32, Opcode::v_madmk_f32}) {
    const float inexact = std::fma(1.5F, 0x1p-30F, 1.0F);
    EXPECT_EQ(exceptions_of_one(opcode, DataType::f32, {1.5, 0x1p-30, 1}, inexact), exception::inexact)
        << isa::row(opcode).name;
    EXPECT_EQ(exceptions_of_one(opcode, DataType::f32, {1.5, 2, 1}, 4), 0u) << isa::row(opcode).name;
  }
  for (const Opcode opcode : {Opcode::v_fma_f64, Opcode::v_fmaak_f64, Opcode::v_fmamk_f64}) {
    EXPECT_EQ(exceptions_of_one(opcode, DataType::f64, {1.5, 0x1p-70, 1}, 1), exception::inexact)
        << isa::row(opcode).name;
  }
}

}  // namespace
}  // namespace Atoll::semantics::test
