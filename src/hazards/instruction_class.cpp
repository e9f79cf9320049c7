#include "hazards/instruction_class.h"

#include <algorithm>

#include "hazards/counters.h"
#include "isa/element_type.h"
#include "isa/immediate_names.h"
#include "isa/table.h"
#include "isa/unit.h"

namespace Atoll::hazards {

namespace {

using isa::Encoding;
using isa::Instruction;
using isa::Opcode;
using isa::Operand;
using isa::OperandKind;
using isa::Operation;
using enum target::Generation;

bool is_alu(Encoding encoding) {
  return is_vector_alu(encoding) || encoding == Encoding::vopd || encoding == Encoding::vopd3 ||
         encoding == Encoding::vinterp;
}

bool is_memory(Encoding encoding) { return is_vector_memory(encoding) || encoding == Encoding::vsample; }

/// True if an instruction takes an index or an address from M0 too early after the scalar ALU has written it.
bool uses_m0(const Instruction& instruction) {
  if (instruction.generation < gfx8) return false;
  const isa::InstructionRow& row = isa::row_of(instruction);
  switch (row.computes.operation) {
    case Operation::send_message:
    case Operation::send_message_halt:
    case Operation::trace:
      return row.has(isa::flag::reads_m0);
    default:
      break;
  }
  if (instruction.generation < gfx9) return false;
  if (instruction.encoding == Encoding::vintrp) return true;
  if (row.has(isa::flag::reads_m0) && row.computes.places == isa::Places::by_lane) return true;
  const bool indexes_scalars =
      isa::is_scalar_alu(instruction.encoding) && row.has(isa::flag::indexed_source | isa::flag::indexed_result);
  if (indexes_scalars && row.has(isa::flag::reads_m0)) return true;
  return is_vector_memory(instruction.encoding) && isa::lds_copy(instruction) == isa::LdsCopy::to_lds;
}

/// True for v_permlane16_b32 and its like, whose sources are lanes of a row, and v_permlane64_b32.
bool is_permlane(const isa::InstructionRow& row) {
  return row.has(isa::flag::permlane) || row.computes.operation == Operation::exchange_wave_halves;
}

bool is_counter_wait(const Instruction& instruction) { return counter_waits(instruction).has_value(); }

bool is_float_atomic(const isa::InstructionRow& row) {
  return row.has(isa::flag::atomic) && isa::is_float(isa::element_type(row));
}

/// The register number of s_getreg and s_setreg.
uint16_t hardware_register(const Instruction& instruction) { return instruction.immediate & 0x3F; }

/// Whether s_getreg reads state that instructions in flight may still change.
bool gets_status(const Instruction& instruction) {
  if (isa::row_of(instruction).computes.operation != Operation::get_register) return false;
  switch (isa::hardware_register(hardware_register(instruction), instruction.generation)) {
    case isa::hardware::status:
    case isa::hardware::state_private:
    case isa::hardware::exception_private:
    case isa::hardware::exception_user:
      return true;
    default:
      return false;
  }
}

bool passes_filter(unsigned reg) { return reg < isa::scalar::ttmp0; }  // SGPRs and VCC
bool is_vcc(unsigned reg) { return reg == isa::scalar::vcc_lo || reg == isa::scalar::vcc_hi; }

/// The data of a store of more than 64 bits; none if a scalar register says where it begins to store.
Operand wide_stored_data(const Instruction& instruction) {
  constexpr unsigned held_back = 2;
  const Operand none{};
  if (instruction.generation < gfx7 || !is_vector_memory(instruction.encoding) ||
      instruction.encoding == Encoding::mimg || !isa::row_of(instruction).has(isa::flag::store | isa::flag::atomic)) {
    return none;
  }
  const Operand* offset = isa::operand_of(instruction, isa::Field::buffer_offset);
  if (offset != nullptr && offset->kind == OperandKind::scalar && passes_filter(offset->reg)) return none;
  const Operand* data = isa::operand_of(instruction, isa::Field::buffer_data);
  if (data == nullptr) data = isa::operand_of(instruction, isa::Field::flat_data);
  return data != nullptr && data->kind == OperandKind::vgpr && data->words > held_back ? *data : none;
}

/// Whether a vector instruction writes only a part of its result's register.
bool writes_part(const Instruction& instruction) {
  if (instruction.extension == isa::Extension::sdwa) return instruction.dst_sel != isa::SdwaSelect::dword;
  return instruction.op_sel_dst;
}

bool reads_old_result(const Instruction& instruction) {
  return isa::row_of(instruction).has(isa::flag::reads_dst) || instruction.extension == isa::Extension::dpp16 ||
         instruction.extension == isa::Extension::dpp8;
}

/// Operands of a dual instruction: each half's result comes before its sources.
bool is_result(const Instruction& instruction, unsigned operand) {
  return operand < instruction.destinations ||
         (instruction.second != Opcode::invalid && operand == instruction.second_operands);
}

}  // namespace

std::vector<RegisterRange> named_sources(const Instruction& instruction) {
  std::vector<RegisterRange> found;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    bool is_source = !is_result(instruction, i);
    if (!is_source && i == 0) is_source = reads_old_result(instruction);
    if (!is_source && i != 0 && instruction.second != Opcode::invalid) {
      is_source = isa::row_on(instruction.second, instruction.generation).has(isa::flag::reads_dst);
    }
    const RegisterRange range = is_source ? range_of(instruction.operands[i]) : RegisterRange{};
    if (range.count != 0) found.push_back(range);
  }
  return found;
}

ClassSet classes_of(const Instruction& instruction, const isa::Effects& effects) {
  using enum InstructionClass;
  ClassSet set;
  const auto add = [&](InstructionClass wanted, bool is_member) { set.set(static_cast<size_t>(wanted), is_member); };
  const isa::InstructionRow& row = isa::row_of(instruction);
  const Encoding encoding = instruction.encoding;
  const Operation operation = row.computes.operation;
  add(any, true);
  const bool is_copy = is_memory(encoding) && isa::lds_copy(instruction) != isa::LdsCopy::none;
  const bool is_valu = is_alu(encoding) || (is_copy && instruction.generation < gfx12_5);
  add(vector_alu, is_valu);
  add(vector_nop, operation == Operation::nop && is_alu(encoding));
  add(transcendental, row.has(isa::flag::transcendental) && is_alu(encoding));
  const bool is_lane_read = operation == Operation::read_lane || operation == Operation::read_first_lane;
  add(scalar_writing_alu, is_alu(encoding) && effects.writes.any() && !is_lane_read);
  add(exec_comparison, is_alu(encoding) && effects.writes[isa::scalar::exec_lo]);
  add(dpp, instruction.extension == isa::Extension::dpp16);
  add(lane_select, operation == Operation::read_lane || operation == Operation::write_lane);
  add(lane_read, is_lane_read);
  add(lane_access, is_lane_read || operation == Operation::write_lane);
  add(division_fixup, operation == Operation::div_fmas);
  add(permlane, is_permlane(row));
  add(permlane_swap, operation == Operation::swap_rows || operation == Operation::swap_halves);
  add(wave_matrix, row.has(isa::flag::wmma) && is_alu(encoding));
  add(vector_memory, is_memory(encoding));
  add(non_flat_memory, is_memory(encoding) && encoding != Encoding::flat && encoding != Encoding::global &&
                           encoding != Encoding::scratch);
  add(vector_memory_only, is_memory(encoding) && !is_copy);
  add(wide_nsa_image, encoding == Encoding::mimg && instruction.address_count != 0 && instruction.size >= 16);
  add(unaligned_buffer, (encoding == Encoding::mubuf || encoding == Encoding::mtbuf) && (instruction.offset & 6) != 0);
  add(float_atomic, is_memory(encoding) && is_float_atomic(row));
  add(lds, encoding == Encoding::ds);
  add(lds_or_copy, encoding == Encoding::ds || is_copy);
  add(lds_direct, encoding == Encoding::ldsdir);
  // Until GFX11.7 the instruction has no such field.
  add(late_lds_direct, encoding == Encoding::ldsdir && (instruction.generation < gfx12 || instruction.wait_vm_vsrc));
  add(lds_nop, encoding == Encoding::ds && operation == Operation::nop);
  add(async_arrive, operation == Operation::async_barrier_arrive);
  add(export_, encoding == Encoding::exp);
  add(scalar_memory, encoding == Encoding::smem);
  const bool is_salu = is_scalar_alu(encoding);
  add(scalar_alu, is_salu);
  add(chained_scalar_alu,
      is_salu && encoding != Encoding::sopp && !is_counter_wait(instruction) && operation != Operation::version);
  add(memory, is_memory(encoding) || encoding == Encoding::ds);
  add(vector, is_valu || is_memory(encoding) || encoding == Encoding::ds);
  add(alu, is_valu || is_salu);
  add(scalar, is_salu || encoding == Encoding::smem);
  const auto has_vcc = [](const isa::ScalarSet& registers) {
    return registers[isa::scalar::vcc_lo] || registers[isa::scalar::vcc_hi];
  };
  bool reads_sgpr = false;
  for (unsigned reg = 0; reg < isa::scalar::m0; ++reg) reads_sgpr |= effects.reads[reg] && !is_vcc(reg);
  add(sgpr_reading_salu, is_salu && reads_sgpr);
  add(vcc_using_salu, is_salu && (has_vcc(effects.reads) || has_vcc(effects.writes)));
  add(vcc_writing_valu, is_valu && has_vcc(effects.writes));
  add(in_flight, encoding != Encoding::sopp);
  const bool is_setreg = operation == Operation::set_register;
  add(set_hardware, is_setreg);
  add(get_hardware, operation == Operation::get_register);
  add(set_mode, is_setreg && instruction.immediate == isa::hardware::mode);
  add(set_any_mode, is_setreg && hardware_register(instruction) == isa::hardware::mode);
  add(get_status, gets_status(instruction));
  add(denorm_mode, operation == Operation::set_denormals);
  add(set_vgpr_msb, operation == Operation::set_vgpr_banks);
  add(InstructionClass::uses_m0, hazards::uses_m0(instruction));
  add(counter_wait, is_counter_wait(instruction));
  const isa::Control control = isa::control_of(instruction);
  add(InstructionClass::branch,
      control.kind == isa::Control::Kind::branch || control.kind == isa::Control::Kind::conditional);
  add(leaves_function, control.is_call() || control.kind == isa::Control::Kind::indirect);
  add(dual, encoding == Encoding::vopd || encoding == Encoding::vopd3);
  return set;
}

bool is_vector_role(Role role) { return role >= Role::reads_vgpr; }

namespace {

/// Registers of both halves' sources in the same slot whose numbers are both even or both odd.
std::vector<uint16_t> shared_gather(const Instruction& instruction) {
  std::vector<uint16_t> found;
  if (instruction.second == Opcode::invalid) return found;
  const unsigned second = instruction.second_operands + 1u;
  for (unsigned slot = 0; slot < 2; ++slot) {
    const unsigned x = instruction.destinations + slot, y = second + slot;
    if (x >= instruction.second_operands || y >= instruction.operand_count) break;
    const RegisterRange a = range_of(instruction.operands[x]), b = range_of(instruction.operands[y]);
    if (a.count == 0 || b.count == 0 || a.first == b.first || (a.first & 1) != (b.first & 1)) continue;
    found.push_back(a.first);
    found.push_back(b.first);
  }
  return found;
}

std::vector<uint16_t> last_of_granule(const Instruction& instruction, const target::Processor& processor) {
  std::vector<uint16_t> found;
  if (instruction.encoding != Encoding::vopd3 || instruction.second == Opcode::invalid) return found;
  if (instruction.operands[0].type != isa::DataType::f64) return found;
  const unsigned granule = processor.vgpr_granule_wave32;
  if (granule == 0) return found;
  for (unsigned i = instruction.second_operands + 1u; i < instruction.operand_count; ++i) {
    const RegisterRange range = range_of(instruction.operands[i]);
    for (unsigned word = 0; word < range.count; ++word) {
      const auto reg = static_cast<uint16_t>(range.first + word);
      if (reg % granule == granule - 1) found.push_back(reg);
    }
  }
  return found;
}

/// Halves of VGPRs, numbered as Role::names_half and Role::writes_half have them.
std::vector<uint16_t> halves_of(Role role, const Instruction& instruction) {
  std::vector<uint16_t> found;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    const bool is_written = is_result(instruction, i);
    const bool is_wanted =
        role == Role::writes_half
            ? is_written
            : !is_written || (i == 0 && reads_old_result(instruction)) ||
                  (i != 0 && instruction.second != Opcode::invalid &&
                   isa::row_on(instruction.second, instruction.generation).has(isa::flag::reads_dst));
    const RegisterRange range = is_wanted ? range_of(operand) : RegisterRange{};
    const bool is_upper = operand.op_sel || (is_written && instruction.op_sel_dst);
    for (unsigned word = 0; word < range.count; ++word) {
      const unsigned lower = 2u * (range.first + word);
      if (!operand.half || !is_upper) found.push_back(static_cast<uint16_t>(lower));
      if (!operand.half || is_upper) found.push_back(static_cast<uint16_t>(lower + 1));
    }
  }
  return found;
}

/// The upper half of the addend may be the lower half of the result: LLVM has that where only the lower half of the
/// result is used, and the addend's upper half is undefined.
std::vector<uint16_t> forwarded_product(const Instruction& instruction) {
  std::vector<uint16_t> found;
  if (instruction.opcode != Opcode::v_mad_u64_u32 && instruction.opcode != Opcode::v_mad_i64_i32) return found;
  const RegisterRange result = range_of(instruction.operands[0]);
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    RegisterRange source = range_of(instruction.src(i));
    if (source.count == 2 && source.first + 1 == result.first) source.count = 1;
    if (source.overlaps(result)) found.push_back(std::max(source.first, result.first));
  }
  return found;
}

/// The SGPRs that a VALU instruction takes a bit for each lane from; those that mask writes are dangerous after.
std::vector<uint16_t> lane_mask(const Instruction& instruction) {
  std::vector<uint16_t> found;
  const bool is_division = isa::row_of(instruction).computes.operation == Operation::div_fmas;
  const auto add = [&](unsigned reg) {
    for (unsigned word = 0; word < instruction.lane_mask_words; ++word) {
      found.push_back(static_cast<uint16_t>(reg + word));
    }
  };
  if (is_division) add(isa::scalar::vcc_lo);
  if (is_division || instruction.second != Opcode::invalid || !is_alu(instruction.encoding)) return found;
  const Operand* carry = isa::operand_of(instruction, isa::Field::carry_in);
  if (carry != nullptr && carry->kind == OperandKind::scalar && passes_filter(carry->reg)) add(carry->reg);
  return found;
}

constexpr uint16_t scratch_sgpr_low = 102, scratch_sgpr_high = 103;

/// The halves of SRC_FLAT_SCRATCH_BASE that an instruction reads, by the SGPRs that they are forwarded from.
std::vector<uint16_t> scratch_base(const Instruction& instruction) {
  std::vector<uint16_t> found;
  const auto add = [&](bool is_low, bool is_high) {
    if (is_low) found.push_back(scratch_sgpr_low);
    if (is_high) found.push_back(scratch_sgpr_high);
  };
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    const bool is_low = operand.kind == OperandKind::flat_scratch_base_lo;
    add(is_low, operand.kind == OperandKind::flat_scratch_base_hi || (is_low && isa::words_of(operand.type) > 1));
  }
  if (instruction.opcode == Opcode::s_getreg_b32) {
    const unsigned which = isa::hardware_register(hardware_register(instruction), instruction.generation);
    add(which == isa::hardware::flat_scratch_lo, which == isa::hardware::flat_scratch_hi);
  }
  return found;
}

std::vector<uint16_t> matrix_factors(const Instruction& instruction) {
  std::vector<uint16_t> found;
  const isa::InstructionRow& row = isa::row_of(instruction);
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const isa::Field field = row.operands[i].field;
    const bool is_factor =
        field == isa::Field::wmma_src0 || field == isa::Field::wmma_src1 || field == isa::Field::wmma_index;
    const RegisterRange range = is_factor ? range_of(instruction.operands[i]) : RegisterRange{};
    for (unsigned word = 0; word < range.count; ++word) found.push_back(static_cast<uint16_t>(range.first + word));
  }
  return found;
}

}  // namespace

std::vector<uint16_t> registers_in(Role role, const Instruction& instruction, const isa::Effects& effects,
                                   const target::Processor& processor) {
  std::vector<uint16_t> found;
  const auto scalars = [&](const isa::ScalarSet& set, auto&& is_wanted) {
    for (uint16_t reg = 0; reg < isa::scalar::count; ++reg) {
      if (set[reg] && is_wanted(reg)) found.push_back(reg);
    }
  };
  const auto vectors = [&](const isa::VectorSet& set) {
    if (set.none()) return;
    for (uint16_t reg = 0; reg < isa::vector_registers; ++reg) {
      if (set[reg]) found.push_back(reg);
    }
  };
  const auto is_exec = [](unsigned reg) { return reg == isa::scalar::exec_lo || reg == isa::scalar::exec_hi; };
  // GFX12 follows SGPRs and the trap handler's registers.
  const auto is_tracked = [](unsigned reg) { return reg < isa::scalar::m0 && !is_vcc(reg); };
  switch (role) {
    case Role::none:
      found.push_back(0);
      break;
    case Role::reads_sgpr:
      scalars(effects.reads, passes_filter);
      break;
    case Role::writes_sgpr:
      scalars(effects.writes, passes_filter);
      break;
    case Role::reads_sgpr_pair:
      for (uint16_t pair = 0; pair < isa::scalar::m0 / 2; ++pair) {
        if (effects.reads[2u * pair] || effects.reads[2u * pair + 1]) {
          found.push_back(static_cast<uint16_t>(2 * pair));
          found.push_back(static_cast<uint16_t>(2 * pair + 1));
        }
      }
      break;
    case Role::reads_tracked:
      scalars(effects.reads, is_tracked);
      break;
    case Role::writes_tracked:
      scalars(effects.writes, is_tracked);
      break;
    case Role::reads_vcc:
      scalars(effects.reads, is_vcc);
      break;
    case Role::writes_vcc:
      scalars(effects.writes, is_vcc);
      break;
    case Role::reads_scalar:
      scalars(effects.reads,
              [&](unsigned reg) { return passes_filter(reg) || reg == isa::scalar::m0 || is_exec(reg); });
      break;
    case Role::names_scalar:
      for (unsigned i = 0; i < instruction.destinations; ++i) {
        const Operand& operand = instruction.operands[i];
        if (operand.kind != OperandKind::scalar || operand.reg >= isa::scalar::null) continue;
        for (unsigned word = 0; word < operand.words; ++word) {
          found.push_back(static_cast<uint16_t>(operand.reg + word));
        }
      }
      break;
    case Role::reads_exec:
      if (effects.reads[isa::scalar::exec_lo] || effects.reads[isa::scalar::exec_hi])
        found.push_back(isa::scalar::exec_lo);
      break;
    case Role::writes_exec:
      if (effects.writes[isa::scalar::exec_lo]) found.push_back(isa::scalar::exec_lo);
      break;
    case Role::writes_m0:
      if (effects.writes[isa::scalar::m0]) found.push_back(isa::scalar::m0);
      break;
    case Role::m0:
      found.push_back(isa::scalar::m0);
      break;
    case Role::exec:
      found.push_back(isa::scalar::exec_lo);
      break;
    case Role::hardware_register:
      found.push_back(hardware_register(instruction));
      break;
    case Role::lane_selection:
      if (const Operand& select = instruction.src(1); select.kind == OperandKind::scalar && passes_filter(select.reg)) {
        found.push_back(select.reg);
      }
      break;
    case Role::lane_mask:
      found = lane_mask(instruction);
      break;
    case Role::writes_scratch_sgpr:
      for (const uint16_t reg : {scratch_sgpr_low, scratch_sgpr_high}) {
        if (effects.writes[reg]) found.push_back(reg);
      }
      break;
    case Role::reads_scratch_base:
      found = scratch_base(instruction);
      break;
    case Role::reads_vgpr:
      vectors(effects.vector_reads);
      break;
    case Role::writes_vgpr:
      vectors(effects.vector_writes);
      break;
    case Role::accesses_vgpr:
      vectors(effects.vector_reads | effects.vector_writes);
      break;
    case Role::names_vgpr:
      for (const RegisterRange& range : named_sources(instruction)) {
        for (unsigned word = 0; word < range.count; ++word) found.push_back(static_cast<uint16_t>(range.first + word));
      }
      break;
    case Role::names_half:
    case Role::writes_half:
      found = halves_of(role, instruction);
      break;
    case Role::writes_part:
      if (writes_part(instruction)) vectors(effects.vector_writes);
      break;
    case Role::dpp_source:
    case Role::lane_source: {
      const RegisterRange range = range_of(instruction.src(0));
      for (unsigned word = 0; word < range.count; ++word) found.push_back(static_cast<uint16_t>(range.first + word));
      break;
    }
    case Role::stored_data: {
      const RegisterRange range = range_of(wide_stored_data(instruction));
      for (unsigned word = 0; word < range.count; ++word) found.push_back(static_cast<uint16_t>(range.first + word));
      break;
    }
    case Role::matrix_result: {
      const RegisterRange range = range_of(instruction.operands[0]);
      for (unsigned word = 0; word < range.count; ++word) found.push_back(static_cast<uint16_t>(range.first + word));
      break;
    }
    case Role::matrix_factors:
      found = matrix_factors(instruction);
      break;
    case Role::shared_gather:
      found = shared_gather(instruction);
      break;
    case Role::forwarded_product:
      found = forwarded_product(instruction);
      break;
    case Role::last_of_granule:
      found = last_of_granule(instruction, processor);
      break;
  }
  return found;
}

}  // namespace Atoll::hazards
