// engine: decoding for a target and a wave's registers (target_code.h).
#include "engine/target_code.h"

#include <algorithm>

#include "engine/vgpr_banks.h"
#include "isa/code_map.h"
#include "isa/decode.h"
#include "isa/immediate_names.h"
#include "isa/opcode_map.h"
#include "isa/table.h"
#include "isa/vgpr_banks.h"
#include "machine/wave/dispatch.h"

namespace Atoll::engine {

namespace {

bool has(const RegisterCounts& registers, const isa::Operand& operand) {
  const unsigned end = operand.reg + operand.words;
  switch (operand.kind) {
    case isa::OperandKind::vgpr:
      return end <= registers.vgprs;
    case isa::OperandKind::agpr:
      return end <= registers.agprs;
    case isa::OperandKind::scalar:
      return operand.reg >= isa::scalar::vcc_lo || end <= registers.sgprs;
    default:
      return true;
  }
}

/// Whether the instruction writes MODE by s_setreg.
bool sets_mode(const isa::Instruction& instruction) {
  const bool sets_register =
      instruction.opcode == isa::Opcode::s_setreg_b32 || instruction.opcode == isa::Opcode::s_setreg_imm32_b32;
  constexpr unsigned number = 0x3F;
  return sets_register && (instruction.immediate & number) == isa::hardware::mode;
}

/// Gives inline floats the bits that the hardware reads where they are not those that the text stands for.
///
/// A 16-bit integer operand reads the lower half of a single float, but for the exponent of v_ldexp_f16 (LLVM's reviews
/// D81841 and llvm-project issue 58167; its assembler makes literals of them). A bfloat16 operand of GFX12.5 reads the
/// single float as well, so its bits are in the upper half (llvm-project pull requests 183487 and 209861).
void read_inline_floats(isa::Instruction& instruction, const isa::Layout& layout) {
  for (unsigned i = instruction.destinations; i < instruction.operand_count; ++i) {
    isa::Operand& source = instruction.operands[i];
    if (source.kind != isa::OperandKind::constant || source.is_literal) continue;
    const isa::DataType type = source.type;
    const bool is_bf16 = type == isa::DataType::bf16 || type == isa::DataType::v2bf16;
    const bool is_integer = isa::is_half(type) && !isa::is_float(type);
    if (is_bf16 ? !layout.bf16_constants_high : !is_integer) continue;
    if (is_integer && isa::has_half_exponent(isa::row_of(instruction))) continue;
    const isa::InlineFloats& floats = isa::inline_floats(type);
    const auto* const found = std::ranges::find(floats, static_cast<uint16_t>(source.value));
    if (found == floats.end()) continue;
    source.value = isa::inline_f32[static_cast<size_t>(found - floats.begin())];
  }
}

}  // namespace

RegisterCounts::RegisterCounts(const machine::Wave& wave, const target::Target& target) {
  if (wave.vgprs == 0) return;  // of no kernel
  if (wave.sgprs != 0) sgprs = wave.sgprs;
  agprs = wave.agprs;
  const machine::Dispatch* dispatch = wave.work_group != nullptr ? wave.work_group->dispatch : nullptr;
  if (dispatch != nullptr && dispatch->kernel != nullptr && dispatch->launch.has_dynamic_vgprs) {
    vgprs = dispatch->launch.max_vgprs;  // the limit of s_alloc_vgpr
    return;
  }
  // In a unified file the AGPRs follow, and are as well the VGPRs of those numbers.
  vgprs = static_cast<uint16_t>(wave.vgprs + (target.processor->unified_vgprs ? wave.agprs : 0));
}

bool RegisterCounts::include(const isa::Instruction& instruction) const {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    if (!has(*this, instruction.operands[i])) return false;
  }
  return true;
}

isa::Instruction without_missing(const isa::Instruction& instruction, const RegisterCounts& registers) {
  isa::Instruction result = instruction;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    if (has(registers, instruction.operands[i])) continue;
    if (i < instruction.destinations) {
      return {.opcode = isa::Opcode::s_nop,
              .encoding = isa::Encoding::sopp,
              .generation = instruction.generation,
              .lane_mask_words = instruction.lane_mask_words,
              .size = instruction.size};
    }
    isa::Operand& source = result.operands[i];
    source.reg = 0;
    if (source.kind == isa::OperandKind::agpr) source.kind = isa::OperandKind::vgpr;
  }
  return result;
}

support::Result<isa::Instruction> decode(std::span<const uint8_t> code, const target::Target& target) {
  auto instruction = isa::decode(code, *target.processor, target.wave_size);
  if (!instruction) return instruction;
  if (has_vgpr_banks(*target.processor) && sets_mode(*instruction)) {
    // GFX12.5 drops an s_set_vgpr_msb right after it (llvm-project pull request 184904): it counts as a part of it.
    const auto next = isa::decode(code.subspan(instruction->size), *target.processor, target.wave_size);
    if (next && next->opcode == isa::Opcode::s_set_vgpr_msb) {
      instruction->size = static_cast<uint8_t>(instruction->size + next->size);
    }
  }
  instruction->clears_other_half = target.d16_loads_clear;
  read_inline_floats(*instruction, isa::opcode_map_of(*target.processor, target.wave_size).layout);
  // A result that is the upper half of a register by name goes there as one with op_sel does.
  const isa::Operand& result = instruction->operands[0];
  if (instruction->destinations == 1 && result.half && result.op_sel) instruction->op_sel_dst = true;
  if (result.words > 1) instruction->op_sel_dst = false;  // v_cvt_pk_f32_fp8 of GFX12, where it means nothing
  for (unsigned i = instruction->destinations; i < instruction->operand_count; ++i) {
    isa::Operand& source = instruction->operands[i];
    if (source.kind != isa::OperandKind::scalar || source.reg != isa::scalar::null) continue;
    source.kind = isa::OperandKind::constant;
    source.value = 0;
  }
  if (isa::row_of(*instruction).has(isa::flag::hwreg)) {
    constexpr unsigned number = 0x3F;
    instruction->immediate =
        static_cast<uint16_t>((instruction->immediate & ~number) |
                              isa::hardware_register(instruction->immediate & number, instruction->generation));
  }
  return instruction;
}

support::Result<isa::Instruction> decode(std::span<const uint8_t> code, const target::Target& target,
                                         const RegisterCounts& registers, uint8_t banks) {
  auto instruction = decode(code, target);
  if (instruction) isa::choose_banks(*instruction, banks);
  if (instruction && !registers.include(*instruction)) *instruction = without_missing(*instruction, registers);
  return instruction;
}

}  // namespace Atoll::engine
