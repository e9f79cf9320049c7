// Every half of a dual instruction (VOPD, VOPD3) against the single instruction of the same opcode, as X and as Y, on
// each generation. Dot products of pairs are compared with sums of integers, since some generations have no single
// form of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "engine/wave_runner.h"
#include "isa/opcode_map.h"
#include "isa/table.h"

namespace Atoll::test {
namespace {

using isa::Encoding;
using isa::Field;
using isa::Opcode;
using machine::WaveState;

constexpr unsigned wave_lanes = 32;

/// The registers of one half. The banks of both halves' sources differ, and so does the parity of their results.
struct HalfRegisters {
  unsigned dst;
  unsigned src[3];
};
constexpr HalfRegisters x_registers{20, {1, 6, 11}}, y_registers{41, {2, 7, 8}}, x_pairs{20, {12, 16, 24}};

struct Half {
  Opcode opcode;
  Encoding encoding;
  const HalfRegisters* registers;
  std::string src0;  ///< if it is not a VGPR
};

bool is_dot(Opcode opcode) { return opcode == Opcode::v_dot2c_f32_f16 || opcode == Opcode::v_dot2c_f32_bf16; }

class DualForms : public testing::TestWithParam<std::string> {
 protected:
  DualForms() : processor_(*target::find_processor(GetParam())), map_(isa::opcode_map_of(processor_, wave_lanes)) {}

  const isa::OpcodeMap& map() const { return map_; }

  bool has_pairs(Opcode opcode) const { return map_.row(opcode).operands[0].type == isa::DataType::f64; }

  /// The operands of a half, or of the single instruction.
  std::string operands(const Half& half, bool dual) const {
    std::string text;
    const auto vgprs = [](unsigned reg, isa::DataType type) {
      return isa::words_of(type) == 2 ? fmt::format("v[{}:{}]", reg, reg + 1) : fmt::format("v{}", reg);
    };
    for (const isa::OperandSpec& spec : map_.row(half.opcode).operands) {
      std::string operand;
      switch (spec.field) {
        case Field::vdst:
          operand = vgprs(half.registers->dst, spec.type);
          break;
        case Field::src0:
          operand = half.src0.empty() ? vgprs(half.registers->src[0], spec.type) : half.src0;
          break;
        case Field::src1:
          operand = vgprs(half.registers->src[1], spec.type);
          break;
        case Field::src2:
          operand = vgprs(half.registers->src[2], spec.type);
          if (half.opcode == Opcode::v_bitop3_b32) operand = dual ? "" : "0";
          break;
        case Field::literal:
          operand = "0x40490fdb";
          break;
        case Field::carry_in:
          operand = half.encoding == Encoding::vopd3 ? "s4" : dual ? "" : "vcc_lo";
          break;
        default:
          break;
      }
      if (!operand.empty()) text += (text.empty() ? " " : ", ") + operand;
    }
    if (half.opcode == Opcode::v_bitop3_b32) text += " bitop3:0x14";
    return text;
  }

  std::string dual_text(const Half& x, const Half& y) const {
    const auto text = [&](const Half& half, bool second) {
      const isa::DualHalves& halves = map_.duals(half.encoding);
      const auto& codes = second ? halves.y : halves.x;
      const auto code = static_cast<size_t>(std::ranges::find(codes, half.opcode) - codes.begin());
      return "v_dual_" + std::string(map_.dual_names[code]).substr(2) + operands(half, true);
    };
    return text(x, false) + " :: " + text(y, true);
  }
  std::string single_text(const Half& half) const {
    return std::string(map_.name(half.opcode)) + operands(half, false);
  }

  /// Registers with patterns of bits, or with pairs of small integers for dot products.
  void set_registers(WaveRunner& runner, Opcode x, Opcode y) const {
    std::mt19937 random(7);
    runner.wave().set_vcc(0x5A5A3C3C);
    runner.s(4) = 0x0F0F3355;
    for (const HalfRegisters* registers : {&x_pairs, &x_registers, &y_registers}) {
      const Opcode opcode = registers == &y_registers ? y : x;
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned reg = i == 3 ? registers->dst : registers->src[i];
        for (unsigned lane = 0; lane < wave_lanes; ++lane) {
          auto word = static_cast<uint32_t>(random());
          if (is_dot(opcode) && registers != &x_pairs) {
            word = i == 3 ? std::bit_cast<uint32_t>(static_cast<float>(random() % 100))
                          : element(opcode, random() % 9) | element(opcode, random() % 9) << 16;
          } else if (registers == &x_pairs) {
            runner.v(reg)[lane] = static_cast<uint32_t>(random());
            runner.v(reg + 1)[lane] = 0x3FF00000 + word % 0x300000;
            continue;
          } else if (lane % 2 == 0) {
            word = std::bit_cast<uint32_t>(static_cast<float>(word % 4096) / 64 - 32);
          }
          runner.v(reg)[lane] = word;
        }
      }
    }
    runner.s(6) =
        is_dot(x) || is_dot(y) ? element(is_dot(x) ? x : y, 3) | element(is_dot(x) ? x : y, 5) << 16 : 0x40A1B2C3;
  }

  static uint32_t element(Opcode opcode, unsigned number) {
    const auto value = static_cast<float>(number);
    if (opcode == Opcode::v_dot2c_f32_bf16) return std::bit_cast<uint32_t>(value) >> 16;
    return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  }
  static float number(Opcode opcode, uint32_t pair, unsigned half) {
    const uint32_t bits = pair >> 16 * half & 0xFFFF;
    if (opcode == Opcode::v_dot2c_f32_bf16) return std::bit_cast<float>(bits << 16);
    return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
  }

  /// The result of the half in one lane; `before` has the registers as they were.
  uint64_t expected(const Half& half, WaveRunner& before, WaveRunner& single, unsigned lane) const {
    if (!is_dot(half.opcode)) {
      return has_pairs(half.opcode) ? single.v64(half.registers->dst, lane) : single.v(half.registers->dst)[lane];
    }
    const uint32_t a = half.src0.empty() ? before.v(half.registers->src[0])[lane] : before.s(6);
    const uint32_t b = before.v(half.registers->src[1])[lane];
    const float sum = std::bit_cast<float>(before.v(half.registers->dst)[lane]) +
                      number(half.opcode, a, 0) * number(half.opcode, b, 0) +
                      number(half.opcode, a, 1) * number(half.opcode, b, 1);
    return std::bit_cast<uint32_t>(sum);
  }

  void compare(const Half& x, const Half& y) const {
    WaveRunner dual(GetParam(), "", wave_lanes), before(GetParam(), "", wave_lanes);
    set_registers(dual, x.opcode, y.opcode);
    set_registers(before, x.opcode, y.opcode);
    const std::string text = dual_text(x, y);
    SCOPED_TRACE(text);
    ASSERT_EQ(dual.run(text), WaveState::ended);
    for (const Half* half : {&x, &y}) {
      WaveRunner single(GetParam(), "", wave_lanes);
      set_registers(single, x.opcode, y.opcode);
      if (!is_dot(half->opcode)) ASSERT_EQ(single.run(single_text(*half)), WaveState::ended);
      for (unsigned lane = 0; lane < wave_lanes; ++lane) {
        const uint64_t result =
            has_pairs(half->opcode) ? dual.v64(half->registers->dst, lane) : dual.v(half->registers->dst)[lane];
        ASSERT_EQ(result, expected(*half, before, single, lane))
            << (half == &x ? "X" : "Y") << " in lane " << lane << std::hex;
      }
    }
  }

  /// Compares all pairs of one opcode with itself and with a move, with each kind of first source.
  void compare_all(Encoding encoding) const {
    const isa::DualHalves& halves = map_.duals(encoding);
    const Half move_x{Opcode::v_mov_b32, encoding, &x_registers, {}},
        move_y{Opcode::v_mov_b32, encoding, &y_registers, {}};
    for (size_t code = 0; code < halves.x.size(); ++code) {
      for (const std::string& src0 : {std::string(), std::string("s6")}) {
        const Opcode x = halves.x[code], y = halves.y[code];
        const HalfRegisters* of_x = x != Opcode::invalid && has_pairs(x) ? &x_pairs : &x_registers;
        const std::string x_src0 = of_x == &x_pairs ? "" : src0;
        if (x != Opcode::invalid) compare({x, encoding, of_x, x_src0}, move_y);
        if (y != Opcode::invalid) compare(move_x, {y, encoding, &y_registers, src0});
        if (x != Opcode::invalid && y != Opcode::invalid) {
          compare({x, encoding, of_x, x_src0}, {y, encoding, &y_registers, src0});
        }
      }
    }
  }

 private:
  const target::Processor& processor_;
  const isa::OpcodeMap& map_;
};

TEST_P(DualForms, ComputeWhatTheSingleInstructionsDo) { compare_all(Encoding::vopd); }

TEST_P(DualForms, WithThreeSourcesComputeWhatTheSingleInstructionsDo) { compare_all(Encoding::vopd3); }

INSTANTIATE_TEST_SUITE_P(On, DualForms, testing::Values("gfx1100", "gfx1150", "gfx1170", "gfx1201", "gfx1250"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace Atoll::test
