// Vector instructions in VOP3 and VOP3P with random modifiers and part of EXEC, executed by the interpreter and, lane
// by lane, by the vendor's pseudo-code (tests/semantics/pseudocode.h), to whose sources and results the modifiers are
// applied here.
//
// The words are made of an opcode and random bits; those that the decoder refuses are no instruction. Skipped without
// the guides' text, as in tests/semantics/test_pseudocode.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>

#include <fmt/format.h>

#include "engine/wave_runner.h"
#include "isa/decode.h"
#include "isa/opcode_map.h"
#include "isa/print.h"
#include "semantics/guide.h"

namespace Atoll::test {
namespace {

using isa::DataType;
using isa::Encoding;
using isa::Opcode;
using machine::WaveState;
using semantics::test::Guide;
namespace pseudocode = semantics::test::pseudocode;

struct Subject {
  const char *guide, *processor;
  unsigned lanes;
  unsigned least;  ///< instructions that are compared, at least
};
void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.guide << " " << subject.processor << " wave" << subject.lanes;
}

// Registers: sources v2, v4 and v6, the result v8, masks s4 and s6, each with its neighbour.
constexpr unsigned source_register[3] = {2, 4, 6};
constexpr unsigned result_register = 8, mask_result = 4, mask_source = 6;

bool is_pair_of_halves(DataType type) {
  return type == DataType::v2f16 || type == DataType::v2i16 || type == DataType::v2u16 || type == DataType::v2bf16;
}

/// The source as the operation sees it.
uint64_t modified(const isa::Operand& operand, uint64_t value) {
  const auto sign = [&](uint64_t bits, unsigned width, bool negative) {
    const uint64_t top = uint64_t{1} << (width - 1);
    if (operand.abs) bits &= ~top;
    return negative ? bits ^ top : bits;
  };
  if (isa::is_half(operand.type)) return sign(operand.op_sel ? value >> 16 & 0xFFFF : value & 0xFFFF, 16, operand.neg);
  if (is_pair_of_halves(operand.type)) {
    const uint64_t low = (operand.op_sel ? value >> 16 : value) & 0xFFFF;
    const uint64_t high = (operand.op_sel_hi ? value >> 16 : value) & 0xFFFF;
    return sign(low, 16, operand.neg) | sign(high, 16, operand.neg_hi) << 16;
  }
  if (operand.type == DataType::v2f32 || operand.type == DataType::v2b32) {
    const uint64_t low = (operand.op_sel ? value >> 32 : value) & 0xFFFFFFFF;
    const uint64_t high = (operand.op_sel_hi ? value >> 32 : value) & 0xFFFFFFFF;
    return sign(low, 32, operand.neg) | sign(high, 32, operand.neg_hi) << 32;
  }
  return sign(value, semantics::test::width_of(operand.type), operand.neg);
}

/// A number of that many bits, clamped; NaNs become 0 (DX10_CLAMP).
uint64_t clamped(uint64_t bits, unsigned width) {
  const double number = width == 64   ? std::bit_cast<double>(bits)
                        : width == 32 ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)))
                                      : static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
  if (!(number > 0)) return 0;
  if (number > 1) return width == 64 ? 0x3FF0000000000000 : width == 32 ? 0x3F800000 : 0x3C00;
  return bits;
}

uint64_t clamped_result(uint64_t value, DataType type) {
  switch (type) {
    case DataType::f16:
      return (value & ~uint64_t{0xFFFF}) | clamped(value & 0xFFFF, 16);
    case DataType::v2f16:
      return clamped(value & 0xFFFF, 16) | clamped(value >> 16, 16) << 16;
    case DataType::v2f32:
      return clamped(value & 0xFFFFFFFF, 32) | clamped(value >> 32, 32) << 32;
    default:
      return clamped(value, semantics::test::width_of(type));
  }
}

class GuideModifiers : public testing::TestWithParam<Subject> {
 protected:
  /// Words of the instruction with random modifiers, or nothing.
  std::optional<isa::Instruction> random_words(Encoding encoding, unsigned opcode, const isa::InstructionRow& row,
                                               uint32_t (&words)[2]) {
    const bool packed = encoding == Encoding::vop3p;
    const bool has_mask_result = std::ranges::any_of(
        row.operands, [](const isa::OperandSpec& spec) { return spec.field == isa::Field::carry_out; });
    const bool has_mask_source = std::ranges::any_of(
        row.operands, [](const isa::OperandSpec& spec) { return spec.field == isa::Field::carry_in; });
    const bool compares = row.encoding == Encoding::vopc;
    const bool gfx9 = processor_->generation < target::Generation::gfx10;
    for (unsigned attempt = 0; attempt < 60; ++attempt) {
      // Fewer modifiers with each attempt.
      uint32_t low = 0, high = 0;
      const auto some = [&](uint32_t mask) {
        return static_cast<uint32_t>(random_()) & mask & (attempt > 40 ? 0 : ~0u);
      };
      if (packed) {
        low = (gfx9 ? 0xD3800000u : 0xCC000000u) | opcode << 16 | some(0xFF00);
        high = some(0xE0000000);
        // op_sel_hi is set where it means nothing.
        const bool any = attempt < 30;
        low = (low & ~0x4000u) | (any ? some(0x4000) : 0x4000);
        high |= any ? some(0x18000000) : 0x18000000;
      } else {
        low = (gfx9 ? 0xD0000000u : 0xD4000000u) | opcode << 16;
        low |= has_mask_result ? mask_result << 8 : some(0xFF00);
        high = some(0xE0000000);
      }
      low |= compares ? mask_result : result_register;
      const bool third = attempt % 2 == 0;
      high |= (256 + source_register[0]) | (256 + source_register[1]) << 9;
      if (has_mask_source) {
        high |= mask_source << 18;
      } else if (third) {
        high |= (256u + source_register[2]) << 18;
      }
      if (attempt % 4 >= 2) high &= ~(0x1FFu << 9);  // instructions of one source
      words[0] = low;
      words[1] = high;
      const auto bytes = std::span(reinterpret_cast<const uint8_t*>(words), sizeof words);
      const auto decoded = isa::decode(bytes, *processor_, GetParam().lanes);
      if (!decoded || decoded->size != 8 || decoded->opcode == Opcode::invalid) continue;
      // An instruction of three sources reads s0 where there are two.
      const auto is_other = [](const isa::Operand& operand) {
        return operand.type != DataType::lane_mask && operand.kind != isa::OperandKind::none &&
               operand.kind != isa::OperandKind::vgpr;
      };
      if (std::ranges::any_of(decoded->operands, is_other)) continue;
      return *decoded;
    }
    return std::nullopt;
  }

  /// False: the instruction is not of the kind that is compared here.
  bool compare(const isa::Instruction& instruction, const uint32_t (&words)[2], const pseudocode::Tree& program) {
    const unsigned lanes = GetParam().lanes;
    const isa::Operand* sources[3]{};
    const isa::Operand *mask_in = nullptr, *mask_out = nullptr, *result = nullptr;
    unsigned count = 0;
    for (unsigned i = 0; i < instruction.operand_count; ++i) {
      const isa::Operand& operand = instruction.operands[i];
      const bool is_result = i < instruction.destinations;
      if (operand.type == DataType::lane_mask) {
        (is_result ? mask_out : mask_in) = &operand;
      } else if (operand.kind != isa::OperandKind::vgpr || operand.words > 2 ||
                 operand.sdwa != isa::SdwaSelect::dword) {
        return false;
      } else if (is_result) {
        result = &operand;
      } else if (count < 3) {
        sources[count++] = &operand;
      }
    }
    const auto& shape = semantics::vector_function(instruction.opcode, processor_->generation);
    const bool float_result = result != nullptr && (isa::is_float(result->type) && result->type != DataType::bf16 &&
                                                    result->type != DataType::v2bf16);
    if (instruction.dst_sel != isa::SdwaSelect::dword || shape.mixed_sources || shape.source_part != 0 ||
        shape.writes_one_byte || (instruction.clamp && !float_result)) {
      return false;
    }
    if (mask_out != nullptr && mask_out->reg != mask_result) return false;

    WaveRunner runner(GetParam().processor, "interpreter");
    runner.wave().wave_size = static_cast<uint8_t>(lanes);
    const uint64_t all = lanes == 32 ? 0xFFFFFFFF : ~uint64_t{0};
    const uint64_t exec = random_() & all, mask = random_() & all;
    runner.wave().set_scalar64(isa::scalar::exec_lo, exec);
    runner.wave().set_scalar64(mask_source, mask);
    uint64_t values[3][64]{}, old[64]{};
    for (unsigned s = 0; s < count; ++s) {
      semantics::test::Source source(sources[s]->type, random_());
      runner.set_rows(source_register[s], [&](unsigned lane) { return values[s][lane] = source.any(); });
    }
    if (result != nullptr) {
      semantics::test::Source source(result->type, random_());
      runner.set_rows(result_register, [&](unsigned lane) { return old[lane] = source.any(); });
    }
    const uint32_t end = processor_->generation < target::Generation::gfx11 ? 0xBF810000 : 0xBFB00000;
    const uint32_t code[3] = {words[0], words[1], end};
    const std::string text = isa::print(instruction, *processor_);
    EXPECT_EQ(runner.run_code(std::span(reinterpret_cast<const uint8_t*>(code), sizeof code)), WaveState::ended)
        << text << ": " << (runner.wave().fault ? runner.wave().fault->what : "");
    if (runner.wave().state != WaveState::ended) return true;

    for (unsigned lane = 0; lane < lanes; ++lane) {
      const bool active = (exec >> lane & 1) != 0;
      pseudocode::Lane expected;
      for (unsigned s = 0; s < count; ++s) {
        if (shape.has_signed_sources && s < 2) {
          expected.source[s] = values[s][lane];
          expected.negated |= (sources[s]->neg ? 1u : 0u) << s;
        } else {
          expected.source[s] = modified(*sources[s], values[s][lane]);
        }
        expected.source_bits[s] = std::max(semantics::test::width_of(sources[s]->type), 32u);
      }
      expected.ieee = processor_->ieee_mode;
      expected.lane_id = lane;
      expected.carry = mask_in != nullptr && (mask >> lane & 1) != 0;
      // The operation sees the half that it writes as the lower one. Results of 64 bits have no halves.
      const bool upper = instruction.op_sel_dst && result != nullptr && result->words == 1;
      const uint64_t before = upper ? (old[lane] >> 16 & 0xFFFF) | old[lane] << 16 : old[lane];
      expected.destination = before & ~uint64_t{0};
      expected.instruction = [this](const std::string& name) { return guide_->tree(name); };
      if (active) pseudocode::run(program, expected);
      if (mask_out != nullptr) {
        const uint64_t got = lanes == 32 ? runner.s(mask_result) : runner.wave().scalar64(mask_result);
        const bool wanted =
            active && (result == nullptr ? (expected.destination >> lane & 1) != 0
                       : semantics::vector_function(instruction.opcode).dst_words[0] == 2 ? expected.second
                                                                                          : expected.carry);
        EXPECT_EQ((got >> lane & 1) != 0, wanted) << text << " lane " << lane;
      }
      if (result == nullptr) continue;
      const bool wide = result->words == 2;
      const uint64_t all_bits = wide ? ~uint64_t{0} : 0xFFFFFFFF;
      const uint64_t got =
          runner.v(result_register)[lane] | (wide ? uint64_t{runner.v(result_register + 1)[lane]} << 32 : 0);
      uint64_t wanted = old[lane] & all_bits;
      if (active) {
        wanted = static_cast<uint64_t>(expected.destination) & all_bits;
        const bool half = (expected.destination_mask & 0xFFFFFFFF) == 0xFFFF;
        if (half && !upper && !shape.writes_low_half_only && !shape.reads_dst) wanted &= 0xFFFF;
        if (instruction.clamp) {
          wanted = clamped_result(wanted, result->type);
          expected.destination_any_nan = false;
        }
        if (upper) wanted = (old[lane] & 0xFFFF) | (wanted & 0xFFFF) << 16;
      }
      EXPECT_TRUE(semantics::test::agree(wanted, got, result->type, expected.destination_any_nan))
          << fmt::format("{} lane {}: {:#x} rather than {:#x}, of {:#x} {:#x} {:#x}, old {:#x}", text, lane, got,
                         wanted, values[0][lane], values[1][lane], values[2][lane], old[lane]);
      if (HasFailure() && ++failures_ > 200) return true;
    }
    return true;
  }

  const target::Processor* processor_ = nullptr;
  std::unique_ptr<Guide> guide_;
  std::mt19937_64 random_{1};
  unsigned failures_ = 0;
};

TEST_P(GuideModifiers, AreAppliedToEachInstruction) {
  const std::string path = fmt::format("{}/pseudocode-{}.json", ATOLL_PSEUDOCODE, GetParam().guide);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the guide's text is not there: " << path;
  guide_ = std::make_unique<Guide>(path);
  processor_ = target::find_processor(GetParam().processor);
  const isa::OpcodeMap& map = isa::opcode_map_of(*processor_, GetParam().lanes);
  unsigned compared = 0, unsupported = 0;
  std::set<Opcode> seen;
  for (const Encoding encoding : {Encoding::vop3, Encoding::vop3p}) {
    const auto& opcodes = map.opcodes[static_cast<size_t>(encoding)];
    for (unsigned value = 0; value < opcodes.size(); ++value) {
      const Opcode opcode = opcodes[value];
      if (opcode == Opcode::invalid || !seen.insert(opcode).second) continue;
      if (semantics::vector_function(opcode, processor_->generation).call == nullptr) continue;
      const isa::InstructionRow& row = isa::row_on(opcode, processor_->generation);
      const std::string name = semantics::test::name_in(*guide_, opcode, map);
      if (semantics::test::exceptions().contains(name) || !guide_->has(name)) continue;
      if (row.has(isa::flag::exec_out)) continue;
      // The guides do not say what it yields where it scales nothing.
      if (name.starts_with("v_div_scale_")) continue;
      // The 8-bit floats of gfx940 are others than those of the guide's GPU; test_float_eight.cpp has them.
      const bool has_own_bytes = processor_->generation == target::Generation::gfx940;
      if (has_own_bytes && (name.contains("fp8") || name.contains("bf8"))) continue;
      const bool is_gfx10 =
          processor_->generation == target::Generation::gfx10 || processor_->generation == target::Generation::gfx10_3;
      if (is_gfx10 && semantics::test::differs_on_gfx10(name)) continue;
      try {
        const pseudocode::Tree program = guide_->tree(name);
        unsigned done = 0;
        for (unsigned round = 0; round < 12 && done < 6; ++round) {
          uint32_t words[2]{};
          const auto instruction = random_words(encoding, value, row, words);
          if (instruction && instruction->opcode == opcode && instruction->omod == 0) {
            done += compare(*instruction, words, program);
          }
        }
        compared += done != 0;
      } catch (const pseudocode::Unsupported&) {
        ++unsupported;
      }
    }
  }
  fmt::print("{} instructions compared, {} left out, which test_pseudocode lists\n", compared, unsupported);
  EXPECT_GE(compared, GetParam().least);
}

INSTANTIATE_TEST_SUITE_P(Guides, GuideModifiers,
                         testing::Values(Subject{"cdna", "gfx900", 64, 285}, Subject{"cdna", "gfx906", 64, 295},
                                         Subject{"cdna", "gfx908", 64, 300}, Subject{"cdna", "gfx90a", 64, 300},
                                         Subject{"cdna", "gfx942", 64, 300}, Subject{"cdna", "gfx950", 64, 310},
                                         Subject{"rdna3", "gfx1010", 32, 270}, Subject{"rdna3", "gfx1012", 64, 270},
                                         Subject{"rdna3", "gfx1030", 32, 270}, Subject{"rdna3", "gfx1030", 64, 270},
                                         Subject{"rdna3", "gfx1100", 32, 305}, Subject{"rdna3", "gfx1100", 64, 305},
                                         Subject{"rdna3", "gfx1150", 32, 305}, Subject{"rdna3", "gfx1150", 64, 305},
                                         Subject{"rdna4", "gfx1170", 32, 300}, Subject{"rdna4", "gfx1170", 64, 300},
                                         Subject{"rdna4", "gfx1200", 32, 310}, Subject{"rdna4", "gfx1201", 64, 310}),
                         [](const auto& info) {
                           return fmt::format("{}_wave{}", info.param.processor, info.param.lanes);
                         });

}  // namespace
}  // namespace Atoll::test
