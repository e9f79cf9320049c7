// engine: WMMA and SWMMAC of GFX12.5 (semantics/matrix/wmma_gfx12_5.h): what the instruction says, and where its
// registers are.
#include "engine/interpreter/wmma_gfx12_5.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>

#include "engine/interpreter/vector.h"
#include "isa/constants.h"
#include "isa/table.h"
#include "semantics/matrix/wmma_gfx12_5.h"

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

/// The scale 1 in all bytes. The inline constant 0 stands for it (AMD's emulator and translator for gfx1250,
/// rocm-systems pull requests 9438 and 10347).
constexpr uint64_t neutral_scales(semantics::ScaleFormat format) {
  constexpr uint64_t each_byte = 0x0101'0101'0101'0101;
  switch (format) {
    case semantics::ScaleFormat::e8m0:
      return 0x7F * each_byte;
    case semantics::ScaleFormat::e5m3:
      return 0x78 * each_byte;
    case semantics::ScaleFormat::e4m3:
      return 0x38 * each_byte;
  }
}

/// The registers with scales. Those that are no VGPRs are the same in all lanes; `copies` has room for two rows.
const Row* scales_of(const Wave& wave, const Run& run, const isa::Operand& operand, semantics::ScaleFormat format,
                     Row* copies) {
  if (is_row(operand)) return rows_of(run, operand);
  const bool is_neutral = operand.kind == isa::OperandKind::constant && operand.value == 0;
  const uint64_t value = is_neutral ? neutral_scales(format) : scalar_value(wave, operand);
  fill(copies[0], static_cast<uint32_t>(value));
  fill(copies[1], static_cast<uint32_t>(value >> 32));
  return copies;
}

/// `copies` has room for four rows.
DeepMatrixCall call_of(const Wave& wave, const isa::Instruction& instruction, const DeepMatrixOperation& operation,
                       const Run& run, Row* copies) {
  DeepMatrixCall call{.operation = &operation};
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
    call.a_scales = scales_of(wave, run, instruction.src(first_scale), operation.scale_formats[0], copies);
    call.b_scales = scales_of(wave, run, instruction.src(first_scale + 1), operation.scale_formats[1], copies + 2);
  }
  return call;
}

void multiply(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  const DeepMatrixOperation operation = operation_of(instruction);
  const DeepMatrixCall call = call_of(wave, instruction, operation, run, run.temporary);
  semantics::deep_multiply({&call, 1});
}

/// Whether the instruction says nothing whose meaning is not published: a format without a name, or another index than
/// the first.
bool is_known(const isa::Instruction& instruction, const DeepMatrixShape& shape) {
  constexpr unsigned max_formats = 4, max_scale_formats = 2;
  if (shape.has_formats && (instruction.cbsz > max_formats || instruction.blgp > max_formats)) return false;
  if (shape.sparse && instruction.abid != 0) return false;
  return instruction.scale_formats[0] <= max_scale_formats && instruction.scale_formats[1] <= max_scale_formats;
}

}  // namespace

bool is_deep_matrix(const isa::Instruction& instruction) {
  const DeepMatrixShape* shape = semantics::deep_matrix_shape(instruction.opcode);
  return shape != nullptr && is_known(instruction, *shape) && is_row(instruction.src(source_a)) &&
         is_row(instruction.src(source_b)) && (!shape->sparse || is_row(instruction.src(source_c)));
}

Handler prepare_deep_matrix(Preparation& p) { return is_deep_matrix(p.instruction) ? step<multiply> : nullptr; }

void multiply_deep_ops(const Wave& wave, std::span<const MicroOp* const> ops, Run& run) {
  constexpr unsigned most = 8, rows_of_a_call = 4;
  static_assert(most * rows_of_a_call <= std::extent_v<decltype(Run::temporary)>);
  std::array<DeepMatrixOperation, most> operations;
  std::array<DeepMatrixCall, most> calls;
  while (!ops.empty()) {
    const size_t count = std::min<size_t>(ops.size(), most);
    for (size_t i = 0; i < count; ++i) {
      const isa::Instruction& instruction = ops[i]->origin->instruction;
      operations[i] = operation_of(instruction);
      calls[i] = call_of(wave, instruction, operations[i], run, run.temporary + i * rows_of_a_call);
    }
    semantics::deep_multiply({calls.data(), count});
    ops = ops.subspan(count);
  }
}

}  // namespace Atoll::engine
