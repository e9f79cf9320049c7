// engine: vector instructions that are no function of lanes: between a lane and scalar registers, exchanges of
// registers, moves to and from the accumulation registers.
#include "engine/interpreter/vector.h"
#include "engine/memory/gather_scatter.h"
#include "isa/table.h"
#include "semantics/lanes/lane_movement.h"

namespace Atoll::engine {
ATOLL_HOST_ISA_BEGIN

namespace {

using isa::OperandKind;
using isa::Operation;

/// v_readfirstlane_b32
void read_first_lane(Wave& wave, const MicroOp& op, Run& run) {
  wave.scalar[op.mask_out] =
      semantics::read_first_lane(*rows_at(run, op.vector.source_base[0], op.vector.source[0]), wave.exec());
}

/// v_readfirstlane_b32 of a scalar or a constant
void read_uniform(Wave& wave, const MicroOp& op, Run&) {
  wave.scalar[op.mask_out] = static_cast<uint32_t>(scalar_value(wave, op.origin->instruction.src(0)));
}

/// v_readlane_b32
void read_lane(Wave& wave, const MicroOp& op, Run& run) {
  const auto lane = static_cast<uint32_t>(scalar_value(wave, op.origin->instruction.src(1)));
  wave.scalar[op.mask_out] =
      semantics::read_lane(*rows_at(run, op.vector.source_base[0], op.vector.source[0]), lane % wave.wave_size);
}

/// v_writelane_b32
void write_lane(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  const auto value = static_cast<uint32_t>(scalar_value(wave, instruction.src(0)));
  const auto lane = static_cast<uint32_t>(scalar_value(wave, instruction.src(1)));
  semantics::write_lane(*rows_at(run, op.vector.result_base, op.vector.result), lane % wave.wave_size, value);
}

/// v_swap_b32
void swap(Wave& wave, const MicroOp& op, Run& run) {
  Row& a = *rows_at(run, op.vector.result_base, op.vector.result);
  Row& b = *rows_at(run, op.vector.source_base[0], op.vector.source[0]);
  const uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) {
    const uint32_t mask = 0 - static_cast<uint32_t>(exec >> lane & 1), change = (a[lane] ^ b[lane]) & mask;
    a[lane] ^= change;
    b[lane] ^= change;
  }
}

/// v_swap_b16, whose operands are halves of registers.
void swap_halves_of_registers(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  Row& a = *rows_at(run, op.vector.result_base, op.vector.result);
  Row& b = *rows_at(run, op.vector.source_base[0], op.vector.source[0]);
  const unsigned a_shift = instruction.operands[0].op_sel ? 16 : 0, b_shift = instruction.operands[1].op_sel ? 16 : 0;
  const uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) {
    const uint32_t mask = 0xFFFF & (0 - static_cast<uint32_t>(exec >> lane & 1));
    const uint32_t change = (a[lane] >> a_shift ^ b[lane] >> b_shift) & mask;
    a[lane] ^= change << a_shift;
    b[lane] ^= change << b_shift;
  }
}

/// Writes the lanes of a move that have a source.
void apply_move(const semantics::DppMove& move, uint64_t exec, const Row& source, Run& run, Row& result) {
  Row& moved = run.temporary[0];
  const uint64_t written = semantics::apply_dpp(move, exec, source, moved);
  copy_lanes(result, moved, written);
}

/// v_permlane16_b32, v_permlanex16_b32
template <bool crossed>
void permlane16(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  const uint64_t selects =
      (scalar_value(wave, instruction.src(1)) & 0xFFFFFFFF) | scalar_value(wave, instruction.src(2)) << 32;
  apply_move(semantics::permlane16_move(selects, crossed, instruction.src(0).op_sel, instruction.src(1).op_sel),
             wave.exec(), *rows_at(run, op.vector.source_base[0], op.vector.source[0]), run,
             *rows_at(run, op.vector.result_base, op.vector.result));
}

/// v_permlane16_var_b32, v_permlanex16_var_b32
template <bool crossed>
void permlane16_var(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  const Row& selects = *rows_at(run, op.vector.source_base[1], op.vector.source[1]);
  apply_move(semantics::permlane16_var_move(selects, crossed, instruction.src(0).op_sel, instruction.src(1).op_sel),
             wave.exec(), *rows_at(run, op.vector.source_base[0], op.vector.source[0]), run,
             *rows_at(run, op.vector.result_base, op.vector.result));
}

/// v_permlane_bcast_b32, v_permlane_up_b32, v_permlane_down_b32 and v_permlane_xor_b32 (GFX12.5): from a lane of the
/// same group of lanes, whose size is the last source, a power of two; from a lane that is not in it comes 0. Lanes
/// that EXEC leaves out are read as well. Source: AMD's emulator of GFX12.5 (ROCm's rocjitsu).
enum class GroupMove : uint8_t { broadcast, up, down, exclusive_or };
template <GroupMove move>
void permute_group(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  const auto select = static_cast<uint32_t>(scalar_value(wave, instruction.src(1)));
  auto width = static_cast<uint32_t>(scalar_value(wave, instruction.src(2)));
  if (width == 0 || (width & (width - 1)) != 0 || width > wave.wave_size) width = wave.wave_size;
  const Row& source = *rows_at(run, op.vector.source_base[0], op.vector.source[0]);
  Row& moved = run.temporary[0];
  for (uint32_t lane = 0; lane < wave.wave_size; ++lane) {
    const uint32_t place = lane % width;
    uint64_t from = place;
    if constexpr (move == GroupMove::broadcast) from = select % width;
    if constexpr (move == GroupMove::up) from = place >= select ? place - select : width;
    if constexpr (move == GroupMove::down) from = uint64_t{place} + select;
    if constexpr (move == GroupMove::exclusive_or) from = place ^ select;
    moved[lane] = from < width ? source[lane - place + from] : 0;
  }
  copy_lanes(*rows_at(run, op.vector.result_base, op.vector.result), moved, wave.exec());
}

/// v_permlane_idx_gen_b32: numbers of lanes for a permutation after it.
void generate_index(Wave& wave, const MicroOp& op, Run& run) {
  const auto select = static_cast<uint32_t>(scalar_value(wave, op.origin->instruction.src(1)));
  const Row& source = *rows_at(run, op.vector.source_base[0], op.vector.source[0]);
  Row& result = *rows_at(run, op.vector.result_base, op.vector.result);
  for_each_lane(wave.exec(), [&](unsigned lane) { result[lane] = source[lane] ^ select; });
}

/// v_permlane64_b32
void permlane64(Wave& wave, const MicroOp& op, Run& run) {
  if (wave.wave_size == 32) return;
  apply_move(semantics::permlane64_move(), wave.exec(), *rows_at(run, op.vector.source_base[0], op.vector.source[0]),
             run, *rows_at(run, op.vector.result_base, op.vector.result));
}

/// v_permlane16_swap_b32, v_permlane32_swap_b32
template <unsigned width>
void swap_halves(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Dpp& control = op.origin->instruction.dpp;
  semantics::swap_halves(*rows_at(run, op.vector.result_base, op.vector.result),
                         *rows_at(run, op.vector.source_base[0], op.vector.source[0]), width, wave.exec(),
                         control.fetch_inactive, control.bound_ctrl);
}

/// v_accvgpr_read_b32, v_accvgpr_write_b32, v_accvgpr_mov_b32
void move(Wave& wave, const MicroOp& op, Run& run) {
  broadcast_scalars(wave, op, run);
  copy_lanes(*rows_at(run, op.vector.result_base, op.vector.result),
             *rows_at(run, op.vector.source_base[0], op.vector.source[0]), wave.exec());
}

/// How far M0 moves the numbers of the source and of the result.
struct Relative {
  uint32_t source = 0, result = 0;
};
enum class Indexed : uint8_t {
  source,  ///< v_movrels_b32
  result,  ///< v_movreld_b32
  both,    ///< v_movrelsd_b32
  apart,   ///< v_movrelsd_2_b32, v_swaprel_b32: each by a field of M0
};
template <Indexed indexed>
Relative relative(const Wave& wave) {
  const uint32_t m0 = wave.scalar[isa::scalar::m0];
  switch (indexed) {
    case Indexed::source:
      return {.source = m0};
    case Indexed::result:
      return {.result = m0};
    case Indexed::both:
      return {.source = m0, .result = m0};
    case Indexed::apart:
      return {.source = m0 & 0x3FF, .result = m0 >> 16 & 0x3FF};
  }
}

/// v_movrel*, v_swaprel_b32: moves between VGPRs whose numbers are known when it runs. A source that the wave does not
/// have is v0; a result that it does not have is not written.
template <Indexed indexed, bool swaps = false>
void move_relative(Wave& wave, const MicroOp& op, Run& run) {
  broadcast_scalars(wave, op, run);
  const isa::Instruction& instruction = op.origin->instruction;
  const Relative by = relative<indexed>(wave);
  const uint64_t to_number = uint64_t{instruction.operands[0].reg} + by.result;
  if (to_number >= wave.vgprs) return;
  Row& to = wave.vgpr[to_number];
  Row* from = rows_at(run, op.vector.source_base[0], op.vector.source[0]);
  if (op.vector.source_base[0] == RowBase::vgpr) {
    const uint64_t number = uint64_t{instruction.operands[1].reg} + by.source;
    from = wave.vgpr + (number < wave.vgprs ? number : 0);
  }
  const uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < semantics::wave_lanes; ++lane) {
    const uint32_t mask = 0 - static_cast<uint32_t>(exec >> lane & 1), change = (to[lane] ^ (*from)[lane]) & mask;
    to[lane] ^= change;
    if constexpr (swaps) (*from)[lane] ^= change;
  }
}

void nothing(Wave&, const MicroOp&, Run&) {}

Handler group_permutation(const isa::Instruction& instruction, Operation operation) {
  if (operation == Operation::lane_indices) return step<generate_index>;
  if (is_row(instruction.src(2))) return nullptr;
  switch (operation) {
    case Operation::lanes_broadcast:
      return step<permute_group<GroupMove::broadcast>>;
    case Operation::lanes_up:
      return step<permute_group<GroupMove::up>>;
    case Operation::lanes_down:
      return step<permute_group<GroupMove::down>>;
    default:
      return step<permute_group<GroupMove::exclusive_or>>;
  }
}

/// v_movrel*_b32: a move whose registers' numbers M0 changes.
Handler relative_move(const isa::InstructionRow& row, isa::Opcode opcode) {
  if (opcode == isa::Opcode::v_movrelsd_2_b32) return step<move_relative<Indexed::apart>>;
  if (!row.has(isa::flag::indexed_result)) return step<move_relative<Indexed::source>>;
  if (!row.has(isa::flag::indexed_source)) return step<move_relative<Indexed::result>>;
  return step<move_relative<Indexed::both>>;
}

/// True for moves to and from accumulation registers (v_accvgpr_*).
bool moves_accumulators(const isa::InstructionRow& row) {
  return row.operands[0].field == isa::Field::agpr_dst || row.operands[1].field == isa::Field::agpr_src0;
}

}  // namespace

Handler prepare_lane_operation(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  const auto set_result = [&] {
    p.op.vector.result_base = row_base(instruction.dst());
    p.op.vector.result = row_offset(instruction.dst());
  };
  p.op.broadcasts = 0;
  if (instruction.extension == isa::Extension::sdwa || instruction.extension == isa::Extension::dpp16) return nullptr;
  if (instruction.destinations != 0) p.op.mask_out = static_cast<uint8_t>(instruction.dst().reg);

  const isa::InstructionRow& row = isa::row_of(instruction);
  const Operation operation = row.computes.operation;
  const bool is_indexed = row.has(isa::flag::indexed_source | isa::flag::indexed_result);
  switch (operation) {
    case Operation::nop:
    case Operation::clear_exceptions:  // exceptions are not recorded
    case Operation::pipe_flush:
      return step<nothing>;
    case Operation::read_first_lane:
      if (!is_row(instruction.src(0))) return step<read_uniform>;
      return set_source(p, 0, instruction.src(0), 1) ? step<read_first_lane> : nullptr;
    case Operation::read_lane:
      if (!is_row(instruction.src(0))) return nullptr;
      return set_source(p, 0, instruction.src(0), 1) ? step<read_lane> : nullptr;
    case Operation::write_lane:
      set_result();
      return step<write_lane>;
    case Operation::permute_row:
    case Operation::permute_other_row:
      set_result();
      if (!is_row(instruction.src(0)) || is_row(instruction.src(1)) || is_row(instruction.src(2))) return nullptr;
      set_source(p, 0, instruction.src(0), 1);
      return operation == Operation::permute_row ? step<permlane16<false>> : step<permlane16<true>>;
    case Operation::permute_row_by_lane:
    case Operation::permute_other_row_by_lane:
      set_result();
      if (!is_row(instruction.src(0)) || !is_row(instruction.src(1))) return nullptr;
      set_source(p, 0, instruction.src(0), 1);
      set_source(p, 1, instruction.src(1), 1);
      return operation == Operation::permute_row_by_lane ? step<permlane16_var<false>> : step<permlane16_var<true>>;
    case Operation::lanes_broadcast:
    case Operation::lanes_up:
    case Operation::lanes_down:
    case Operation::lanes_xor:
    case Operation::lane_indices:
      set_result();
      if (!is_row(instruction.src(0)) || is_row(instruction.src(1))) return nullptr;
      set_source(p, 0, instruction.src(0), 1);
      return group_permutation(instruction, operation);
    case Operation::exchange_wave_halves:
      set_result();
      return is_row(instruction.src(0)) && set_source(p, 0, instruction.src(0), 1) ? step<permlane64> : nullptr;
    case Operation::swap:
    case Operation::swap_rows:
    case Operation::swap_halves: {
      const bool has_two = instruction.operand_count >= 2;
      if (is_indexed) {
        const bool has_source = has_two && set_source(p, 0, instruction.operands[1], 1);
        return has_source ? step<move_relative<Indexed::apart, true>> : nullptr;
      }
      // Both operands are read and written; the second may stand among the results or the sources.
      const isa::Operand& other = instruction.operands[1];
      set_result();
      if (!has_two || !is_row(other) || !set_source(p, 0, other, 1)) return nullptr;
      if (operation == Operation::swap_rows) return step<swap_halves<16>>;
      if (operation == Operation::swap_halves) return step<swap_halves<32>>;
      return isa::is_half(row.operands[0].type) ? step<swap_halves_of_registers> : step<swap>;
    }
    case Operation::mov:
      if (is_indexed) {
        const bool has_source = instruction.operand_count >= 2 && set_source(p, 0, instruction.operands[1], 1);
        return has_source ? relative_move(row, instruction.opcode) : nullptr;
      }
      if (!moves_accumulators(row)) return nullptr;
      set_result();
      return set_source(p, 0, instruction.src(0), 1) ? step<move> : nullptr;
    default:
      return nullptr;
  }
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::engine
