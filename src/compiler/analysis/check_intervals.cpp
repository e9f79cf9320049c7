#include "compiler/analysis/check_intervals.h"

#include <algorithm>
#include <optional>

#include "compiler/analysis/varying_masks.h"
#include "compiler/lowering/chunk_state.h"
#include "isa/table.h"

namespace Atoll::compiler {

namespace {

/// EXEC is always defined: undefined bits are reported before they reach it.
ScalarSet without_exec(ScalarSet scalars) {
  scalars.reset(isa::scalar::exec_lo);
  scalars.reset(isa::scalar::exec_hi);
  return scalars;
}

using machine::UpperHalf;

/// The registers of an instruction that adds a number of 64 bits to a product of 32-bit factors.
struct WideSum {
  VectorSet needed;  ///< the factors and the addend's lower half
  UpperHalf upper{.addend = 0, .sum = UpperHalf::none, .carry = UpperHalf::none};
};

std::optional<WideSum> wide_sum(const isa::Instruction& instruction) {
  const isa::InstructionRow& row = isa::row_of(instruction);
  const isa::DataType type = row.operands[0].type;
  const bool is_wide = type == isa::DataType::u64 || type == isa::DataType::i64;
  const bool is_sum = row.computes.operation == isa::Operation::mad && is_wide;
  if (!is_sum || instruction.clamp) return std::nullopt;
  WideSum sum;
  bool has_upper = false;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const isa::Operand& operand = instruction.operands[i];
    const isa::Field field = row.operands[i].field;
    if (field == isa::Field::carry_out) {
      if (operand.reg != isa::scalar::null) sum.upper.carry = operand.reg;
    } else if (operand.kind != isa::OperandKind::vgpr) {
      continue;
    } else if (i < instruction.destinations) {
      sum.upper.sum = row_key(operand, 1);
    } else {
      sum.needed.set(row_key(operand, 0));
      if (field == isa::Field::src2) {
        sum.upper.addend = row_key(operand, 1);
        has_upper = true;
      }
    }
  }
  return has_upper ? std::optional(sum) : std::nullopt;
}

/// Follows what comes of upper halves through a stretch.
class UpperHalves {
 public:
  UpperHalves(CheckInterval& interval, unsigned lane_mask_words)
      : stretch_(interval), lane_mask_words_(lane_mask_words) {}

  /// Before the stretch has taken up what the instruction reads and writes. What it needs of the vector registers.
  VectorSet take(const isa::Instruction& instruction, const LaneEffects& effects) {
    const std::optional<WideSum> sum = wide_sum(instruction);
    const std::optional<UpperHalf> added = sum ? inherited(sum->upper) : std::nullopt;
    const VectorSet needed = sum ? sum->needed : effects.vector_reads;
    std::vector<UpperHalf>& halves = stretch_.upper_halves;
    std::erase_if(halves, [&](const UpperHalf& half) {
      const bool is_used = half.sum != UpperHalf::none && needed[half.sum];
      if (!is_used && !has_carry(effects.reads, half)) return false;
      (is_used && effects.reads_inactive ? stretch_.reads_all : stretch_.reads).set(half.addend);
      return true;
    });
    for (UpperHalf& half : halves) {
      if (half.sum != UpperHalf::none && effects.vector_writes[half.sum]) half.sum = UpperHalf::none;
      if (has_carry(effects.writes, half)) half.carry = UpperHalf::none;
    }
    if (added) halves.push_back(*added);
    return needed;
  }

 private:
  /// From where the stretch begins; null: the addend's half is defined.
  std::optional<UpperHalf> inherited(UpperHalf half) const {
    const auto earlier = std::ranges::find(stretch_.upper_halves, half.addend, &UpperHalf::sum);
    if (earlier != stretch_.upper_halves.end()) {
      half.addend = earlier->addend;
    } else if (stretch_.writes[half.addend]) {
      return std::nullopt;
    }
    return half;
  }
  bool has_carry(const ScalarSet& scalars, const UpperHalf& half) const {
    return half.carry != UpperHalf::none && has_mask(scalars, static_cast<unsigned>(half.carry), lane_mask_words_);
  }

  CheckInterval& stretch_;
  const unsigned lane_mask_words_;
};

}  // namespace

std::vector<CheckInterval> check_intervals_of(const engine::Block& block, unsigned lane_mask_words,
                                              const std::function<bool(const isa::Instruction&)>& must_report) {
  std::vector<CheckInterval> intervals;
  ScalarSet loaded_scalars;  // in the stretch
  VectorSet loaded;
  bool begins = true;
  for (size_t i = 0; i < block.instructions.size(); ++i) {
    const isa::Instruction& instruction = block.instructions[i].instruction;
    const LaneEffects effects = lane_effects_of(instruction);
    const bool reported = must_report(instruction);
    const bool needs_loaded = ((effects.reads | effects.writes) & loaded_scalars).any() ||
                              ((effects.vector_reads | effects.vector_writes) & loaded).any();
    const bool is_control = isa::control_of(instruction).kind != isa::Control::Kind::next;
    if (begins || reported || needs_loaded || is_control) {
      intervals.push_back({.first = i, .must_report = reported});
      loaded_scalars.reset();
      loaded.reset();
    }
    begins = reported || is_control || effects.exec != LaneEffects::Exec::stays;
    if (reported) continue;
    CheckInterval& interval = intervals.back();
    const VectorSet vector_reads = UpperHalves(interval, lane_mask_words).take(instruction, effects);
    interval.scalar_reads |= without_exec(effects.reads) & ~interval.scalar_writes;
    interval.scalar_writes |= without_exec(effects.writes);
    if (effects.reads_inactive) {
      interval.reads_all |= vector_reads;
    } else {
      interval.reads |= vector_reads & ~interval.writes;
    }
    interval.writes |= effects.vector_writes;
    if (!isa::row_of(instruction).has(isa::flag::memory)) continue;
    interval.accesses = true;
    loaded_scalars |= effects.writes;
    loaded |= effects.vector_writes;
  }
  return intervals;
}

}  // namespace Atoll::compiler
