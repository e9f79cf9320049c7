// engine: vector arithmetic: VOP1, VOP2, VOPC, VOP3 and VOP3P instructions that semantics has a function for.
//
// Sources become rows: VGPRs are rows already, constants have rows of their own since the instruction was prepared,
// and scalars are spread over temporary rows when it runs. The plain case, with no modifier on any operand, is a
// handler made for the number of sources, and so are neg and abs, which compilers use a lot; vector_modifiers.cpp does
// the rest.
#include "engine/interpreter/vector.h"

#include <algorithm>
#include <cstring>

#include "isa/table.h"
#include "semantics/float/exceptions.h"
#include "semantics/scalar/scalar_float.h"

namespace Atoll::engine {
ATOLL_HOST_ISA_BEGIN

namespace {

/// The source with its sign changed, in temporary rows.
[[gnu::always_inline]] inline const Row* with_sign(const MicroOp& op, Run& run, unsigned i, const Row* rows) {
  constexpr uint32_t sign_bit = 0x8000'0000;
  const unsigned change = op.signs >> 2 * i & 3;
  if (change == 0) return rows;
  const uint32_t keep = (change & sign_abs) != 0 ? ~sign_bit : ~0u, flip = (change & sign_neg) != 0 ? sign_bit : 0;
  Row* changed = run.temporary + 8 + 2 * i;
  unsigned word = 0;
  if ((op.signs & sign_pairs) != 0) std::memcpy(changed[word++], rows[0], sizeof(Row));
  for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) {
    changed[word][lane] = (rows[word][lane] & keep) ^ flip;
  }
  return changed;
}

/// The kinds of plain handler, beside the number of sources.
struct Form {
  bool broadcasts = false, signs = false, reads_mask = false, writes_mask = false, writes_exec = false;
};

template <unsigned sources, Form form>
void vector(Wave& wave, const MicroOp& op, Run& run) {
  semantics::VectorCall& call = run.call;
  call.exec = wave.exec();
  if constexpr (!form.writes_mask) {
    if (call.exec == 0) return;
  }
  if constexpr (form.broadcasts) broadcast_scalars(wave, op, run);
  for (unsigned i = 0; i < sources; ++i) {
    call.src[i] = rows_at(run, op.vector.source_base[i], op.vector.source[i]);
    if constexpr (form.signs) call.src[i] = with_sign(op, run, i, call.src[i]);
  }
  call.dst[0] = rows_at(run, op.vector.result_base, op.vector.result);
  if constexpr (form.reads_mask) call.mask_in = wave.scalar64(op.mask_in);
  op.vector.function(call);
  if constexpr (form.writes_mask) wave.set_mask(op.mask_out, call.mask_out);
  if constexpr (form.writes_exec) wave.set_exec(call.mask_out);
}

constexpr Form with_sources(Form form, bool broadcasts, bool signs) {
  form.broadcasts = broadcasts;
  form.signs = signs;
  return form;
}

template <unsigned sources, Form form>
Handler choose(const MicroOp& op) {
  if (op.signs != 0) {
    return op.broadcasts != 0 ? step<vector<sources, with_sources(form, true, true)>>
                              : step<vector<sources, with_sources(form, false, true)>>;
  }
  return op.broadcasts != 0 ? step<vector<sources, with_sources(form, true, false)>>
                            : step<vector<sources, with_sources(form, false, false)>>;
}

template <unsigned sources>
Handler choose(const MicroOp& op, bool reads_mask, bool writes_mask, bool writes_exec) {
  if (writes_exec) return choose<sources, Form{.writes_mask = true, .writes_exec = true}>(op);
  if (reads_mask && writes_mask) return choose<sources, Form{.reads_mask = true, .writes_mask = true}>(op);
  if (reads_mask) return choose<sources, Form{.reads_mask = true}>(op);
  if (writes_mask) return choose<sources, Form{.writes_mask = true}>(op);
  return choose<sources, Form{}>(op);
}

/// Sets MicroOp::signs if neg and abs of single or double precision sources are all that the instruction modifies.
bool set_signs(MicroOp& op, const isa::Instruction& instruction, const semantics::VectorShape& shape,
               const VectorOperands& operands) {
  isa::Instruction rest = instruction;
  for (isa::Operand& operand : rest.operands) operand.neg = operand.abs = false;
  if (is_modified(rest, shape) || operands.sources == 0) return false;
  const isa::DataType type = operands.source[0]->type;
  if (type != isa::DataType::f32 && type != isa::DataType::f64) return false;
  op.signs = type == isa::DataType::f64 ? sign_pairs : 0;
  for (unsigned i = 0; i < operands.sources; ++i) {
    const isa::Operand& operand = *operands.source[i];
    if ((operand.neg || operand.abs) && operand.type != type) return false;
    op.signs |= static_cast<uint8_t>(((operand.neg ? sign_neg : 0) | (operand.abs ? sign_abs : 0)) << 2 * i);
  }
  return true;
}

/// Where bits of modifiers mean something else. op_sel can choose parts of registers that are no halves (gfx950's
/// v_cvt_scalef32_*), and neg say that integers are signed (v_dot4_i32_iu8), which `immediate` then does.
void read_bits_otherwise(isa::Instruction& instruction, const semantics::VectorShape& shape) {
  using isa::SdwaSelect;
  isa::Operand* sources = &instruction.operands[instruction.destinations];
  if (shape.has_signed_sources) {
    instruction.immediate = static_cast<uint16_t>((sources[0].neg ? 1 : 0) | (sources[1].neg ? 2 : 0));
    sources[0].neg = sources[1].neg = false;
  }
  if (shape.source_part == 16) sources[0].sdwa = sources[0].op_sel ? SdwaSelect::word_1 : SdwaSelect::word_0;
  if (shape.source_part == 8) {
    sources[0].sdwa = static_cast<SdwaSelect>((sources[0].op_sel ? 1 : 0) + (sources[1].op_sel ? 2 : 0));
  }
  // With two sources the decoder has done it.
  if (shape.writes_one_byte && instruction.sources() == 3) {
    instruction.dst_sel = static_cast<SdwaSelect>((sources[2].op_sel ? 1 : 0) + (instruction.op_sel_dst ? 2 : 0));
  }
}

}  // namespace

Handler prepare_vector(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  const semantics::VectorShape& shape =
      semantics::vector_function(instruction.opcode, p.cache.target().processor->generation);
  if (shape.call == nullptr) return nullptr;
  p.origin.shape = &shape;
  read_bits_otherwise(p.origin.instruction, shape);
  const VectorOperands operands = vector_operands(instruction);
  // From GFX10 on, v_cmpx writes EXEC alone.
  const bool writes_exec = isa::row_of(instruction).has(isa::flag::exec_out);
  const bool writes_mask = operands.mask_result != nullptr || writes_exec;
  if (operands.sources != shape.sources || operands.masks != shape.masks_in || operands.results != shape.destinations ||
      writes_mask != shape.mask_out) {
    return nullptr;
  }

  p.op.vector.function = shape.call;
  p.op.broadcasts = 0;
  p.op.signs = 0;
  const bool is_watched = p.cache.watches_exceptions() && semantics::may_raise_exceptions(instruction);
  bool plain = !is_watched && shape.sources <= 3 && shape.masks_in <= 1 &&
               (!is_modified(instruction, shape) || set_signs(p.op, instruction, shape, operands));
  for (unsigned i = 0; i < shape.sources && plain; ++i) {
    plain = set_source(p, i, *operands.source[i], shape.src_words[i]);
  }
  if (operands.results == 1) {
    p.op.vector.result_base = row_base(*operands.result[0]);
    p.op.vector.result = row_offset(*operands.result[0]);
  } else {
    p.op.vector.result_base = RowBase::vgpr;
    p.op.vector.result = 0;
  }
  for (const isa::Operand* mask : {operands.mask[0], operands.mask_result}) {
    if (mask != nullptr && mask->kind != isa::OperandKind::scalar) plain = false;
  }
  if (!plain) return prepare_modified(p, operands, shape, writes_exec);
  if (operands.mask[0] != nullptr) p.op.mask_in = static_cast<uint8_t>(operands.mask[0]->reg);
  p.op.mask_out =
      static_cast<uint8_t>(operands.mask_result != nullptr ? operands.mask_result->reg : isa::scalar::exec_lo);

  const bool reads_mask = operands.masks != 0;
  switch (shape.sources) {
    case 0:
      return choose<0>(p.op, reads_mask, shape.mask_out, writes_exec);
    case 1:
      return choose<1>(p.op, reads_mask, shape.mask_out, writes_exec);
    case 2:
      return choose<2>(p.op, reads_mask, shape.mask_out, writes_exec);
    default:
      return choose<3>(p.op, reads_mask, shape.mask_out, writes_exec);
  }
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::engine
