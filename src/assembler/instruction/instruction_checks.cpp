// assembler: what an instruction may not be although each of its operands may (instruction_parser.h).
//
// An instruction's fields could hold these; the hardware does not do what they say, or it is not documented. What
// the fields cannot hold, isa::encode refuses.
// Sources: the vendor's ISA guides ("Scalar inputs", "DPP", "Memory Temporal Hints"); where they are silent, what
// LLVM's assembler refuses.
#include <algorithm>
#include <array>

#include "assembler/instruction/instruction_parser.h"
#include "isa/table.h"

namespace Atoll::assembler {

using isa::DataType;
using isa::Encoding;
using isa::Field;
using isa::Instruction;
using isa::Opcode;
using isa::Operand;
using isa::OperandKind;
using isa::OperandSpec;
namespace flag = isa::flag;
namespace scalar = isa::scalar;

bool InstructionParser::check() {
  switch (form_->encoding) {
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
    case Encoding::vop3:
    case Encoding::vop3p:
      return check_scalar_inputs() && check_lane_select() && check_lds_direct() && check_halves() && check_wide_dpp() &&
             check_dot_selects() && check_sparse_index() && check_accumulation_write() && check_bf16_constants();
    case Encoding::vinterp:
      return check_halves();
    case Encoding::ds:
      return check_even_resource();
    case Encoding::sopk:
      return check_null_counter();
    case Encoding::smem:
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
    case Encoding::mubuf:
    case Encoding::mtbuf:
      return check_cache_policy();
    case Encoding::mimg:
    case Encoding::vsample:
      return check_cache_policy() && check_image();
    default:
      return true;
  }
}

/// How many different scalar values a vector instruction reads.
bool InstructionParser::check_scalar_inputs() {
  const Instruction& in = result_.instruction;
  std::array<uint32_t, 4> seen{};
  unsigned scalars = 0;
  const auto read = [&](OperandKind kind, uint16_t reg, unsigned words) {
    const uint32_t name = static_cast<uint32_t>(kind) << 24 | words << 16 | reg;
    const auto end = seen.begin() + std::min<size_t>(scalars, seen.size());
    if (std::find(seen.begin(), end, name) != end) return;
    if (scalars < seen.size()) seen[scalars] = name;
    ++scalars;
  };
  bool literal = false;
  // M0 has the distance to the register that is meant.
  if (form_->opcode == Opcode::v_movreld_b32) read(OperandKind::scalar, scalar::m0, 1);
  for (unsigned i = 0; i < in.operand_count; ++i) {
    const OperandSpec& spec = row_->operands[i];
    const Operand& operand = in.operands[i];
    if (isa::writes(*row_, spec.field, in.glc) && spec.field != Field::src0_dst) continue;
    switch (operand.kind) {
      case OperandKind::constant:
        if (!operand.is_literal || literal) break;
        literal = true;
        ++scalars;
        break;
      case OperandKind::vgpr:
      case OperandKind::agpr:
      case OperandKind::off:
      case OperandKind::lds_direct:
        break;
      default:
        if (operand.kind == OperandKind::scalar && operand.reg == scalar::null) break;
        // M0 as the number of a lane does not count.
        if (spec.field == Field::ssrc1 && operand.kind == OperandKind::scalar && operand.reg == scalar::m0) break;
        read(operand.kind, operand.reg, operand.words);
    }
  }
  using enum Opcode;
  const bool right_shift = form_->opcode == v_lshrrev_b64 || form_->opcode == v_ashrrev_i64;
  const bool wide_shift = form_->opcode == v_lshlrev_b64 || (right_shift && !map_.layout.right_shifts_read_two);
  const bool reads_m0 = form_->opcode == v_movreld_b32 && scalars == 1;
  const unsigned limit = wide_shift ? 1 : map_.layout.scalar_inputs;
  if (!reads_m0 && scalars > limit) {
    return refuse(mnemonic_place_,
                  limit == 1 ? "the instruction can read one SGPR or literal only: move the others to VGPRs"
                             : "the instruction can read two SGPRs or literals only: move the others to VGPRs");
  }
  return true;
}

/// Which lanes v_permlane_up_b32 and its like read, all lanes of a wave must say alike.
bool InstructionParser::check_lane_select() {
  using enum Opcode;
  const bool permutes = form_->opcode == v_permlane_up_b32 || form_->opcode == v_permlane_down_b32 ||
                        form_->opcode == v_permlane_xor_b32 || form_->opcode == v_permlane_bcast_b32;
  for (unsigned i = 2; permutes && i < result_.instruction.operand_count; ++i) {
    if (result_.instruction.operands[i].kind == OperandKind::vgpr) {
      return refuse_operand(operands_[i], "an SGPR or a constant");
    }
  }
  return true;
}

/// Instructions that take their sources in reverse order cannot read LDS.
bool InstructionParser::check_lds_direct() {
  const auto all = std::span(result_.instruction.operands).first(result_.instruction.operand_count);
  if (std::ranges::find(all, OperandKind::lds_direct, &Operand::kind) == all.end()) return true;
  const bool reverse = std::ranges::any_of(std::array<std::string_view, 4>{"subrev", "subbrev", "shlrev", "shrrev"},
                                           [&](std::string_view part) { return row_->name.contains(part); });
  const bool moves = form_->opcode == Opcode::v_movrelsd_2_b32;
  return (!reverse && !moves) || refuse(mnemonic_place_, "lds_direct cannot be used with this instruction");
}

/// Halves of registers are named as such in all of an instruction's operands or in none (the latter as on GPUs without
/// them, where only some instructions have op_sel).
bool InstructionParser::check_halves() {
  if (!map_.layout.true16 || form_->encoding == Encoding::vop3p) return true;
  if (whole_named_ == nullptr) return true;
  if (half_named_ || row_->has(flag::true16_only)) {
    return refuse(whole_named_->place, "the operand is a half of a register: .l or .h must say which");
  }
  if ((given_ & bit(Modifier::op_sel)) != 0 &&
      !row_->has(flag::op_sel | flag::op_sel4 | flag::permlane | flag::op_sel_dst)) {
    return refuse(modifier_places_[static_cast<size_t>(Modifier::op_sel)],
                  "the instruction has no op_sel: .l or .h after a register says which half is meant");
  }
  return true;
}

/// 64-bit operands support only the DPP control row_newbcast, on processors that have it.
bool InstructionParser::check_wide_dpp() {
  const Instruction& in = result_.instruction;
  if (in.extension != isa::Extension::dpp16 || !map_.layout.row_newbcast || in.dpp.control >> 4 == 0x15) return true;
  const bool wide = std::ranges::any_of(row_->operands, [](const OperandSpec& spec) {
    return isa::words_of(spec.type) == 2 && spec.type != DataType::lane_mask;
  });
  return !wide || refuse(modifier_places_[static_cast<size_t>(Modifier::dpp_control)],
                         "DPP on operands of 64 bits is row_newbcast alone");
}

/// Dot products of gfx940 take their sources' halves as they are.
bool InstructionParser::check_dot_selects() {
  using enum Opcode;
  const bool dot = form_->opcode == v_dot2_f32_f16 || form_->opcode == v_dot2_i32_i16 ||
                   form_->opcode == v_dot2_u32_u16 || form_->opcode == v_dot2_f32_bf16;
  if (!dot || !unit_.processor().has(target::Feature::gfx940_insts)) return true;
  for (unsigned i = 1; i < result_.instruction.operand_count; ++i) {
    const Operand& operand = result_.instruction.operands[i];
    if (!operand.op_sel && operand.op_sel_hi) continue;
    return refuse(mnemonic_place_, "invalid op_sel operand: dot products have none on this GPU");
  }
  return true;
}

/// index_key chooses among what a register has of a sparse matrix's index, which, as the elements of fp8 and bf8, is
/// not negated.
bool InstructionParser::check_sparse_index() {
  const Instruction& in = result_.instruction;
  if (row_->operands[3].field != Field::wmma_index) return true;
  if (in.abid >= map_.index_keys(*row_)) {
    return refuse(modifier_places_[static_cast<size_t>(Modifier::index_key)],
                  "out of range index_key: a register has not as many parts of the index");
  }
  const bool can_negate = row_->has(flag::neg | flag::neg_low_sources);
  for (const Operand& operand : std::span(in.operands).subspan(can_negate ? 3 : 1, can_negate ? 1 : 3)) {
    if (operand.neg || operand.neg_hi) return refuse(mnemonic_place_, "invalid neg_lo or neg_hi operand");
  }
  return true;
}

/// Warns if the instruction reads the half of an inline bfloat16 constant that has no bits of it. LLVM 22 assembles
/// that silently; later versions refuse it in instructions with one source (llvm-project pull request 223035).
bool InstructionParser::check_bf16_constants() {
  const Instruction& in = result_.instruction;
  for (unsigned i = in.destinations; map_.layout.bf16_constants_high && i < in.operand_count; ++i) {
    const Operand& operand = in.operands[i];
    const bool is_bf16 = operand.type == DataType::bf16 || operand.type == DataType::v2bf16;
    const bool is_float = operand.kind == OperandKind::constant && !operand.is_literal &&
                          std::ranges::find(isa::inline_bf16, operand.value) != isa::inline_bf16.end();
    if (!is_bf16 || !is_float || operand.op_sel) continue;
    source_.warning(mnemonic_place_,
                    "the instruction reads 0 instead of the inline constant, whose bits are in the upper half: select "
                    "that half by op_sel, or use a literal");
    break;
  }
  return true;
}

/// Where accumulation registers are a file of their own, they are written from vector registers.
bool InstructionParser::check_accumulation_write() {
  if (form_->opcode != Opcode::v_accvgpr_write_b32 || unit_.processor().unified_vgprs) return true;
  const OperandKind source = result_.instruction.operands[1].kind;
  if (source == OperandKind::vgpr || source == OperandKind::constant) return true;
  return refuse(operands_[1].place, "source operand must be either a VGPR or an inline constant");
}

/// s_waitcnt_vscnt and similar wait for the immediate; the register operand has no effect any more.
bool InstructionParser::check_null_counter() {
  using enum Opcode;
  const bool waits = form_->opcode == s_waitcnt_vscnt || form_->opcode == s_waitcnt_vmcnt ||
                     form_->opcode == s_waitcnt_expcnt || form_->opcode == s_waitcnt_lgkmcnt;
  if (!waits || !map_.layout.waits_for_null || result_.instruction.operands[0].reg == scalar::null) return true;
  return refuse_operand(operands_[0], "null");
}

/// Where tuples are aligned, what goes to global wave sync is too, though it is one register.
bool InstructionParser::check_even_resource() {
  if (!row_->has(flag::gws) || result_.instruction.operand_count == 0) return true;
  const unsigned alignment = isa::operand_class(map_, result_.instruction, 0).vector_alignment;
  return result_.instruction.operands[0].reg % alignment == 0 ||
         refuse(operands_[0].place, "vgpr must be even aligned");
}

bool InstructionParser::check_image() {
  // Atomics are on 32 or 64 bits; comparing and swapping takes two values of them.
  const bool two = row_->name.contains("cmpswap");
  const Operand* data = row_->has(flag::atomic) ? operand_of(Field::image_data) : nullptr;
  if (data != nullptr && (two ? data->words == 1 : data->words > 3)) {
    return refuse_operand(operands_[0], two ? "two registers or four" : "one register or two");
  }
  constexpr unsigned first_msaa = 6;
  if (form_->opcode != Opcode::image_msaa_load || said_.dim >= first_msaa) return true;
  return refuse(
      (given_ & bit(Modifier::dim)) != 0 ? modifier_places_[static_cast<size_t>(Modifier::dim)] : mnemonic_place_,
      "invalid dim; must be MSAA type");
}

/// Which temporal hints, scopes and other bits of the cache policy go with which accesses.
bool InstructionParser::check_cache_policy() {
  const Instruction& in = result_.instruction;
  const auto wrong = [&](Modifier modifier, std::string_view why) {
    return refuse(modifier_places_[static_cast<size_t>(modifier)], why);
  };
  if (in.nv && !map_.layout.scale_offsets) return wrong(Modifier::nv, "nv is not supported on this GPU");
  if (in.scale_offset) {
    if (!map_.layout.scale_offsets) return wrong(Modifier::scale_offset, "scale_offset is not supported on this GPU");
    if (!scales_offset()) return wrong(Modifier::scale_offset, "scale_offset is not supported for this instruction");
  }
  if (!map_.layout.temporal_hints || in.temporal_hint == 0) return true;
  constexpr uint8_t bypass = 3, system = 3;
  if (in.temporal_hint == bypass && (in.scope == system) != bypass_said_) {
    return wrong(Modifier::temporal_hint, "scope and th combination is not valid");
  }
  const bool stores = row_->has(flag::store) && !row_->has(flag::load);
  const HintKind kind = row_->has(flag::atomic) ? HintKind::atomic : stores ? HintKind::store : HintKind::load;
  if (kind == hint_kind_) return true;
  return wrong(Modifier::temporal_hint, kind == HintKind::atomic  ? "invalid th value for atomic instructions"
                                        : kind == HintKind::store ? "invalid th value for store instructions"
                                                                  : "invalid th value for load instructions");
}

/// Whether the instruction's address has an index that scale_offset could scale: a register besides the base.
bool InstructionParser::scales_offset() const {
  if (form_->encoding == Encoding::smem) {
    return std::ranges::none_of(row_->operands, [](const OperandSpec& spec) {
      return spec.field == Field::sbase && isa::words_of(spec.type) == 4;
    });
  }
  if (form_->encoding == Encoding::mubuf || form_->encoding == Encoding::mtbuf) return false;
  // Behind a base, the address of FLAT and GLOBAL has 32 bits.
  const Operand* address = operand_of(Field::flat_address);
  return address != nullptr && address->kind == OperandKind::vgpr && address->words == 1;
}

}  // namespace Atoll::assembler
