// observe: locates the data operand of a store and reads a lane's value.
#include "observe/shadow/stored_value.h"

#include <algorithm>
#include <cstring>

#include "isa/instruction.h"
#include "machine/report/fault_guard.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::observe {

namespace {

/// Returns whether a lane's access is the second one of a two-element store; nullopt if both have the same address.
std::optional<bool> is_second(const machine::Wave& wave, const machine::AccessEvent& access, unsigned lane) {
  const isa::Instruction& instruction = access.instruction;
  const isa::Operand& address = instruction.src(0);
  if (instruction.offset1 == static_cast<uint32_t>(instruction.offset) || address.kind != isa::OperandKind::vgpr ||
      address.reg >= wave.vgprs) {
    return std::nullopt;
  }
  const uint32_t unit = semantics::memory_access(instruction).offset_unit;
  const uint32_t first = wave.vgpr[address.reg][lane] + static_cast<uint32_t>(instruction.offset) * unit;
  return static_cast<uint32_t>(access.addresses[lane]) != first;
}

/// Returns a store's data operand, by encoding.
const isa::Operand* data_of(const machine::Wave& wave, const machine::AccessEvent& access, unsigned lane) {
  const isa::Instruction& instruction = access.instruction;
  using enum isa::Encoding;
  switch (instruction.encoding) {
    case ds:
      if (semantics::memory_access(instruction).elements == 2) {
        const auto second = is_second(wave, access, lane);
        return second && instruction.sources() > 2 ? &instruction.src(*second ? 2 : 1) : nullptr;
      }
      [[fallthrough]];
    case flat:
    case global:
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
  const isa::Operand* data = data_of(wave, access, lane);
  const semantics::MemoryAccess& stores = semantics::memory_access(instruction);
  StoredValue value;
  value.size = access.bytes;
  // Converted data is not handled.
  if (data == nullptr || access.bytes > value.bytes.size() || data->words != (access.bytes + 3) / 4 ||
      stores.components != 0) {
    return std::nullopt;
  }
  const bool is_vgpr = data->kind == isa::OperandKind::vgpr;
  if (!is_vgpr && data->kind != isa::OperandKind::agpr) return std::nullopt;
  const machine::Row* rows = is_vgpr ? wave.vgpr : wave.agpr;
  if (data->reg + data->words > (is_vgpr ? wave.vgprs : wave.agprs)) return std::nullopt;
  for (uint32_t word = 0; word < data->words; ++word) {
    uint32_t bits = rows[data->reg + word][lane];
    if (stores.half == semantics::MemoryAccess::Half::high) bits >>= 16;
    std::memcpy(value.bytes.data() + 4 * word, &bits, std::min(4u, access.bytes - 4 * word));
  }
  return value;
}

bool holds(const machine::Wave& wave, const machine::AccessEvent& access, unsigned lane, const StoredValue& value,
           uint64_t begin, uint64_t end) {
  std::array<uint8_t, 16> held{};
  const uint64_t address = access.addresses[lane] + begin, size = end - begin;
  if (access.space == machine::Space::lds) {
    const machine::WorkGroup& group = *wave.work_group;
    if (address > group.lds_bytes || size > group.lds_bytes - address) return false;
    std::memcpy(held.data(), group.lds + address, size);
  } else if (access.space != machine::Space::global || !machine::read_guest(held.data(), address, size)) {
    return false;
  }
  return std::memcmp(held.data(), value.bytes.data() + begin, size) == 0;
}

}  // namespace Atoll::observe
