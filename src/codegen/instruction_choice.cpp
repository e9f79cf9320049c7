// codegen: builds the map from operations to opcodes of a processor.
#include "codegen/instruction_choice.h"

#include <algorithm>

#include "isa/constants.h"
#include "isa/element_type.h"

namespace Atoll::codegen {

using isa::Element;
using isa::Encoding;
using isa::InstructionRow;
using isa::Opcode;
namespace flag = isa::flag;

namespace {

bool has_field(const InstructionRow& row, isa::Field field) {
  return std::ranges::any_of(row.operands, [&](const isa::OperandSpec& operand) { return operand.field == field; });
}

/// Returns the type of the sources, where the table states none: that of the result.
Element source_of(const InstructionRow& row) {
  if (row.computes.from != Element::none) return row.computes.from;
  // An exponent is an integer, of a floating-point number of one of three types.
  if (row.computes.operation == isa::Operation::frexp_exponent) return isa::element_of(row.operands[1].type);
  return isa::element_type(row);
}

Choice choice_of(const InstructionRow& row) {
  return {.place = place_of(row),
          .operation = row.computes.operation,
          .type = isa::element_type(row),
          .from = source_of(row),
          .predicate = row.computes.predicate,
          .exec = row.computes.exec,
          .places = row.computes.places,
          .returns = row.encoding == Encoding::ds && row.has(flag::atomic) && has_field(row, isa::Field::ds_dst),
          .carries = has_field(row, isa::Field::carry_out),
          .number = row.computes.number};
}

/// Returns whether selection can use the instruction: its operands say all that it reads and writes.
bool is_usable(const InstructionRow& row) {
  using isa::Field;
  if (place_of(row) == Place::other) return false;
  if (row.has(flag::reads_dst | flag::matrix | flag::wmma | flag::to_lds | flag::gds_only | flag::exec_out) &&
      row.computes.exec != isa::ExecUse::save_exec)
    return false;
  if (has_field(row, Field::literal)) return false;
  if (row.computes.part != isa::Part::whole || row.computes.d16) return false;
  return true;
}

}  // namespace

Place place_of(const InstructionRow& row) {
  switch (row.encoding) {
    case Encoding::sop1:
    case Encoding::sop2:
    case Encoding::sopc:
      return Place::salu;
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
    case Encoding::vop3:
      return Place::valu;
    case Encoding::smem:
      return Place::smem;
    case Encoding::flat:
      return Place::flat;
    case Encoding::global:
      return Place::global;
    case Encoding::scratch:
      return Place::scratch;
    case Encoding::ds:
      return Place::lds;
    case Encoding::mubuf:
      return Place::buffer;
    default:
      return Place::other;
  }
}

std::string_view name_of(Place place) {
  constexpr std::string_view names[] = {"scalar",  "vector", "scalar memory", "flat", "global",
                                        "scratch", "LDS",    "buffer",        "other"};
  return names[static_cast<size_t>(place)];
}

size_t InstructionChoice::Hash::operator()(const Choice& choice) const {
  size_t hash = 0;
  for (const unsigned each :
       {static_cast<unsigned>(choice.place), static_cast<unsigned>(choice.operation),
        static_cast<unsigned>(choice.type), static_cast<unsigned>(choice.from), static_cast<unsigned>(choice.predicate),
        static_cast<unsigned>(choice.exec), static_cast<unsigned>(choice.places), unsigned{choice.returns},
        unsigned{choice.carries}, unsigned{choice.number}})
    hash = hash * 0x9E3779B97F4A7C15 + each + 1;
  return hash ^ hash >> 32;
}

InstructionChoice::InstructionChoice(const target::Processor& processor) : processor_(processor) {
  for (unsigned number = 0; number < static_cast<unsigned>(Opcode::count); ++number) {
    const auto opcode = static_cast<Opcode>(number);
    if (opcode == Opcode::invalid || !has(opcode)) continue;
    const InstructionRow& each = row(opcode);
    if (!is_usable(each)) continue;
    const auto [at, is_new] = opcodes_.try_emplace(choice_of(each), opcode);
    // An opcode whose sources are in the operation's order replaces its reversed twin.
    if (!is_new && is_reversed(at->second) && !is_reversed(opcode)) at->second = opcode;
  }
}

Place InstructionChoice::place(Opcode opcode) const { return place_of(row(opcode)); }

bool InstructionChoice::has(Opcode opcode) const {
  const InstructionRow& each = row(opcode);
  const auto change = each.opcodes.on(processor_.generation);
  if (change.opcode == isa::Opcodes::none) return false;
  return change.always || each.feature == target::Feature::none || processor_.has(each.feature);
}

Opcode InstructionChoice::find(const Choice& choice) const {
  const auto at = opcodes_.find(choice);
  return at == opcodes_.end() ? Opcode::invalid : at->second;
}

Opcode InstructionChoice::find_any(Place place, isa::Operation operation) const {
  Opcode found = Opcode::invalid;
  for (const auto& [choice, opcode] : opcodes_) {
    if (choice.place != place || choice.operation != operation) continue;
    if (found != Opcode::invalid) return Opcode::invalid;
    found = opcode;
  }
  return found;
}

bool is_inline_constant(uint64_t value, isa::DataType type) {
  const auto& floats = isa::inline_floats(type);
  if (std::ranges::find(floats, value) != floats.end()) return true;
  for (int64_t each = -16; each <= 64; ++each)
    if (isa::integer_constant(each, type) == value) return true;
  return false;
}

}  // namespace Atoll::codegen
