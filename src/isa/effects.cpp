// isa: effects and control flow of instructions (effects.h, must_effects.h).
#include "isa/effects.h"

#include <algorithm>

#include "isa/must_effects.h"
#include "isa/opcode_map.h"
#include "isa/operand_roles.h"
#include "isa/table.h"
#include "isa/unit.h"

namespace Atoll::isa {

namespace {

using enum target::Generation;

/// True if an instruction of that encoding is executed for each lane of EXEC.
constexpr bool works_on_lanes(Encoding encoding) {
  return !is_scalar_alu(encoding) && encoding != Encoding::smem && encoding != Encoding::count;
}

/// The memory that an instruction's address leads to.
MemorySet memory_of(const Instruction& instruction) {
  using enum MemoryKind;
  switch (instruction.encoding) {
    case Encoding::smem:
    case Encoding::global:
    case Encoding::mimg:
    case Encoding::vsample:
      return MemorySet{} | global;
    case Encoding::flat:
      return MemorySet{} | global | scratch | lds;
    case Encoding::scratch:
      return MemorySet{} | scratch;
    case Encoding::mubuf:
    case Encoding::mtbuf:  // until GFX10 scratch is a buffer, too
      return MemorySet{} | global | scratch;
    case Encoding::ds:
      return MemorySet{} | (instruction.gds ? gds : lds);
    case Encoding::ldsdir:
      return MemorySet{} | lds;
    default:
      return {};
  }
}

/// Which registers to collect where the instruction does not name all of them: those of any execution, or those of
/// every one.
enum class Extent : uint8_t { may, must };

class Collector {
 public:
  Collector(const Instruction& instruction, Extent extent)
      : in_(instruction), row_(row_of(instruction)), must_(extent == Extent::must) {}

  Effects collect() {
    const auto roles = operand_roles(in_);
    for (unsigned i = 0; i < in_.operand_count; ++i) {
      const bool written = roles[i].defines;
      if ((must_ || in_.address_count != 0) && is_image_address(i)) continue;
      if (must_ && is_indexed(written)) continue;
      add(in_.operands[i], written, roles[i].uses);
    }
    must_ ? known_image_addresses() : image_addresses();
    implicit_scalars();
    memory();
    if (!must_ && row_.has(flag::indexed_source | flag::indexed_result)) indexed();
    effects_.orders_memory = row_.has(flag::cache_control);
    return effects_;
  }

 private:
  /// Dual instructions have more operands than a row; none of theirs is an image's.
  bool is_image_address(unsigned operand) const {
    return in_.second == Opcode::invalid && row_.operands[operand].field == Field::image_address;
  }

  /// M0 selects the register; the operand is where its index counts from.
  bool is_indexed(bool written) const { return row_.has(written ? flag::indexed_result : flag::indexed_source); }

  void add(const Operand& operand, bool written, bool read) {
    switch (operand.kind) {
      case OperandKind::scalar:
        for (unsigned reg = operand.reg; reg < std::min<unsigned>(operand.reg + operand.words, scalar::count); ++reg) {
          if (reg == scalar::null) break;
          if (written) effects_.writes.set(reg);
          if (read) effects_.reads.set(reg);
        }
        break;
      case OperandKind::vgpr:
      case OperandKind::agpr: {
        const unsigned first = operand.kind == OperandKind::agpr ? first_agpr : 0;
        const unsigned count = operand.kind == OperandKind::agpr ? vector_registers_of_a_kind : first_agpr;
        for (unsigned word = 0; word < operand.words && operand.reg + word < count; ++word) {
          if (written) effects_.vector_writes.set(first + operand.reg + word);
          if (read) effects_.vector_reads.set(first + operand.reg + word);
        }
        break;
      }
      case OperandKind::vccz:
        add_lane_mask(effects_.reads, scalar::vcc_lo, in_);
        break;
      case OperandKind::execz:
        add_lane_mask(effects_.reads, scalar::exec_lo, in_);
        break;
      case OperandKind::scc:
        effects_.reads.set(scc_number);
        break;
      case OperandKind::lds_direct:
        effects_.reads.set(scalar::m0);
        effects_.loads = effects_.loads | MemoryKind::lds;
        break;
      default:
        break;
    }
  }

  void read_vgprs(unsigned first, unsigned count) {
    for (unsigned reg = first; reg < std::min(first + count, vector_registers_of_a_kind); ++reg) {
      effects_.vector_reads.set(reg);
    }
  }

  /// Addresses in any registers: each may be a tuple's first for rays, the last for other images. Until GFX9 the
  /// resource says how many registers there are: the operand is the least, and what could be is read.
  void image_addresses() {
    constexpr unsigned max_words = 4, most_at_all = 13;
    for (unsigned i = 0; in_.generation < gfx10 && i < in_.operand_count; ++i) {
      if (is_image_address(i)) read_vgprs(in_.operands[i].reg, row_.has(flag::sampler) ? most_at_all : max_words);
    }
    for (unsigned i = 0; i < in_.address_count; ++i) {
      const bool is_last = i + 1 == in_.address_count;
      read_vgprs(in_.addresses[i], row_.has(flag::ray) ? max_words : is_last ? most_at_all : 1);
    }
  }

  /// The address words that the instruction reads whatever its resource describes. From GFX10 on the instruction has
  /// the dimension, and these are all. Until GFX9 the resource has it: a one-dimensional image has the shortest
  /// address, an array of them if the instruction addresses a layer.
  void known_image_addresses() {
    constexpr unsigned one_d = 0, one_d_array = 4;
    for (unsigned i = 0; i < in_.operand_count; ++i) {
      if (!is_image_address(i)) continue;
      const ImageParts parts(row_.name);
      const bool has_dimension = in_.generation >= gfx10;
      unsigned words = parts.words(has_dimension ? in_.dim : in_.da ? one_d_array : one_d, in_.a16);
      // Some encodings have fewer registers than their dimension needs.
      if (has_dimension) words = std::min<unsigned>(words, in_.operands[i].words);
      const unsigned count = in_.address_count;
      if (count == 0) return read_vgprs(in_.operands[i].reg, words);
      const bool has_tuples = row_.has(flag::ray) && count == parts.ray_groups(in_.a16);
      for (unsigned part = 0; part < std::min(count, has_tuples ? count : words); ++part) {
        const bool is_last = part + 1 == count;
        read_vgprs(in_.addresses[part], has_tuples ? parts.rays[part] : is_last ? words - count + 1 : 1);
      }
    }
  }

  void implicit_scalars() {
    ScalarSet& reads = effects_.reads;
    ScalarSet& writes = effects_.writes;
    if (row_.has(flag::scc_in)) reads.set(scc_number);
    if (row_.has(flag::scc_out)) writes.set(scc_number);
    if (row_.has(flag::reads_vcc)) add_lane_mask(reads, scalar::vcc_lo, in_);
    const bool on_lanes = works_on_lanes(in_.encoding) && !row_.has(flag::ignores_exec | flag::cache_control);
    if (on_lanes || row_.has(flag::reads_exec | flag::exec_out)) add_lane_mask(reads, scalar::exec_lo, in_);
    if (row_.has(flag::exec_out)) add_lane_mask(writes, scalar::exec_lo, in_);
    if (row_.has(flag::reads_m0) || reads_m0()) reads.set(scalar::m0);
    if (row_.has(flag::writes_m0)) writes.set(scalar::m0);
    if (reads_flat_scratch()) {
      reads.set(scalar::flat_scratch_lo);
      reads.set(scalar::flat_scratch_hi);
    }
    effects_.reads_mode = row_.has(flag::reads_mode | flag::writes_mode) || computes_floats();
    effects_.writes_mode = row_.has(flag::writes_mode);
  }

  /// By what an access is to: M0 limits LDS until GFX8 (ISA guides, "LDS": M0), says where GDS' part for the wave is,
  /// and where in LDS loads to it put their data.
  bool reads_m0() const {
    if (in_.encoding == Encoding::ds) {
      return in_.gds || row_.has(flag::gws) || (in_.generation < gfx9 && row_.has(flag::memory));
    }
    const auto is_attribute = [](const OperandSpec& spec) { return spec.field == Field::attribute; };
    return in_.lds || in_.row_enable || row_.has(flag::to_lds | flag::from_lds) || in_.encoding == Encoding::ldsdir ||
           std::ranges::any_of(row_.operands, is_attribute);
  }

  /// The base of scratch. Where it is architected (gfx940, GFX11 on) FLAT_SCRATCH is no longer among the SGPRs, but is
  /// still what such accesses depend on.
  bool reads_flat_scratch() const {
    if (row_.has(flag::reads_flat_scratch)) return true;
    return (in_.encoding == Encoding::flat || in_.encoding == Encoding::scratch) && row_.has(flag::memory);
  }

  /// Whether rounding, denormals and exceptions are MODE's.
  bool computes_floats() const {
    if (row_.has(flag::memory)) return false;
    if (row_.has(flag::matrix | flag::wmma)) return true;
    const auto is_float_operand = [](const OperandSpec& spec) { return is_float(spec.type); };
    if (in_.second != Opcode::invalid &&
        std::ranges::any_of(row_on(in_.second, in_.generation).operands, is_float_operand)) {
      return true;
    }
    return std::ranges::any_of(row_.operands, is_float_operand);
  }

  void memory() {
    if (!row_.has(flag::memory)) return;
    using enum MemoryKind;
    const MemorySet place = memory_of(in_);
    const bool to_lds = in_.lds || row_.has(flag::to_lds), from_lds = row_.has(flag::from_lds);
    if (row_.has(flag::load)) effects_.loads = {static_cast<uint8_t>(effects_.loads.bits | place.bits)};
    if (row_.has(flag::store)) effects_.stores = place;
    if (from_lds) {
      effects_.loads = effects_.loads | lds;
    } else if (to_lds) {
      effects_.stores = effects_.stores | lds;
    }
  }

  /// With an index from M0, any register of the operand's kind may be meant.
  void indexed() {
    const bool on_lanes = works_on_lanes(in_.encoding);
    const auto add_all = [&](bool written) {
      if (on_lanes) {
        const unsigned count = in_.generation >= gfx12_5 ? first_agpr : vector_registers_of_a_kind;
        for (unsigned reg = 0; reg < count; ++reg) {
          effects_.vector_reads.set(reg);
          if (written) effects_.vector_writes.set(reg);
        }
      } else {
        for (unsigned reg = 0; reg < scalar::count; ++reg) {
          effects_.reads.set(reg);
          if (written) effects_.writes.set(reg);
        }
      }
    };
    add_all(row_.has(flag::indexed_result));
  }

  const Instruction& in_;
  const InstructionRow& row_;
  const bool must_;
  Effects effects_;
};

}  // namespace

Effects effects_of(const Instruction& instruction) { return Collector(instruction, Extent::may).collect(); }

Effects must_effects_of(const Instruction& instruction) { return Collector(instruction, Extent::must).collect(); }

bool works_on_whole_waves(const Instruction& instruction) {
  return row(instruction.opcode).has(flag::matrix | flag::wmma | flag::transposes);
}

LdsCopy lds_copy(const Instruction& instruction) {
  const InstructionRow& row = row_of(instruction);
  if (row.has(flag::tensor)) return row.has(flag::load) ? LdsCopy::to_lds : LdsCopy::from_lds;
  if (row.has(flag::from_lds)) return LdsCopy::from_lds;
  if (row.has(flag::to_lds)) return LdsCopy::to_lds;
  return instruction.lds && instruction.encoding != Encoding::ds ? LdsCopy::to_lds : LdsCopy::none;
}

Control control_of(const Instruction& instruction) {
  using enum Control::Kind;
  const InstructionRow& row = row_of(instruction);
  Control control;
  control.has_target = row.has(flag::label);
  control.if_zero = row.has(flag::if_zero);
  if (row.has(flag::branch)) {
    using enum Control::Condition;
    control.condition = row.has(flag::subvector)     ? subvector
                        : row.has(flag::if_debugged) ? debugger
                        : row.has(flag::scc_in)      ? scc
                        : row.has(flag::reads_vcc)   ? vcc
                        : row.has(flag::reads_exec)  ? exec
                                                     : none;
    control.kind = row.has(flag::fork)          ? fork
                   : row.has(flag::trap_return) ? trap_return
                   : row.has(flag::call)        ? (control.has_target ? call : indirect_call)
                   : !control.has_target        ? indirect
                   : control.condition != none  ? conditional
                                                : branch;
    if (control.kind == fork) control.condition = none;
    control.adds_to_pc = row.has(flag::adds_to_pc);
  } else if (row.has(flag::ends)) {
    control.kind = end;
  } else if (row.has(flag::trap)) {
    control.kind = trap;
  } else if (row.has(flag::waits)) {
    control.kind = wait;
  }
  return control;
}

}  // namespace Atoll::isa
