// Semantics and the instruction table agree: each function takes and yields what the table says that the instruction
// does.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "isa/table.h"
#include "semantics/memory_access.h"
#include "semantics/registry.h"

namespace Atoll::semantics::test {
namespace {

using isa::Encoding;
using isa::Field;
using isa::Opcode;
namespace flag = isa::flag;

std::vector<Opcode> all_opcodes() {
  std::vector<Opcode> opcodes;
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) opcodes.push_back(static_cast<Opcode>(i));
  return opcodes;
}

/// What the table says about a vector instruction, in the terms of VectorShape.
struct Expected {
  std::vector<unsigned> dst_words, src_words;
  unsigned masks_in = 0;
  bool mask_out = false;
};
Expected expected_of(const isa::InstructionRow& row) {
  Expected expected;
  for (const isa::OperandSpec& operand : row.operands) {
    switch (operand.field) {
      case Field::vdst:
        expected.dst_words.push_back(isa::words_of(operand.type));
        break;
      case Field::src0:
      case Field::src1:
      case Field::src2:
      case Field::vgpr_src0:
      case Field::vgpr_src1:
      case Field::vgpr_src2:
      case Field::literal:
        expected.src_words.push_back(isa::words_of(operand.type));
        break;
      case Field::carry_in:
      case Field::vcc_in:
        ++expected.masks_in;
        break;
      case Field::carry_out:
      case Field::cmp_dst:
        expected.mask_out = true;
        break;
      default:
        break;
    }
  }
  return expected;
}

TEST(InstructionTable, VectorFunctionsTakeTheOperandsOfTheirInstruction) {
  unsigned functions = 0;
  for (const Opcode opcode : all_opcodes()) {
    const VectorShape& shape = vector_function(opcode);
    if (shape.call == nullptr) continue;
    ++functions;
    const isa::InstructionRow& row = isa::row(opcode);
    const Expected expected = expected_of(row);
    EXPECT_EQ(std::vector<unsigned>(shape.dst_words, shape.dst_words + shape.destinations), expected.dst_words)
        << row.name;
    EXPECT_EQ(std::vector<unsigned>(shape.src_words, shape.src_words + shape.sources), expected.src_words) << row.name;
    EXPECT_EQ(shape.masks_in, expected.masks_in) << row.name;
    EXPECT_EQ(shape.mask_out, expected.mask_out) << row.name;
    EXPECT_EQ(shape.reads_dst, row.has(flag::reads_dst)) << row.name;
    if (shape.handles_clamp) {
      EXPECT_TRUE(row.has(flag::clamp | flag::sdwa)) << row.name << " saturates, but has no clamp";
    }
  }
  EXPECT_GT(functions, 390);
}

TEST(InstructionTable, ScalarFunctionsBelongToScalarInstructions) {
  for (const Opcode opcode : all_opcodes()) {
    if (scalar_function(opcode) == nullptr) continue;
    const isa::InstructionRow& row = isa::row(opcode);
    EXPECT_TRUE(row.encoding == Encoding::sop1 || row.encoding == Encoding::sop2 || row.encoding == Encoding::sopk ||
                row.encoding == Encoding::sopc)
        << row.name;
    // What SCC and EXEC do is in the table too: try both values of SCC on a few sources.
    bool writes_scc = false, writes_exec = false, reads_scc = false;
    for (const uint64_t a : {0x0ULL, 0x1ULL, 0x80000000ULL, 0xFFFFFFFFULL, 0xFFFF8001ULL}) {
      for (const uint64_t b : {0x0ULL, 0x1ULL, 0x10004ULL, 0x80000000ULL, 0xFFFFFFFFULL}) {
        ScalarCall set{.src = {a, b, 0}, .dst = 0x123, .exec = 0x55, .scc = true};
        ScalarCall clear = set;
        clear.scc = false;
        scalar_function(opcode)(set);
        scalar_function(opcode)(clear);
        writes_scc |= !set.scc || clear.scc;
        writes_exec |= set.exec != 0x55;
        reads_scc |= set.dst != clear.dst;
      }
    }
    EXPECT_EQ(writes_scc, row.has(flag::scc_out)) << row.name;
    EXPECT_EQ(writes_exec, row.has(flag::exec_out)) << row.name;
    EXPECT_EQ(reads_scc, row.has(flag::scc_in)) << row.name;
  }
}

TEST(InstructionTable, MemoryAccessesMoveTheOperandsOfTheirInstruction) {
  using Kind = MemoryAccess::Kind;
  for (const Opcode opcode : all_opcodes()) {
    const MemoryAccess& access = memory_access(isa::Instruction{.opcode = opcode});
    const isa::InstructionRow& row = isa::row(opcode);
    if (access.kind == Kind::none) continue;
    EXPECT_TRUE(row.has(flag::memory)) << row.name;
    EXPECT_EQ(access.kind == Kind::load, row.has(flag::load) && !row.has(flag::store) && !row.has(flag::to_lds))
        << row.name;
    EXPECT_EQ(access.kind == Kind::store || (access.data_in_lds && access.operation == AtomicOperation::swap),
              row.has(flag::store) && !row.has(flag::load) && !row.has(flag::from_lds))
        << row.name;
    EXPECT_EQ(access.elements == 2, row.has(flag::two_offsets)) << row.name;
    if (access.data_in_lds || access.kind == Kind::load_to_lds || access.kind == Kind::store_from_lds) continue;
    for (const isa::OperandSpec& operand : row.operands) {
      const unsigned words = isa::words_of(operand.type);
      const unsigned compare = access.operation == AtomicOperation::compare_swap ? 2 : 1;  // data and compare value
      switch (operand.field) {
        case Field::ds_dst:
          EXPECT_EQ(words, access.words() * access.elements) << row.name;
          break;
        case Field::ds_data0:
        case Field::ds_data1:
        case Field::flat_dst:
          EXPECT_EQ(words, access.words()) << row.name;
          break;
        case Field::flat_return:
          EXPECT_EQ(words, access.words()) << row.name;
          break;
        case Field::flat_data:
        case Field::buffer_data:
        case Field::sdata:
          EXPECT_EQ(words, access.words() * compare) << row.name;
          break;
        default:
          break;
      }
    }
    const bool has_data1 = std::ranges::any_of(row.operands, [](auto& o) { return o.field == Field::ds_data1; });
    if (row.encoding == Encoding::ds && access.kind == Kind::atomic && access.elements == 1) {
      EXPECT_EQ(has_data1, has_two_operands(access.operation)) << row.name;
    }
  }
}

}  // namespace
}  // namespace Atoll::semantics::test
