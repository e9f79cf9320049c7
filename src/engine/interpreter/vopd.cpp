// engine: dual instructions (VOPD, GFX11 and later, and VOPD3, GFX12.5): two vector instructions, X and Y, in one. Both
// read their sources before either writes its result (RDNA3 ISA guide, "Dual Issue VALU").
//
// Each half becomes a MicroOp of its own, and the halves run in an order in which none overwrites what the
// other reads. Where both would (as v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0 does), Y's result waits in a
// temporary row.
#include <algorithm>
#include <memory>

#include "engine/interpreter/prepare.h"
#include "engine/interpreter/vector.h"
#include "isa/effects.h"
#include "isa/table.h"

namespace Atoll::engine {

namespace {

/// The row of Run::temporary for a result that waits; vector.cpp and vector_modifiers.cpp use those before it.
constexpr unsigned waiting_row = 39;

void end_of_half(Wave&, const MicroOp*, Run&) {}

/// Prepares the half of that instruction. False: the engine does not execute it.
bool prepare_half(Preparation& p, DualHalf& half) {
  half.origin.pc = p.origin.pc;
  MicroOp& op = half.chain[0];
  op.origin = &half.origin;
  op.slots = 1;
  Preparation of_half{half.origin, half.origin.instruction, op, p.page, p.cache};
  op.handler = prepare_vector(of_half);
  half.chain[1].handler = end_of_half;
  return op.handler != nullptr;
}

void run_half(Wave& wave, Run& run, const DualHalf& half) { handler_of(half.chain)(wave, half.chain, run); }

/// The halves in this order.
template <bool x_first>
void one_by_one(Wave& wave, const MicroOp& op, Run& run) {
  const DualHalf* halves = op.origin->halves.get();
  run_half(wave, run, halves[x_first ? 0 : 1]);
  run_half(wave, run, halves[x_first ? 1 : 0]);
  run.instructions -= 2;  // the halves have counted themselves
}

void exchange(Wave& wave, const MicroOp& op, Run& run) {
  const DualHalf* halves = op.origin->halves.get();
  run_half(wave, run, halves[1]);
  run_half(wave, run, halves[0]);
  copy_lanes(*rows_at(run, RowBase::vgpr, op.vector.result), run.temporary[waiting_row], wave.exec());
  run.instructions -= 2;
}

}  // namespace

isa::Instruction half_of(const isa::Instruction& dual, bool second) {
  isa::Instruction half{};
  half.opcode = second ? dual.second : dual.opcode;
  half.encoding = isa::row(half.opcode).encoding;
  half.generation = dual.generation;
  half.lane_mask_words = dual.lane_mask_words;
  half.size = 4;
  half.destinations = 1;
  half.immediate = dual.immediate;
  const unsigned begin = second ? dual.second_operands : 0, end = second ? dual.operand_count : dual.second_operands;
  std::copy(&dual.operands[begin], &dual.operands[0] + end, half.operands.begin());
  half.operand_count = static_cast<uint8_t>(end - begin);
  // v_dual_bitop2_b32 has in the truth table those bits whose third source is 0.
  if (half.opcode == isa::Opcode::v_bitop3_b32 && half.operand_count == 3) {
    isa::Operand& third = half.operands[half.operand_count++];
    third = {};
    third.kind = isa::OperandKind::constant;
    third.type = isa::DataType::b32;
  }
  return half;
}

Handler prepare_dual(Preparation& p) {
  const std::shared_ptr<DualHalf[]> halves = std::make_shared<DualHalf[]>(2);
  for (unsigned i = 0; i < 2; ++i) {
    halves[i].origin.instruction = half_of(p.instruction, i == 1);
    if (!prepare_half(p, halves[i])) return nullptr;
  }

  const isa::Instruction &x = halves[0].origin.instruction, &y = halves[1].origin.instruction;
  const isa::Effects of_x = isa::effects_of(x), of_y = isa::effects_of(y);
  const bool y_reads_x = (of_y.vector_reads & of_x.vector_writes).any();
  const bool exchanges = y_reads_x && (of_x.vector_reads & of_y.vector_writes).any();
  if (exchanges) {
    if (y.dst().words != 1 || isa::row_of(y).has(isa::flag::reads_dst)) return nullptr;
    p.op.vector.result = row_offset(y.dst());
    halves[1].chain[0].vector.result_base = RowBase::temporary;
    halves[1].chain[0].vector.result = waiting_row * sizeof(Row);
  }
  p.origin.halves = halves;
  if (exchanges) return step<exchange>;
  return y_reads_x ? step<one_by_one<false>> : step<one_by_one<true>>;
}

}  // namespace Atoll::engine
