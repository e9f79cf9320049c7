// engine: matrix instructions (semantics/matrix/mfma.h, wmma.h): where their registers are, and what their
// modifiers mean.
#include "engine/interpreter/matrix.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "engine/interpreter/vector.h"
#include "engine/interpreter/wmma_gfx12_5.h"
#include "isa/constants.h"
#include "isa/table.h"
#include "semantics/matrix/mfma.h"
#include "semantics/matrix/wmma.h"
#include "semantics/matrix/wmma_gfx12_5.h"

namespace Atoll::engine {
ATOLL_HOST_ISA_BEGIN

namespace {

using isa::Opcode;
namespace flag = isa::flag;

// Places of the operands in VectorOp::source.
enum : unsigned { source_a, source_b, source_c };

Row* rows_of(const Run& run, const isa::Operand& operand) {
  return rows_at(run, row_base(operand), row_offset(operand));
}

/// The scale operands after the matrices' own, which need not be in VGPRs.
void set_scales(const Wave& wave, const isa::Instruction& instruction, Run& run, semantics::MatrixCall& call) {
  constexpr unsigned first_scale = 3;
  for (unsigned i = 0; i < std::size(call.scale); ++i) {
    const isa::Operand& scale = instruction.src(first_scale + i);
    if (is_row(scale)) {
      call.scale[i] = rows_of(run, scale);
    } else {
      fill(run.temporary[i], static_cast<uint32_t>(scalar_value(wave, scale)));
      call.scale[i] = &run.temporary[i];
    }
    call.scale_byte[i] = static_cast<uint8_t>((scale.op_sel_hi ? 2 : 0) + (scale.op_sel ? 1 : 0));
  }
}

MatrixOperation matrix_operation_of(const isa::Instruction& instruction, const target::Processor& processor) {
  const isa::InstructionRow& row = isa::row(instruction.opcode);
  MatrixOperation operation;
  semantics::MatrixCall& call = operation.call;
  call.shape = semantics::matrix_shape(instruction.opcode);
  call.a_element = call.shape->a;
  call.b_element = call.shape->b;
  call.sums = processor.matrix_sums;
  operation.is_sparse = row.has(flag::sparse);
  operation.has_scales = row.has(flag::scaled);
  if (!operation.is_sparse) {
    operation.has_c_rows = is_row(instruction.src(source_c));
    if (!operation.has_c_rows) call.constant = instruction.src(source_c).value;
  }
  if (row.has(flag::matrix_formats)) {
    call.a_element = semantics::matrix_format(instruction.cbsz);
    call.b_element = semantics::matrix_format(instruction.blgp);
  } else if (call.shape->a == semantics::MatrixElement::f64) {
    if (processor.has(target::Feature::gfx940_insts)) {
      for (unsigned i = 0; i < call.negate.size(); ++i) call.negate[i] = (instruction.blgp >> i & 1) != 0;
    }
  } else {
    call.cbsz = instruction.cbsz;
    call.abid = instruction.abid;
    call.blgp = instruction.blgp;
  }
  return operation;
}

/// What the instruction does with the wave.
semantics::MatrixCall call_of(Wave& wave, const MicroOp& op, Run& run) {
  const MatrixOperation& operation = *op.origin->matrix;
  const VectorOp& v = op.vector;
  const auto source = [&](unsigned i) { return rows_at(run, v.source_base[i], v.source[i]); };
  semantics::MatrixCall call = operation.call;
  call.d = rows_at(run, v.result_base, v.result);
  call.a = source(source_a);
  call.b = source(source_b);
  call.eight_bit = wave.float_mode.eight_bit;
  if (operation.is_sparse) {
    call.c = call.d;
    call.index = source(source_c);
  } else if (operation.has_c_rows) {
    call.c = source(source_c);
  }
  if (operation.has_scales) set_scales(wave, op.origin->instruction, run, call);
  return call;
}

void multiply(Wave& wave, const MicroOp& op, Run& run) { semantics::multiply(call_of(wave, op, run), {}); }

/// The same for WMMA and SWMMAC, whose modifiers are in the Origin.
semantics::WaveMatrixCall wave_call_of(const MicroOp& op, const Run& run) {
  const semantics::WaveMatrixOperation& operation = *op.origin->wave_matrix;
  const VectorOp& v = op.vector;
  const auto source = [&](unsigned i) { return rows_at(run, v.source_base[i], v.source[i]); };
  semantics::WaveMatrixCall call{.operation = &operation,
                                 .d = rows_at(run, v.result_base, v.result),
                                 .a = source(source_a),
                                 .b = source(source_b)};
  if (operation.shape->sparse) {
    call.c = call.d;
    call.index = source(source_c);
  } else if (op.origin->instruction.src(source_c).kind == isa::OperandKind::vgpr) {
    call.c = source(source_c);
  }
  return call;
}

/// A constant in the place of C is one of its elements, as clang 22 makes use of it for GFX12. The operand's type is
/// what LLVM's text needs, after the number of registers.
uint32_t constant_of(const isa::Operand& operand, semantics::WaveElement element) {
  using semantics::WaveElement;
  const isa::InlineFloats& floats = isa::inline_floats(operand.type);
  const auto* const found = std::ranges::find(floats, operand.value);
  if (found == std::end(floats)) return static_cast<uint32_t>(operand.value);
  const isa::InlineFloats& own = element == WaveElement::f16    ? isa::inline_f16
                                 : element == WaveElement::bf16 ? isa::inline_bf16
                                                                : isa::inline_f32;
  return static_cast<uint32_t>(own[static_cast<size_t>(found - floats.begin())]);
}

semantics::WaveMatrixOperation wave_operation_of(const isa::Instruction& instruction, const target::Target& target) {
  const isa::Operand& third = instruction.src(source_c);
  semantics::WaveMatrixOperation operation;
  operation.shape = semantics::wave_matrix_shape(instruction.opcode);
  operation.layout = target.processor->wave_matrices;
  operation.wave_size = target.wave_size;
  if (operation.shape->sparse) {
    operation.index_key = instruction.abid;
  } else if (!is_row(third)) {
    operation.constant = constant_of(third, operation.shape->d);
  }
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    operation.negate[i] = instruction.src(i).neg;
    operation.negate_high[i] = instruction.src(i).neg_hi;
  }
  operation.clamp = instruction.clamp;
  operation.upper = third.op_sel;
  return operation;
}

void wave_multiply(Wave&, const MicroOp& op, Run& run) {
  const semantics::WaveMatrixCall call = wave_call_of(op, run);
  semantics::wave_multiply({&call, 1});
}

void wave_multiply_ops(std::span<const MicroOp* const> ops, const Run& run) {
  std::array<semantics::WaveMatrixCall, 16> calls;
  while (!ops.empty()) {
    const size_t count = std::min(ops.size(), calls.size());
    for (size_t i = 0; i < count; ++i) calls[i] = wave_call_of(*ops[i], run);
    semantics::wave_multiply({calls.data(), count});
    ops = ops.subspan(count);
  }
}

/// v_mfma_ld_scale_b32 without a matrix instruction after it that would use the scales.
void load_unused_scales(Wave&, const MicroOp&, Run&) {}

}  // namespace

void multiply_ops(Wave* wave, const MicroOp* const* ops, uint64_t count, Run* run) {
  const OpMetadata& first = *ops[0]->origin;
  if (first.matrix == nullptr) {
    if (first.wave_matrix) return wave_multiply_ops({ops, count}, *run);
    return multiply_deep_ops(*wave, {ops, count}, *run);
  }
  semantics::MatrixFactors further[semantics::max_multiplied];
  while (count != 0) {
    const uint64_t here = std::min<uint64_t>(count, semantics::max_multiplied);
    for (uint64_t i = 1; i < here; ++i) {
      const VectorOp& v = ops[i]->vector;
      further[i] = {.a = rows_at(*run, v.source_base[source_a], v.source[source_a]),
                    .b = rows_at(*run, v.source_base[source_b], v.source[source_b])};
    }
    semantics::multiply(call_of(*wave, **ops, *run), std::span(further).subspan(1, here - 1));
    ops += here;
    count -= here;
  }
}

Handler prepare_matrix(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  if (instruction.opcode == Opcode::v_mfma_ld_scale_b32) return step<load_unused_scales>;
  const bool is_wave_matrix = semantics::wave_matrix_shape(instruction.opcode) != nullptr;
  if (semantics::matrix_shape(instruction.opcode) == nullptr && !is_wave_matrix) return nullptr;
  VectorOp& v = p.op.vector;
  for (unsigned i = 0; i < std::size(v.source); ++i) {
    if (!is_row(instruction.src(i))) continue;
    v.source_base[i] = row_base(instruction.src(i));
    v.source[i] = row_offset(instruction.src(i));
  }
  v.result_base = row_base(instruction.dst());
  v.result = row_offset(instruction.dst());
  if (!is_wave_matrix) {
    p.origin.matrix = std::make_shared<MatrixOperation>(matrix_operation_of(instruction, *p.cache.target().processor));
    return step<multiply>;
  }
  p.origin.wave_matrix = wave_operation_of(instruction, p.cache.target());
  return step<wave_multiply>;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::engine
