// engine: WMMA and SWMMAC of GFX12.5 (semantics/deep_wave_matrix.h): what the instruction says, and where its registers
// are.
#include "engine/deep_matrix.h"

#include <algorithm>
#include <iterator>

#include "engine/vector.h"
#include "isa/constants.h"
#include "isa/table.h"
#include "semantics/deep_wave_matrix.h"

namespace Atoll::engine {

namespace {

using semantics::DeepElement;
using semantics::DeepMatrixCall;
using semantics::DeepMatrixOperation;
using semantics::DeepMatrixShape;

constexpr unsigned source_a = 0, source_b = 1, source_c = 2, first_scale = 3;

/// A constant in the place of C is one of its elements; the operand's type is what LLVM's text needs.
uint32_t constant_of(const isa::Operand& operand, DeepElement element) {
  const isa::InlineFloats& floats = isa::inline_floats(operand.type);
  const auto* const found = std::ranges::find(floats, operand.value);
  if (found == std::end(floats)) return static_cast<uint32_t>(operand.value);
  const isa::InlineFloats& own = element == DeepElement::f16    ? isa::inline_f16
                                 : element == DeepElement::bf16 ? isa::inline_bf16
                                                                : isa::inline_f32;
  return static_cast<uint32_t>(own[static_cast<size_t>(found - floats.begin())]);
}

DeepMatrixOperation operation_of(const isa::Instruction& instruction) {
  DeepMatrixOperation operation;
  operation.shape = semantics::deep_matrix_shape(instruction.opcode);
  const DeepMatrixShape& shape = *operation.shape;
  operation.a = shape.has_formats ? static_cast<DeepElement>(instruction.cbsz) : shape.a;
  operation.b = shape.has_formats ? static_cast<DeepElement>(instruction.blgp) : shape.b;
  for (unsigned i = 0; i < 3; ++i) {
    operation.negate[i] = instruction.src(i).neg;
    operation.negate_high[i] = instruction.src(i).neg_hi;
  }
  operation.clamp = instruction.clamp;
  const isa::Operand& third = instruction.src(source_c);
  if (!shape.sparse && !is_row(third)) operation.constant = constant_of(third, shape.c);
  if (!isa::row_of(instruction).has(isa::flag::scaled)) return operation;
  operation.scaled = isa::words_of(instruction.src(first_scale).type) == 2 ? 16 : 32;
  for (unsigned i = 0; i < 2; ++i) {
    operation.scale_formats[i] = static_cast<semantics::ScaleFormat>(instruction.scale_formats[i]);
    operation.upper_scales[i] = instruction.src(first_scale + i).op_sel;
  }
  return operation;
}

const Row* rows_of(const Run& run, const isa::Operand& operand) {
  return rows_at(run, RowBase::vgpr, row_offset(operand));
}

/// The registers with scales. Those that are no VGPRs are the same in all lanes.
const Row* scales_of(const Wave& wave, Run& run, const isa::Operand& operand, unsigned place) {
  if (is_row(operand)) return rows_of(run, operand);
  const uint64_t value = scalar_value(wave, operand);
  Row* rows = run.temporary + 2 * place;
  fill(rows[0], static_cast<uint32_t>(value));
  fill(rows[1], static_cast<uint32_t>(value >> 32));
  return rows;
}

void multiply(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  const DeepMatrixOperation operation = operation_of(instruction);
  DeepMatrixCall call;
  call.d = rows_at(run, RowBase::vgpr, row_offset(instruction.dst()));
  call.a = rows_of(run, instruction.src(source_a));
  call.b = rows_of(run, instruction.src(source_b));
  const isa::Operand& third = instruction.src(source_c);
  if (operation.shape->sparse) {
    call.c = call.d;
    call.index = rows_of(run, third);
  } else if (is_row(third)) {
    call.c = rows_of(run, third);
  }
  if (operation.scaled != 0) {
    call.a_scales = scales_of(wave, run, instruction.src(first_scale), 0);
    call.b_scales = scales_of(wave, run, instruction.src(first_scale + 1), 1);
  }
  semantics::deep_multiply(operation, call);
}

/// Whether the instruction says nothing whose meaning is not published: a format without a name, or another index than
/// the first.
bool is_known(const isa::Instruction& instruction, const DeepMatrixShape& shape) {
  constexpr unsigned most_formats = 4, most_scale_formats = 2;
  if (shape.has_formats && (instruction.cbsz > most_formats || instruction.blgp > most_formats)) return false;
  if (shape.sparse && instruction.abid != 0) return false;
  return instruction.scale_formats[0] <= most_scale_formats && instruction.scale_formats[1] <= most_scale_formats;
}

}  // namespace

Handler prepare_deep_matrix(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  const DeepMatrixShape* shape = semantics::deep_matrix_shape(instruction.opcode);
  if (shape == nullptr || !is_known(instruction, *shape)) return nullptr;
  const bool has_rows = is_row(instruction.src(source_a)) && is_row(instruction.src(source_b)) &&
                        (!shape->sparse || is_row(instruction.src(source_c)));
  return has_rows ? step<multiply> : nullptr;
}

}  // namespace Atoll::engine
