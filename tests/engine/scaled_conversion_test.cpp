// gfx950's v_cvt_scalef32_* and those of GFX12.5, with v_cvt_scale_*: every instruction against the formats'
// definitions, the nearest code found by trying all.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "engine/matrix_reference.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::WaveRunner;

struct Small {
  std::string name;
  int exponent_bits, fraction_bits, bias;
  unsigned largest, overflow, nan;  ///< codes without sign
  unsigned width() const { return static_cast<unsigned>(1 + exponent_bits + fraction_bits); }
  double value(unsigned code) const { return test::small_number(code, exponent_bits, fraction_bits, bias); }
};
const Small fp8{"fp8", 4, 3, 7, 0x7E, 0x7F, 0x7F}, bf8{"bf8", 5, 2, 15, 0x7B, 0x7C, 0x7E};
const Small fp6{"fp6", 2, 3, 1, 0x1F, 0x1F, 0x1F}, bf6{"bf6", 3, 2, 3, 0x1F, 0x1F, 0x1F};
const Small fp4{"fp4", 2, 1, 1, 0x7, 0x7, 0x7};

/// Returns the largest code whose value is at most `size`, with the format extended beyond its maximum.
unsigned code_below(const Small& format, double size) {
  unsigned code = 0;
  while (code <= format.largest && format.value(code + 1) <= size && code < (1u << (format.width() - 1)) - 1) ++code;
  return code;
}

unsigned nearest_code(const Small& format, double number) {
  const unsigned sign = std::signbit(number) ? 1u << (format.width() - 1) : 0;
  if (std::isnan(number)) return format.nan | sign;
  const double size = std::fabs(number);
  unsigned code = code_below(format, size);
  const double step = code == 0 ? format.value(1) : format.value(code) - format.value(code - 1);
  // Within a binade steps are alike; at its end the next step is the double.
  const bool last = (code & ((1u << format.fraction_bits) - 1)) == 0 && code >> format.fraction_bits > 1;
  const double above = code >= format.largest ? format.value(code) + step * (last ? 2 : 1) : format.value(code + 1);
  const double below = format.value(code);
  if (size - below > above - size || (size - below == above - size && code % 2 != 0)) ++code;
  return (code > format.largest ? format.overflow : code) | sign;
}

/// Returns the value of a code, including special ones.
double number_of(const Small& format, unsigned code) { return test::matrix_element(format.name, code, true); }

struct Wide {
  std::string name;
  unsigned width;
};
const Wide f32{"f32", 32}, f16{"f16", 16}, bf16{"bf16", 16};

double value_of(const Wide& format, uint32_t bits) { return test::matrix_element(format.name, bits, true); }

uint32_t rounded(const Wide& format, double number) {
  const auto single = static_cast<float>(number);
  if (format.name == "f32") return std::bit_cast<uint32_t>(single);
  if (format.name == "f16") return std::bit_cast<uint16_t>(static_cast<_Float16>(number));
  uint32_t word = std::bit_cast<uint32_t>(single);
  if (std::isnan(number)) return word >> 16 | 0x40;
  word += 0x7FFF + (word >> 16 & 1);
  return word >> 16;
}

class ScaledConversion : public testing::Test {
 protected:
  explicit ScaledConversion(std::string_view processor = "gfx950", unsigned lanes = 64)
      : runner_(processor, "", lanes) {}

  WaveRunner runner_;
  std::mt19937 random_{7};
  static constexpr unsigned result = 0, source = 64, second = 96, scale = 130, noise = 131;

  unsigned below(unsigned count) { return static_cast<unsigned>(random_() % count); }

  /// Bits of a number near what `format` can hold, times a scale of 2^(exponent - 127).
  uint32_t number_near(const Wide& wide, const Small& format, unsigned exponent) {
    double number = 0;
    switch (below(8)) {
      case 0: {
        const uint32_t special[] = {0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF, 1};
        number = std::bit_cast<float>(special[below(7)]);
        break;
      }
      case 1:  // a tie
        number = (format.value(below(format.largest)) + format.value(1 + below(format.largest))) / 2;
        break;
      default:
        number = std::ldexp(1 + static_cast<double>(random_()) * 0x1p-32,
                            static_cast<int>(below(20)) - 10 - (format.bias > 8 ? static_cast<int>(below(10)) : 0));
    }
    if (below(2) != 0) number = -number;
    return rounded(wide, std::ldexp(number, static_cast<int>(exponent) - 127));
  }
  /// Scales within the range of `wide`, now and then NaN.
  unsigned any_scale(const Wide& wide) {
    if (below(20) == 0) return 255;
    return wide.name == "f16" ? 120 + below(12) : 90 + below(70);
  }

  void put(unsigned first, unsigned lane, unsigned position, unsigned width, uint32_t bits) {
    for (unsigned i = 0; i < width; ++i) {
      const unsigned at = position * width + i;
      uint32_t& word = runner_.v(first + at / 32)[lane];
      word = (word & ~(1u << at % 32)) | (bits >> i & 1) << at % 32;
    }
  }
  uint32_t get(unsigned first, unsigned lane, unsigned position, unsigned width) {
    uint32_t bits = 0;
    for (unsigned i = 0; i < width; ++i) {
      const unsigned at = position * width + i;
      bits |= (runner_.v(first + at / 32)[lane] >> at % 32 & 1) << i;
    }
    return bits;
  }
  static std::string registers(unsigned first, unsigned bits) {
    const std::string number = std::to_string(first);
    return bits <= 32 ? "v" + number : "v[" + number + ":" + std::to_string(first + bits / 32 - 1) + "]";
  }

  void check_down(const Small& format, const Wide& wide, unsigned elements);
  void check_noise(const Small& format, const Wide& wide, unsigned elements);
  void check_up(const Small& format, const Wide& wide, unsigned elements);
};

/// To the nearest code. Where the result is a part of a register, into each part.
void ScaledConversion::check_down(const Small& format, const Wide& wide, unsigned elements) {
  const unsigned bits = elements * format.width(), parts = bits < 32 ? 32 / bits : 1;
  const bool two_sources = wide.name == "f32";
  const std::string prefix = elements == 32 ? (two_sources ? "2xpk16_" : "pk32_") : "pk_";
  for (unsigned part = 0; part < parts; ++part) {
    std::vector<double> expected(64 * elements);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const unsigned exponent = any_scale(wide);
      runner_.v(scale)[lane] = exponent << 23 | below(1u << 23);
      for (unsigned word = 0; word < 6; ++word) runner_.v(result + word)[lane] = 0xABABABAB;
      for (unsigned e = 0; e < elements; ++e) {
        const uint32_t number = number_near(wide, format, exponent == 255 ? 127 : exponent);
        // The elements come alternately from two sources.
        put(two_sources && e % 2 != 0 ? second : source, lane, two_sources ? e / 2 : e, wide.width, number);
        expected[lane * elements + e] =
            exponent == 255 ? NAN : std::ldexp(value_of(wide, number), 127 - static_cast<int>(exponent));
      }
    }
    std::string code = "v_cvt_scalef32_" + prefix + format.name + "_" + wide.name + " " + registers(result, bits) +
                       ", " + registers(source, std::min(elements * wide.width, two_sources ? elements * 16 : 512u));
    if (two_sources) code += ", " + registers(second, elements * 16);
    code += ", v" + std::to_string(scale);
    if (parts == 2 && part == 1) code += two_sources ? " op_sel:[0,0,0,1]" : " op_sel:[0,0,1]";
    if (parts == 4 && part != 0) {
      code += std::string(" op_sel:[0,0,") + (part % 2 != 0 ? "1," : "0,") + (part / 2 != 0 ? "1]" : "0]");
    }
    ASSERT_EQ(runner_.run(code), WaveState::ended) << code;
    for (unsigned lane = 0; lane < 64; ++lane) {
      for (unsigned e = 0; e < elements; ++e) {
        const double number = expected[lane * elements + e];
        const unsigned got = get(result, lane, part * elements + e, format.width());
        unsigned want = nearest_code(format, number);
        const unsigned size_bits = (1u << (format.width() - 1)) - 1;
        if (std::isnan(number)) want = (want & size_bits) | (got & ~size_bits);  // a NaN's sign is left open
        ASSERT_EQ(got, want) << code << ": " << number << " in lane " << lane;
      }
      if (parts != 1) {
        EXPECT_EQ(get(result, lane, (part + 1) % parts, bits), 0xABABABAB & ((1u << bits) - 1)) << code;
      }
    }
  }
}

/// Stochastic rounding: to one of the neighbours; the lower one without noise.
void ScaledConversion::check_noise(const Small& format, const Wide& wide, unsigned elements) {
  const unsigned bits = elements * format.width();
  const std::string prefix = elements == 32 ? "sr_pk32_" : elements == 2 ? "sr_pk_" : "sr_";
  unsigned up = 0;
  for (const bool noisy : {false, true}) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      const unsigned exponent = wide.name == "f16" ? 125 + below(5) : 90 + below(70);
      runner_.v(scale)[lane] = exponent << 23;
      runner_.v(noise)[lane] = noisy ? static_cast<uint32_t>(random_()) : 0;
      for (unsigned e = 0; e < elements; ++e) {  // normal numbers of the format
        const double number = std::ldexp(1 + static_cast<double>(random_()) * 0x1p-32, static_cast<int>(below(2)));
        put(source, lane, e, wide.width,
            rounded(wide, std::ldexp(below(2) != 0 ? number : -number, static_cast<int>(exponent) - 127)));
      }
    }
    const std::string code = "v_cvt_scalef32_" + prefix + format.name + "_" + wide.name + " " +
                             registers(result, bits) + ", " + registers(source, elements * wide.width) + ", v" +
                             std::to_string(noise) + ", v" + std::to_string(scale);
    ASSERT_EQ(runner_.run(code), WaveState::ended) << code;
    for (unsigned lane = 0; lane < 64; ++lane) {
      const int exponent = static_cast<int>(runner_.v(scale)[lane] >> 23);
      for (unsigned e = 0; e < elements; ++e) {
        const double number = std::ldexp(value_of(wide, get(source, lane, e, wide.width)), 127 - exponent);
        const unsigned lower = code_below(format, std::fabs(number));
        const unsigned sign = number < 0 ? 1u << (format.width() - 1) : 0;
        const unsigned got = get(result, lane, e, format.width());
        if (noisy && format.value(lower) != std::fabs(number) && got == (lower | sign) + 1) {
          ++up;
        } else {
          ASSERT_EQ(got, lower | sign) << code << ": " << number << " in lane " << lane;
        }
      }
    }
  }
  EXPECT_GT(up, 64 * elements / 4) << format.name << " " << wide.name;
  EXPECT_LT(up, 64 * elements * 3 / 4) << format.name << " " << wide.name;
}

/// That a code's number times a scale of 2^(exponent - 127) has become `got`.
void expect_scaled(const Wide& wide, double number, unsigned exponent, uint32_t got) {
  const double expected = exponent == 255 ? NAN : std::ldexp(number, static_cast<int>(exponent) - 127);
  if (std::isnan(expected)) {
    ASSERT_TRUE(std::isnan(value_of(wide, got)));
  } else {
    ASSERT_EQ(got, rounded(wide, expected)) << expected;
  }
}

/// From codes, from each part of the source's register where it is a part.
void ScaledConversion::check_up(const Small& format, const Wide& wide, unsigned elements) {
  const unsigned bits = elements * format.width(), parts = bits < 32 ? 32 / bits : 1;
  const std::string prefix = elements == 32 ? "pk32_" : elements == 2 ? "pk_" : "";
  for (unsigned part = 0; part < parts; ++part) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      runner_.v(scale)[lane] = any_scale(wide) << 23;
      for (unsigned word = 0; word < 6; ++word) runner_.v(source + word)[lane] = static_cast<uint32_t>(random_());
    }
    std::string code = "v_cvt_scalef32_" + prefix + wide.name + "_" + format.name + " " +
                       registers(result, elements * wide.width) + ", " + registers(source, bits) + ", v" +
                       std::to_string(scale);
    if (parts == 2 && part == 1) code += " op_sel:[1,0,0]";
    if (parts == 4 && part != 0) {
      code += std::string(" op_sel:[") + (part % 2 != 0 ? "1," : "0,") + (part / 2 != 0 ? "1,0]" : "0,0]");
    }
    ASSERT_EQ(runner_.run(code), WaveState::ended) << code;
    for (unsigned lane = 0; lane < 64; ++lane) {
      const unsigned exponent = runner_.v(scale)[lane] >> 23;
      for (unsigned e = 0; e < elements; ++e) {
        const double number = number_of(format, get(source, lane, part * elements + e, format.width()));
        expect_scaled(wide, number, exponent, get(result, lane, e, wide.width));
        ASSERT_FALSE(HasFatalFailure()) << code << " in lane " << lane;
      }
    }
  }
}

TEST_F(ScaledConversion, ToTheNearestCode) {
  for (const Wide& wide : {f32, f16, bf16}) {
    for (const Small& format : {fp8, bf8, fp4}) check_down(format, wide, 2);
    for (const Small& format : {fp6, bf6}) check_down(format, wide, 32);
  }
}

TEST_F(ScaledConversion, ToANeighbourAtRandom) {
  for (const Wide& wide : {f32, f16, bf16}) {
    for (const Small& format : {fp8, bf8}) check_noise(format, wide, 1);
    check_noise(fp4, wide, 2);
    for (const Small& format : {fp6, bf6}) check_noise(format, wide, 32);
  }
}

TEST_F(ScaledConversion, BackAgain) {
  for (const Wide& wide : {f32, f16, bf16}) {
    for (const Small& format : {fp8, bf8, fp4}) check_up(format, wide, 2);
    for (const Small& format : {fp6, bf6}) check_up(format, wide, 32);
  }
  for (const Wide& wide : {f32, f16}) {
    for (const Small& format : {fp8, bf8}) check_up(format, wide, 1);
  }
}

/// GFX12.5: 8 or 16 numbers at a time.
class PackedConversion : public ScaledConversion {
 protected:
  PackedConversion() : ScaledConversion("gfx1250", lanes) {}

  static constexpr unsigned lanes = 32;

  void check_packed_down(const Small& format, const Wide& wide);
  void check_packed_noise(const Small& format, const Wide& wide);
  void check_packed_up(const Small& format, const Wide& wide);
  static unsigned count_of(const Small& format) { return format.width() == 6 ? 16 : 8; }
};

void PackedConversion::check_packed_down(const Small& format, const Wide& wide) {
  const unsigned count = count_of(format);
  std::vector<double> expected(lanes * count);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned exponent = any_scale(wide);
    runner_.v(scale)[lane] = exponent << 23 | below(1u << 23);
    for (unsigned e = 0; e < count; ++e) {
      const uint32_t number = number_near(wide, format, exponent == 255 ? 127 : exponent);
      put(source, lane, e, wide.width, number);
      expected[lane * count + e] =
          exponent == 255 ? NAN : std::ldexp(value_of(wide, number), 127 - static_cast<int>(exponent));
    }
  }
  const std::string code = "v_cvt_scalef32_pk" + std::to_string(count) + "_" + format.name + "_" + wide.name + " " +
                           registers(result, count * format.width()) + ", " + registers(source, count * wide.width) +
                           ", v" + std::to_string(scale);
  ASSERT_EQ(runner_.run(code), WaveState::ended) << code;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned e = 0; e < count; ++e) {
      const double number = expected[lane * count + e];
      const unsigned got = get(result, lane, e, format.width());
      unsigned want = nearest_code(format, number);
      const unsigned size_bits = (1u << (format.width() - 1)) - 1;
      if (std::isnan(number)) want = (want & size_bits) | (got & ~size_bits);
      ASSERT_EQ(got, want) << code << ": " << number << " in lane " << lane;
    }
  }
}

void PackedConversion::check_packed_noise(const Small& format, const Wide& wide) {
  const unsigned count = count_of(format);
  unsigned up = 0;
  for (const bool noisy : {false, true}) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned exponent = wide.name == "f16" ? 125 + below(5) : 90 + below(70);
      runner_.v(scale)[lane] = exponent << 23;
      runner_.v(noise)[lane] = noisy ? static_cast<uint32_t>(random_()) : 0;
      for (unsigned e = 0; e < count; ++e) {
        const double number = std::ldexp(1 + static_cast<double>(random_()) * 0x1p-32, static_cast<int>(below(2)));
        put(source, lane, e, wide.width,
            rounded(wide, std::ldexp(below(2) != 0 ? number : -number, static_cast<int>(exponent) - 127)));
      }
    }
    const std::string code = "v_cvt_scalef32_sr_pk" + std::to_string(count) + "_" + format.name + "_" + wide.name +
                             " " + registers(result, count * format.width()) + ", " +
                             registers(source, count * wide.width) + ", v" + std::to_string(noise) + ", v" +
                             std::to_string(scale);
    ASSERT_EQ(runner_.run(code), WaveState::ended) << code;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const int exponent = static_cast<int>(runner_.v(scale)[lane] >> 23);
      for (unsigned e = 0; e < count; ++e) {
        const double number = std::ldexp(value_of(wide, get(source, lane, e, wide.width)), 127 - exponent);
        const unsigned lower = code_below(format, std::fabs(number));
        const unsigned sign = number < 0 ? 1u << (format.width() - 1) : 0;
        const unsigned got = get(result, lane, e, format.width());
        if (noisy && format.value(lower) != std::fabs(number) && got == (lower | sign) + 1) {
          ++up;
        } else {
          ASSERT_EQ(got, lower | sign) << code << ": " << number << " in lane " << lane;
        }
      }
    }
  }
  EXPECT_GT(up, lanes * count / 4) << format.name << " " << wide.name;
  EXPECT_LT(up, lanes * count * 3 / 4) << format.name << " " << wide.name;
}

/// The scale is a byte of a register, E8M0: the exponent of a single.
void PackedConversion::check_packed_up(const Small& format, const Wide& wide) {
  const unsigned count = count_of(format);
  for (unsigned select = 0; select < 4; ++select) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      runner_.v(scale)[lane] = static_cast<uint32_t>(random_());
      put(scale, lane, select, 8, any_scale(wide));
      for (unsigned word = 0; word < 4; ++word) runner_.v(source + word)[lane] = static_cast<uint32_t>(random_());
    }
    const std::string code = "v_cvt_scale_pk" + std::to_string(count) + "_" + wide.name + "_" + format.name + " " +
                             registers(result, count * wide.width) + ", " + registers(source, count * format.width()) +
                             ", v" + std::to_string(scale) +
                             (select == 0 ? "" : " scale_sel:" + std::to_string(select));
    ASSERT_EQ(runner_.run(code), WaveState::ended) << code;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned exponent = get(scale, lane, select, 8);
      for (unsigned e = 0; e < count; ++e) {
        const double number = number_of(format, get(source, lane, e, format.width()));
        expect_scaled(wide, number, exponent, get(result, lane, e, wide.width));
        ASSERT_FALSE(HasFatalFailure()) << code << " in lane " << lane;
      }
    }
  }
}

TEST_F(PackedConversion, ToTheNearestCode) {
  for (const Wide& wide : {f32, f16, bf16}) {
    for (const Small& format : {fp8, bf8, fp4, fp6, bf6}) check_packed_down(format, wide);
  }
}

TEST_F(PackedConversion, ToANeighbourAtRandom) {
  for (const Wide& wide : {f32, f16, bf16}) {
    for (const Small& format : {fp8, bf8, fp4, fp6, bf6}) check_packed_noise(format, wide);
  }
}

TEST_F(PackedConversion, BackAgain) {
  for (const Wide& wide : {f32, f16, bf16}) {
    for (const Small& format : {fp8, bf8, fp4, fp6, bf6}) check_packed_up(format, wide);
  }
}

}  // namespace
}  // namespace Atoll
