// engine: vector instructions with modifiers: neg and abs, op_sel, SDWA, DPP, clamp, omod.
//
// Sources that are changed on their way go through temporary rows, and so does a result that is not simply written;
// what each modifier does is semantics' (modifiers.h, lane_movement.h). Operands of kinds that the plain handlers lack
// come here as well.
#include <algorithm>
#include <cstring>

#include "engine/interpreter/exceptions.h"
#include "engine/interpreter/vector.h"
#include "semantics/lanes/lane_movement.h"
#include "semantics/modifiers.h"

namespace Atoll::engine {
ATOLL_HOST_ISA_BEGIN

namespace {

using semantics::wave_lanes;

// Parts of Run::temporary: for each source its rows as fetched and as changed, then the result.
constexpr unsigned max_words = 4;
Row* fetched_rows(Run& run, unsigned source) { return run.temporary + source * 3 * max_words; }
Row* moved_rows(Run& run, unsigned source) { return fetched_rows(run, source) + max_words; }
Row* changed_rows(Run& run, unsigned source) { return moved_rows(run, source) + max_words; }
Row* result_rows(Run& run) { return fetched_rows(run, 3); }

bool goes_through_temporary(const isa::Instruction& instruction, const semantics::VectorShape& shape) {
  return instruction.omod != 0 || (instruction.clamp && !shape.handles_clamp) || instruction.op_sel_dst ||
         writes_part(instruction);
}

const Row* fetch_source(const Wave& wave, const MicroOp& op, Run& run, unsigned i, const isa::Operand& operand,
                        unsigned words) {
  if (is_row(operand)) return rows_at(run, op.vector.source_base[i], op.vector.source[i]);
  const uint64_t value = scalar_value(wave, operand);
  Row* rows = fetched_rows(run, i);
  for (unsigned word = 0; word < words; ++word) fill(rows[word], static_cast<uint32_t>(value >> 32 * (word & 1)));
  return rows;
}

/// Writes the result from its temporary rows to where the instruction says.
void write_result(const isa::Instruction& instruction, const semantics::VectorShape& shape, Row* to, Row* result,
                  const semantics::VectorCall& call) {
  semantics::apply_result_modifiers(result, instruction.dst().type, instruction.omod,
                                    instruction.clamp && !shape.handles_clamp, call.mode);
  if (writes_part(instruction)) {
    const bool sdwa = instruction.extension == isa::Extension::sdwa;
    semantics::merge_sdwa(*to, *result, instruction.dst_sel, sdwa ? instruction.dst_unused : isa::SdwaUnused::preserve,
                          call.exec);
  } else if (instruction.op_sel_dst) {
    semantics::merge_high_half(*to, *result, call.exec);
  } else {
    for (unsigned word = 0; word < shape.dst_words[0]; ++word) copy_lanes(to[word], result[word], call.exec);
  }
}

/// What exceptions are looked for in; `old`: what the result's registers hold, or null if there is no such result.
semantics::DoneOperation done_operation(const isa::Instruction& instruction, const semantics::VectorShape& shape,
                                        const VectorOperands& operands, const semantics::VectorCall& call,
                                        const Row* old) {
  return {.instruction = instruction,
          .operands = operands.source,
          .sources = call.src,
          .source_count = shape.sources,
          .old = shape.reads_dst ? old : nullptr,
          .result = old != nullptr ? call.dst[0] : nullptr};
}

/// `watches`: for exceptions. False: one of them is enabled, and has stopped the wave.
template <bool writes_exec, bool watches>
bool execute(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  const semantics::VectorShape& shape = *op.origin->shape;
  const VectorOperands operands = vector_operands(instruction);
  semantics::VectorCall& call = run.call;
  const uint64_t exec = wave.exec();
  call.exec = exec;
  call.clamp = instruction.clamp;
  call.truth_table = call.signed_sources = static_cast<uint8_t>(instruction.immediate);

  for (unsigned i = 0; i < shape.sources; ++i) {
    const isa::Operand& operand = *operands.source[i];
    const unsigned words = shape.src_words[i];
    const Row* rows = fetch_source(wave, op, run, i, operand, words);
    if (i == 0 && op.origin->dpp) {
      Row* moved = moved_rows(run, i);
      for (unsigned word = 0; word < words; ++word) {
        call.exec = semantics::apply_dpp(*op.origin->dpp, exec, rows[word], moved[word]);
      }
      rows = moved;
    }
    Row* changed = changed_rows(run, i);
    if (shape.mixed_sources) {
      semantics::apply_mixed_source(*changed, *rows, operand, wave.float_mode.denormals32);
      rows = changed;
    } else if (semantics::has_source_modifiers(operand)) {
      semantics::apply_source_modifiers(changed, rows, operand);
      rows = changed;
    }
    call.src[i] = rows;
  }
  if (operands.masks > 0) call.mask_in = scalar_value(wave, *operands.mask[0]);
  if (operands.masks > 1) call.mask2_in = scalar_value(wave, *operands.mask[1]);

  Row* to = rows_at(run, op.vector.result_base, op.vector.result);
  // Observers need the original sources.
  if (operands.results != 0 && (watches || goes_through_temporary(instruction, shape))) {
    Row* result = result_rows(run);
    std::memcpy(result, to, shape.dst_words[0] * sizeof(Row));  // some functions read it, or leave half of it
    const Row* old = to;
    if (semantics::reads_high_half(instruction, shape)) {
      semantics::move_high_half_down(*result);
      Row* copy = fetched_rows(run, 2);  // there is no third source
      std::memcpy(copy, result, sizeof(Row));
      old = copy;
    }
    call.dst[0] = result;
    shape.call(call);
    call.clamp = false;
    if constexpr (watches) {
      if (!raise_exceptions(wave, op, done_operation(instruction, shape, operands, call, old), call.exec)) return false;
    }
    write_result(instruction, shape, to, result, call);
  } else {
    call.dst[0] = to;
    shape.call(call);
    call.clamp = false;
    if constexpr (watches) {
      if (!raise_exceptions(wave, op, done_operation(instruction, shape, operands, call, nullptr), call.exec)) {
        return false;
      }
    }
  }

  if (operands.mask_result != nullptr) wave.set_mask(operands.mask_result->reg, call.mask_out);
  if constexpr (writes_exec) wave.set_exec(call.mask_out);
  return true;
}

template <bool writes_exec>
void modified(Wave& wave, const MicroOp& op, Run& run) {
  execute<writes_exec, false>(wave, op, run);
}

}  // namespace

Handler prepare_modified(Preparation& p, const VectorOperands& operands, const semantics::VectorShape& shape,
                         bool writes_exec) {
  const isa::Instruction& instruction = p.instruction;
  if (instruction.extension == isa::Extension::dpp16 || instruction.extension == isa::Extension::dpp8) {
    p.origin.dpp = semantics::dpp_move(instruction.extension, instruction.dpp);
    if (!p.origin.dpp) return nullptr;
  }
  if (shape.mixed_sources) {
    for (isa::Operand& operand : p.origin.instruction.operands) operand = mixed_source(operand);
  }
  if (shape.sources > 3 || std::ranges::max(shape.src_words) > max_words) return nullptr;
  for (unsigned i = 0; i < shape.sources; ++i) {
    if (!is_row(*operands.source[i])) continue;
    p.op.vector.source_base[i] = row_base(*operands.source[i]);
    p.op.vector.source[i] = row_offset(*operands.source[i]);
  }
  if (p.cache.watches_exceptions() && semantics::may_raise_exceptions(instruction)) {
    return writes_exec ? step_or_stop<execute<true, true>> : step_or_stop<execute<false, true>>;
  }
  return writes_exec ? step<modified<true>> : step<modified<false>>;
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::engine
