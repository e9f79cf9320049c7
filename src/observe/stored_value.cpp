// observe: see stored_value.h.
#include "observe/stored_value.h"

#include <algorithm>
#include <cstring>

#include "isa/instruction.h"
#include "machine/fault_guard.h"

namespace Atoll::observe {

namespace {

/// The operand with the data of a store, by where encodings have it.
const isa::Operand* data_of(const isa::Instruction& instruction) {
  using enum isa::Encoding;
  switch (instruction.encoding) {
    case flat:
    case global:
    case ds:
      return instruction.sources() > 1 ? &instruction.src(1) : nullptr;
    case mubuf:
      return instruction.sources() > 0 ? &instruction.src(0) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<StoredValue> stored_value(const machine::Wave& wave, const machine::AccessEvent& access, unsigned lane) {
  const isa::Instruction& instruction = access.instruction;
  if (!access.writes || access.is_atomic || access.is_scalar || instruction.destinations != 0) return std::nullopt;
  const isa::Operand* data = data_of(instruction);
  StoredValue value;
  value.size = access.bytes;
  // Two elements, halves of registers and packed data are left alone.
  if (data == nullptr || access.bytes > value.bytes.size() || data->words != (access.bytes + 3) / 4 ||
      access.bytes == 2 || instruction.offset1 != 0) {
    return std::nullopt;
  }
  const bool is_vgpr = data->kind == isa::OperandKind::vgpr;
  if (!is_vgpr && data->kind != isa::OperandKind::agpr) return std::nullopt;
  const machine::Row* rows = is_vgpr ? wave.vgpr : wave.agpr;
  if (data->reg + data->words > (is_vgpr ? wave.vgprs : wave.agprs)) return std::nullopt;
  for (uint32_t word = 0; word < data->words; ++word) {
    const uint32_t bits = rows[data->reg + word][lane];
    std::memcpy(value.bytes.data() + 4 * word, &bits, std::min(4u, access.bytes - 4 * word));
  }
  return value;
}

bool holds(const machine::Wave& wave, const machine::AccessEvent& access, unsigned lane, const StoredValue& value) {
  StoredValue held;
  held.size = value.size;
  const uint64_t address = access.addresses[lane];
  if (access.space == machine::Space::lds) {
    const machine::WorkGroup& group = *wave.work_group;
    if (address > group.lds_bytes || value.size > group.lds_bytes - address) return false;
    std::memcpy(held.bytes.data(), group.lds + address, value.size);
  } else if (access.space != machine::Space::global || !machine::read_guest(held.bytes.data(), address, value.size)) {
    return false;
  }
  return held == value;
}

}  // namespace Atoll::observe
