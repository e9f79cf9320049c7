// compiler: operands of memory instructions (memory_operands.h).
#include "compiler/analysis/memory_operands.h"

#include "engine/interpreter/prepare.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::compiler {

namespace {

using isa::OperandKind;
using semantics::MemoryAccess;

bool is_vgpr(const isa::Operand& operand) { return operand.kind == OperandKind::vgpr; }

/// FLAT, GLOBAL and SCRATCH.
std::optional<MemoryOperands> flat_operands(const isa::Instruction& instruction, const MemoryAccess& access) {
  MemoryOperands operands;
  operands.is_store = access.kind == MemoryAccess::Kind::store;
  operands.is_atomic = access.kind == MemoryAccess::Kind::atomic;
  const bool is_scratch = instruction.encoding == isa::Encoding::scratch;
  if (is_scratch) operands.space = MemorySpace::scratch;
  if (instruction.encoding == isa::Encoding::flat) operands.space = MemorySpace::flat;
  if (instruction.sources() == 0 || (is_scratch && operands.is_atomic)) return {};
  if (is_vgpr(instruction.src(0))) {
    operands.address = &instruction.src(0);
  } else if (!is_scratch) {
    return {};
  }
  for (unsigned i = 1; i < instruction.sources(); ++i) {
    const isa::Operand& operand = instruction.src(i);
    if (operand.kind == OperandKind::scalar) operands.scalar_base = &operand;
  }
  const unsigned base_words = is_scratch ? 1 : 2;
  if (operands.scalar_base != nullptr && operands.scalar_base->words != base_words) return {};
  const unsigned address_words = is_scratch || operands.scalar_base != nullptr ? 1 : 2;
  if (operands.address != nullptr && operands.address->words != address_words) return {};
  if (instruction.generation >= target::Generation::gfx12_5 && operands.scalar_base != nullptr && !is_scratch) {
    operands.offset_scale = instruction.scale_offset ? access.bytes : 1;
  } else if (instruction.scale_offset || (operands.space == MemorySpace::flat && operands.scalar_base != nullptr)) {
    return {};
  }
  if (operands.stores()) {
    if (instruction.sources() < 2 || !engine::is_row(instruction.src(1))) return {};
    operands.data[0] = &instruction.src(1);
  }
  if (!operands.is_store && instruction.destinations != 0) {
    if (instruction.destinations != 1 || !engine::is_row(instruction.dst())) return {};
    operands.result = &instruction.dst();
  }
  if (!operands.stores() && operands.result == nullptr) return {};
  return operands;
}

std::optional<MemoryOperands> lds_operands(const isa::Instruction& instruction, const MemoryAccess& access) {
  MemoryOperands operands;
  operands.space = MemorySpace::lds;
  operands.is_store = access.kind == MemoryAccess::Kind::store;
  operands.is_atomic = access.kind == MemoryAccess::Kind::atomic;
  if (instruction.gds || access.by_lane || access.data_in_lds) return {};
  if (operands.is_atomic && access.elements != 1) return {};
  const isa::Operand* rows[3]{};
  unsigned count = 0;
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    if (engine::is_row(instruction.src(i)) && count < std::size(rows)) rows[count++] = &instruction.src(i);
  }
  const unsigned data = operands.is_store    ? access.elements
                        : operands.is_atomic ? 1u + semantics::has_two_operands(access.operation)
                                             : 0;
  if (count != 1 + data || !is_vgpr(*rows[0])) return {};
  operands.address = rows[0];
  operands.data[0] = rows[1];
  operands.data[1] = rows[2];
  if (!operands.is_store && instruction.destinations != 0) {
    if (instruction.destinations != 1 || !engine::is_row(instruction.dst())) return {};
    operands.result = &instruction.dst();
  }
  if (!operands.stores() && operands.result == nullptr) return {};
  return operands;
}

/// Compilers use loads and stores of buffers without an index for scratch.
std::optional<MemoryOperands> buffer_operands(const isa::Instruction& instruction, const MemoryAccess& access) {
  if (instruction.lds || instruction.tfe) return {};
  // Data, address, resource, offset.
  if (instruction.operand_count < 4 || !engine::is_row(instruction.operands[0])) return {};
  MemoryOperands operands;
  operands.is_store = access.kind == MemoryAccess::Kind::store;
  operands.is_atomic = access.kind == MemoryAccess::Kind::atomic;
  operands.has_index = instruction.idxen;
  // From GFX12.5 on resources have nothing that says how lanes are interleaved.
  const bool may_be_scratch = !operands.is_atomic && !operands.has_index && !instruction.addr64 &&
                              instruction.generation < target::Generation::gfx12_5;
  operands.space = may_be_scratch ? MemorySpace::scratch : MemorySpace::buffer;
  if (operands.stores()) operands.data[0] = &instruction.operands[0];
  if (instruction.destinations != 0) operands.result = &instruction.operands[0];
  const unsigned address_words =
      instruction.addr64 ? 2u : (instruction.idxen ? 1u : 0u) + (instruction.offen ? 1u : 0u);
  if (address_words != 0) {
    operands.address = &instruction.operands[1];
    if (!is_vgpr(*operands.address) || operands.address->words != address_words) return {};
  }
  operands.resource = &instruction.operands[2];
  operands.resource_offset = &instruction.operands[3];
  const isa::Operand& offset = *operands.resource_offset;
  if (operands.resource->kind != OperandKind::scalar || operands.resource->words != 4) return {};
  if (offset.kind != OperandKind::scalar && !engine::constant_value(offset)) return {};
  return operands;
}

}  // namespace

std::optional<MemoryOperands> memory_operands(const isa::Instruction& instruction) {
  const MemoryAccess& access = semantics::memory_access(instruction);
  using Kind = MemoryAccess::Kind;
  if (access.kind != Kind::load && access.kind != Kind::store && access.kind != Kind::atomic) return {};
  if (access.components != 0 || !engine::registers_exist(instruction)) return {};
  switch (instruction.encoding) {
    case isa::Encoding::flat:
    case isa::Encoding::global:
    case isa::Encoding::scratch:
      return flat_operands(instruction, access);
    case isa::Encoding::ds:
      return lds_operands(instruction, access);
    case isa::Encoding::mubuf:
      return buffer_operands(instruction, access);
    default:
      return {};
  }
}

}  // namespace Atoll::compiler
