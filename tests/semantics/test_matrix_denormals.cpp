// Matrix instructions on denormal elements: no operation of the host has a denormal operand or result, which some
// processors execute in microcode, and results are those of host arithmetic.
//
// The instructions run with the host's exceptions for denormal operands and underflows unmasked (MXCSR's DM and UM,
// Intel SDM volume 1, 10.2.3), so that such an operation is a SIGFPE. Operations that do not report denormals are not
// in this code, but for conversions from half precision.
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <xmmintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "isa/table.h"
#include "semantics/host_isa_functions.h"
#include "semantics/wave_matrix_reference.h"

namespace Atoll::semantics::test {
namespace {

sigjmp_buf* trapped = nullptr;

/// Runs `work` with the exceptions unmasked; false if one of them occurred.
template <typename Work>
bool runs_without_denormals(Work work) {
  sigjmp_buf here;
  trapped = &here;
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { siglongjmp(*trapped, 1); };
  sigaction(SIGFPE, &action, &before);
  const unsigned control = _mm_getcsr();
  const bool fine = sigsetjmp(here, 1) == 0;
  if (fine) {
    _mm_setcsr(control & ~(_MM_MASK_DENORM | _MM_MASK_UNDERFLOW | _MM_EXCEPT_MASK));
    work();
  }
  _mm_setcsr(control);
  sigaction(SIGFPE, &before, nullptr);
  return fine;
}

TEST(MatrixDenormals, TheHostReportsThem) {
  volatile float denormal = 0x1p-130f, least = 0x1p-126f, result = 0;
  EXPECT_FALSE(runs_without_denormals([&] { result = denormal + 1; }));
  EXPECT_FALSE(runs_without_denormals([&] { result = least * 0.5f; }));
  EXPECT_TRUE(runs_without_denormals([&] { result = least + 1; }));
}

struct alignas(64) File {
  Row rows[32]{};
};

/// The fields of a format.
struct Fields {
  unsigned width, fraction_bits;
  uint64_t one;  ///< the biased exponent of 1
};

class Elements {
 public:
  explicit Elements(unsigned seed) : random_(seed) {}

  unsigned below(unsigned count) { return static_cast<unsigned>(random_() % count); }

  /// Normally distributed numbers, 2% of them denormal or, of narrow formats, any finite ones.
  uint64_t number(const Fields& f) {
    const uint64_t any = uint64_t{random_()} << 32 | random_();
    if (f.width <= 8) return any & ((1u << (f.width - 2)) - 1);
    const uint64_t sign = (any & 1) << (f.width - 1), fraction = any >> 1 & ((uint64_t{1} << f.fraction_bits) - 1);
    if (below(50) == 0) return sign | fraction;
    const double size = std::fabs(std::normal_distribution<double>()(random_));
    const auto exponent = static_cast<uint64_t>(static_cast<int64_t>(f.one) + std::ilogb(std::fmax(size, 0x1p-12)));
    return sign | exponent << f.fraction_bits | fraction;
  }
  void fill(File& file, const Fields& f) {
    for (unsigned row = 0; row < 32; row += f.width == 64 ? 2 : 1) {
      for (unsigned lane = 0; lane < wave_lanes; ++lane) {
        if (f.width == 64) {
          const uint64_t bits = number(f);
          file.rows[row][lane] = static_cast<uint32_t>(bits);
          file.rows[row + 1][lane] = static_cast<uint32_t>(bits >> 32);
          continue;
        }
        if (f.width < 8) {  // any bits are a number
          file.rows[row][lane] = static_cast<uint32_t>(random_());
          continue;
        }
        uint32_t word = 0;
        for (unsigned bit = 0; bit < 32; bit += f.width) word |= static_cast<uint32_t>(number(f)) << bit;
        file.rows[row][lane] = word;
      }
    }
  }
  void fill_scales(File& file, bool any) {
    for (Row& row : file.rows) {
      for (uint32_t& lane : row) {
        lane = 0;
        for (unsigned byte = 0; byte < 4; ++byte) lane |= (any ? below(255) : 122 + below(10)) << 8 * byte;
      }
    }
  }
  void fill_words(File& file) {
    for (Row& row : file.rows) {
      for (uint32_t& lane : row) lane = static_cast<uint32_t>(random_());
    }
  }

 private:
  std::mt19937 random_;
};

constexpr Fields f64_fields{64, 52, 1023}, f32_fields{32, 23, 127}, f16_fields{16, 10, 15}, bf16_fields{16, 7, 127},
    byte_fields{8, 3, 7}, narrow_fields{4, 1, 1};

Fields fields_of(MatrixElement element) {
  using enum MatrixElement;
  switch (element) {
    case f64:
      return f64_fields;
    case f32:
    case xf32:
      return f32_fields;
    case f16:
      return f16_fields;
    case bf16:
      return bf16_fields;
    case fp6:
    case bf6:
    case fp4:
      return narrow_fields;
    default:
      return byte_fields;
  }
}

/// The parameter is a level's name, so that tests are listed by it.
class MatrixDenormals : public testing::TestWithParam<std::string> {
 protected:
  static HostVectors level_named(const std::string& wanted) {
    const auto all = available_host_vectors();
    return *std::ranges::find_if(all, [&](HostVectors each) { return name(each) == wanted; });
  }

  const LevelFunctions& level = functions_of(level_named(GetParam()));
};

std::vector<std::string> level_names() {
  std::vector<std::string> names;
  for (const HostVectors each : available_host_vectors()) names.emplace_back(name(each));
  return names;
}

/// Runs multiply(D) on copies of C with and without the exceptions. Results must be the same.
template <typename Multiply>
void expect_no_denormals(isa::Opcode opcode, unsigned seed, const File& c, Multiply multiply) {
  File expected = c, got = c;
  multiply(expected);
  EXPECT_TRUE(runs_without_denormals([&] { multiply(got); })) << isa::row(opcode).name << ", numbers " << seed;
  EXPECT_EQ(std::memcmp(&got, &expected, sizeof got), 0) << isa::row(opcode).name << ", numbers " << seed;
}

/// C: zeros, as products begin with, or numbers of which some are denormal.
enum class Addend : uint8_t { zeros, numbers };

/// Chains of single precision look at each stripe of C as they come to it.
TEST_P(MatrixDenormals, InstinctsFindOneInC) {
  unsigned calls = 0;
  for (unsigned i = 1; i < static_cast<unsigned>(isa::Opcode::count); ++i) {
    const auto opcode = static_cast<isa::Opcode>(i);
    const MatrixShape* shape = matrix_shape(opcode);
    if (shape == nullptr || shape->a != MatrixElement::f32) continue;
    const unsigned registers = shape->rows * shape->columns * shape->blocks / wave_lanes;
    for (const unsigned place : {0u, registers / 2, registers - 1}) {
      File a, b, c;
      const auto fill = [](File& file, float first) {
        for (unsigned row = 0; row < 32; ++row) {
          for (unsigned lane = 0; lane < wave_lanes; ++lane) {
            file.rows[row][lane] = std::bit_cast<uint32_t>(first + static_cast<float>(row * 3 + lane % 7));
          }
        }
      };
      fill(a, 0.25f), fill(b, -1.5f), fill(c, 100.5f);
      constexpr uint32_t denormal = 0x8000'0003;
      c.rows[place][wave_lanes - 1] = denormal;
      MatrixCall call;
      call.shape = shape;
      call.a_element = call.b_element = MatrixElement::f32;
      call.a = a.rows;
      call.b = b.rows;
      call.sums = target::find_processor("gfx90a")->matrix_sums;
      const MatrixFactors further[] = {{a.rows + 8, b.rows + 8}};
      expect_no_denormals(opcode, place, c, [&](File& d) {
        call.c = call.d = d.rows;
        level.multiply(call, further);
      });
      ++calls;
    }
  }
  EXPECT_GE(calls, 3u * 5);
}

TEST_P(MatrixDenormals, InstinctsHaveNone) {
  unsigned calls = 0;
  for (const char* const name : {"gfx908", "gfx90a", "gfx942", "gfx950"}) {
    const target::Processor& processor = *target::find_processor(name);
    for (unsigned i = 1; i < static_cast<unsigned>(isa::Opcode::count); ++i) {
      const auto opcode = static_cast<isa::Opcode>(i);
      const MatrixShape* shape = matrix_shape(opcode);
      const isa::InstructionRow& row = isa::row(opcode);
      if (shape == nullptr || row.opcodes.on(processor.generation).opcode == isa::Opcodes::none) continue;
      if (!processor.has(row.feature)) continue;
      const bool sparse = row.has(isa::flag::sparse), scaled = row.has(isa::flag::scaled);
      for (const Addend addend : {Addend::zeros, Addend::numbers}) {
        for (unsigned seed = 0; seed < 4; ++seed) {
          Elements elements(seed);
          File a, b, c, scales[2], index;
          elements.fill(a, fields_of(shape->a));
          elements.fill(b, fields_of(shape->b));
          const bool integers = shape->a == MatrixElement::i8;
          if (addend == Addend::numbers) {
            elements.fill(c, shape->a == MatrixElement::f64 ? f64_fields : integers ? byte_fields : f32_fields);
          }
          elements.fill_scales(scales[0], seed % 2 != 0);
          elements.fill_scales(scales[1], seed % 2 != 0);
          elements.fill_words(index);
          MatrixCall call;
          call.shape = shape;
          call.a_element = shape->a;
          call.b_element = shape->b;
          call.a = a.rows;
          call.b = b.rows;
          call.index = sparse ? index.rows : nullptr;
          for (unsigned s = 0; scaled && s < 2; ++s) call.scale[s] = scales[s].rows;
          call.eight_bit = seed % 2 == 0 ? Fp8Format::ocp : Fp8Format::fnuz;
          call.sums = processor.matrix_sums;
          const MatrixFactors further[] = {{a.rows + 8, b.rows + 8}, {a.rows + 16, b.rows + 16}};
          const auto multiply = [&](File& d) {
            call.c = call.d = d.rows;
            level.multiply(call, further);
          };
          SCOPED_TRACE(testing::Message() << name << ", C " << static_cast<unsigned>(addend));
          expect_no_denormals(opcode, seed, c, multiply);
          ++calls;
        }
      }
    }
  }
  EXPECT_GT(calls, 1000u);
}

Fields fields_of(WaveElement element) {
  if (element == bf16) return bf16_fields;
  if (element == f16) return f16_fields;
  return bits_of(element) == 32 ? f32_fields : bits_of(element) == 8 ? byte_fields : narrow_fields;
}

TEST_P(MatrixDenormals, RadeonsHaveNone) {
  for (const WaveMatrixShape& shape : wave_matrix_shapes()) {
    for (const WaveMatrices layout : {WaveMatrices::replicated, WaveMatrices::spread}) {
      for (unsigned seed = 0; seed < 12; ++seed) {
        Elements elements(seed);
        File a, b, c, index;
        elements.fill(a, fields_of(shape.a));
        elements.fill(b, fields_of(shape.b));
        if (seed % 3 != 0) elements.fill(c, fields_of(shape.d));
        elements.fill_words(index);
        WaveMatrixOperation operation{
            .shape = &shape, .layout = layout, .wave_size = static_cast<uint8_t>(seed % 2 == 0 ? 32 : 64)};
        operation.negate[seed % 3] = true;
        const auto multiply = [&](File& d) {
          std::vector<WaveMatrixCall> calls;
          for (unsigned at = 0; at < 24; at += 8) {
            calls.push_back({.operation = &operation,
                             .d = d.rows,
                             .a = a.rows + at,
                             .b = b.rows + at,
                             .c = d.rows,
                             .index = index.rows});
          }
          level.wave_multiply(calls);
        };
        expect_no_denormals(shape.opcode, seed, c, multiply);
      }
    }
  }
}

Fields fields_of(DeepElement element) {
  using enum DeepElement;
  switch (element) {
    case DeepElement::f32:
    case DeepElement::i32:
      return f32_fields;
    case DeepElement::f16:
      return f16_fields;
    case DeepElement::bf16:
      return bf16_fields;
    case fp6:
    case bf6:
    case fp4:
      return narrow_fields;
    default:
      return byte_fields;
  }
}

TEST_P(MatrixDenormals, Gfx1250HasNone) {
  unsigned shapes = 0;
  for (unsigned i = 1; i < static_cast<unsigned>(isa::Opcode::count); ++i) {
    const auto opcode = static_cast<isa::Opcode>(i);
    const DeepMatrixShape* shape = deep_matrix_shape(opcode);
    if (shape == nullptr) continue;
    ++shapes;
    for (unsigned seed = 0; seed < 12; ++seed) {
      Elements elements(seed);
      DeepMatrixOperation operation{.shape = shape, .a = shape->a, .b = shape->b};
      if (shape->has_formats) {
        operation.a = static_cast<DeepElement>(elements.below(5));
        operation.b = static_cast<DeepElement>(elements.below(5));
      }
      if (isa::row(opcode).has(isa::flag::scaled)) {
        operation.scaled = seed % 2 == 0 ? 32 : 16;
        operation.scale_formats = {static_cast<ScaleFormat>(seed % 3), static_cast<ScaleFormat>(seed / 3 % 3)};
      }
      File a, b, c, index, scales[2];
      elements.fill(a, fields_of(operation.a));
      elements.fill(b, fields_of(operation.b));
      if (seed % 3 != 0) elements.fill(c, fields_of(shape->c));
      elements.fill_words(index);
      for (File& file : scales) elements.fill_scales(file, seed % 4 == 3);
      const auto multiply = [&](File& d) {
        std::vector<DeepMatrixCall> calls;
        for (unsigned at = 0; at < 16; at += 8) {
          calls.push_back({.operation = &operation,
                           .d = d.rows,
                           .a = a.rows + at,
                           .b = b.rows + at,
                           .c = d.rows,
                           .index = index.rows,
                           .a_scales = operation.scaled != 0 ? scales[0].rows : nullptr,
                           .b_scales = operation.scaled != 0 ? scales[1].rows : nullptr});
        }
        level.deep_multiply(calls);
      };
      expect_no_denormals(opcode, seed, c, multiply);
    }
  }
  EXPECT_GT(shapes, 30u);
}

// --- Results --------------------------------------------------------------------------------------------------------

/// A number of either sign: usual, denormal, near the smallest normal one, where products are denormal, zero, or large.
float any_single(Elements& elements, std::mt19937& random, const Fields& f) {
  const uint32_t places = 32 - f.width;  // bits below those of a bfloat16
  uint32_t word = static_cast<uint32_t>(elements.number(f)) << places;
  switch (random() % 10) {
    case 0:
      word &= 0x807FFFFF;
      break;
    case 1:
      word = (word & 0x807FFFFF) | (0x3F800000 / 2 + (static_cast<uint32_t>(random() % 32) - 16) * 0x800000);
      break;
    case 2:
      word &= 0x80000000;
      break;
    case 3:
      word = (word & 0x807FFFFF) | static_cast<uint32_t>(random() % 60) << 23;
      break;
    default:
      break;
  }
  return std::bit_cast<float>(word >> places << places);
}

/// D = A * B + C as a chain on the host.
template <typename T>
struct Chain {
  T a[32][64], b[64][32], c[32][32];
  unsigned depth;

  T sum(unsigned row, unsigned column) const {
    T sum = c[row][column];
    for (unsigned k = 0; k < depth; ++k) sum = std::fma(a[row][k], b[k][column], sum);
    return sum;
  }
};

template <typename T>
T number_of(uint64_t bits, const Fields& f) {
  if constexpr (sizeof(T) == 8) return std::bit_cast<double>(bits);
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << (32 - f.width));
}

/// Numbers of different kinds by seed:
/// 0. usual ones and denormals;
/// 1. any sizes;
/// 2. small integers and denormals: sums are often 0 in the meantime;
/// 3. numbers whose products have one bit more than singles, and denormals, which then decide how they are rounded.
template <typename T>
Chain<T> any_chain(unsigned seed, unsigned depth, const Fields& f) {
  Elements elements(seed);
  std::mt19937 random(seed);
  Chain<T> chain{};
  chain.depth = depth;
  const auto number = [&](const Fields& fields) -> T {
    const T usual = number_of<T>(elements.number(fields), fields);
    const bool keeps = !std::isnormal(usual);  // a denormal
    switch (seed % 4) {
      case 1:
        if constexpr (sizeof(T) == 4) return any_single(elements, random, fields);
        return usual;
      case 2:
        return keeps ? usual : static_cast<T>(static_cast<int>(random() % 5) - 2);
      case 3: {
        constexpr T odd[] = {4097, 4099, 1, 0};
        return keeps || fields.fraction_bits < 12 ? usual : std::copysign(odd[random() % 4], usual);
      }
      default:
        return usual;
    }
  };
  for (unsigned k = 0; k < depth; ++k) {
    for (unsigned line = 0; line < 32; ++line) {
      chain.a[line][k] = number(f);
      chain.b[k][line] = number(f);
    }
  }
  // C: zeros for the most part, or usual numbers alone.
  const bool has_zeros = seed / 4 % 2 == 0;
  for (auto& row : chain.c) {
    for (T& c : row) {
      c = random() % 4 != 0 && has_zeros ? 0 : number(sizeof(T) == 8 ? f64_fields : f32_fields);
      if (!has_zeros && !std::isnormal(c)) c = 3;
    }
  }
  return chain;
}

template <typename T>
using BitsOfResult = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

/// The bits of a result; all NaNs are the default one.
uint32_t bits_of_result(float sum) { return std::isnan(sum) ? 0x7FC00000 : std::bit_cast<uint32_t>(sum); }
uint64_t bits_of_result(double sum) { return std::isnan(sum) ? 0x7FF8000000000000 : std::bit_cast<uint64_t>(sum); }

/// Runs a dense instruction of one block, and `instructions - 1` further ones on the same D. `per_lane`: elements of A
/// in a lane, whose depths follow each other.
template <typename T>
void check_instinct(const LevelFunctions& level, const char* processor, isa::Opcode opcode, unsigned instructions,
                    const Fields& fields, unsigned seed) {
  const MatrixShape& shape = *matrix_shape(opcode);
  const unsigned size = shape.columns, groups = wave_lanes / size, per_lane = shape.depth / groups;
  const unsigned words = std::max(1u, per_lane * fields.width / 32);
  const auto chain = any_chain<T>(seed, shape.depth * instructions, fields);
  File a, b, d;
  const auto put = [](File& file, unsigned lane, unsigned bit, uint64_t code, unsigned width) {
    for (unsigned done = 0; done < width; done += 32) {
      file.rows[(bit + done) / 32][lane] |= static_cast<uint32_t>(code >> done) << bit % 32;
    }
  };
  const auto code = [&](T number) -> uint64_t {
    const auto bits = std::bit_cast<BitsOfResult<T>>(number);
    return sizeof(T) == 8 ? bits : bits >> (32 - fields.width);
  };
  const auto place_of_result = [&](unsigned row, unsigned column) {
    // Four rows of each group of lanes; doubles have rows of the groups beside each other.
    const unsigned lane = (sizeof(T) == 8 ? row % groups : row / 4 % groups) * size + column;
    const unsigned reg = sizeof(T) == 8 ? row / groups * 2 : row / (4 * groups) * 4 + row % 4;
    return std::pair(reg, lane);
  };
  for (unsigned line = 0; line < size; ++line) {
    for (unsigned k = 0; k < chain.depth; ++k) {
      const unsigned in_one = k % shape.depth, lane = in_one / per_lane * size + line;
      const unsigned bit = k / shape.depth * words * 32 + in_one % per_lane * fields.width;
      put(a, lane, bit, code(chain.a[line][k]), fields.width);
      put(b, lane, bit, code(chain.b[k][line]), fields.width);
    }
    for (unsigned column = 0; column < size; ++column) {
      const auto [reg, lane] = place_of_result(line, column);
      put(d, lane, reg * 32, std::bit_cast<BitsOfResult<T>>(chain.c[line][column]), 8 * sizeof(T));
    }
  }
  MatrixCall call;
  call.shape = &shape;
  call.a_element = shape.a;
  call.b_element = shape.b;
  call.a = a.rows;
  call.b = b.rows;
  call.c = call.d = d.rows;
  call.sums = target::find_processor(processor)->matrix_sums;
  std::vector<MatrixFactors> further;
  for (unsigned i = 1; i < instructions; ++i) further.push_back({a.rows + i * words, b.rows + i * words});
  ASSERT_TRUE(runs_without_denormals([&] { level.multiply(call, further); })) << seed;
  for (unsigned row = 0; row < size; ++row) {
    for (unsigned column = 0; column < size; ++column) {
      const auto [reg, lane] = place_of_result(row, column);
      uint64_t got = d.rows[reg][lane];
      if (sizeof(T) == 8) got |= uint64_t{d.rows[reg + 1][lane]} << 32;
      ASSERT_EQ(got, bits_of_result(chain.sum(row, column)))
          << isa::row(opcode).name << ", numbers " << seed << ", row " << row << ", column " << column;
    }
  }
}

TEST_P(MatrixDenormals, InstinctsYieldTheHostsChain) {
  using enum isa::Opcode;
  for (unsigned seed = 0; seed < 400; ++seed) {
    for (const unsigned instructions : {1u, 2u, 4u}) {
      check_instinct<float>(level, "gfx90a", v_mfma_f32_32x32x2_f32, instructions, f32_fields, seed);
      check_instinct<float>(level, "gfx90a", v_mfma_f32_16x16x4_f32, instructions, f32_fields, seed);
    }
    check_instinct<float>(level, "gfx950", v_mfma_f32_32x32x16_bf16, 1, bf16_fields, seed);
    check_instinct<float>(level, "gfx950", v_mfma_f32_16x16x32_bf16, 2, bf16_fields, seed);
    check_instinct<double>(level, "gfx90a", v_mfma_f64_16x16x4_f64, 1, f64_fields, seed);
    if (HasFatalFailure()) return;
  }
}

TEST_P(MatrixDenormals, RadeonsYieldTheHostsChain) {
  const WaveMatrixShape& shape = *wave_matrix_shape(isa::Opcode::v_wmma_f32_16x16x16_bf16);
  for (const WaveMatrices layout : {WaveMatrices::replicated, WaveMatrices::spread}) {
    for (const unsigned wave : {32u, 64u}) {
      for (unsigned seed = 0; seed < 400; ++seed) {
        const auto chain = any_chain<float>(seed, shape.depth, bf16_fields);
        Registers a, b, d;
        const auto code = [](float number) { return std::bit_cast<uint32_t>(number) >> 16; };
        for (unsigned line = 0; line < 16; ++line) {
          for (unsigned k = 0; k < shape.depth; ++k) {
            put(a, place_of(layout, wave, bf16, shape.depth, line, k), 16, code(chain.a[line][k]));
            put(b, place_of(layout, wave, bf16, shape.depth, line, k), 16, code(chain.b[k][line]));
          }
          for (unsigned column = 0; column < 16; ++column) {
            put(d, place_of_result(layout, wave, f32, line, column, false), 32,
                std::bit_cast<uint32_t>(chain.c[line][column]));
          }
        }
        const WaveMatrixOperation operation{.shape = &shape, .layout = layout, .wave_size = static_cast<uint8_t>(wave)};
        const WaveMatrixCall call{.operation = &operation, .d = d.rows, .a = a.rows, .b = b.rows, .c = d.rows};
        ASSERT_TRUE(runs_without_denormals([&] { level.wave_multiply({&call, 1}); })) << seed;
        for (unsigned row = 0; row < 16; ++row) {
          for (unsigned column = 0; column < 16; ++column) {
            const Place place = place_of_result(layout, wave, f32, row, column, false);
            ASSERT_EQ(d.rows[place.slot][place.lane], bits_of_result(chain.sum(row, column))) << seed;
          }
        }
      }
    }
  }
}

TEST_P(MatrixDenormals, Gfx1250YieldsTheHostsChain) {
  struct Kind {
    isa::Opcode opcode;
    Fields fields;
    unsigned run;  // of elements in one lane before the other's come
  };
  for (const Kind& kind : {Kind{isa::Opcode::v_wmma_f32_16x16x32_bf16, bf16_fields, 8},
                           Kind{isa::Opcode::v_wmma_f32_16x16x4_f32, f32_fields, 2}}) {
    const DeepMatrixShape& shape = *deep_matrix_shape(kind.opcode);
    for (unsigned seed = 0; seed < 400; ++seed) {
      const auto chain = any_chain<float>(seed, shape.depth, kind.fields);
      File a, b, d;
      const auto put = [&](File& file, unsigned line, unsigned k, float number) {
        const unsigned width = kind.fields.width, lane = line + k / kind.run % 2 * 16;
        const unsigned bit = (k / (2 * kind.run) * kind.run + k % kind.run) * width;
        file.rows[bit / 32][lane] |= std::bit_cast<uint32_t>(number) >> (32 - width) << bit % 32;
      };
      for (unsigned line = 0; line < 16; ++line) {
        for (unsigned k = 0; k < shape.depth; ++k) {
          put(a, line, k, chain.a[line][k]);
          put(b, line, k, chain.b[k][line]);
        }
        for (unsigned column = 0; column < 16; ++column) {
          d.rows[line % 8][line / 8 * 16 + column] = std::bit_cast<uint32_t>(chain.c[line][column]);
        }
      }
      const DeepMatrixOperation operation{.shape = &shape, .a = shape.a, .b = shape.b};
      const DeepMatrixCall call{.operation = &operation, .d = d.rows, .a = a.rows, .b = b.rows, .c = d.rows};
      ASSERT_TRUE(runs_without_denormals([&] { level.deep_multiply({&call, 1}); })) << seed;
      for (unsigned row = 0; row < 16; ++row) {
        for (unsigned column = 0; column < 16; ++column) {
          ASSERT_EQ(d.rows[row % 8][row / 8 * 16 + column], bits_of_result(chain.sum(row, column))) << seed;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Host, MatrixDenormals, testing::ValuesIn(level_names()),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace Atoll::semantics::test
