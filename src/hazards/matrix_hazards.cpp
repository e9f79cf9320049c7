#include "hazards/matrix_hazards.h"

#include <algorithm>
#include <optional>

#include "hazards/counters.h"
#include "isa/table.h"
#include "isa/unit.h"
#include "semantics/matrix/mfma.h"

namespace Atoll::hazards {

namespace {

using isa::Encoding;
using isa::Instruction;
using isa::Opcode;
using isa::OperandKind;
using semantics::MatrixElement;
using Kind = MatrixInfo::Kind;
using enum target::Generation;

std::vector<RegisterRange> ranges_of(const isa::VectorSet& set) {
  std::vector<RegisterRange> ranges;
  if (set.none()) return ranges;
  for (uint16_t reg = 0; reg < isa::vector_registers; ++reg) {
    if (!set[reg]) continue;
    if (!ranges.empty() && ranges.back().first + ranges.back().count == reg) {
      ++ranges.back().count;
    } else {
      ranges.push_back({reg, 1});
    }
  }
  return ranges;
}

/// The first register of a range that others have, too.
std::optional<uint16_t> common(const RegisterRange& range, const std::vector<RegisterRange>& others) {
  for (const RegisterRange& other : others) {
    if (range.overlaps(other)) return std::max(range.first, other.first);
  }
  return std::nullopt;
}

bool is_small(MatrixElement element) {
  return element == MatrixElement::fp6 || element == MatrixElement::bf6 || element == MatrixElement::fp4;
}

/// A pass is four cycles. The matrix core takes twice as many for as many products of several blocks, and for 8 bits
/// among 6 and 4; f32 has units of its own from gfx940 on.
uint8_t passes_of(const semantics::MatrixShape& shape, const Instruction& instruction) {
  if (shape.a == MatrixElement::f64) {
    if (shape.rows == 4) return 4;
    return instruction.generation >= gfx950 ? 16 : 8;
  }
  if (shape.rows == 4) return 2;
  const uint8_t whole = shape.rows == 16 ? 8 : 16;
  if (instruction.generation < gfx940 || shape.a == MatrixElement::f32 || shape.blocks > 1) return whole;
  if (isa::row_of(instruction).has(isa::flag::matrix_formats)) {
    const bool both =
        is_small(semantics::matrix_format(instruction.cbsz)) && is_small(semantics::matrix_format(instruction.blgp));
    return both ? whole / 2 : whole;
  }
  return whole / 2;
}

void set_matrix(MatrixInfo& facts, const Instruction& instruction, const semantics::MatrixShape& shape) {
  const bool is_sparse = isa::row_of(instruction).has(isa::flag::sparse);
  facts.passes = passes_of(shape, instruction);
  facts.kind = shape.a == MatrixElement::f64                                       ? Kind::double_matrix
               : shape.a == MatrixElement::f32 && instruction.generation >= gfx940 ? Kind::float_matrix
                                                                                   : Kind::matrix;
  facts.is_small_double = facts.kind == Kind::double_matrix && shape.rows == 4;
  facts.result = range_of(instruction.operands[0]);
  facts.addend = is_sparse ? facts.result : range_of(instruction.src(2));
  for (unsigned i = instruction.destinations; i < instruction.operand_count; ++i) {
    if (!is_sparse && i == instruction.destinations + 2u) continue;
    if (const RegisterRange range = range_of(instruction.operands[i]); range.count != 0) facts.factors.push_back(range);
  }
  constexpr uint8_t most = 20;
  facts.matters_for = most;
}

/// How long a matrix is in the works for whom the GPU does not hold back: for factors of matrices and vector
/// instructions ...
uint8_t result_states(const MatrixInfo& matrix) {
  const bool is_950 = matrix.generation >= gfx950;
  switch (matrix.kind) {
    case Kind::double_matrix:
      return matrix.is_small_double ? 6 : is_950 ? 19 : 11;
    case Kind::float_matrix:
      return matrix.passes + 2;
    default:
      return static_cast<uint8_t>(matrix.passes + 3 + (is_950 && matrix.passes != 2 ? 1 : 0));
  }
}

/// ... for memory ...
uint8_t memory_states(const MatrixInfo& matrix) {
  if (matrix.kind != Kind::double_matrix) return result_states(matrix);
  return matrix.is_small_double ? 9 : 18;
}

/// ... for instructions that write the result's registers ...
uint8_t overwritten_states(const MatrixInfo& matrix) {
  if (matrix.kind != Kind::double_matrix) return result_states(matrix);
  return matrix.is_small_double ? 6 : 11;
}

/// ... and for another matrix that adds to these registers.
uint8_t addend_states(const MatrixInfo& earlier, const MatrixInfo& later) {
  const bool is_940 = earlier.generation >= gfx940, is_950 = earlier.generation >= gfx950;
  if (later.addend == earlier.result) {
    if (earlier.is_small_double && later.is_small_double) return 4;
    return is_940 && earlier.passes == 2 ? 2 : 0;
  }
  const bool is_in_core = later.kind == Kind::matrix;
  if (earlier.kind == Kind::double_matrix) {
    if (is_in_core) return 0;
    return earlier.is_small_double ? 4 : is_950 ? 17 : 9;
  }
  if (!is_940) return earlier.passes + (later.kind == Kind::double_matrix ? 1 : 0);
  if (earlier.kind == Kind::float_matrix) return is_in_core ? 0 : earlier.passes;
  return static_cast<uint8_t>(earlier.passes + 1 + (is_950 && (is_in_core || earlier.passes != 2) ? 1 : 0));
}

struct Requirement {
  using Relation = MatrixHazards::Relation;

  uint8_t states = 0;
  Relation relation{};
  uint16_t reg = 0;

  /// Where there is a register that both have.
  void at_least(uint8_t states_, Relation relation_, std::optional<uint16_t> reg_) {
    if (reg_ && states_ > states) *this = {.states = states_, .relation = relation_, .reg = *reg_};
  }
};
using enum MatrixHazards::Relation;

/// The first register that a range has in common with another one.
std::optional<uint16_t> common(const RegisterRange& range, const RegisterRange& other) {
  return range.overlaps(other) ? std::optional(std::max(range.first, other.first)) : std::nullopt;
}

/// gfx908, whose accumulators are read and written by instructions of their own.
Requirement requirement_of_gfx908(const MatrixInfo& earlier, const MatrixInfo& later) {
  Requirement need;
  const bool later_is_matrix = later.is_matrix();
  // By passes: 2, 8, 16.
  const auto by_passes = [&](uint8_t two, uint8_t eight, uint8_t sixteen) {
    return earlier.passes == 2 ? two : earlier.passes == 8 ? eight : sixteen;
  };
  if (earlier.is_matrix()) {
    if (later_is_matrix) {
      need.at_least(4, reads, common(earlier.result, later.factors));
      if (later.addend != earlier.result) need.at_least(2, reads, common(earlier.result, later.addend));
    } else if (later.kind == Kind::accumulator_read) {
      need.at_least(by_passes(4, 10, 18), reads, common(earlier.result, later.reads));
    } else if (later.kind == Kind::accumulator_write) {
      need.at_least(by_passes(1, 7, 15), overwrites, common(earlier.result, later.writes));
      need.at_least(by_passes(0, 5, 13), overwrites_addend, common(earlier.addend, later.writes));
    }
    return need;
  }
  if (earlier.kind == Kind::accumulator_write) {
    for (const RegisterRange& written : earlier.writes) {
      if (later_is_matrix) {
        need.at_least(3, reads, common(written, later.factors));
        need.at_least(1, reads, common(written, later.addend));
      } else if (later.kind == Kind::accumulator_read) {
        need.at_least(3, reads, common(written, later.reads));
      }
    }
    return need;
  }
  if (earlier.kind == Kind::accumulator_read && later.kind == Kind::memory) {
    for (const RegisterRange& written : earlier.writes) need.at_least(2, reads, common(written, later.reads));
  }
  if (earlier.kind == Kind::vector_alu || earlier.kind == Kind::dot) {
    if (later_is_matrix || later.kind == Kind::accumulator_write) {
      for (const RegisterRange& written : earlier.writes) need.at_least(2, reads, common(written, later.reads));
    }
    constexpr uint8_t after_exec = 4;
    if (earlier.writes_exec && (later_is_matrix || later.kind == Kind::accumulator_write))
      need = {.states = after_exec, .relation = uses_exec};
  }
  return need;
}

Requirement requirement_of_gfx12_5(const MatrixInfo& earlier, const MatrixInfo& later) {
  Requirement need;
  if (!earlier.is_matrix()) return need;
  if (later.is_matrix()) {
    need.at_least(later.is_single ? 1 : earlier.for_matrices, reads, common(earlier.result, later.factors));
  } else if (later.kind == Kind::vector_alu && !later.is_transcendental) {
    need.at_least(earlier.for_vectors, reads, common(earlier.result, later.reads));
    need.at_least(earlier.for_vectors, overwrites, common(earlier.result, later.writes));
    for (const RegisterRange& factor : earlier.factors) {
      need.at_least(earlier.for_vectors, overwrites_factor, common(factor, later.writes));
    }
  }
  return need;
}

Requirement requirement_of(const MatrixInfo& earlier, const MatrixInfo& later) {
  if (later.generation >= gfx12_5) return requirement_of_gfx12_5(earlier, later);
  if (later.generation < gfx90a) return requirement_of_gfx908(earlier, later);
  Requirement need;
  const bool is_vector = later.kind == Kind::vector_alu || later.kind == Kind::dot;
  if (earlier.is_matrix()) {
    if (later.is_matrix()) {
      need.at_least(result_states(earlier), reads, common(earlier.result, later.factors));
      need.at_least(addend_states(earlier, later), reads, common(earlier.result, later.addend));
      return need;
    }
    if (!is_vector && later.kind != Kind::memory) return need;
    need.at_least(is_vector ? result_states(earlier) : memory_states(earlier), reads,
                  common(earlier.result, later.reads));
    need.at_least(overwritten_states(earlier), overwrites, common(earlier.result, later.writes));
    if (earlier.kind == Kind::matrix) {
      need.at_least(earlier.passes - 1, overwrites_addend, common(earlier.addend, later.writes));
    }
    const bool multiplies_doubles = later.opcode == Opcode::v_fma_f64 || later.opcode == Opcode::v_fmac_f64;
    if (earlier.kind == Kind::double_matrix && multiplies_doubles && need.states < 2) {
      need = {.states = 2, .relation = shares_unit};
    }
    return need;
  }
  if (earlier.kind == Kind::dot && (is_vector || later.kind == Kind::memory)) {
    const bool is_same = earlier.opcode == later.opcode;
    need.at_least(3, reads, common(earlier.result, is_same ? later.factors : later.reads));
    if (!is_same) need.at_least(3, overwrites, common(earlier.result, later.writes));
    return need;
  }
  if (later.is_matrix() && (earlier.kind == Kind::vector_alu || earlier.kind == Kind::dot)) {
    if (earlier.kind == Kind::vector_alu) {
      for (const RegisterRange& written : earlier.writes) need.at_least(2, reads, common(written, later.reads));
    }
    if (earlier.writes_exec) need = {.states = 4, .relation = uses_exec};
  }
  return need;
}

void set_wave_matrix(MatrixInfo& facts, const Instruction& instruction) {
  const isa::InstructionRow& row = isa::row_of(instruction);
  facts.kind = Kind::wave_matrix;
  facts.result = range_of(instruction.operands[0]);
  bool is_sparse = false;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    switch (row.operands[i].field) {
      case isa::Field::wmma_index:
        is_sparse = true;
        [[fallthrough]];
      case isa::Field::wmma_src0:
      case isa::Field::wmma_src1:
        if (const RegisterRange range = range_of(instruction.operands[i]); range.count != 0) {
          facts.factors.push_back(range);
        }
        break;
      default:
        break;
    }
  }
  const bool is_of_bytes = row.name.ends_with("_iu8");
  facts.is_single = instruction.opcode == Opcode::v_wmma_f32_16x16x4_f32;
  if (facts.is_single) {
    facts.for_matrices = 1;
  } else if (is_sparse) {
    facts.for_matrices = is_of_bytes ? 5 : 3;
  } else {
    facts.for_matrices = is_of_bytes || row.has(isa::flag::matrix_formats) ? 9 : 5;
  }
  facts.for_vectors = facts.for_matrices - 1;
  facts.matters_for = facts.for_matrices;
}

}  // namespace

MatrixInfo matrix_info(const Instruction& instruction, const isa::Effects& effects,
                       const target::Processor& processor) {
  MatrixInfo facts;
  facts.generation = instruction.generation;
  facts.opcode = instruction.opcode;
  const bool is_12_5 = instruction.generation >= gfx12_5;
  if (!processor.has(target::Feature::mai_insts) && !is_12_5) return facts;
  const bool is_vector = is_vector_alu(instruction.encoding) || instruction.encoding == Encoding::vopd ||
                         instruction.encoding == Encoding::vopd3;
  if (is_12_5 && !is_vector) return facts;
  if (!is_vector && !is_vector_memory(instruction.encoding) && instruction.encoding != Encoding::ds) return facts;
  facts.reads = ranges_of(effects.vector_reads);
  facts.writes = ranges_of(effects.vector_writes);
  if (!is_vector) {
    facts.kind = Kind::memory;
    return facts;
  }
  if (is_12_5) {
    facts.kind = Kind::vector_alu;
    facts.is_transcendental = isa::row_of(instruction).has(isa::flag::transcendental);
    if (isa::row_of(instruction).has(isa::flag::wmma)) set_wave_matrix(facts, instruction);
    return facts;
  }
  if (const semantics::MatrixShape* shape = semantics::matrix_shape(instruction.opcode)) {
    set_matrix(facts, instruction, *shape);
    return facts;
  }
  facts.writes_exec = effects.writes[isa::scalar::exec_lo];
  facts.kind = Kind::vector_alu;
  facts.matters_for = facts.writes_exec ? 4 : facts.writes.empty() ? 0 : 2;
  const bool is_gfx908 = instruction.generation < gfx90a;
  if (is_gfx908 && instruction.opcode == Opcode::v_accvgpr_read_b32) facts.kind = Kind::accumulator_read;
  if (is_gfx908 && instruction.opcode == Opcode::v_accvgpr_write_b32) {
    facts.kind = Kind::accumulator_write;
    facts.matters_for = 3;
  }
  if (isa::row_of(instruction).name.starts_with("v_dot")) {
    facts.kind = Kind::dot;
    facts.matters_for = std::max<uint8_t>(facts.matters_for, 3);
    facts.result = range_of(instruction.operands[0]);
    // The VOP2 forms add to their result.
    const bool has_addend = instruction.operand_count > instruction.destinations + 2u;
    facts.addend = has_addend ? range_of(instruction.src(2)) : facts.result;
    for (unsigned i = 0; i < 2; ++i) {
      if (const RegisterRange range = range_of(instruction.src(i)); range.count != 0) facts.factors.push_back(range);
    }
  }
  return facts;
}

std::optional<MatrixHazards::Missing> MatrixHazards::step(const MatrixInfo& facts, uint64_t pc, uint32_t states) {
  std::optional<Missing> missing;
  if (facts.generation >= gfx12_5) states = facts.kind == Kind::other ? 0 : 1;
  uint32_t most = 0;
  bool after_doubles = false;  // a matrix of these came after what is looked at
  for (auto recent = recent_.rbegin(); recent != recent_.rend(); ++recent) {
    const MatrixInfo& earlier = *recent->facts;
    Requirement need = requirement_of(earlier, facts);
    // With a matrix of doubles between, gfx90a does not hold back an access of memory that needs the register.
    if (after_doubles && facts.kind == Kind::memory && facts.generation < gfx940) {
      for (const RegisterRange& written : earlier.writes) need.at_least(2, reads, common(written, facts.reads));
    }
    after_doubles |= earlier.kind == Kind::double_matrix;
    if (need.states <= recent->states || need.states - recent->states <= most) continue;
    most = need.states - recent->states;
    missing = Missing{.earlier = recent->pc,
                      .relation = need.relation,
                      .reg = need.reg,
                      .states = need.states,
                      .left = static_cast<uint8_t>(recent->states)};
  }
  for (Recent& recent : recent_) recent.states += states;
  std::erase_if(recent_, [](const Recent& recent) { return recent.states >= recent.facts->matters_for; });
  if (facts.matters_for != 0) recent_.push_back({.facts = &facts, .pc = pc, .states = 0});
  return missing;
}

}  // namespace Atoll::hazards
