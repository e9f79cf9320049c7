// compiler: which lane masks are varying (varying_masks.h).
#include "compiler/analysis/varying_masks.h"

#include "compiler/lowering/salu_lowering.h"
#include "compiler/lowering/valu_lowering.h"
#include "compiler/memory/chunk_memory.h"
#include "compiler/memory/scalar_memory.h"
#include "engine/interpreter/prepare.h"
#include "engine/interpreter/vector.h"
#include "isa/table.h"

namespace Atoll::compiler {

namespace {

using isa::OperandKind;
namespace flag = isa::flag;

}  // namespace

bool is_exec(const isa::Operand& operand) {
  return operand.kind == OperandKind::scalar && operand.reg == isa::scalar::exec_lo;
}

bool is_mask(const isa::Instruction& instruction, const isa::Operand& operand) {
  const unsigned words = instruction.lane_mask_words;
  return operand.kind == OperandKind::scalar && operand.words == words && operand.reg % words == 0;
}

bool writes_exec(const isa::Instruction& instruction) {
  if (isa::row_of(instruction).has(flag::exec_out)) return true;
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    const isa::Operand& operand = instruction.dst(i);
    if (operand.kind == OperandKind::scalar && operand.reg < isa::scalar::exec_lo + instruction.lane_mask_words &&
        operand.reg + operand.words > isa::scalar::exec_lo) {
      return true;
    }
  }
  return false;
}

bool VaryingMasks::reads_varying(const isa::Instruction& instruction) const {
  const isa::InstructionRow& row = isa::row_of(instruction);
  if (scc_varies && row.has(flag::scc_in)) return true;
  if (exec_written && row.has(flag::exec_out)) return true;
  const unsigned first = row.has(flag::reads_dst | flag::atomic) ? 0 : instruction.destinations;
  for (unsigned i = first; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    if (operand.kind == OperandKind::vccz && is_varying(isa::scalar::vcc_lo)) return true;
    if (operand.kind == OperandKind::execz && exec_written) return true;
    if (operand.kind == OperandKind::scc && scc_varies) return true;
    if (operand.kind != OperandKind::scalar) continue;
    for (unsigned word = 0; word < operand.words; ++word) {
      if (is_varying(operand.reg + word)) return true;
    }
  }
  return false;
}

VaryingMasks::Lowering VaryingMasks::lowering(const isa::Instruction& instruction, bool inside) const {
  const bool is_access = memory_operands(instruction).has_value();
  if (is_access || ValuLowering::takes(instruction)) {
    if (inside && ValuLowering::crosses_chunks(instruction)) return Lowering::neither;
    for (unsigned i = instruction.destinations; i < instruction.operand_count; ++i) {
      const isa::Operand& operand = instruction.operands[i];
      if (operand.kind != OperandKind::scalar || operand.type == isa::DataType::lane_mask) continue;
      for (unsigned word = 0; word < operand.words; ++word) {
        if (is_varying(operand.reg + word)) return Lowering::neither;
      }
    }
    return is_access ? Lowering::memory : Lowering::lanes;
  }
  const bool is_load = ScalarMemory::takes(instruction);
  if (!is_load && !SaluLowering::takes(instruction)) return Lowering::neither;
  if (reads_varying(instruction) || (inside && writes_exec(instruction))) {
    if (is_load || !works_on_each_bit(instruction) || !is_mask(instruction, instruction.dst()))
      return Lowering::neither;
    if (scc_varies && isa::row_of(instruction).has(flag::scc_in)) return Lowering::neither;
    for (unsigned i = 0; i < instruction.sources(); ++i) {
      const isa::Operand& source = instruction.src(i);
      if (!is_mask(instruction, source) && !engine::constant_value(source)) return Lowering::neither;
    }
    return Lowering::on_varying_masks;
  }
  // A varying mask of which one half alone gets a new value?
  if (instruction.destinations != 0 && instruction.dst().kind == OperandKind::scalar) {
    const unsigned begin = instruction.dst().reg, end = begin + instruction.dst().words;
    const unsigned words = instruction.lane_mask_words;
    if (begin % words != 0 && is_varying(begin)) return Lowering::neither;
    if (end % words != 0 && is_varying(end)) return Lowering::neither;
  }
  return Lowering::scalars;
}

void VaryingMasks::set_mask(const isa::Instruction& by, unsigned reg, bool is_within) {
  for (unsigned word = 0; word < by.lane_mask_words; ++word) {
    varying.set(reg + word);
    within[reg + word] = is_within;
  }
}

void VaryingMasks::note_exec(const isa::Instruction& by, bool within_beginning) {
  for (unsigned word = 0; word < by.lane_mask_words; ++word) varying.set(isa::scalar::exec_lo + word);
  exec_written = true;
  if (!within_beginning) exec_grows = true;
}

void VaryingMasks::step(const isa::Instruction& instruction, Lowering lowering) {
  const isa::InstructionRow& row = isa::row_of(instruction);
  switch (lowering) {
    case Lowering::lanes: {
      const isa::Operand* mask = engine::vector_operands(instruction).mask_result;
      if (mask != nullptr) set_mask(instruction, mask->reg, !exec_grows);
      if (writes_exec(instruction)) note_exec(instruction, !exec_grows);
      return;
    }
    case Lowering::scalars:
      if (instruction.destinations != 0 && instruction.dst().kind == OperandKind::scalar) {
        for (unsigned word = 0; word < instruction.dst().words; ++word) {
          varying.reset(instruction.dst().reg + word);
          within.reset(instruction.dst().reg + word);
        }
      }
      if (row.has(flag::scc_out)) scc_varies = false;
      return;
    case Lowering::on_varying_masks: {
      // In lanes that EXEC lacked at the beginning, sources that lie within it are 0: is the result, too?
      uint8_t outside = exec_grows ? 0xFF : 0x0F;
      constexpr uint8_t source_is_0[2] = {0x55, 0x33};
      for (unsigned i = 0; i < instruction.sources(); ++i) {
        const isa::Operand& source = instruction.src(i);
        const bool none = is_mask(instruction, source) ? within[source.reg] || (is_exec(source) && !exec_grows)
                                                       : engine::constant_value(source) == uint64_t{0};
        if (none) outside &= source_is_0[i];
      }
      const BitFunction function = bit_function(instruction);
      const auto is_within = [&](const uint8_t(&table)[2]) { return ((table[0] | table[1]) & outside) == 0; };
      set_mask(instruction, instruction.dst().reg, is_within(function.result));
      if (row.has(flag::scc_out)) scc_varies = true;
      if (writes_exec(instruction)) note_exec(instruction, is_within(function.exec));
      return;
    }
    case Lowering::memory:
    case Lowering::neither:
      return;
  }
}

void VaryingMasks::join(const VaryingMasks& other) {
  within &= other.within;
  varying |= other.varying;
  scc_varies |= other.scc_varies;
  exec_written |= other.exec_written;
  exec_grows |= other.exec_grows;
}

}  // namespace Atoll::compiler
