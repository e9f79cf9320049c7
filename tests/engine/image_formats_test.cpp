// Each format of images, loaded and sampled with each filter and address mode, against what the formats' names and the
// OpenCL C specification, "Image addressing and filtering", say, in double precision. Plain instructions are executed
// for a whole wave at once, those that ask for residency (tfe) lane by lane: both must give the same.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/image_fixture.h"
#include "semantics/image/image_format.h"

namespace Atoll::test {
namespace {

using semantics::BufferFormat;
using semantics::NumberFormat;

constexpr unsigned clamp_wrap = 0, clamp_mirror = 1, clamp_edge = 2, clamp_border = 6;

/// Every format that some generation has a number for.
std::vector<BufferFormat> formats_of(target::Generation generation) {
  constexpr std::array<std::array<uint8_t, 4>, 20> layouts{{{8},
                                                            {16},
                                                            {32},
                                                            {8, 8},
                                                            {16, 16},
                                                            {32, 32},
                                                            {8, 8, 8, 8},
                                                            {16, 16, 16, 16},
                                                            {32, 32, 32, 32},
                                                            {32, 32, 32},
                                                            {11, 11, 10},
                                                            {10, 11, 11},
                                                            {2, 10, 10, 10},
                                                            {10, 10, 10, 2},
                                                            {5, 6, 5},
                                                            {1, 5, 5, 5},
                                                            {5, 5, 5, 1},
                                                            {4, 4, 4, 4},
                                                            {4, 4},
                                                            {6, 5, 5}}};
  std::vector<BufferFormat> formats;
  for (const auto& layout : layouts) {
    for (unsigned number = 0; number <= static_cast<unsigned>(NumberFormat::srgb); ++number) {
      BufferFormat format{.width = layout, .number = static_cast<NumberFormat>(number)};
      unsigned width = 0;
      for (const uint8_t bits : layout) {
        format.components += bits != 0 ? 1 : 0;
        width += bits;
      }
      format.bytes = static_cast<uint8_t>(width / 8);
      if (semantics::image_format_fields(format, generation)) formats.push_back(format);
    }
  }
  return formats;
}

/// A component from its bits, by its width and the format's kind of numbers.
double meaning_of(uint32_t bits, unsigned width, NumberFormat number) {
  const double largest = std::ldexp(1, static_cast<int>(width)) - 1;
  const auto extended = static_cast<int64_t>(static_cast<int32_t>(bits << (32 - width)) >> (32 - width));
  switch (number) {
    case NumberFormat::unorm:
      return bits / largest;
    case NumberFormat::snorm:
      return std::max(static_cast<double>(extended) / ((largest - 1) / 2), -1.0);
    case NumberFormat::uscaled:
    case NumberFormat::uint:
      return bits;
    case NumberFormat::sscaled:
    case NumberFormat::sint:
      return static_cast<double>(extended);
    case NumberFormat::srgb: {
      const double stored = bits / largest;
      return stored <= 0.04045 ? stored / 12.92 : std::pow((stored + 0.055) / 1.055, 2.4);
    }
    default:
      break;
  }
  if (width == 32) return std::bit_cast<float>(bits);
  // Five bits of exponent, of which 15 is 0; a sign where there are 16 bits.
  const bool has_sign = width == 16;
  const int mantissa_bits = static_cast<int>(width) - 5 - (has_sign ? 1 : 0);
  const uint32_t mantissa = bits & ((1U << mantissa_bits) - 1), exponent = bits >> mantissa_bits & 31;
  const double sign = has_sign && bits >> 15 != 0 ? -1 : 1;
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, static_cast<int>(exponent) - 15));
}

/// The four components of an element: X lies lowest; what there is not is 0, and W is 1.
std::array<double, 4> components_of(const BufferFormat& format, const uint8_t* memory) {
  std::array<double, 4> result{0, 0, 0, 1};
  unsigned position = 0;
  for (unsigned i = 0; i < format.components; ++i) {
    uint64_t bits = 0;
    for (unsigned bit = 0; bit < format.width[i]; ++bit, ++position) {
      bits |= uint64_t{memory[position / 8] >> position % 8 & 1U} << bit;
    }
    const bool is_alpha = format.number == NumberFormat::srgb && i == 3;
    result[i] =
        meaning_of(static_cast<uint32_t>(bits), format.width[i], is_alpha ? NumberFormat::unorm : format.number);
  }
  return result;
}

std::string name_of(const BufferFormat& format) {
  return fmt::format("{} of {}", static_cast<unsigned>(format.number),
                     fmt::join(std::span(format.width).first(format.components), "_"));
}

class ImageFormats : public Images {
 protected:
  ImageFormats() : Images("") {}

  /// Result of both kinds of instruction for all lanes: four registers of a lane.
  std::vector<std::array<uint32_t, 4>> both(const std::string& name, bool samples) {
    for (unsigned i = 0; i < 4; ++i) {
      for (unsigned lane = 0; lane < lanes; ++lane) runner.v(20 + i)[lane] = runner.v(30 + i)[lane] = 0xDEADBEEF;
    }
    EXPECT_EQ(run(name, "v[20:23]", 3, type_2d_array, "dmask:0xf", samples), WaveState::ended);
    EXPECT_EQ(run(name, "v[30:34]", 3, type_2d_array, "dmask:0xf tfe", samples), WaveState::ended);
    std::vector<std::array<uint32_t, 4>> result(lanes);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < 4; ++i) {
        result[lane][i] = runner.v(20 + i)[lane];
        const uint32_t by_lane = runner.v(30 + i)[lane];
        const bool are_nan = samples && std::isnan(number(result[lane][i])) && std::isnan(number(by_lane));
        EXPECT_TRUE(result[lane][i] == by_lane || are_nan)
            << "lane " << lane << " component " << i << ": " << result[lane][i] << " and " << by_lane;
      }
    }
    return result;
  }

  static void expect_value(const BufferFormat& format, uint32_t word, double expected, double allowed) {
    if (semantics::is_integer(format.number)) {
      EXPECT_EQ(word, static_cast<uint32_t>(static_cast<int64_t>(expected)));
    } else if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(number(word))) << number(word);
    } else if (allowed == 0) {
      EXPECT_EQ(number(word), static_cast<float>(expected));
    } else {
      EXPECT_NEAR(number(word), expected, allowed);
    }
  }

  template <typename At>
  void expect_samples(const BufferFormat& format, const At& at);

  ImageShape shape{.type = type_2d_array, .width = 13, .height = 7, .layers = 3};
};

/// An element's index along an axis by the address mode; nothing where the border is.
std::optional<unsigned> clamped(double index, unsigned size, unsigned clamp) {
  const double repeated = index - std::floor(index / size) * size;
  const double mirrored = index - std::floor(index / (2.0 * size)) * 2 * size;
  if (clamp == clamp_wrap) return static_cast<unsigned>(repeated);
  if (clamp == clamp_mirror) return static_cast<unsigned>(mirrored < size ? mirrored : 2 * size - 1 - mirrored);
  if (clamp == clamp_edge) return static_cast<unsigned>(std::clamp<double>(index, 0, size - 1));
  if (index < 0 || index >= size) return std::nullopt;
  return static_cast<unsigned>(index);
}

/// `at`: an element's components.
template <typename At>
void ImageFormats::expect_samples(const BufferFormat& format, const At& at) {
  std::uniform_real_distribution<float> coordinate(-1.5F, 2.5F);
  for (const unsigned clamp : {clamp_wrap, clamp_mirror, clamp_edge, clamp_border}) {
    for (const bool linear : {false, true}) {
      SCOPED_TRACE(fmt::format("clamp {}, linear {}", clamp, linear));
      set_sampler(clamp, linear, false, 0, 0, 1);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        // Edges of elements, middles of them, and what lies between.
        const double x = std::nearbyint(static_cast<double>(coordinate(random)) * shape.width * 2) / 2;
        runner.v(4)[lane] = bits(lane < 8 ? (x + 0.25) / shape.width : coordinate(random));
        runner.v(5)[lane] = bits(coordinate(random));
        runner.v(6)[lane] = bits(static_cast<double>(lane % 5) - 1);
      }
      const auto sampled = both("image_sample_lz", true);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const double u = static_cast<double>(number(runner.v(4)[lane])) * shape.width - (linear ? 0.5 : 0);
        const double v = static_cast<double>(number(runner.v(5)[lane])) * shape.height - (linear ? 0.5 : 0);
        // The point filter sees 8 bits of a fraction.
        const auto near = [](double place) { return std::fabs(place - std::nearbyint(place)) < 1.0 / 256; };
        if (!linear && (near(u) || near(v))) continue;
        const auto z = static_cast<unsigned>(std::clamp<double>(number(runner.v(6)[lane]), 0, shape.layers - 1));
        const double x = std::floor(u), y = std::floor(v);
        std::array<double, 4> sums{}, magnitudes{};
        for (unsigned corner = 0; corner < (linear ? 4U : 1U); ++corner) {
          const unsigned i = corner & 1, j = corner >> 1;
          const double weight = linear ? (i != 0 ? u - x : 1 - (u - x)) * (j != 0 ? v - y : 1 - (v - y)) : 1;
          if (weight == 0) continue;
          const auto column = clamped(x + i, shape.width, clamp), row = clamped(y + j, shape.height, clamp);
          const std::array<double, 4> border{0, 0, 0, 1};  // opaque black
          const std::array<double, 4> texel = column && row ? at(*column, *row, z) : border;
          for (unsigned c = 0; c < 4; ++c) {
            sums[c] += weight * texel[c];
            magnitudes[c] = std::max(magnitudes[c], std::fabs(texel[c]));
          }
        }
        for (unsigned c = 0; c < 4; ++c) {
          SCOPED_TRACE(fmt::format("lane {}, component {}", lane, c));
          const double allowed = std::isfinite(magnitudes[c]) ? 1e-6 * magnitudes[c] : 0;
          expect_value(format, sampled[lane][c], sums[c], linear || format.number == NumberFormat::srgb ? allowed : 0);
        }
      }
    }
  }
}

TEST_P(ImageFormats, AreLoadedAndSampled) {
  const target::Generation generation = target::find_processor(GetParam())->generation;
  const std::vector<BufferFormat> formats = formats_of(generation);
  ASSERT_GT(formats.size(), 40U);
  for (const BufferFormat& format : formats) {
    SCOPED_TRACE(name_of(format));
    const semantics::ImageFormatFields fields = *semantics::image_format_fields(format, generation);
    const Format of_image{format.bytes, fields.data, fields.number, fields.data, fields.data};
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(random());
    set_image(shape, of_image);
    const auto at = [&](unsigned x, unsigned y, unsigned z) {
      return components_of(format, element(shape, of_image, x, y, z));
    };
    for (unsigned lane = 0; lane < lanes; ++lane) {
      runner.v(4)[lane] = static_cast<uint32_t>(random()) % (shape.width + 1);
      runner.v(5)[lane] = static_cast<uint32_t>(random()) % (shape.height + 1);
      runner.v(6)[lane] = static_cast<uint32_t>(random()) % (shape.layers + 1);
    }
    const auto loaded = both("image_load", false);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned x = runner.v(4)[lane], y = runner.v(5)[lane], z = runner.v(6)[lane];
      const bool inside = x < shape.width && y < shape.height && z < shape.layers;
      const std::array<double, 4> expected = inside ? at(x, y, z) : std::array<double, 4>{};
      // The curve's power is not the same in all of the last place.
      const double allowed = format.number == NumberFormat::srgb ? 1e-7 : 0;
      for (unsigned i = 0; i < 4; ++i) expect_value(format, loaded[lane][i], expected[i], allowed);
    }
    if (semantics::is_integer(format.number)) continue;
    expect_samples(format, at);
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, ImageFormats, testing::Values("gfx803", "gfx900", "gfx1030", "gfx1100", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace Atoll::test
