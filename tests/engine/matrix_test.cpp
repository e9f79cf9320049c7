// Every matrix instruction of every processor, with all modifiers, on random numbers and on edge values, against the
// reference of matrix_reference.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <span>

#include "engine/matrix_reference.h"
#include "engine/wave_runner.h"
#include "isa/decode.h"
#include "isa/table.h"
#include "support/tested_instructions.h"

namespace Atoll {
namespace {

using isa::Opcode;
using test::MatrixName;
using test::MatrixOperands;
using test::Registers;
using test::WaveRunner;
namespace flag = isa::flag;

/// Where the operands are: their first registers, and which of them are AGPRs.
struct Places {
  unsigned d = 0, a = 64, b = 80, c = 0, index = 100, scale_a = 101, scale_b = 102;
  bool a_agpr = false, b_agpr = false, accumulators = false;
  int c_constant = -1;  ///< the code of an inline constant instead of C
};

/// What kind of numbers the operands are filled with.
enum class Numbers : uint8_t {
  usual,           ///< near 1 (of few bits: any)
  some_denormals,  ///< near 1, some denormal
  edges,           ///< zeros, denormals, infinities, NaNs and the like
  whole,           ///< small multiples of 1/4, but for some of C
  spread,          ///< of few bits each, far apart: sums lose some and are often halfway between two results
  rare,            ///< the same between many zeros, so that many products are 0 next to each other
  largest  ///< all sources the largest number below 2, so that sums are the largest for their exponent; C from 128 to
           ///< 224
};

struct Modifiers {
  unsigned cbsz = 0, abid = 0, blgp = 0, scale_byte_a = 0, scale_byte_b = 0;
};

/// The VOP3P-MAI encoding (CDNA3 ISA guide, "VOP3P-MAI"), with v_mfma_ld_scale_b32 before a scaled instruction.
std::vector<uint32_t> encode(const isa::InstructionRow& row, uint32_t opcode, const Places& at, const Modifiers& m) {
  constexpr uint32_t mai = 0xD3800000, v0 = 256, scaled = 1;
  std::vector<uint32_t> words;
  const bool is_scaled = row.has(flag::scaled);
  if (is_scaled) {
    constexpr uint32_t load_scales = 0x2C;
    words.push_back(mai | load_scales << 16 | (m.scale_byte_a & 1) << 11 | (m.scale_byte_b & 1) << 12);
    words.push_back((v0 + at.scale_a) | (v0 + at.scale_b) << 9 | (m.scale_byte_a >> 1) << 27 |
                    (m.scale_byte_b >> 1) << 28);
  }
  const uint32_t third = row.has(flag::sparse) ? v0 + at.index
                         : at.c_constant >= 0  ? static_cast<uint32_t>(at.c_constant)
                                               : v0 + at.c;
  words.push_back(mai | opcode << 16 | uint32_t{at.accumulators} << 15 | (is_scaled ? scaled : m.abid) << 11 |
                  m.cbsz << 8 | at.d);
  words.push_back((v0 + at.a) | (v0 + at.b) << 9 | third << 18 | uint32_t{at.a_agpr} << 27 | uint32_t{at.b_agpr} << 28 |
                  m.blgp << 29);
  words.push_back(0xBF810000);  // s_endpgm
  return words;
}

class Matrix : public testing::TestWithParam<std::string> {
 protected:
  const target::Processor& processor_ = *target::find_processor(GetParam());
  std::mt19937 random_{1};
  WaveRunner runner_{GetParam()};

  unsigned below(unsigned count) { return static_cast<unsigned>(random_() % count); }

  /// An element, of every size or near 1, or of the values at the edges.
  uint64_t element(const std::string& type, Numbers numbers) {
    const unsigned width = test::matrix_element_bits(type);
    const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    const uint64_t any = (uint64_t{random_()} << 32 | random_()) & mask;
    if (numbers == Numbers::rare && below(8) != 0) return 0;
    const unsigned exponent_bits = type == "f64" ? 11 : type == "f16" ? 5 : 8;
    if (numbers == Numbers::largest && (type == "fp8" || type == "bf8")) return type == "fp8" ? 0x47 : 0x43;
    if (width < 16) {
      if (numbers != Numbers::edges || below(2) == 0) return any;
      const uint64_t limits[] = {0, 1, mask, mask >> 1, mask >> 1 ^ mask, (mask >> 1) - 3};
      return limits[below(6)];
    }
    const unsigned fraction_bits = width - 1 - exponent_bits;
    const uint64_t one = (uint64_t{1} << (exponent_bits - 1)) - 1, sign = any & ~(mask >> 1);
    if (numbers == Numbers::whole && type != "f64") {
      const float number = static_cast<float>(static_cast<int>(below(17)) - 8) * 0.25f;
      const float single = below(99) == 0 ? number * 0x1p19f : below(99) == 0 ? number + 0x1p-15f : number;
      if (width == 32) return std::bit_cast<uint32_t>(single);
      return exponent_bits == 8 ? std::bit_cast<uint32_t>(number) >> 16
                                : std::bit_cast<uint16_t>(static_cast<_Float16>(number));
    }
    if (numbers == Numbers::largest) {
      if (width == 32) return std::bit_cast<uint32_t>(128 + static_cast<float>(below(96 << 16)) * 0x1p-16f);
      return ((one + 1) << fraction_bits) - 1;
    }
    if (numbers == Numbers::spread || numbers == Numbers::rare) {
      const unsigned span = width == 32 ? 48 : exponent_bits == 5 ? 20 : 30;
      const uint64_t fraction = (below(8) == 0 ? any : uint64_t{below(4)} << (fraction_bits - 2)) | below(2);
      return sign | (one - span / 2 + below(span)) << fraction_bits | (fraction & ((uint64_t{1} << fraction_bits) - 1));
    }
    if (numbers == Numbers::some_denormals && below(20) == 0)
      return sign | (any & ((uint64_t{1} << fraction_bits) - 1));
    if (numbers == Numbers::usual || numbers == Numbers::some_denormals) {  // exponents around that of 1
      return sign | (one - 4 + below(8)) << fraction_bits | (any & ((uint64_t{1} << fraction_bits) - 1));
    }
    const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << fraction_bits;
    switch (below(12)) {
      case 0:
        return sign;
      case 1:
        return sign | 1;
      case 2:
        return sign | (any & ((uint64_t{1} << fraction_bits) - 1));  // a denormal
      case 3:
        return below(8) == 0 ? sign | infinity : sign | uint64_t{1} << fraction_bits;
      case 4:
        return below(8) == 0 ? sign | infinity | 1 : sign;
      case 5:
        return sign | (infinity - 1);
      case 6:
        return sign | (one / 2 + below(16)) << fraction_bits;  // products at the edge of denormals
      case 7:
        return sign | one << fraction_bits;
      default:
        return below(4) == 0 ? any & ~(uint64_t{1} << (fraction_bits + 1)) : sign | one << fraction_bits;
    }
  }

  /// Fills registers with elements of a type.
  void fill(unsigned first, bool agpr, unsigned count, const std::string& type, Numbers numbers) {
    const unsigned width = test::matrix_element_bits(type);
    for (unsigned lane = 0; lane < 64; ++lane) {
      std::vector<uint32_t> words(count);
      for (unsigned position = 0; position + width <= 32 * count; position += width) {
        const uint64_t bits = element(type, numbers);
        for (unsigned bit = 0; bit < width; ++bit) {
          words[(position + bit) / 32] |= static_cast<uint32_t>(bits >> bit & 1) << (position + bit) % 32;
        }
      }
      for (unsigned word = 0; word < count; ++word) reg(first + word, agpr)[lane] = words[word];
    }
  }
  semantics::Row& reg(unsigned number, bool agpr) { return agpr ? runner_.a(number) : runner_.v(number); }

  Registers read(unsigned first, bool agpr, unsigned count) {
    Registers registers;
    for (unsigned i = 0; i < count; ++i) {
      const semantics::Row& row = reg(first + i, agpr);
      registers.emplace_back(row, row + 64);
    }
    return registers;
  }

  bool has_blocks_modifier(const MatrixName& name) const { return name.blocks > 1; }

  void check(const isa::InstructionRow& row, uint32_t opcode, const Places& at, const Modifiers& m, Numbers numbers);
};

void Matrix::check(const isa::InstructionRow& row, uint32_t opcode, const Places& at, const Modifiers& m,
                   Numbers numbers) {
  MatrixName name = test::parse_matrix_name(row.name);
  const bool formats = row.has(flag::matrix_formats);
  if (formats) {
    const char* const types[] = {"fp8", "bf8", "fp6", "bf6", "fp4"};
    name.a = types[m.cbsz];
    name.b = types[m.blgp];
  }
  const bool accumulators = at.accumulators || !processor_.unified_vgprs;
  const auto words = [](unsigned elements, const std::string& type) {
    return elements * test::matrix_element_bits(type) / 32;
  };
  const unsigned area = name.k * name.blocks / (name.sparse ? 2 : 1);
  const unsigned a_words = words(name.m * area / 64, name.a);
  const unsigned b_words = words(name.n * name.k * name.blocks / 64, name.b);
  const unsigned d_words = name.m * name.n * name.blocks / 64 * name.result_bits / 32;

  const std::string result_type = name.result_bits == 64 ? "f64" : name.result == 'f' ? "f32" : "i8";
  fill(at.c, accumulators, d_words, result_type, numbers);
  fill(at.d, accumulators, d_words, result_type, numbers);
  fill(at.a, at.a_agpr, a_words, name.a, numbers);
  fill(at.b, at.b_agpr, b_words, name.b, numbers);
  fill(at.index, false, 1, "i8", Numbers::usual);
  for (const unsigned scale : {at.scale_a, at.scale_b}) {
    for (uint32_t& lane : runner_.v(scale)) {
      lane = 0;
      for (unsigned byte = 0; byte < 4; ++byte) {
        lane |= (numbers == Numbers::edges ? (below(40) == 0 ? 255 : below(255)) : 122 + below(10)) << 8 * byte;
      }
    }
  }

  MatrixOperands in;
  in.a = read(at.a, at.a_agpr, a_words);
  in.b = read(at.b, at.b_agpr, b_words);
  in.c = read(row.has(flag::sparse) ? at.d : at.c, accumulators, d_words);
  if (at.c_constant >= 0 && !row.has(flag::sparse)) {
    constexpr int minus_one = 193, one_float = 242;
    uint64_t value = ~uint64_t{0};
    if (at.c_constant == one_float) value = name.result_bits == 64 ? std::bit_cast<uint64_t>(1.0) : 0x3F800000;
    ASSERT_TRUE(at.c_constant == minus_one || at.c_constant == one_float);
    for (unsigned i = 0; i < d_words; ++i) {
      in.c[i].assign(64, static_cast<uint32_t>(name.result_bits == 64 && i % 2 != 0 ? value >> 32 : value));
    }
  }
  if (row.has(flag::sparse)) in.index = read(at.index, false, 1);
  if (row.has(flag::scaled)) {
    in.scale_a = read(at.scale_a, false, 1);
    in.scale_b = read(at.scale_b, false, 1);
    in.scale_byte_a = m.scale_byte_a;
    in.scale_byte_b = m.scale_byte_b;
  }
  if (name.a == "f64") {
    for (unsigned i = 0; i < 3; ++i) {
      in.negate[i] = processor_.has(target::Feature::gfx940_insts) && (m.blgp >> i & 1) != 0;
    }
  } else if (!formats) {
    in.cbsz = m.cbsz;
    in.abid = m.abid;
    in.blgp = m.blgp;
  }

  const std::vector<uint32_t> code = encode(row, opcode, at, m);
  const auto decoded = isa::decode({reinterpret_cast<const uint8_t*>(code.data()), code.size() * 4}, processor_);
  ASSERT_TRUE(decoded) << row.name;
  ASSERT_EQ(isa::row(decoded->opcode).name, row.name);
  const machine::WaveState state = runner_.run_code({reinterpret_cast<const uint8_t*>(code.data()), code.size() * 4});
  ASSERT_EQ(state, machine::WaveState::ended) << row.name;
  // The words before the instruction, which load its scales.
  if (row.has(flag::scaled)) {
    test::note_tested(test::TestedBy::engine, Opcode::v_mfma_ld_scale_b32, processor_.generation);
  }

  const Registers expected = test::multiply_reference(name, in, test::matrix_arithmetic(processor_.name));
  const Registers got = read(at.d, accumulators, d_words);
  for (unsigned i = 0; i < d_words; ++i) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      if (expected[i][lane] == got[i][lane]) continue;
      ADD_FAILURE() << row.name << (numbers == Numbers::edges ? " (edges)" : "") << " cbsz " << m.cbsz << " abid "
                    << m.abid << " blgp " << m.blgp << ": register " << i << " lane " << lane << " is " << std::hex
                    << got[i][lane] << ", not " << expected[i][lane];
      return;
    }
  }
}

TEST_P(Matrix, YieldsWhatTheReferenceDoes) {
  unsigned instructions = 0;
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
    const isa::InstructionRow& row = isa::row(static_cast<Opcode>(i));
    const uint32_t opcode = row.opcodes.on(processor_.generation).opcode;
    if (!row.has(flag::matrix) || opcode == isa::Opcodes::none || !processor_.has(row.feature)) continue;
    ++instructions;
    const MatrixName name = test::parse_matrix_name(row.name);
    ASSERT_NE(name.m, 0u) << row.name;
    const bool sparse = row.has(flag::sparse), formats = row.has(flag::matrix_formats);
    const bool doubles = name.result_bits == 64;
    for (const Numbers numbers : {Numbers::usual, Numbers::some_denormals, Numbers::edges, Numbers::whole,
                                  Numbers::spread, Numbers::rare, Numbers::largest}) {
      Modifiers m;
      runner_.wave().set_exec(~uint64_t{0});
      check(row, opcode, {}, m, numbers);
      if (formats) {
        for (m.cbsz = 0; m.cbsz < 5; ++m.cbsz) {
          for (m.blgp = 0; m.blgp < 5; ++m.blgp) {
            m.scale_byte_a = below(4);
            m.scale_byte_b = below(4);
            check(row, opcode, {}, m, numbers);
          }
        }
        m = {};
      } else {
        for (m.blgp = 1; m.blgp < 8 && !sparse; ++m.blgp) check(row, opcode, {}, m, numbers);
        m.blgp = 0;
        if (sparse || name.blocks > 1) {
          for (m.cbsz = 0; 1u << m.cbsz <= (sparse ? 2 : name.blocks); ++m.cbsz) {
            m.abid = sparse ? below(4) : below(1u << m.cbsz);
            check(row, opcode, {}, m, numbers);
          }
          m = {};
        }
      }
      // Elsewhere: without lanes, in accumulation registers, with constants, over each other.
      runner_.wave().set_exec(0x5);
      check(row, opcode, {.a = 200, .b = 220, .a_agpr = true, .accumulators = true}, m, numbers);
      check(row, opcode, {.b = 220, .b_agpr = true}, m, numbers);
      check(row, opcode, {.c_constant = 242}, m, numbers);
      if (!doubles) check(row, opcode, {.c_constant = 193}, m, numbers);
      if (processor_.unified_vgprs && !sparse) {
        check(row, opcode, {.d = 64, .c = 4}, m, numbers);
        check(row, opcode, {.d = 80, .c = 84}, m, numbers);
        check(row, opcode, {.d = 8, .c = 4}, m, numbers);
      }
    }
  }
  EXPECT_GE(instructions, 20u);
}

/// Several instructions in a row, which sum up in a few sets of registers in turn, between instructions on single
/// registers that they read and write: translated code changes their order where that makes no difference.
TEST_P(Matrix, TakesTurnsWithOtherInstructions) {
  if (!processor_.unified_vgprs) GTEST_SKIP() << "these have their sums in registers that v_mov_b32 does not reach";
  constexpr unsigned registers = 128, first_source = 64;
  unsigned instructions = 0;
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
    const isa::InstructionRow& row = isa::row(static_cast<Opcode>(i));
    const uint32_t opcode = row.opcodes.on(processor_.generation).opcode;
    if (!row.has(flag::matrix) || opcode == isa::Opcodes::none || !processor_.has(row.feature)) continue;
    if (row.has(flag::sparse | flag::matrix_formats)) continue;
    ++instructions;
    const MatrixName name = test::parse_matrix_name(row.name);
    const unsigned area = name.k * name.blocks;
    const unsigned a_words = std::max(1u, name.m * area * test::matrix_element_bits(name.a) / 32 / 64);
    const unsigned b_words = std::max(1u, name.n * area * test::matrix_element_bits(name.b) / 32 / 64);
    const unsigned d_words = name.m * name.n * name.blocks / 64 * name.result_bits / 32;
    const std::string result_type = name.result_bits == 64 ? "f64" : name.result == 'f' ? "f32" : "i8";
    for (const Numbers numbers : {Numbers::usual, Numbers::some_denormals, Numbers::edges}) {
      fill(0, false, first_source, result_type, numbers);
      fill(first_source, false, registers - first_source, name.a, numbers);
      Registers expected = read(0, false, registers);
      const uint64_t exec = below(2) == 0 ? ~uint64_t{0} : uint64_t{random_()} << 32 | random_();
      std::vector<uint32_t> code;
      for (unsigned step = 0; step < 16; ++step) {
        if (below(3) == 0) {
          const unsigned to = below(registers), from = below(registers);
          code.push_back(0x7E000300 | to << 17 | from);  // v_mov_b32
          for (unsigned lane = 0; lane < 64; ++lane) {
            if ((exec >> lane & 1) != 0) expected[to][lane] = expected[from][lane];
          }
          continue;
        }
        const auto source = [&] { return first_source + 4 * below(8); };
        const unsigned d = below(8) == 0 ? first_source : below(2) * 32;
        const Places at{.d = d, .a = source(), .b = source(), .c = below(6) == 0 ? below(2) * 32 : d};
        const std::vector<uint32_t> words = encode(row, opcode, at, {});
        code.insert(code.end(), words.begin(), words.end() - 1);
        const auto part = [&](unsigned first, unsigned count) {
          return Registers(expected.begin() + first, expected.begin() + first + count);
        };
        MatrixOperands in;
        in.a = part(at.a, a_words);
        in.b = part(at.b, b_words);
        in.c = part(at.c, d_words);
        const Registers result = test::multiply_reference(name, in, test::matrix_arithmetic(processor_.name));
        std::ranges::copy(result, expected.begin() + at.d);
      }
      runner_.wave().set_exec(exec);
      ASSERT_EQ(runner_.run_instructions({reinterpret_cast<const uint8_t*>(code.data()), code.size() * 4}),
                machine::WaveState::ended);
      ASSERT_EQ(read(0, false, registers), expected) << row.name;
    }
  }
  EXPECT_GE(instructions, 15u);
}

/// On GPUs whose sums have been measured.
class MeasuredMatrix : public Matrix {};

/// 2^23 - 2^23 - 1/2 - 1/4 - 1/8, of which each GPU makes something else: "Bit-Accurate Modeling of GPU Matrix
/// Multiply-Accumulate Units" (arXiv 2511.10909v2), equation 10 and table 8.
TEST_P(MeasuredMatrix, SumsUpAsTheGpuDid) {
  struct Measured {
    std::string_view processor;
    Opcode opcode;
    float result;
  };
  constexpr Measured measured[] = {
      {"gfx908", Opcode::v_mfma_f32_16x16x4_f32, -0.875f}, {"gfx908", Opcode::v_mfma_f32_32x32x4bf16, -0.875f},
      {"gfx908", Opcode::v_mfma_f32_32x32x8_f16, -0.875f}, {"gfx90a", Opcode::v_mfma_f32_16x16x4_f32, -0.875f},
      {"gfx90a", Opcode::v_mfma_f32_32x32x4bf16, -0.375f}, {"gfx90a", Opcode::v_mfma_f32_32x32x8_bf16, 0},
      {"gfx90a", Opcode::v_mfma_f32_32x32x8_f16, 0},       {"gfx942", Opcode::v_mfma_f32_16x16x4_f32, -0.875f},
      {"gfx942", Opcode::v_mfma_f32_32x32x8_bf16, -0.5f},  {"gfx942", Opcode::v_mfma_f32_32x32x8_f16, -0.5f},
      {"gfx942", Opcode::v_mfma_f32_32x32x16_bf8_bf8, -1},
  };
  constexpr float a[] = {-0x1p13f, -0.5f, -0.25f, -0.125f}, b[] = {0x1p10f, 1, 1, 1}, c = 0x1p23f;
  unsigned found = 0;
  for (const Measured& one : measured) {
    if (one.processor != processor_.name) continue;
    ++found;
    const isa::InstructionRow& row = isa::row(one.opcode);
    const MatrixName name = test::parse_matrix_name(row.name);
    // All rows of A and all columns of B are the same, and all elements of C.
    const auto fill_source = [&](unsigned first, std::span<const float> numbers) {
      const unsigned width = test::matrix_element_bits(name.a), in_lane = name.k * name.m / 64;
      for (unsigned lane = 0; lane < 64; ++lane) {
        for (unsigned word = 0; word < std::max(1u, in_lane * width / 32); ++word) runner_.v(first + word)[lane] = 0;
        for (unsigned e = 0; e < in_lane; ++e) {
          const unsigned k = lane / name.m * in_lane + e;
          if (k >= numbers.size()) continue;
          const uint32_t single = std::bit_cast<uint32_t>(numbers[k]);
          const uint32_t half = std::bit_cast<uint16_t>(static_cast<_Float16>(numbers[k]));
          // The numbers are powers of two, and so have no fraction; BF8's exponents are biased by 16.
          const uint32_t brain = (single >> 31) << 7 | ((single >> 23 & 0xFF) - 127 + 16) << 2;
          const uint32_t code = name.a == "f32"    ? single
                                : name.a == "bf16" ? single >> 16
                                : name.a == "f16"  ? half
                                                   : brain;
          runner_.v(first + e * width / 32)[lane] |= code << e * width % 32;
        }
      }
    };
    const Places at{.accumulators = !processor_.unified_vgprs};
    fill_source(at.a, a);
    fill_source(at.b, b);
    const unsigned registers = name.m * name.n / 64;
    for (unsigned i = 0; i < registers; ++i) {
      for (uint32_t& lane : reg(at.c + i, at.accumulators)) lane = std::bit_cast<uint32_t>(c);
    }
    const std::vector<uint32_t> code = encode(row, row.opcodes.on(processor_.generation).opcode, at, {});
    ASSERT_EQ(runner_.run_code({reinterpret_cast<const uint8_t*>(code.data()), code.size() * 4}),
              machine::WaveState::ended);
    for (unsigned i = 0; i < registers; ++i) {
      for (const uint32_t lane : reg(at.d + i, at.accumulators)) {
        ASSERT_EQ(std::bit_cast<float>(lane), one.result) << one.processor << ' ' << row.name;
      }
    }
  }
  EXPECT_NE(found, 0u);
}

INSTANTIATE_TEST_SUITE_P(Processors, Matrix, testing::Values("gfx908", "gfx90a", "gfx942", "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(Processors, MeasuredMatrix, testing::Values("gfx908", "gfx90a", "gfx942"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace Atoll
