// isa: the encoder's dual instructions, VOPD and VOPD3: each half is an instruction of VOP2's kind with fields of its
// own, and both read their operands in the same cycle, which decides what registers they can have together (ISA guides,
// "VOPD", restrictions; those of VOPD3 as tests/isa observes them).
#include <algorithm>
#include <vector>

#include "isa/decoder.h"
#include "isa/encoder.h"

namespace Atoll::isa {

bool Encoder::dual_half(const InstructionRow& row, unsigned position, const DualFields& fields, DualRegisters& used) {
  const bool third = in_.encoding == Encoding::vopd3;
  const bool floats = row.has(flag::neg | flag::neg_any);
  bool literal_before = false;
  uint32_t negated = 0;
  const auto vector = [&](const Operand& operand, const OperandSpec& spec, Bits place, int index) {
    unsigned number = 0;
    if (!vgpr(operand, spec.field, number)) return false;
    set(place, number);
    used.sources[static_cast<size_t>(index)] = {static_cast<int>(number), class_.words};
    return true;
  };
  const auto scalar = [&](const Operand& operand, unsigned code) {
    const bool counts = operand.kind != OperandKind::constant && operand.reg != scalar::null;
    if (counts) used.scalars.emplace_back(code, operand.words);
  };
  for (const OperandSpec& spec : row.operands) {
    if (spec.field == Field::none) break;
    if (row.has(flag::bitop3) && spec.field == Field::src2) {  // in place of the third source, for there are two
      if (in_.immediate > 0xFF) return fail("the truth table has to be from 0 to 255");
      set(fields.src2, in_.immediate);
      break;
    }
    if (position >= in_.operand_count) return fail("{} is missing", role(spec.field));
    const Operand& operand = in_.operands[position++];
    const int index = spec.field == Field::carry_in ? 2 : source_index(spec.field);
    if (operand.abs || operand.sext || operand.op_sel) return fail("abs and selects are not possible");
    if (operand.neg && (!third || !floats || index < 0 || spec.field == Field::carry_in)) {
      return wrong(spec.field, "cannot have neg");
    }
    if (operand.neg) negated |= 1u << index;
    unsigned number = 0;
    set_class(row, spec.field, spec.type);
    switch (spec.field) {
      case Field::vdst:
        if (!vgpr(operand, spec.field, number)) return false;
        used.dst = {static_cast<int>(number), class_.words};
        if (row.has(flag::reads_dst)) used.sources[2] = used.dst;
        break;
      case Field::src0:
        if (!source(operand, spec.field, number)) return false;
        if (number >= code::vgpr) {
          used.sources[0] = {static_cast<int>(number - code::vgpr), class_.words};
        } else {
          scalar(operand, number);
        }
        set(fields.src0, number);
        break;
      case Field::src1:
        if (!vector(operand, spec, fields.src1, literal_before ? 2 : 1)) return false;
        break;
      case Field::src2:
        if (!vector(operand, spec, fields.src2, 2)) return false;
        break;
      case Field::literal:
        literal_before = true;
        if (!literal(operand, spec.field, spec.type, false)) return false;
        break;
      default:
        number = codes_.code_of_register(scalar::vcc_lo);
        if (third) {
          if (!scalar_register(operand, spec.field, number)) return false;
          set(fields.src2, number);
        } else if (!vcc(operand, spec.field)) {
          return false;
        }
        scalar(operand, number);
        break;
    }
  }
  if (negated != 0) set(fields.neg, negated);
  return true;
}

/// Whether both halves can read and write their registers at once.
bool Encoder::dual_registers(const DualRegisters& x, const DualRegisters& y) {
  const bool third = in_.encoding == Encoding::vopd3;
  if (!third && (x.dst.first & 1) == (y.dst.first & 1)) {
    return fail("one destination has to be an even register and the other an odd one");
  }
  const auto end = [](const DualRegisters::Tuple& tuple) { return tuple.first + static_cast<int>(tuple.words); };
  if (x.dst.first < end(y.dst) && y.dst.first < end(x.dst)) {
    return fail("the destinations have to be different registers");
  }
  const bool moves = in_.opcode == Opcode::v_mov_b32 && in_.second == Opcode::v_mov_b32;
  const bool apart = !moves || !layout_.moves_share_banks;
  const std::array<int, 3> banks{4, 4, third ? 4 : 2};
  constexpr std::array<std::string_view, 3> names{"first", "second", "third"};
  for (size_t i = 0; apart && i < banks.size(); ++i) {
    const DualRegisters::Tuple &first = x.sources[i], &second = y.sources[i];
    if (first.first < 0 || second.first < 0) continue;
    if (layout_.halves_share_registers && first.first == second.first && first.words == second.words) continue;
    for (int a = first.first; a < end(first); ++a) {
      for (int b = second.first; b < end(second); ++b) {
        if (a % banks[i] != b % banks[i]) continue;
        return fail("the {} sources of both halves have to be registers whose numbers differ modulo {}", names[i],
                    banks[i]);
      }
    }
  }
  auto scalars = x.scalars;
  scalars.insert(scalars.end(), y.scalars.begin(), y.scalars.end());
  std::ranges::sort(scalars);
  scalars.erase(std::ranges::unique(scalars).begin(), scalars.end());
  const size_t count = scalars.size() + (has_literal_ ? 1 : 0);
  return count <= 2 || fail("both halves together can read two scalar values, not {}", count);
}

bool Encoder::dual() {
  if (map_.lane_mask_words != 1) return fail("dual instructions need waves of 32 lanes");
  const uint16_t y = codes_.code_of_half(map_.duals(in_.encoding).y, in_.second);
  if (y == CodeMap::none) return fail("{} cannot be half of a dual instruction", map_.name(in_.second));
  if (in_.encoding == Encoding::vopd && in_.opcode == Opcode::v_dot2c_f32_bf16 && !layout_.bf16_dots_begin_vopd) {
    return fail("it cannot be the first half in VOPD on {}", processor_.name);
  }
  set(Bits::opcode_high, y);
  constexpr DualFields fields_x{Bits::src0, Bits::src1, Bits::src2, Bits::neg},
      fields_y{Bits::src0_y, Bits::src1_y, Bits::src2_y, Bits::neg_y};
  DualRegisters used_x, used_y;
  if (!dual_half(*row_, 0, fields_x, used_x) ||
      !dual_half(map_.row(in_.second), in_.second_operands, fields_y, used_y) || !dual_registers(used_x, used_y)) {
    return false;
  }
  set(Bits::vdst, static_cast<uint32_t>(used_x.dst.first));
  set(Bits::vdst_y, static_cast<uint32_t>(in_.encoding == Encoding::vopd3 ? used_y.dst.first : used_y.dst.first >> 1));
  return true;
}

}  // namespace Atoll::isa
