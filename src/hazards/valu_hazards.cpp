#include "hazards/valu_hazards.h"

#include <algorithm>

#include "hazards/counters.h"
#include "isa/table.h"

namespace Atoll::hazards {

namespace {

using isa::Encoding;
using isa::Instruction;
using isa::Opcode;
using isa::OperandKind;
using Kind = ValuInfo::Kind;
using Requirement = ValuInfo::Requirement;
using enum target::Generation;

/// That any rule asks for.
constexpr uint32_t most_states = 5;

/// What uses M0 so that the scalar ALU may not have written it just before.
bool needs_m0(const Instruction& instruction) {
  if (instruction.generation < gfx8) return false;
  switch (instruction.opcode) {
    case Opcode::s_sendmsg:
    case Opcode::s_sendmsghalt:
    case Opcode::s_ttracedata:
      return true;
    case Opcode::s_movrels_b32:
    case Opcode::s_movrels_b64:
    case Opcode::s_movreld_b32:
    case Opcode::s_movreld_b64:
    case Opcode::ds_read_addtid_b32:
    case Opcode::ds_write_addtid_b32:
      return instruction.generation >= gfx9;
    default:
      break;
  }
  if (instruction.encoding == Encoding::vintrp) return instruction.generation >= gfx9;
  return instruction.generation >= gfx9 && is_vector_memory(instruction.encoding) &&
         isa::lds_copy(instruction) == isa::LdsCopy::to_lds;
}

/// Scalars that are not just there to say for which lanes.
bool is_ordinary(unsigned reg) {
  return reg < isa::scalar::ttmp0;  // SGPRs and VCC
}

/// What a store of more than 64 bits has for data; none if a scalar register says where it begins to store.
isa::Operand stored_data(const Instruction& instruction) {
  constexpr unsigned held_back = 2;
  const isa::Operand none{};
  if (instruction.generation < gfx7 || !is_vector_memory(instruction.encoding) ||
      instruction.encoding == Encoding::mimg || !isa::row_of(instruction).has(isa::flag::store | isa::flag::atomic)) {
    return none;
  }
  const isa::Operand* offset = isa::operand_of(instruction, isa::Field::buffer_offset);
  if (offset != nullptr && offset->kind == OperandKind::scalar && is_ordinary(offset->reg)) return none;
  const isa::Operand* data = isa::operand_of(instruction, isa::Field::buffer_data);
  if (data == nullptr) data = isa::operand_of(instruction, isa::Field::flat_data);
  return data != nullptr && data->kind == OperandKind::vgpr && data->words > held_back ? *data : none;
}

/// Whether a vector instruction writes a part of its result's register.
bool writes_part(const Instruction& instruction) {
  if (instruction.extension == isa::Extension::sdwa) return instruction.dst_sel != isa::SdwaSelect::dword;
  return instruction.op_sel_dst;
}

/// The register number of s_getreg and s_setreg.
uint16_t hardware_register(const Instruction& instruction) { return instruction.immediate & 0x3F; }

}  // namespace

ValuInfo valu_info(const Instruction& instruction, const isa::Effects& effects) {
  ValuInfo facts;
  facts.is_looked_at = instruction.generation < gfx10;
  if (!facts.is_looked_at) return facts;
  const bool is_940 = instruction.generation >= gfx940;
  if (instruction.opcode == Opcode::s_nop) facts.states = (instruction.immediate & 0xFu) + 1;
  if (const auto waits = counter_waits(instruction)) {
    facts.awaits_stores = waits->of(memory_model::Counter::load) == 0;  // that counts them, too
  }
  const auto need_scalars = [&](uint8_t states) {
    for (uint16_t reg = 0; reg < isa::scalar::count; ++reg) {
      if (is_ordinary(reg) && effects.reads[reg]) facts.requirements.push_back({Kind::scalar, reg, states});
    }
  };
  if (is_vector_memory(instruction.encoding)) need_scalars(5);
  switch (instruction.opcode) {
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:
      facts.written.push_back({Kind::hardware_register, hardware_register(instruction)});
      [[fallthrough]];
    case Opcode::s_getreg_b32: {
      const bool is_getreg = instruction.opcode == Opcode::s_getreg_b32;
      const auto states = static_cast<uint8_t>(is_getreg || instruction.generation >= gfx8 ? 2 : 1);
      facts.requirements.push_back({Kind::hardware_register, hardware_register(instruction), states});
      break;
    }
    default:
      break;
  }
  if (needs_m0(instruction)) facts.requirements.push_back({Kind::m0, isa::scalar::m0, 1});
  if (const isa::Operand data = stored_data(instruction); data.words != 0) {
    for (unsigned word = 0; word < data.words; ++word) {
      facts.written.push_back({Kind::stored, static_cast<uint16_t>(data.reg + word)});
    }
  }
  if (!is_vector_alu(instruction.encoding)) {
    if (effects.writes[isa::scalar::m0] && instruction.encoding != Encoding::smem) {
      facts.written.push_back({Kind::m0, isa::scalar::m0});
    }
    return facts;
  }
  const bool transcendental = isa::row_of(instruction).has(isa::flag::transcendental);
  for (uint16_t reg = 0; reg < isa::scalar::count; ++reg) {
    if (is_ordinary(reg) && effects.writes[reg]) facts.written.push_back({Kind::scalar, reg});
  }
  if (effects.writes[isa::scalar::exec_lo]) facts.written.push_back({Kind::exec, isa::scalar::exec_lo});
  for (uint16_t reg = 0; reg < isa::vector_registers; ++reg) {
    if (!effects.vector_writes[reg]) continue;
    facts.written.push_back({Kind::vector, reg});
    facts.requirements.push_back({Kind::stored, reg, static_cast<uint8_t>(is_940 ? 2 : 1)});
    if (transcendental) facts.written.push_back({Kind::transcendental, reg});
    if (is_940 && writes_part(instruction)) {
      facts.written.push_back({Kind::half, reg});
      facts.requirements.push_back({Kind::half, reg, 1});
    }
  }
  const bool is_lane_access =
      instruction.opcode == Opcode::v_readlane_b32 || instruction.opcode == Opcode::v_writelane_b32;
  if (is_lane_access) {
    if (const isa::Operand& select = instruction.src(1);
        select.kind == OperandKind::scalar && is_ordinary(select.reg)) {
      facts.requirements.push_back({Kind::scalar, select.reg, 4});
    }
  }
  if (instruction.opcode == Opcode::v_div_fmas_f32 || instruction.opcode == Opcode::v_div_fmas_f64) {
    facts.requirements.push_back({Kind::scalar, isa::scalar::vcc_lo, 4});
    facts.requirements.push_back({Kind::scalar, isa::scalar::vcc_hi, 4});
  }
  if (instruction.extension == isa::Extension::dpp16) {
    if (const isa::Operand& source = instruction.src(0); source.kind == OperandKind::vgpr) {
      for (uint16_t word = 0; word < source.words; ++word) {
        facts.requirements.push_back({Kind::vector, static_cast<uint16_t>(source.reg + word), 2});
      }
    }
    facts.requirements.push_back({Kind::exec, isa::scalar::exec_lo, 5});
  }
  if (is_940) {
    need_scalars(2);
    if (instruction.opcode == Opcode::v_readlane_b32 || instruction.opcode == Opcode::v_readfirstlane_b32) {
      const isa::Operand& source = instruction.src(0);
      if (source.kind == OperandKind::vgpr) facts.requirements.push_back({Kind::vector, source.reg, 1});
    }
    if (is_lane_access || instruction.opcode == Opcode::v_readfirstlane_b32) {
      facts.requirements.push_back({Kind::exec, isa::scalar::exec_lo, 4});
    }
    for (uint16_t reg = 0; reg < isa::first_agpr; ++reg) {
      if (effects.vector_reads[reg]) facts.requirements.push_back({Kind::half, reg, 1});
    }
    if (instruction.opcode == Opcode::v_permlane16_swap_b32 || instruction.opcode == Opcode::v_permlane32_swap_b32) {
      for (uint16_t reg = 0; reg < isa::first_agpr; ++reg) {
        if (effects.vector_reads[reg]) facts.requirements.push_back({Kind::vector, reg, 2});
      }
    }
    if (!transcendental) {
      for (uint16_t reg = 0; reg < isa::first_agpr; ++reg) {
        if (effects.vector_reads[reg]) facts.requirements.push_back({Kind::transcendental, reg, 1});
      }
    }
  }
  return facts;
}

std::optional<ValuHazards::Missing> ValuHazards::step(const ValuInfo& facts, uint64_t pc) {
  if (!facts.is_looked_at) return std::nullopt;
  std::optional<Missing> missing;
  for (const Requirement& need : facts.requirements) {
    const ValuInfo::RecentWrite what{need.kind, need.reg};
    const auto write = std::ranges::find(recent_, what, &Write::what);
    if (write == recent_.end() || write->states >= need.states) continue;
    missing = Missing{need, write->pc, need.states - write->states};
    break;
  }
  if (facts.awaits_stores) std::erase_if(recent_, [](const Write& write) { return write.what.kind == Kind::stored; });
  for (Write& write : recent_) write.states += facts.states;
  std::erase_if(recent_, [&](const Write& write) {
    // What another instruction writes to a register is no longer a transcendental one's, or a part.
    const bool is_written = std::ranges::any_of(facts.written, [&](const ValuInfo::RecentWrite& what) {
      const bool is_vector =
          what.kind == Kind::vector && (write.what.kind == Kind::transcendental || write.what.kind == Kind::half);
      return what.reg == write.what.reg && (what.kind == write.what.kind || is_vector);
    });
    return is_written || write.states >= most_states;
  });
  for (const ValuInfo::RecentWrite& what : facts.written) recent_.push_back({.what = what, .pc = pc});
  return missing;
}

}  // namespace Atoll::hazards
