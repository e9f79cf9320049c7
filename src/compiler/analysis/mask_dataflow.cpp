// compiler: what instructions make of lane masks (mask_dataflow.h).
#include "compiler/analysis/mask_dataflow.h"

#include "compiler/lowering/salu_lowering.h"
#include "engine/prepare.h"
#include "engine/vector.h"
#include "isa/table.h"

namespace Atoll::compiler {

using Lowering = VaryingMasks::Lowering;
namespace flag = isa::flag;

void MaskDataflow::give_variables(Masks& masks) {
  for (Function& each : masks.pair) known(each);
  known(masks.scc);
}

MaskDataflow::Masks MaskDataflow::variable_masks() {
  Masks masks;
  masks.pair.fill(unknown);
  masks.scc = unknown;
  give_variables(masks);
  return masks;
}

bool MaskDataflow::same(Function f, Function g) {
  if (f == unknown || g == unknown) return false;
  return f == g || never(logic_.differs(f, g));
}

void MaskDataflow::pass(const isa::Instruction& instruction, Lowering lowering, Masks& masks,
                        SideEffects& side_effects) {
  const isa::InstructionRow& row = isa::row_of(instruction);
  if (lowering == Lowering::memory) {
    if (!never(known(masks.pair[exec_pair]))) side_effects.rows = true;
    return;
  }
  if (lowering == Lowering::lanes) {
    const engine::VectorOperands operands = engine::vector_operands(instruction);
    const Function exec = known(masks.pair[exec_pair]);
    if (operands.results != 0 && !never(exec)) side_effects.rows = true;
    if (operands.mask_result != nullptr) {
      const Function result = never(exec) ? DecisionDiagram::never : logic_.both(fresh(), exec);
      masks.pair[operands.mask_result->reg / 2] = result;
      if (row.has(flag::exec_out)) masks.pair[exec_pair] = result;
    }
    return;
  }
  if (lowering == Lowering::scalars) {
    const LaneEffects effects = lane_effects_of(instruction);
    side_effects.scalars |= effects.writes;
    side_effects.loads |= SaluLowering::takes_load(instruction);
    if (row.has(flag::scc_out)) masks.scc = unknown;
  }
  bool bitwise = SaluLowering::takes(instruction) && works_on_each_bit(instruction) && is_mask(instruction.dst());
  std::array<Function, 3> inputs{DecisionDiagram::never, DecisionDiagram::never, known(masks.pair[exec_pair])};
  for (unsigned i = 0; bitwise && i < instruction.sources(); ++i) {
    const isa::Operand& source = instruction.src(i);
    const auto value = engine::constant_value(source);
    if (is_mask(source)) {
      inputs[i] = known(masks.pair[source.reg / 2]);
    } else if (value == uint64_t{0} || value == ~uint64_t{0}) {
      inputs[i] = value == uint64_t{0} ? DecisionDiagram::never : DecisionDiagram::always;
    } else if (value) {
      inputs[i] = fresh();
    } else {
      bitwise = false;
    }
  }
  if (bitwise) {
    const BitFunction function = bit_function(instruction);
    const bool by_scc = function.result[0] != function.result[1] || function.exec[0] != function.exec[1];
    const Function scc = by_scc ? fresh_uniform() : DecisionDiagram::never;
    const auto value = [&](const uint8_t(&table)[2]) {
      return logic_.choose(scc, logic_.of_table(inputs, table[1]), logic_.of_table(inputs, table[0]));
    };
    Function result = value(function.result);
    const Function exec = value(function.exec);
    masks.pair[instruction.dst().reg / 2] = result;
    if (row.has(flag::exec_out)) masks.pair[exec_pair] = result = exec;
    if (row.has(flag::scc_out)) masks.scc = result;
    return;
  }
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    const isa::Operand& operand = instruction.dst(i);
    for (unsigned word = 0; operand.kind == isa::OperandKind::scalar && word < operand.words; ++word) {
      masks.pair[(operand.reg + word) / 2] = unknown;
    }
  }
  if (row.has(flag::exec_out)) masks.pair[exec_pair] = unknown;
}

}  // namespace Atoll::compiler
