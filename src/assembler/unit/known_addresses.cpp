// assembler: known addresses (known_addresses.h).
#include "assembler/unit/known_addresses.h"

#include <algorithm>

#include "isa/effects.h"
#include "isa/table.h"
#include "isa/unit.h"
#include "object/relocation_type.h"

namespace Atoll::assembler {

using isa::Instruction;
using isa::Opcode;
using isa::Operand;
using isa::OperandKind;

namespace {

/// The last register at which a pair can begin.
constexpr uint16_t last_pair = isa::scalar::count - 2;

/// A word of a relocated literal, S left out. Place is where the literal is.
std::optional<uint32_t> relocated_word(const RelocatedWord& relocation, uint64_t place) {
  const auto absolute = static_cast<uint64_t>(relocation.addend);
  switch (relocation.type) {
    case object::R_AMDGPU_REL32_LO:
    case object::R_AMDGPU_REL32:
      return static_cast<uint32_t>(absolute - place);
    case object::R_AMDGPU_REL32_HI:
      return static_cast<uint32_t>((absolute - place) >> 32);
    case object::R_AMDGPU_ABS32_LO:
    case object::R_AMDGPU_ABS32:
      return static_cast<uint32_t>(absolute);
    case object::R_AMDGPU_ABS32_HI:
      return static_cast<uint32_t>(absolute >> 32);
    default:
      return std::nullopt;
  }
}

}  // namespace

KnownAddresses::Word KnownAddresses::read(const Operand& operand, uint64_t literal_address) const {
  if (operand.kind == OperandKind::scalar && operand.reg < words_.size()) return words_[operand.reg];
  if (operand.kind != OperandKind::constant) return {};
  if (operand.is_literal) {
    if (const auto relocation = code_(literal_address)) {
      const auto word = relocated_word(*relocation, literal_address);
      return word ? Word{.known = true, .symbol = relocation->symbol, .value = *word, .since = UINT64_MAX} : Word{};
    }
  }
  return {.known = true, .symbol = 0, .value = static_cast<uint32_t>(operand.value), .since = UINT64_MAX};
}

std::optional<Reached> KnownAddresses::pair(const Operand& operand) const {
  if (operand.kind != OperandKind::scalar || operand.words != 2 || operand.reg > last_pair) return std::nullopt;
  const Word &low = words_[operand.reg], &high = words_[operand.reg + 1];
  if (!low.known || !high.known || low.symbol != high.symbol) return std::nullopt;
  return Reached{.symbol = low.symbol,
                 .address = low.value | uint64_t{high.value} << 32,
                 .since = std::min(low.since, high.since)};
}

std::optional<Reached> KnownAddresses::pair_or_constant(const Operand& operand, uint64_t literal_address) const {
  if (operand.kind != OperandKind::constant) return pair(operand);
  if (operand.is_literal) {
    if (const auto relocation = code_(literal_address)) {
      const auto addend = static_cast<uint64_t>(relocation->addend);
      if (relocation->type != object::R_AMDGPU_REL64) return std::nullopt;
      return Reached{.symbol = relocation->symbol, .address = addend - literal_address, .since = UINT64_MAX};
    }
  }
  return Reached{.symbol = 0, .address = operand.value, .since = UINT64_MAX};
}

std::optional<Reached> KnownAddresses::set_pair(const Operand& operand, const std::optional<Reached>& value) {
  if (!value || operand.kind != OperandKind::scalar || operand.reg > last_pair) return std::nullopt;
  for (const unsigned half : {0u, 1u}) {
    words_[operand.reg + half] = {.known = true,
                                  .symbol = value->symbol,
                                  .value = static_cast<uint32_t>(value->address >> (32 * half)),
                                  .since = value->since};
  }
  known_ += 2;
  return value;
}

std::optional<Reached> KnownAddresses::add(const Instruction& in, uint64_t address, bool with_carry) {
  const Word a = read(in.src(0), address + 4), b = read(in.src(1), address + 4), carry = carry_;
  forget(in);
  carry_ = {};
  const Operand& to = in.dst();
  // Sums of two symbols are no address; an addition of constants alone is arithmetic of another kind.
  if (!a.known || !b.known || (a.symbol != 0 && b.symbol != 0) || (with_carry && !carry.known)) return std::nullopt;
  const uint64_t since = std::min({a.since, b.since, with_carry ? carry.since : UINT64_MAX});
  if (since == UINT64_MAX || to.kind != OperandKind::scalar || to.reg >= words_.size()) return std::nullopt;
  const uint64_t sum = uint64_t{a.value} + b.value + (with_carry ? carry.value : 0);
  words_[to.reg] = {.known = true, .symbol = a.symbol | b.symbol, .value = static_cast<uint32_t>(sum), .since = since};
  carry_ = {.known = true, .symbol = 0, .value = static_cast<uint32_t>(sum >> 32), .since = since};
  ++known_;
  if (!with_carry || (to.reg & 1) == 0) return std::nullopt;
  Operand whole = to;
  whole.reg = static_cast<uint16_t>(to.reg - 1);
  whole.words = 2;
  return pair(whole);
}

std::optional<Reached> KnownAddresses::add_pairs(const Instruction& in, uint64_t address) {
  const auto a = pair_or_constant(in.src(0), address + 4), b = pair_or_constant(in.src(1), address + 4);
  forget(in);
  if (!a || !b || (a->symbol != 0 && b->symbol != 0)) return std::nullopt;
  const uint64_t since = std::min(a->since, b->since);
  if (since == UINT64_MAX) return std::nullopt;
  return set_pair(in.dst(),
                  Reached{.symbol = a->symbol | b->symbol, .address = a->address + b->address, .since = since});
}

/// A load from the global offset table.
std::optional<Reached> KnownAddresses::load(const Instruction& in) {
  const auto base = pair(in.src(0));
  forget(in);
  if (!base || base->symbol != 0 || in.offset_register) return std::nullopt;
  const auto slot = data_(base->address + static_cast<uint64_t>(int64_t{in.offset}));
  if (!slot) return std::nullopt;
  return set_pair(
      in.dst(), Reached{.symbol = slot->symbol, .address = static_cast<uint64_t>(slot->addend), .since = base->since});
}

void KnownAddresses::forget(const Instruction& in) {
  for (unsigned i = 0; i < in.destinations; ++i) {
    const Operand& to = in.operands[i];
    if (to.kind != OperandKind::scalar) continue;
    for (unsigned word = to.reg; word < to.reg + uint32_t{to.words} && word < words_.size(); ++word) words_[word] = {};
  }
}

std::optional<Reached> KnownAddresses::step(const Instruction& in, const isa::InstructionRow& row, uint64_t address) {
  const isa::Operation operation = row.computes.operation;
  if (known_ == 0 && operation != isa::Operation::get_pc) return std::nullopt;
  const auto all_forgotten = [&] {
    words_ = {};
    carry_ = {};
    known_ = 0;
  };
  const bool is_scalar = isa::is_scalar_alu(row.encoding);
  switch (operation) {
    case isa::Operation::get_pc:
      forget(in);
      set_pair(in.dst(), Reached{.symbol = 0, .address = address + in.size, .since = address});
      return std::nullopt;
    case isa::Operation::add:
      if (is_scalar && row.operands[0].type == isa::DataType::u32) return add(in, address, false);
      if (is_scalar && row.operands[0].type == isa::DataType::u64) return add_pairs(in, address);
      break;
    case isa::Operation::add_carry:
      if (is_scalar) return add(in, address, true);
      break;
    case isa::Operation::load:
      if (in.opcode == Opcode::s_load_dwordx2) return load(in);
      break;
    case isa::Operation::extend:
      // The upper half of a PC is its lowest 16 bits, sign-extended (GFX12).
      if (in.opcode != Opcode::s_sext_i32_i16) break;
      if (in.src(0).kind == OperandKind::scalar && in.src(0).reg == in.dst().reg) return std::nullopt;
      break;
    case isa::Operation::jump:
    case isa::Operation::call: {
      if (row.has(isa::flag::label)) break;
      auto target = pair(in.src(0));
      all_forgotten();
      return target;
    }
    default:
      break;
  }
  if (row.has(isa::flag::branch | isa::flag::ends)) {
    // What follows a branch is reached with the same registers, or by a label, where nothing is known (see `since`).
    if (row.has(isa::flag::ends) || isa::control_of(in).kind == isa::Control::Kind::branch || in.destinations != 0)
      all_forgotten();
    return std::nullopt;
  }
  forget(in);
  if (row.has(isa::flag::scc_out)) carry_ = {};
  return std::nullopt;
}

}  // namespace Atoll::assembler
