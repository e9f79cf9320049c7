// observe: see wait_states.h.
#include "observe/wait_states.h"

#include "isa/table.h"
#include "observe/counter_waits.h"

namespace Atoll::observe {

namespace {

using isa::Encoding;
using isa::Instruction;
using isa::Opcode;
using isa::OperandKind;
using Need = WaitStateFacts::Need;
using enum target::Generation;

bool is_vector_alu(Encoding encoding) {
  switch (encoding) {
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
    case Encoding::vop3:
    case Encoding::vop3p:
      return true;
    default:
      return false;
  }
}

bool is_transcendental(Opcode opcode) {
  switch (opcode) {
    using enum Opcode;
    case v_exp_f32:
    case v_log_f32:
    case v_rcp_f32:
    case v_rcp_iflag_f32:
    case v_rsq_f32:
    case v_sqrt_f32:
    case v_sin_f32:
    case v_cos_f32:
    case v_rcp_f64:
    case v_rsq_f64:
    case v_sqrt_f64:
    case v_rcp_f16:
    case v_rsq_f16:
    case v_sqrt_f16:
    case v_log_f16:
    case v_exp_f16:
    case v_sin_f16:
    case v_cos_f16:
    case v_exp_legacy_f32:
    case v_log_legacy_f32:
      return true;
    default:
      return false;
  }
}

/// The register number of s_getreg and s_setreg.
uint16_t hardware_register(const Instruction& instruction) { return instruction.immediate & 0x3F; }

/// Scalars that are not just there to say for which lanes.
bool is_ordinary(unsigned reg) {
  return reg < isa::scalar::ttmp0;  // SGPRs and VCC
}

}  // namespace

WaitStateFacts wait_state_facts(const Instruction& instruction, const isa::Effects& effects) {
  WaitStateFacts facts;
  facts.is_looked_at = instruction.generation >= gfx8 && instruction.generation < gfx10;
  if (!facts.is_looked_at) return facts;
  const bool is_940 = instruction.generation >= gfx940;
  facts.is_vector = is_vector_alu(instruction.encoding);
  if (instruction.opcode == Opcode::s_nop) facts.states = (instruction.immediate & 0xFu) + 1;
  const auto need_scalars = [&](uint8_t states) {
    for (uint16_t reg = 0; reg < isa::scalar::count; ++reg) {
      if (is_ordinary(reg) && effects.reads[reg]) facts.needs.push_back({Need::Kind::scalar, reg, states});
    }
  };
  if (is_vector_memory(instruction.encoding)) need_scalars(5);
  switch (instruction.opcode) {
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:
      facts.hardware_written = hardware_register(instruction);
      break;
    case Opcode::s_getreg_b32:
      facts.needs.push_back({Need::Kind::hardware_register, hardware_register(instruction), 2});
      break;
    default:
      break;
  }
  if (!facts.is_vector) return facts;
  facts.is_transcendental = is_transcendental(instruction.opcode);
  for (uint16_t reg = 0; reg < isa::scalar::count; ++reg) {
    if (is_ordinary(reg) && effects.writes[reg]) facts.scalars_written.push_back(reg);
  }
  facts.writes_exec = effects.writes[isa::scalar::exec_lo];
  for (size_t reg = 0; reg < effects.vector_writes.size(); ++reg) {
    if (effects.vector_writes[reg]) facts.vectors_written.push_back(static_cast<uint16_t>(reg));
  }
  const bool is_lane_access =
      instruction.opcode == Opcode::v_readlane_b32 || instruction.opcode == Opcode::v_writelane_b32;
  if (is_lane_access) {
    if (const isa::Operand& select = instruction.src(1);
        select.kind == OperandKind::scalar && is_ordinary(select.reg)) {
      facts.needs.push_back({Need::Kind::scalar, select.reg, 4});
    }
  }
  if (instruction.opcode == Opcode::v_div_fmas_f32 || instruction.opcode == Opcode::v_div_fmas_f64) {
    facts.needs.push_back({Need::Kind::scalar, isa::scalar::vcc_lo, 4});
    facts.needs.push_back({Need::Kind::scalar, isa::scalar::vcc_hi, 4});
  }
  if (instruction.extension == isa::Extension::dpp16) {
    if (const isa::Operand& source = instruction.src(0); source.kind == OperandKind::vgpr) {
      for (uint16_t word = 0; word < source.words; ++word) {
        facts.needs.push_back({Need::Kind::vector, static_cast<uint16_t>(source.reg + word), 2});
      }
    }
    facts.needs.push_back({Need::Kind::exec, isa::scalar::exec_lo, 5});
  }
  if (is_940) {
    need_scalars(2);
    if (instruction.opcode == Opcode::v_readlane_b32 || instruction.opcode == Opcode::v_readfirstlane_b32) {
      const isa::Operand& source = instruction.src(0);
      if (source.kind == OperandKind::vgpr) facts.needs.push_back({Need::Kind::vector, source.reg, 1});
      facts.needs.push_back({Need::Kind::exec, isa::scalar::exec_lo, 4});
    }
    if (!facts.is_transcendental) {
      for (uint16_t reg = 0; reg < isa::first_agpr; ++reg) {
        if (effects.vector_reads[reg]) facts.needs.push_back({Need::Kind::transcendental, reg, 1});
      }
    }
  }
  return facts;
}

std::optional<WaitStates::Missing> WaitStates::step(const WaitStateFacts& facts, uint64_t pc) {
  if (!facts.is_looked_at) return std::nullopt;
  std::optional<Missing> missing;
  for (const Need& need : facts.needs) {
    const Write* write = &exec_;
    switch (need.kind) {
      case Need::Kind::scalar:
        write = &scalars_[need.reg];
        break;
      case Need::Kind::vector:
        write = &vectors_[need.reg];
        break;
      case Need::Kind::transcendental:
        write = &transcendentals_[need.reg];
        break;
      case Need::Kind::hardware_register:
        write = &hardware_[need.reg];
        break;
      case Need::Kind::exec:
        break;
    }
    if (write->at == 0 || now_ - write->at >= need.states || missing) continue;
    missing = Missing{need, write->pc, static_cast<uint32_t>(need.states - (now_ - write->at))};
  }
  now_ += facts.states;
  const Write now{pc, now_};
  for (const uint16_t reg : facts.scalars_written) scalars_[reg] = now;
  for (const uint16_t reg : facts.vectors_written) {
    vectors_[reg] = now;
    transcendentals_[reg] = facts.is_transcendental ? now : Write{};
  }
  if (facts.is_vector && facts.writes_exec) exec_ = now;
  if (facts.hardware_written) hardware_[*facts.hardware_written] = now;
  return missing;
}

}  // namespace Atoll::observe
