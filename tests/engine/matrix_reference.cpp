#include "engine/matrix_reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <regex>

namespace Atoll::test {

MatrixName parse_matrix_name(std::string_view mnemonic) {
  static const std::regex pattern(
      R"(v_(mfma|smfmac)_(?:scale_)?([fi])(\d+)_(\d+)x(\d+)x(\d+)_?(?:(\d+)b_)?([a-z]\w*))");
  std::match_results<std::string_view::const_iterator> match;
  MatrixName name;
  if (!std::regex_match(mnemonic.begin(), mnemonic.end(), match, pattern)) return name;
  name.sparse = match[1] == "smfmac";
  name.result = *match[2].first;
  name.result_bits = static_cast<unsigned>(std::stoul(match[3]));
  name.m = static_cast<unsigned>(std::stoul(match[4]));
  name.n = static_cast<unsigned>(std::stoul(match[5]));
  name.k = static_cast<unsigned>(std::stoul(match[6]));
  if (match[7].matched) name.blocks = static_cast<unsigned>(std::stoul(match[7]));
  std::string types = match[8];
  // gfx908's names leave out the blocks. These of its bfloat16 instructions have some.
  if (types == "bf16" && mnemonic.find("_bf16") == std::string_view::npos && name.k == 2) name.blocks = 64 / name.m;
  if (types.ends_with("_1k")) types.resize(types.size() - 3);
  const size_t bar = types.find('_');
  name.a = types.substr(0, bar);
  name.b = bar == std::string::npos ? name.a : types.substr(bar + 1);
  return name;
}

unsigned matrix_element_bits(const std::string& type) {
  if (type == "f64") return 64;
  if (type == "f32" || type == "xf32") return 32;
  if (type == "f16" || type == "bf16") return 16;
  if (type == "fp6" || type == "bf6") return 6;
  if (type == "fp4") return 4;
  return 8;
}

double small_number(uint64_t bits, int exponent_bits, int fraction_bits, int bias) {
  const auto fraction = static_cast<double>(bits & ((1u << fraction_bits) - 1)) / (1 << fraction_bits);
  const int exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  const double size = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -size : size;
}

namespace {

float single(uint32_t bits) { return std::bit_cast<float>(bits); }

}  // namespace

double matrix_element(const std::string& type, uint64_t bits, bool ocp) {
  const auto word = static_cast<uint32_t>(bits);
  if (type == "f64") return std::bit_cast<double>(bits);
  if (type == "f32") return single(word);
  if (type == "xf32") return std::isnan(single(word)) ? NAN : single(word >> 13 << 13);
  if (type == "bf16") return single(word << 16);
  if (type == "i8") return static_cast<int8_t>(word);
  if (type == "fp6") return small_number(word, 2, 3, 1);
  if (type == "bf6") return small_number(word, 3, 2, 3);
  if (type == "fp4") return small_number(word, 2, 1, 1);
  const unsigned size = word & 0x7F;
  if (type == "f16") {
    const unsigned half = word & 0x7FFF;
    if (half > 0x7C00) return NAN;
    if (half == 0x7C00) return (word & 0x8000) != 0 ? -INFINITY : INFINITY;
    return small_number(word, 5, 10, 15);
  }
  const bool brain = type == "bf8";
  if (!ocp) return word == 0x80 ? NAN : small_number(word, brain ? 5 : 4, brain ? 2 : 3, brain ? 16 : 8);
  if (brain && size > 0x7C) return NAN;
  if (brain && size == 0x7C) return (word & 0x80) != 0 ? -INFINITY : INFINITY;
  if (!brain && size == 0x7F) return NAN;
  return small_number(word, brain ? 5 : 4, brain ? 2 : 3, brain ? 15 : 7);
}

namespace {

/// The bits of element `element` of those packed in a lane's registers.
uint64_t packed_bits(const Registers& registers, unsigned lane, unsigned element, unsigned width) {
  uint64_t bits = 0;
  for (unsigned bit = 0; bit < width; ++bit) {
    const unsigned position = element * width + bit;
    bits |= uint64_t{registers.at(position / 32)[lane] >> position % 32 & 1} << bit;
  }
  return bits;
}

struct Location {
  unsigned lane, element;
};

/// Where A[i][k] of a block is (B[k][i]: the same), with `depth` elements of a row in registers. With `run`, lanes take
/// turns: each has `run` neighbours, then as many further on in the depth.
Location source_location(unsigned rows, unsigned blocks, unsigned depth, unsigned i, unsigned k, unsigned block,
                         unsigned run) {
  if (run != 0) {
    const unsigned groups = 64 / rows;
    return {k / run % groups * rows + i, k / run / groups * run + k % run};
  }
  const unsigned in_lane = depth / (64 / (rows * blocks));
  return {k / in_lane * rows * blocks + block * rows + i, k % in_lane};
}

/// Where D[i][j] of a block is: register (or pair) and lane.
Location result_location(const MatrixName& name, unsigned i, unsigned j, unsigned block) {
  const unsigned height = name.result_bits == 64 ? 1 : 4;
  const unsigned beside = 64 / name.n;
  const unsigned area = name.m * name.n / height;
  const unsigned blocks_of_register = area >= 64 ? 1 : 64 / area;
  const unsigned element = block * (name.m * name.n / 64) + i / (height * beside) * height + i % height;
  const unsigned lane = block % blocks_of_register * name.n + i / height % beside * blocks_of_register * name.n + j;
  return {lane, element};
}

unsigned lane_of_pattern(unsigned lane, unsigned blgp) {
  constexpr unsigned quarter[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
                                      {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
  return quarter[blgp][lane / 16] * 16 + lane % 16;
}

float flushed(float value) { return std::fabs(value) < 0x1p-126f ? 0 * value : value; }

/// The products of one element of D, in the order of the depth.
struct Products {
  std::vector<double> a, b;
  unsigned in_lane = 0;  ///< how many of them one lane has
  bool sparse = false;
};

float pairwise_sum(const Products& p, size_t first, size_t count) {
  if (count == 1) return flushed(static_cast<float>(p.a[first] * p.b[first]));
  return flushed(pairwise_sum(p, first, count / 2) + pairwise_sum(p, first + count / 2, count / 2));
}

/// Numbers as whole multiples of 2^-400: those of all types, their products and sums are exact.
__extension__ typedef _BitInt(1024) Whole;
constexpr int whole_places = 400;

Whole whole_of(double value) {
  int exponent = 0;
  const auto fraction = static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  return Whole{fraction} << (exponent - 53 + whole_places);
}

/// The place of the highest bit.
int exponent_of(Whole value) {
  int exponent = -whole_places - 1;
  for (Whole size = value < 0 ? -value : value; size != 0; size >>= 1) ++exponent;
  return exponent;
}

/// Without what stands below 2^place: rounded down.
Whole down(Whole value, int place) {
  const int bits = place + whole_places;
  return bits <= 0 ? value : value >> bits << bits;
}
Whole toward_zero(Whole value, int place) { return value < 0 ? -down(-value, place) : down(value, place); }

float nearest_single(Whole value) {
  const int place = std::max(exponent_of(value), -126) - 23;
  Whole rounded = down(value, place);
  const Whole twice_rest = (value - rounded) * 2, unit = Whole{1} << (place + whole_places);
  if (twice_rest > unit || (twice_rest == unit && (rounded & unit) != 0)) rounded += unit;
  const auto size = static_cast<float>(static_cast<int64_t>(rounded >> (place + whole_places)));
  return std::copysign(std::ldexp(size, place), value < 0 ? -1.0f : 1.0f);
}

/// What infinities and NaNs come to, a product of 2^128 or more being infinite; false if there are none.
bool special_sum(const Products& p, size_t first, size_t count, bool overflows, float& c) {
  double sum = c;
  bool special = !std::isfinite(c);
  for (size_t k = first; k < first + count; ++k) {
    double product = p.a[k] * p.b[k];
    if (overflows && std::fabs(product) >= 0x1p128) product = std::copysign(INFINITY, product);
    special = special || !std::isfinite(product);
    sum += product;
  }
  if (special) c = static_cast<float>(sum);
  return special;
}

/// c and the products, rounded once.
float exact_sum(const Products& p, size_t first, size_t count, float c) {
  if (special_sum(p, first, count, false, c)) return c;
  Whole sum = whole_of(c);
  for (size_t k = first; k < first + count; ++k) sum += whole_of(p.a[k] * p.b[k]);
  if (sum != 0) return nearest_single(sum);
  bool negative = std::signbit(c);
  for (size_t k = first; k < first + count; ++k) negative = negative && std::signbit(p.a[k] * p.b[k]);
  return c == 0 && negative ? -0.0f : 0.0f;
}

int least_exponent(const std::string& type, bool ocp) {
  if (type == "f16") return -14;
  if (type == "fp8") return ocp ? -6 : -7;
  if (type == "bf8") return ocp ? -14 : -15;
  return -126;
}

struct Aligned {
  Whole sum = 0;
  int exponent = -9999;
};

/// Every `stride`th product, cut off 24 places below the largest exponent.
Aligned align(const Products& p, size_t first, size_t count, size_t stride, int a_least, int b_least) {
  Aligned result;
  const auto exponent = [&](size_t k) {
    return std::max(std::ilogb(p.a[k]), a_least) + std::max(std::ilogb(p.b[k]), b_least);
  };
  for (size_t k = first; k < first + count; k += stride) {
    if (p.a[k] * p.b[k] != 0) result.exponent = std::max(result.exponent, exponent(k));
  }
  for (size_t k = first; k < first + count; k += stride) {
    result.sum += toward_zero(whole_of(p.a[k] * p.b[k]), result.exponent - 24);
  }
  return result;
}

/// "Bit-Accurate Modeling of GPU Matrix Multiply-Accumulate Units" (arXiv 2511.10909v2), algorithms 10 and 11.
float aligned_sum(const Products& p, size_t first, size_t count, const MatrixName& name, bool ocp, float c) {
  if (special_sum(p, first, count, true, c)) return c;
  const int a_least = least_exponent(name.a, ocp), b_least = least_exponent(name.b, ocp);
  const bool bytes = matrix_element_bits(name.a) == 8;
  Aligned sum = align(p, first, count, bytes ? 2 : 1, a_least, b_least);
  if (bytes) {
    const Aligned odd = align(p, first + 1, count - 1, 2, a_least, b_least);
    const int exponent = std::max(sum.exponent, odd.exponent);
    sum = {down(sum.sum, exponent - 24) + down(odd.sum, exponent - 24), exponent};
  }
  const int c_exponent = c == 0 ? -126 : std::max(std::ilogb(c), -126);
  const int top = std::max(sum.exponent, c_exponent);
  const Whole c_part = bytes && c_exponent < top - 25 ? Whole{0} : down(whole_of(c), top - 24);
  Whole total = down(sum.sum, top - 32) + c_part;
  total = down(total, std::max(exponent_of(total), -126) - 31);
  return total == 0 ? 0 : nearest_single(total);
}

float sum_up(const Products& p, float c, const MatrixName& name, const MatrixArithmetic& arithmetic) {
  const bool sixteen = name.a == "f16" || name.a == "bf16";
  const size_t depth = p.a.size();
  switch (arithmetic.order) {
    case MatrixOrder::exact:
      if (!sixteen) break;
      for (size_t k = 0; k < depth; k += p.in_lane) c = exact_sum(p, k, p.in_lane, c);
      return c;
    case MatrixOrder::flushing_pairs:
      if (!sixteen) break;
      for (size_t k = 0; k < depth; k += p.in_lane) c = flushed(c + pairwise_sum(p, k, p.in_lane));
      return c;
    case MatrixOrder::aligned: {
      if (name.a == "f32" || p.sparse) break;
      const size_t group = std::min<size_t>(sixteen ? 8 : name.a == "xf32" ? 4 : 16, depth);
      for (size_t k = 0; k < depth; k += group) c = aligned_sum(p, k, group, name, arithmetic.ocp, c);
      return c;
    }
    case MatrixOrder::chain:
      break;
  }
  for (size_t k = 0; k < depth; ++k) {
    c = std::fma(static_cast<float>(p.a[k]), static_cast<float>(p.b[k]), c);
  }
  return c;
}

float sum_up_scaled(const Products& p, float c, const std::vector<double>& scales) {
  for (size_t k = 0; k < p.a.size(); k += 32) {
    float sum = 0;
    for (size_t i = k; i < k + 32; ++i) sum = std::fma(static_cast<float>(p.a[i]), static_cast<float>(p.b[i]), sum);
    c += static_cast<float>(sum * scales[k / 32]);
  }
  return c;
}

double scale_of(const Registers& scale, unsigned lane, unsigned byte) {
  const unsigned code = scale.at(0)[lane] >> 8 * byte & 0xFF;
  return code == 255 ? NAN : std::ldexp(1.0, static_cast<int>(code) - 127);
}

uint32_t result_bits(float value) { return std::isnan(value) ? 0x7FC00000 : std::bit_cast<uint32_t>(value); }

}  // namespace

MatrixArithmetic matrix_arithmetic(std::string_view processor) {
  if (processor == "gfx908") return {.order = MatrixOrder::exact};
  if (processor == "gfx90a") return {.order = MatrixOrder::flushing_pairs};
  if (processor == "gfx942") return {.order = MatrixOrder::aligned};
  return {.ocp = processor == "gfx950"};
}

Registers multiply_reference(const MatrixName& name, const MatrixOperands& in, const MatrixArithmetic& arithmetic) {
  const unsigned words = name.result_bits / 32;
  Registers d(words * name.m * name.n * name.blocks / 64, std::vector<uint32_t>(64));
  const bool formats = name.k * name.n == 2048 && !name.sparse;
  const unsigned a_width = matrix_element_bits(name.a), b_width = matrix_element_bits(name.b);
  const bool flushes = arithmetic.order == MatrixOrder::flushing_pairs;
  const auto a_at = [&](Location at) {
    double value = matrix_element(name.a, packed_bits(in.a, at.lane, at.element, a_width), arithmetic.ocp);
    if (flushes && name.a == "f16" && std::fabs(value) < 0x1p-14) value = 0;
    if (flushes && name.a == "bf16" && std::fabs(value) < 0x1p-126) value = 0;
    return in.negate[0] ? -value : value;
  };
  const auto b_at = [&](unsigned k, unsigned j, unsigned block) {
    // 8 bits of *_f8f6f4 have runs of 16. Of a sparse product AMD's own kernels load B by ds_read_b128 at the lane's
    // place among runs of 16 bytes, and those that follow by an offset (hipSPARSELt for gfx950).
    const unsigned run = name.sparse ? 128 / b_width : formats && b_width == 8 ? 16 : 0;
    Location at = source_location(name.n, name.blocks, name.k, j, k, block, run);
    at.lane = lane_of_pattern(at.lane, in.blgp);
    double value = matrix_element(name.b, packed_bits(in.b, at.lane, at.element, b_width), arithmetic.ocp);
    if (flushes && name.b == "f16" && std::fabs(value) < 0x1p-14) value = 0;
    if (flushes && name.b == "bf16" && std::fabs(value) < 0x1p-126) value = 0;
    return in.negate[1] ? -value : value;
  };

  for (unsigned block = 0; block < name.blocks; ++block) {
    const unsigned receivers = std::min(1u << in.cbsz, name.blocks);
    const unsigned a_block = block / receivers * receivers + in.abid % receivers;
    const unsigned stored = name.sparse ? name.k / 2 : name.k;  // of a row of A
    const unsigned a_run = !name.sparse && formats && a_width == 8 ? 16 : 0;
    std::vector<Location> a_places;          // m rows of A ...
    std::vector<double> a_values, b_values;  // ... and n columns of B
    for (unsigned i = 0; i < name.m; ++i) {
      for (unsigned k = 0; k < stored; ++k) {
        a_places.push_back(
            source_location(name.m, name.sparse ? 1 : name.blocks, stored, i, k, name.sparse ? 0 : a_block, a_run));
        a_values.push_back(a_at(a_places.back()));
      }
    }
    for (unsigned j = 0; j < name.n; ++j) {
      for (unsigned k = 0; k < name.k; ++k) b_values.push_back(b_at(k, j, name.sparse ? 0 : block));
    }
    for (unsigned i = 0; i < name.m; ++i) {
      for (unsigned j = 0; j < name.n; ++j) {
        Products p;
        for (unsigned s = 0; s < stored; ++s) {
          unsigned k = s;
          if (name.sparse) {
            const Location at = a_places[i * stored + s];
            const unsigned in_lane = stored / (64 / name.m);
            const unsigned part = in.cbsz != 0 ? 0 : in.abid % (32 / (2 * in_lane));
            k = s / 2 * 4 + (in.index.at(0)[at.lane] >> (part * 2 * in_lane + 2 * at.element) & 3);
          }
          p.a.push_back(a_values[i * stored + s]);
          p.b.push_back(b_values[j * name.k + k]);
        }
        p.in_lane = name.k * name.m * name.blocks / 64;
        p.sparse = name.sparse;
        const Location at = result_location(name, i, j, block);
        if (words == 2) {
          double sum = std::bit_cast<double>(in.c.at(2 * at.element)[at.lane] |
                                             uint64_t{in.c.at(2 * at.element + 1)[at.lane]} << 32);
          if (in.negate[2]) sum = -sum;
          for (size_t k = 0; k < p.a.size(); ++k) sum = std::fma(p.a[k], p.b[k], sum);
          const uint64_t bits = std::isnan(sum) ? 0x7FF8000000000000 : std::bit_cast<uint64_t>(sum);
          d[2 * at.element][at.lane] = static_cast<uint32_t>(bits);
          d[2 * at.element + 1][at.lane] = static_cast<uint32_t>(bits >> 32);
          continue;
        }
        const uint32_t c = in.c.at(at.element)[at.lane];
        uint32_t& result = d[at.element][at.lane];
        if (name.result == 'i') {
          result = c;
          for (size_t k = 0; k < p.a.size(); ++k) {
            result += static_cast<uint32_t>(static_cast<int32_t>(p.a[k]) * static_cast<int32_t>(p.b[k]));
          }
        } else if (!in.scale_a.empty()) {
          std::vector<double> scales;
          scales.reserve(name.k / 32);
          for (unsigned part = 0; part < name.k / 32; ++part) {
            scales.push_back(scale_of(in.scale_a, part * name.m + i, in.scale_byte_a) *
                             scale_of(in.scale_b, part * name.n + j, in.scale_byte_b));
          }
          result = result_bits(sum_up_scaled(p, single(c), scales));
        } else {
          const bool flushes_c = flushes && (name.a == "f16" || name.a == "bf16");
          const float start = flushes_c && std::fabs(single(c)) < 0x1p-126f ? 0 : single(c);
          result = result_bits(sum_up(p, start, name, arithmetic));
        }
      }
    }
  }
  return d;
}

}  // namespace Atoll::test
