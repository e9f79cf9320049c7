// Semantics and the instruction table agree: each function takes and yields what the table says that the instruction
// does.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "isa/opcode_map.h"
#include "isa/table.h"
#include "semantics/matrix/mfma.h"
#include "semantics/matrix/wmma.h"
#include "semantics/memory/memory_access.h"
#include "semantics/registry.h"
#include "semantics/scalar/scalar_float.h"

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

/// A processor of each generation that has functions of its own.
constexpr std::string_view processors[] = {"gfx900",  "gfx90a",  "gfx942",  "gfx950",  "gfx1010",
                                           "gfx1030", "gfx1100", "gfx1150", "gfx1170", "gfx1200"};

/// The instructions of the vector and scalar ALUs that a processor has.
std::vector<Opcode> computing_opcodes(const target::Processor& processor) {
  std::vector<Opcode> opcodes;
  const isa::OpcodeMap& map = isa::opcode_map_of(processor);
  for (const Encoding encoding : {Encoding::sop1, Encoding::sop2, Encoding::sopk, Encoding::sopc, Encoding::vop1,
                                  Encoding::vop2, Encoding::vopc, Encoding::vop3, Encoding::vop3p, Encoding::vinterp}) {
    for (const Opcode opcode : map.opcodes[static_cast<size_t>(encoding)]) {
      if (opcode != Opcode::invalid) opcodes.push_back(opcode);
    }
  }
  std::ranges::sort(opcodes);
  const auto twice = std::ranges::unique(opcodes);
  opcodes.erase(twice.begin(), twice.end());
  return opcodes;
}

bool is_scalar(const isa::InstructionRow& row) {
  return row.encoding == Encoding::sop1 || row.encoding == Encoding::sop2 || row.encoding == Encoding::sopk ||
         row.encoding == Encoding::sopc;
}

TEST(InstructionTable, VectorFunctionsTakeTheOperandsOfTheirInstruction) {
  for (const std::string_view name : processors) {
    const target::Processor& processor = *target::find_processor(name);
    unsigned functions = 0;
    for (const Opcode opcode : computing_opcodes(processor)) {
      const VectorShape& shape = vector_function(opcode, processor.generation);
      if (shape.call == nullptr) continue;
      ++functions;
      const isa::InstructionRow& row = isa::row_on(opcode, processor.generation);
      SCOPED_TRACE(fmt::format("{} on {}", row.name, name));
      const Expected expected = expected_of(row);
      EXPECT_EQ(std::vector<unsigned>(shape.dst_words, shape.dst_words + shape.destinations), expected.dst_words);
      EXPECT_EQ(std::vector<unsigned>(shape.src_words, shape.src_words + shape.sources), expected.src_words);
      EXPECT_EQ(shape.masks_in, expected.masks_in);
      EXPECT_EQ(shape.mask_out, expected.mask_out || row.has(flag::exec_out));
      EXPECT_EQ(shape.reads_dst, row.has(flag::reads_dst));
      if (shape.handles_clamp) {
        EXPECT_TRUE(isa::row(opcode).has(flag::clamp | flag::sdwa)) << "saturates, but has no clamp";
      }
      // From GFX10 on nothing that is 16 bits wide writes the rest of its register, unless with what was there.
      const bool half = row.operands[0].field == Field::vdst && isa::is_half(row.operands[0].type);
      if (half && processor.generation >= target::Generation::gfx10) {
        EXPECT_TRUE(shape.writes_low_half_only || shape.reads_dst);
      }
    }
    EXPECT_GT(functions, 390) << name;
  }
}

/// What is no function of its operands, and so the engine's: it needs the wave, or moves data between lanes.
bool is_of_engine(Opcode opcode) {
  using enum Opcode;
  switch (opcode) {
    // Control flow, hardware registers, waits, messages, barriers.
    case s_getpc_b64:
    case s_setpc_b64:
    case s_swappc_b64:
    case s_call_b64:
    case s_rfe_b64:
    case s_rfe_restore_b64:
    case s_cbranch_g_fork:
    case s_cbranch_i_fork:
    case s_cbranch_join:
    case s_subvector_loop_begin:
    case s_subvector_loop_end:
    case s_setvskip:
    case s_version:
    case s_getreg_b32:
    case s_setreg_b32:
    case s_setreg_imm32_b32:
    case s_waitcnt_vscnt:
    case s_waitcnt_vmcnt:
    case s_waitcnt_expcnt:
    case s_waitcnt_lgkmcnt:
    case s_sendmsg_rtn_b32:
    case s_sendmsg_rtn_b64:
    case s_barrier_signal:
    case s_barrier_signal_isfirst:
    case s_barrier_init:
    case s_barrier_join:
    case s_get_barrier_state:
    case s_alloc_vgpr:
    case s_sleep_var:
    case v_nop:
    case v_clrexcp:
    case v_pipeflush:
    case v_illegal:
    // Registers that M0 chooses.
    case s_set_gpr_idx_on:
    case s_set_gpr_idx_idx:
    case s_movrels_b32:
    case s_movrels_b64:
    case s_movreld_b32:
    case s_movreld_b64:
    case s_movrelsd_2_b32:
    case v_movreld_b32:
    case v_movrels_b32:
    case v_movrelsd_b32:
    case v_movrelsd_2_b32:
    case v_swaprel_b32:
    // Two results.
    case v_swap_b16:
    case v_swap_b32:
    // Accumulation registers.
    case v_accvgpr_read_b32:
    case v_accvgpr_write_b32:
    case v_accvgpr_mov_b32:
    case v_mfma_ld_scale_b32:
    // Between lanes (lane_movement.h).
    case v_readfirstlane_b32:
    case v_readlane_b32:
    case v_writelane_b32:
    case v_permlane16_b32:
    case v_permlanex16_b32:
    case v_permlane16_var_b32:
    case v_permlanex16_var_b32:
    case v_permlane64_b32:
    case v_permlane16_swap_b32:
    case v_permlane32_swap_b32:
    // Pixel attributes in LDS.
    case v_interp_p1_f32:
    case v_interp_p2_f32:
    case v_interp_mov_f32:
    case v_interp_p1ll_f16:
    case v_interp_p1lv_f16:
    case v_interp_p2_legacy_f16:
    case v_interp_p2_f16:
      return true;
    default:
      return false;
  }
}

TEST(InstructionTable, EveryComputingInstructionHasAFunction) {
  for (const std::string_view name : processors) {
    const target::Processor& processor = *target::find_processor(name);
    for (const Opcode opcode : computing_opcodes(processor)) {
      const isa::InstructionRow& row = isa::row(opcode);
      const bool has_function = is_scalar(row) ? scalar_function(opcode) != nullptr
                                               : vector_function(opcode, processor.generation).call != nullptr;
      const bool is_matrix = matrix_shape(opcode) != nullptr || wave_matrix_shape(opcode) != nullptr;
      const int ways = has_function + (lane_equivalent(opcode) != Opcode::invalid) + is_of_engine(opcode) + is_matrix;
      EXPECT_EQ(ways, 1) << row.name << " on " << name;
    }
  }
}

TEST(InstructionTable, ScalarFloatingPointHasTheOperandsOfItsLane) {
  for (const Opcode opcode : all_opcodes()) {
    if (lane_equivalent(opcode) == Opcode::invalid) continue;
    const isa::InstructionRow& row = isa::row(opcode);
    const VectorShape& shape = vector_function(lane_equivalent(opcode), target::Generation::gfx12);
    ASSERT_NE(shape.call, nullptr) << row.name;
    unsigned sources = 0;
    for (const isa::OperandSpec& operand : row.operands) {
      sources += operand.field == Field::ssrc0 || operand.field == Field::ssrc1 || operand.field == Field::literal;
    }
    EXPECT_EQ(shape.sources, sources) << row.name;
    EXPECT_EQ(shape.reads_dst, row.has(flag::reads_dst)) << row.name;
    EXPECT_EQ(shape.mask_out, row.has(flag::scc_out)) << row.name;
    EXPECT_EQ(shape.masks_in, 0) << row.name;
  }
}

TEST(InstructionTable, ScalarFunctionsBelongToScalarInstructions) {
  for (const Opcode opcode : all_opcodes()) {
    if (scalar_function(opcode) == nullptr) continue;
    const isa::InstructionRow& row = isa::row(opcode);
    EXPECT_TRUE(is_scalar(row)) << row.name;
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
    // Of a block, a register at a time is moved.
    const bool is_block = access.kind == Kind::load_block || access.kind == Kind::store_block;
    EXPECT_EQ(access.kind == Kind::load || access.kind == Kind::load_block,
              row.has(flag::load) && !row.has(flag::store) && !row.has(flag::to_lds))
        << row.name;
    EXPECT_EQ(access.kind == Kind::store || access.kind == Kind::store_block,
              row.has(flag::store) && !row.has(flag::load) && !row.has(flag::from_lds))
        << row.name;
    // Of these (ds_write_src2_*), the data are in LDS, too.
    if (access.data_in_lds && access.operation == AtomicOperation::swap) {
      EXPECT_TRUE(row.has(flag::load) && row.has(flag::store) && !row.has(flag::atomic)) << row.name;
    }
    EXPECT_EQ(access.elements == 2, row.has(flag::two_offsets)) << row.name;
    if (access.data_in_lds || is_block || access.kind == Kind::load_to_lds || access.kind == Kind::store_from_lds) {
      continue;
    }
    for (const isa::OperandSpec& operand : row.operands) {
      const unsigned words = isa::words_of(operand.type);
      const bool compares = access.operation == AtomicOperation::compare_swap ||
                            (access.operation == AtomicOperation::float_compare_swap && row.encoding != Encoding::ds);
      const unsigned compare = compares ? 2 : 1;  // data and compare value
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
