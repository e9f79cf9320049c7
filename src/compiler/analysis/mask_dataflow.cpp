// compiler: what instructions make of lane masks (mask_dataflow.h).
#include "compiler/analysis/mask_dataflow.h"

#include "compiler/lowering/salu_lowering.h"
#include "compiler/memory/scalar_memory.h"
#include "engine/interpreter/prepare.h"
#include "engine/interpreter/vector.h"
#include "isa/table.h"

namespace Atoll::compiler {

using Lowering = VaryingMasks::Lowering;
namespace flag = isa::flag;

void MaskDataflow::give_variables(Masks& masks) {
  for (unsigned reg = 0; reg < masks.mask.size(); reg += words_) known(masks.mask[reg]);
  known(masks.scc);
}

MaskDataflow::Masks MaskDataflow::variable_masks() {
  Masks masks;
  masks.mask.fill(unknown);
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
    if (!never(known(masks.mask[isa::scalar::exec_lo]))) side_effects.rows = true;
    return;
  }
  if (lowering == Lowering::lanes) {
    const engine::VectorOperands operands = engine::vector_operands(instruction);
    const Function exec = known(masks.mask[isa::scalar::exec_lo]);
    if (operands.results != 0 && !never(exec)) side_effects.rows = true;
    const bool writes_exec = row.has(flag::exec_out);
    if (operands.mask_result != nullptr || writes_exec) {
      const Function result = never(exec) ? DecisionDiagram::never : logic_.both(fresh(), exec);
      if (operands.mask_result != nullptr) masks.mask[operands.mask_result->reg] = result;
      if (writes_exec) masks.mask[isa::scalar::exec_lo] = result;
    }
    return;
  }
  if (lowering == Lowering::scalars) {
    const LaneEffects effects = lane_effects_of(instruction);
    side_effects.scalars |= effects.writes;
    side_effects.loads |= ScalarMemory::takes(instruction);
    if (row.has(flag::scc_out)) masks.scc = unknown;
  }
  bool bitwise =
      SaluLowering::takes(instruction) && works_on_each_bit(instruction) && is_mask(instruction, instruction.dst());
  const uint64_t all = ~uint64_t{0} >> (words_ == 2 ? 0 : 32);
  std::array<Function, 3> inputs{DecisionDiagram::never, DecisionDiagram::never,
                                 known(masks.mask[isa::scalar::exec_lo])};
  for (unsigned i = 0; bitwise && i < instruction.sources(); ++i) {
    const isa::Operand& source = instruction.src(i);
    const auto value = engine::constant_value(source);
    if (is_mask(instruction, source)) {
      inputs[i] = known(masks.mask[source.reg]);
    } else if (value && (*value & all) == 0) {
      inputs[i] = DecisionDiagram::never;
    } else if (value && (*value & all) == all) {
      inputs[i] = DecisionDiagram::always;
    } else if (value && words_ == 2) {  // other words are hardly ever masks
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
    masks.mask[instruction.dst().reg] = result;
    if (row.has(flag::exec_out)) masks.mask[isa::scalar::exec_lo] = result = exec;
    if (row.has(flag::scc_out)) masks.scc = result;
    return;
  }
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    const isa::Operand& operand = instruction.dst(i);
    for (unsigned word = 0; operand.kind == isa::OperandKind::scalar && word < operand.words; ++word) {
      masks.mask[(operand.reg + word) / words_ * words_] = unknown;
    }
  }
  if (row.has(flag::exec_out)) masks.mask[isa::scalar::exec_lo] = unknown;
}

}  // namespace Atoll::compiler
