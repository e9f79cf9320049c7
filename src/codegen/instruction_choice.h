// codegen: which instruction of a processor computes an operation: the instruction table, read from operations to
// opcodes.
//
// Selection names what is to be computed (an operation, its types, the unit) and gets the opcode that the processor has
// for it, or none. Rows that differ only in what selection does not use (other modifiers, an accumulator that is read)
// are left out: rows that read their destination, SDWA and DPP forms, reversed twins.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/operation.h"
#include "isa/table.h"
#include "isa/unit.h"
#include "target/target.h"

namespace Atoll::codegen {

/// Where an instruction is executed, as selection distinguishes it.
enum class Place : uint8_t { salu, valu, smem, flat, global, scratch, lds, buffer, other };

std::string_view name_of(Place place);
Place place_of(const isa::InstructionRow& row);

struct Choice {
  Place place = Place::valu;
  isa::Operation operation = isa::Operation::none;
  isa::Element type = isa::Element::none;
  isa::Element from = isa::Element::none;
  isa::Predicate predicate = isa::Predicate::no_predicate;
  isa::ExecUse exec = isa::ExecUse::no_exec;
  isa::Places places = isa::Places::one;
  bool returns = false;  ///< of an LDS atomic: the old value
  bool carries = false;  ///< of an addition: with a carry-out
  uint8_t number = 0;    ///< of by() and byte()
  friend bool operator==(const Choice&, const Choice&) = default;
};

class InstructionChoice {
 public:
  explicit InstructionChoice(const target::Processor& processor);

  /// Returns the opcode, or Opcode::invalid if the processor has none.
  isa::Opcode find(const Choice& choice) const;
  /// Returns the only opcode for an operation at a place, whatever its types; Opcode::invalid if there are others or
  /// none.
  isa::Opcode find_any(Place place, isa::Operation operation) const;
  /// Returns the row of an opcode on the processor.
  const isa::InstructionRow& row(isa::Opcode opcode) const { return isa::row_on(opcode, processor_.generation); }
  bool has(isa::Opcode opcode) const;
  Place place(isa::Opcode opcode) const;
  /// Returns whether the first two sources stand in the opposite order of the operation's.
  bool is_reversed(isa::Opcode opcode) const { return row(opcode).computes.order == isa::Order::reversed; }
  const target::Processor& processor() const { return processor_; }

 private:
  struct Hash {
    size_t operator()(const Choice& choice) const;
  };
  const target::Processor& processor_;
  std::unordered_map<Choice, isa::Opcode, Hash> opcodes_;
};

/// Returns whether a constant of an operand of that type needs no literal.
bool is_inline_constant(uint64_t value, isa::DataType type);

}  // namespace Atoll::codegen
