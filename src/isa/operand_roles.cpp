// isa: roles of operands and twins of opcodes (operand_roles.h).
#include "isa/operand_roles.h"

#include <algorithm>

#include "isa/element_type.h"
#include "isa/opcode_map.h"

namespace Atoll::isa {

namespace {

using enum target::Generation;

/// True if the result of an atomic that returns takes the place of its data.
bool returns_in_place_of_data(Field field) {
  return field == Field::sdata || field == Field::buffer_data || field == Field::image_data;
}

/// Instructions that write a part of the result before they have read all sources, by the constraints of LLVM 22's
/// SIInstrInfo ("@earlyclobber"): WMMA, MFMA whose result has more than four registers, sums of
/// differences over quads, and on GFX11.0, whose forwarding has a bug, multiplication to 64 bits.
bool is_early_clobber(const InstructionRow& row, target::Generation generation) {
  switch (row.computes.operation) {
    case Operation::quad_sad:
    case Operation::masked_quad_sad:
      return true;
    case Operation::matrix_fma:
      return row.has(flag::wmma) || words_of(row.operands[0].type) > 4;
    case Operation::sparse_matrix_fma:
      return row.has(flag::wmma);
    case Operation::mad:
      return generation == gfx11 && bits_of(element_type(row)) == 64;
    default:
      return false;
  }
}

/// True if modifiers of the instruction leave a part of the result, or some lanes of it, as they were.
bool keeps_a_part(const Instruction& in, const InstructionRow& row, const Operand& result) {
  if (result.kind != OperandKind::vgpr && result.kind != OperandKind::agpr) return false;
  // From GFX10 on, vector instructions leave the other half of a register alone (RDNA ISA guides, "16-bit math").
  if (is_half(result.type) && in.generation >= gfx10 && !row.has(flag::memory)) return true;
  // Lanes that a DPP control disables keep their value. With tfe, a load that fails writes the last register only.
  return result.half || in.tfe || in.op_sel_dst || in.dst_unused == SdwaUnused::preserve ||
         in.extension == Extension::dpp16 || in.extension == Extension::dpp8;
}

/// The role of a result; the row's first is `operand` 0.
OperandRole role_of_result(const InstructionRow& row, unsigned operand, target::Generation generation) {
  OperandRole role{.defines = true};
  role.early_clobber = operand == 0 && is_early_clobber(row, generation);
  if (row.has(flag::reads_dst)) {
    role.uses = true;
  } else if (operand != 0) {  // the results after the first are carries, or old values of atomics
    role.uses = row.has(flag::atomic) && row.operands[0].field != Field::flat_return;
  } else {
    role.uses = row.has(flag::atomic) && returns_in_place_of_data(row.operands[0].field);
  }
  return role;
}

}  // namespace

OperandRole role_of(const InstructionRow& row, unsigned operand, bool returns, target::Generation generation) {
  if (writes(row, row.operands[operand].field, returns)) return role_of_result(row, operand, generation);
  return {.uses = true};
}

std::array<OperandRole, 8> operand_roles(const Instruction& instruction) {
  const InstructionRow& row = row_of(instruction);
  const bool is_dual = instruction.second != Opcode::invalid;
  std::array<OperandRole, 8> roles{};
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    OperandRole& role = roles[i];
    const bool is_second_result = is_dual && i == instruction.second_operands;
    if (is_second_result) {
      role = {.defines = true, .uses = row_on(instruction.second, instruction.generation).has(flag::reads_dst)};
    } else if (i < instruction.destinations) {
      role = role_of_result(row, i, instruction.generation);
      if (i == 0 && !row.has(flag::atomic)) role.uses |= keeps_a_part(instruction, row, instruction.operands[i]);
    } else {
      role.uses = true;
    }
  }
  if (row.has(flag::writes_address)) roles[instruction.destinations].defines = true;
  return roles;
}

bool is_commutative(Operation operation) {
  switch (operation) {
    using enum Operation;
    case add:
    case add_carry:
    case add3:
    case abs_diff:
    case mul:
    case mul_hi:
    case mul_legacy:
    case mad:
    case mad_legacy:
    case fma:
    case fma_legacy:
    case min:
    case max:
    case minimum:
    case maximum:
    case min3:
    case max3:
    case med3:
    case minimum3:
    case maximum3:
    case min_max:
    case max_min:
    case minimum_maximum:
    case maximum_minimum:
    case add_min:
    case add_max:
    case add_shl:
    case bit_xor_add:
    case bit_and:
    case bit_or:
    case bit_xor:
    case bit_nand:
    case bit_nor:
    case bit_xnor:
    case bit_or3:
    case bit_xor3:
    case bit_and_or:
      return true;
    default:
      return false;
  }
}

namespace {

bool exists_on(const InstructionRow& row, target::Generation generation) {
  return row.opcodes.on(generation).opcode != Opcodes::none;
}

/// The relation that holds for exchanged numbers.
Predicate exchanged(Predicate predicate) {
  switch (predicate) {
    using enum Predicate;
    case lt:
      return gt;
    case gt:
      return lt;
    case le:
      return ge;
    case ge:
      return le;
    case nlt:
      return ngt;
    case ngt:
      return nlt;
    case nle:
      return nge;
    case nge:
      return nle;
    default:
      return predicate;
  }
}

/// True if both rows are the same but for what they compute: encoding, operands, and what they write.
bool have_same_operands(const InstructionRow& a, const InstructionRow& b) {
  constexpr Flags results = flag::exec_out | flag::scc_out | flag::reads_dst;
  const auto same = [](const OperandSpec& x, const OperandSpec& y) { return x.field == y.field && x.type == y.type; };
  return a.encoding == b.encoding && (a.flags & results) == (b.flags & results) &&
         std::ranges::equal(a.operands, b.operands, same);
}

template <typename Matches>
Opcode find_on(target::Generation generation, const Matches& matches) {
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const InstructionRow& row = row_on(opcode, generation);
    if (exists_on(row, generation) && matches(row)) return opcode;
  }
  return Opcode::invalid;
}

/// The vector operands of a row: their types, but for the first if it is the result and a source too.
unsigned count_of_sources(const InstructionRow& row) {
  const auto is_source = [&](const OperandSpec& operand) {
    return operand.field != Field::none && !writes(row, operand.field, true);
  };
  return static_cast<unsigned>(std::ranges::count_if(row.operands, is_source));
}

bool has_literal(const InstructionRow& row) {
  return std::ranges::any_of(row.operands, [](const OperandSpec& operand) { return operand.field == Field::literal; });
}

/// The row on that generation with the same operation as `opcode`, whose third source is the result's old value, or is
/// not.
Opcode with_third_source(Opcode opcode, target::Generation generation, bool tied) {
  const InstructionRow& row = row_on(opcode, generation);
  const unsigned sources = count_of_sources(row);
  if (row.has(flag::reads_dst) == tied || sources != (tied ? 3 : 2) || has_literal(row)) return Opcode::invalid;
  if (!exists_on(row, generation)) return Opcode::invalid;
  return find_on(generation, [&](const InstructionRow& other) {
    if (other.has(flag::reads_dst) != tied || count_of_sources(other) != (tied ? 2 : 3)) return false;
    if (other.computes != row.computes || has_literal(other) || other.has(flag::memory)) return false;
    const unsigned first_result = writes(row, row.operands[0].field, false) ? 1 : 0;
    const InstructionRow& shorter = tied ? other : row;
    for (unsigned i = 0; i < 2 + first_result; ++i) {
      if (other.operands[i].type != row.operands[i].type) return false;
    }
    // The third source has the result's type.
    const InstructionRow& longer = tied ? row : other;
    return longer.operands[3].type == shorter.operands[0].type && other.has(flag::mix) == row.has(flag::mix);
  });
}

}  // namespace

Opcode reversed_form(Opcode opcode, target::Generation generation) {
  const InstructionRow& row = row_on(opcode, generation);
  if (!exists_on(row, generation) || row.has(flag::memory) || count_of_sources(row) < 2) return Opcode::invalid;
  Computation wanted = row.computes;
  if (wanted.operation == Operation::compare || wanted.operation == Operation::compare_signalling) {
    wanted.predicate = exchanged(wanted.predicate);
    if (wanted == row.computes) return opcode;
  } else {
    if (is_commutative(wanted.operation)) return opcode;
    wanted.order = wanted.order == Order::straight ? Order::reversed : Order::straight;
  }
  return find_on(generation, [&](const InstructionRow& other) {
    return other.computes == wanted && have_same_operands(row, other);
  });
}

Opcode two_address_form(Opcode opcode, target::Generation generation) {
  const Opcode shorter = with_third_source(opcode, generation, true);
  // GFX9 has two of v_mad_f16, which differ in what they do with the upper half of the result.
  return shorter != Opcode::invalid && three_address_form(shorter, generation) == opcode ? shorter : Opcode::invalid;
}

Opcode three_address_form(Opcode opcode, target::Generation generation) {
  return with_third_source(opcode, generation, false);
}

}  // namespace Atoll::isa
