// Image instructions: elements by integer coordinates, and samples against the formulas of the OpenCL C specification,
// "Image addressing and filtering", in double precision. The words of images and samplers are put together here by the
// ISA guides and ROCr's resource headers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "assembler/assembler.h"
#include "engine/wave_runner.h"
#include "isa/table.h"
#include "target/processor.h"
#include "target/target_id.h"

namespace Atoll::test {
namespace {

using machine::WaveState;

constexpr unsigned lanes = 32;
constexpr unsigned type_1d = 8, type_2d = 9, type_3d = 10, type_2d_array = 13, type_2d_msaa = 14;
constexpr std::array<const char*, 8> dimension_names{"1D",       "2D",       "3D",      "CUBE",
                                                     "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};

uint32_t bits(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }
float number(uint32_t word) { return std::bit_cast<float>(word); }
uint32_t half(double value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

/// An image's format: its numbers on GFX8 and GFX9, on GFX10, and on GFX11 and later.
struct Format {
  unsigned bytes, data, number, of_gfx10, of_gfx11;
};
constexpr Format float_1{4, 4, 7, 22, 22}, float_4{16, 14, 7, 77, 63}, unorm8_4{4, 10, 0, 56, 42},
    uint32_1{4, 4, 4, 20, 20}, srgb8_4{4, 10, 9, 130, 66}, unorm_565{2, 16, 0, 133, 68}, sint16_2{4, 5, 5, 28, 28};

struct ImageShape {
  unsigned type = type_2d, width = 1, height = 1, depth = 1, layers = 1, levels = 1, samples_log2 = 0;
};

/// Sets `width` bits from `bit` on.
void put(std::array<uint32_t, 8>& words, unsigned bit, unsigned width, uint64_t value) {
  ASSERT_EQ(value >> width, 0U);
  for (unsigned i = 0; i < width; ++i) {
    if ((value >> i & 1) != 0) words[(bit + i) / 32] |= 1U << (bit + i) % 32;
  }
}

class Images : public testing::TestWithParam<const char*> {
 protected:
  explicit Images(std::string_view engine = "interpreter")
      : runner(GetParam(), engine, is_old() ? 64 : 32),
        memory(1 << 18),
        base(memory.data() + (256 - reinterpret_cast<uint64_t>(memory.data()) % 256)) {
    runner.wave().set_exec(UINT32_MAX);
  }

  static bool is(std::string_view prefix) { return std::string_view(GetParam()).starts_with(prefix); }
  static bool is_before_gfx9() { return is("gfx6") || is("gfx7") || is("gfx8"); }
  static bool is_old() { return is_before_gfx9() || is("gfx90"); }

  /// The image's words into s[8:15].
  void set_image(const ImageShape& shape, const Format& format) {
    std::array<uint32_t, 8> words{};
    put(words, 0, 40, reinterpret_cast<uint64_t>(base) >> 8);
    words[3] = 4 | 5 << 3 | 6 << 6 | 7 << 9 | shape.type << 28;
    const unsigned last_level = shape.samples_log2 != 0 ? shape.samples_log2 : shape.levels - 1;
    const bool has_layers = shape.type == type_2d_array;
    const unsigned depth = has_layers ? shape.layers - 1 : shape.depth - 1;
    const unsigned pitch = row_pitch(shape.width, format) - 1;
    if (is_old()) {
      put(words, 52, 6, format.data);
      put(words, 58, 4, format.number);
      put(words, 64, 14, shape.width - 1);
      put(words, 78, 14, shape.height - 1);
      put(words, 128, 13, depth);
      put(words, 141, 14, pitch);
      put(words, 112, 4, last_level);
      if (is_before_gfx9()) {
        put(words, 116, 5, 8);  // linear
        put(words, 173, 13, shape.layers - 1);
      } else {
        put(words, 188, 4, shape.levels - 1);
      }
    } else if (is("gfx12")) {
      put(words, 49, 8, format.of_gfx11);
      put(words, 62, 16, shape.width - 1);
      put(words, 78, 16, shape.height - 1);
      put(words, 111, 5, last_level);
      put(words, 44, 5, shape.levels - 1);
      put(words, 128, 14, has_layers || shape.type == type_3d ? depth : pitch);
    } else {
      put(words, 52, 8, is("gfx11") ? format.of_gfx11 : format.of_gfx10);
      put(words, 62, 14, shape.width - 1);
      put(words, 78, 14, shape.height - 1);
      put(words, 112, 4, last_level);
      put(words, is("gfx11") ? 48 : 164, 4, shape.levels - 1);
      put(words, 128, 13, has_layers || shape.type == type_3d ? depth : pitch);
    }
    for (unsigned i = 0; i < 8; ++i) runner.s(8 + i) = words[i];
  }
  static unsigned row_pitch(unsigned width, const Format& format) {
    return (width * format.bytes + 255) / 256 * 256 / format.bytes;
  }
  /// The sampler's words into s[16:19].
  void set_sampler(unsigned clamp, bool linear, bool unnormalized, unsigned mip = 0, unsigned compare = 0,
                   unsigned border = 0) {
    const bool is_wide = is("gfx12");
    runner.s(16) = clamp * 0111 | compare << 12 | uint32_t{unnormalized} << 15 | 1U << 27;
    runner.s(17) = 4095U << (is_wide ? 13 : 12);
    runner.s(18) = (linear ? 5U << 20 : 0) | mip << 26;
    runner.s(19) = border << 30;
  }
  uint8_t* element(const ImageShape& shape, const Format& format, unsigned x, unsigned y = 0, unsigned z = 0) const {
    return base + ((z * shape.height + y) * row_pitch(shape.width, format) + x) * format.bytes;
  }

  /// The instruction with registers of an address at v[4:...], as a generation writes it.
  static std::string text(const std::string& name, const std::string& data, unsigned words, unsigned type,
                          const std::string& modifiers, bool samples) {
    std::string address = words == 1 ? "v4" : fmt::format("v[4:{}]", 3 + words);
    if (is("gfx12") && words > 1) {
      address = "[v4";  // up to four parts, of which the last may be several registers
      for (unsigned i = 1; i < std::min(words, 4U); ++i) {
        address += i == 3 && words > 4 ? fmt::format(", v[7:{}]", 3 + words) : fmt::format(", v{}", 4 + i);
      }
      address += "]";
    }
    const std::string start = fmt::format("{} {}, {}, s[8:15]{}", name, data, address, samples ? ", s[16:19]" : "");
    // unorm and dim follow dmask, and da comes before d16.
    const bool has_d16 = modifiers.ends_with(" d16");
    const std::string before = has_d16 ? modifiers.substr(0, modifiers.size() - 4) : modifiers;
    const size_t end = std::min(before.find(' '), before.size());
    std::string kind = samples ? "" : " unorm";
    if (!is_old()) kind = fmt::format(" dim:SQ_RSRC_IMG_{}", dimension_names[type - type_1d]);
    return fmt::format("{} {}{}{}{}{}", start, before.substr(0, end), kind, before.substr(end),
                       is_old() && type == type_2d_array ? " da" : "", has_d16 ? " d16" : "");
  }
  WaveState run(const std::string& name, const std::string& data, unsigned words, unsigned type,
                const std::string& modifiers, bool samples = false) {
    const std::string source = text(name, data, words, type, modifiers, samples) +
                               (is("gfx12") ? "\ns_wait_samplecnt 0\ns_wait_loadcnt 0" : "\ns_waitcnt vmcnt(0)");
    // By Atoll's assembler, as there are many: that it writes what LLVM's does is tested with it.
    assembler::Options options;
    options.target = target::parse_target_id(GetParam()).value();
    options.wave32 = runner.wave().wave_size == 32;
    const auto result = assembler::assemble("code.s", source + "\n", options);
    EXPECT_TRUE(result.object.has_value()) << source << "\n" << result.messages;
    return result.object ? runner.run_instructions(result.object->sections.front().bytes) : WaveState::faulted;
  }

  WaveRunner runner;
  std::vector<uint8_t> memory;
  uint8_t* base;
  std::mt19937 random{11};
};

/// Translated code leaves these instructions to the interpreter.
class ImagesInBothEngines : public Images {
 protected:
  ImagesInBothEngines() : Images("") {}
};

TEST_P(ImagesInBothEngines, LoadsAndStoresTheElementsOfEachKind) {
  struct Case {
    ImageShape shape;
    unsigned words;
  };
  for (const Case& one : {Case{{.type = type_1d, .width = 40}, 1}, Case{{.type = type_2d, .width = 13, .height = 7}, 2},
                          Case{{.type = type_3d, .width = 13, .height = 7, .depth = 4}, 3},
                          Case{{.type = type_2d_array, .width = 13, .height = 7, .layers = 4}, 3}}) {
    const ImageShape& shape = one.shape;
    const unsigned slices = std::max(shape.depth, shape.layers);
    SCOPED_TRACE(shape.type);
    std::ranges::fill(memory, 0);
    set_image(shape, uint32_1);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned x = lane * 5 % (shape.width + 2), y = shape.height == 1 ? 0 : lane / 4, z = lane % (slices + 1);
      runner.v(4)[lane] = x;
      runner.v(5)[lane] = y;
      runner.v(6)[lane] = z;
      runner.v(20)[lane] = 1000 + lane;
    }
    const std::array<uint32_t, 3> sizes{shape.width, shape.height, one.words < 3 ? UINT32_MAX : slices};
    ASSERT_EQ(run("image_store", "v20", one.words, shape.type, "dmask:0x1"), WaveState::ended);
    ASSERT_EQ(run("image_load", "v24", one.words, shape.type, "dmask:0x1"), WaveState::ended);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const std::array<uint32_t, 3> at{runner.v(4)[lane], one.words < 2 ? 0 : runner.v(5)[lane],
                                       one.words < 3 ? 0 : runner.v(6)[lane]};
      const bool inside = at[0] < sizes[0] && at[1] < sizes[1] && at[2] < sizes[2];
      uint32_t there = 0;
      if (inside) std::memcpy(&there, element(shape, uint32_1, at[0], at[1], at[2]), sizeof there);
      EXPECT_EQ(runner.v(24)[lane], there) << lane;
      if (inside && shape.type != type_1d) EXPECT_GE(there, 1000U) << lane;
    }
  }
}

TEST_P(Images, ConvertsFormats) {
  const ImageShape shape{.type = type_1d, .width = 64};
  for (unsigned lane = 0; lane < lanes; ++lane) runner.v(4)[lane] = lane;
  std::array<uint32_t, lanes> elements;
  for (uint32_t& one : elements) one = static_cast<uint32_t>(random());

  std::memcpy(base, elements.data(), sizeof elements);
  set_image(shape, unorm8_4);
  ASSERT_EQ(run("image_load", "v[20:23]", 1, type_1d, "dmask:0xf"), WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      EXPECT_EQ(number(runner.v(20 + i)[lane]), static_cast<float>((elements[lane] >> 8 * i & 255) / 255.0));
    }
  }
  // Only the components that are named, one after the other.
  ASSERT_EQ(run("image_load", "v[24:25]", 1, type_1d, "dmask:0xa"), WaveState::ended);
  EXPECT_EQ(runner.v(24)[3], runner.v(21)[3]);
  EXPECT_EQ(runner.v(25)[3], runner.v(23)[3]);

  set_image(shape, srgb8_4);
  ASSERT_EQ(run("image_load", "v[24:27]", 1, type_1d, "dmask:0xf"), WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const double stored = (elements[lane] & 255) / 255.0;
    const double light = stored <= 0.04045 ? stored / 12.92 : std::pow((stored + 0.055) / 1.055, 2.4);
    EXPECT_NEAR(number(runner.v(24)[lane]), light, 1e-7);
    EXPECT_EQ(runner.v(27)[lane], runner.v(23)[lane]);  // alpha is not along the curve
  }

  set_image(shape, sint16_2);
  ASSERT_EQ(run("image_load", "v[20:23]", 1, type_1d, "dmask:0xf"), WaveState::ended);
  EXPECT_EQ(static_cast<int32_t>(runner.v(21)[7]), static_cast<int16_t>(elements[7] >> 16));
  EXPECT_EQ(runner.v(22)[7], 0U);
  EXPECT_EQ(runner.v(23)[7], 1U);

  set_image(shape, unorm_565);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned i = 0; i < 3; ++i) runner.v(20 + i)[lane] = bits(lane / 31.0);
  }
  ASSERT_EQ(run("image_store", "v[20:22]", 1, type_1d, "dmask:0x7"), WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    uint16_t there = 0;
    std::memcpy(&there, base + lane * 2, sizeof there);
    EXPECT_EQ(there & 31, lane);
    EXPECT_EQ(there >> 5 & 63, static_cast<unsigned>(std::nearbyint(lane * 63 / 31.0)));
    EXPECT_EQ(there >> 11, static_cast<int>(lane));
  }
}

TEST_P(Images, MovesHalvesAndTakesAddressesOfHalves) {
  const ImageShape shape{.type = type_2d, .width = 16, .height = 4};
  set_image(shape, float_4);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const std::array<float, 4> values{lane * 0.5F, -1.0F, 1024.0F + lane, 0.25F};
    std::memcpy(element(shape, float_4, lane % 16, lane / 16), values.data(), sizeof values);
    runner.v(4)[lane] = lane % 16;
    runner.v(5)[lane] = lane / 16;
  }
  if (is("gfx803")) {  // a register for each
    ASSERT_EQ(run("image_load", "v[20:23]", 2, type_2d, "dmask:0xf d16"), WaveState::ended);
    EXPECT_EQ(runner.v(20)[9], half(4.5));
    EXPECT_EQ(runner.v(22)[9], half(1033));
    return;
  }
  ASSERT_EQ(run("image_load", "v[20:21]", 2, type_2d, "dmask:0xf d16"), WaveState::ended);
  EXPECT_EQ(runner.v(20)[9], half(4.5) | half(-1) << 16);
  EXPECT_EQ(runner.v(21)[9], half(1033) | half(0.25) << 16);
  for (unsigned lane = 0; lane < lanes; ++lane) runner.v(4)[lane] |= runner.v(5)[lane] << 16;
  ASSERT_EQ(run("image_load", "v22", 1, type_2d, "dmask:0x1 a16"), WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) EXPECT_EQ(number(runner.v(22)[lane]), lane * 0.5);
}

TEST_P(Images, TellsSizes) {
  set_image({.type = type_2d_array, .width = 40, .height = 17, .layers = 5, .levels = 3}, float_1);
  for (unsigned lane = 0; lane < lanes; ++lane) runner.v(4)[lane] = lane % 4;
  ASSERT_EQ(run("image_get_resinfo", "v[20:23]", 1, type_2d_array, "dmask:0xf"), WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned level = lane % 4;
    EXPECT_EQ(runner.v(20)[lane], level < 3 ? 40U >> level : 0U);
    EXPECT_EQ(runner.v(21)[lane], level < 3 ? 17U >> level : 0U);
    EXPECT_EQ(runner.v(22)[lane], level < 3 ? 5U : 0U);
    EXPECT_EQ(runner.v(23)[lane], 3U);
  }
}

/// Two elements along an axis and the second one's weight; -1 where the border is.
struct Taps {
  int64_t index[2];
  double weight;
};
/// `clamp`: 0 wrap, 1 mirror, 2 edge, 6 border.
Taps taps_of(double s, int64_t size, bool unnormalized, unsigned clamp, bool linear) {
  double u = unnormalized ? s : s * static_cast<double>(size);
  if (clamp == 0) u = (s - std::floor(s)) * static_cast<double>(size);
  if (clamp == 1) u = std::fabs(s - 2 * std::nearbyint(0.5 * s)) * static_cast<double>(size);
  const double from = linear ? u - 0.5 : u;
  const auto first = static_cast<int64_t>(std::floor(from));
  Taps taps{{first, first + 1}, linear ? from - std::floor(from) : 0};
  for (int64_t& index : taps.index) {
    if (clamp == 0) index = (index + size) % size;
    if (clamp == 1 || clamp == 2) index = std::clamp<int64_t>(index, 0, size - 1);
    if (clamp == 6 && (index < 0 || index >= size)) index = -1;
  }
  return taps;
}

TEST_P(ImagesInBothEngines, SamplesByTheFormulasOfOpenCl) {
  const ImageShape shape{.type = type_2d, .width = 19, .height = 11};
  std::vector<float> values(shape.width * shape.height);
  std::uniform_real_distribution<float> value(-3, 3), coordinate(-1.5F, 2.5F);
  for (float& one : values) one = value(random);
  for (unsigned y = 0; y < shape.height; ++y) {
    std::memcpy(element(shape, float_1, 0, y), &values[y * shape.width], shape.width * sizeof(float));
  }
  set_image(shape, float_1);
  for (const unsigned clamp : {0U, 1U, 2U, 6U}) {
    for (const bool linear : {false, true}) {
      for (const bool unnormalized : {false, true}) {
        if (unnormalized && clamp < 2) continue;  // OpenCL has no such sampler
        SCOPED_TRACE(fmt::format("clamp {}, linear {}, unnormalized {}", clamp, linear, unnormalized));
        set_sampler(clamp, linear, unnormalized, 0, 0, 2);
        for (unsigned lane = 0; lane < lanes; ++lane) {
          const float scale_x = unnormalized ? shape.width : 1, scale_y = unnormalized ? shape.height : 1;
          // Edges, at which mirroring of coordinates and of indices differ for a point filter.
          const bool at_edge = lane < 6 && (clamp != 1 || linear);
          runner.v(4)[lane] = bits((at_edge ? lane * 0.5 - 0.5 : coordinate(random)) * scale_x);
          runner.v(5)[lane] = bits((at_edge ? 1 - lane * 0.5 : coordinate(random)) * scale_y);
        }
        ASSERT_EQ(run("image_sample_lz", "v20", 2, type_2d, "dmask:0x1", true), WaveState::ended);
        for (unsigned lane = 0; lane < lanes; ++lane) {
          const Taps x = taps_of(number(runner.v(4)[lane]), shape.width, unnormalized, clamp, linear);
          const Taps y = taps_of(number(runner.v(5)[lane]), shape.height, unnormalized, clamp, linear);
          double sum = 0;
          for (unsigned corner = 0; corner < 4; ++corner) {
            const unsigned i = corner & 1, j = corner >> 1;
            const bool inside = x.index[i] >= 0 && y.index[j] >= 0;
            const double texel = inside ? values[y.index[j] * shape.width + x.index[i]] : 1;  // the border is white
            sum += (i != 0 ? x.weight : 1 - x.weight) * (j != 0 ? y.weight : 1 - y.weight) * texel;
          }
          EXPECT_NEAR(number(runner.v(20)[lane]), sum, linear ? 1e-6 : 0) << lane;
        }
      }
    }
  }
}

TEST_P(Images, ChoosesLevels) {
  // Each level is filled with its number.
  const ImageShape shape{.type = type_2d, .width = 16, .height = 16, .levels = 4};
  set_image(shape, float_1);
  uint8_t* level_base = base;
  for (unsigned level = 0; level < 4; ++level) {
    for (unsigned i = 0; i < 64 * (16U >> level); ++i) {
      const auto value = static_cast<float>(level);
      std::memcpy(level_base + i * 4, &value, 4);
    }
    level_base += size_t{256} * (16U >> level);
  }
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(4)[lane] = bits(0.4);
    runner.v(5)[lane] = bits(0.6);
    runner.v(6)[lane] = bits(lane * 0.15 - 0.5);
  }
  set_sampler(2, true, false, 1);  // the nearest level
  ASSERT_EQ(run("image_sample_l", "v20", 3, type_2d, "dmask:0x1", true), WaveState::ended);
  set_sampler(2, true, false, 2);  // between levels
  ASSERT_EQ(run("image_sample_l", "v21", 3, type_2d, "dmask:0x1", true), WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const double lod = std::clamp<double>(number(runner.v(6)[lane]), 0, 3);
    EXPECT_EQ(number(runner.v(20)[lane]), std::clamp<double>(std::ceil(lod + 0.5) - 1, 0, 3)) << lane;
    EXPECT_NEAR(number(runner.v(21)[lane]), lod, 1e-6) << lane;
  }
  // Gradients of 2 elements of level 0 mean level 1; offsets, biases and comparisons come before them.
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned i = 0; i < 4; ++i) runner.v(4 + i)[lane] = bits(i == 0 || i == 3 ? 2.0 / 16 : 0);
    runner.v(8)[lane] = runner.v(9)[lane] = bits(0.5);
  }
  ASSERT_EQ(run("image_sample_d", "v20", 6, type_2d, "dmask:0x1", true), WaveState::ended);
  EXPECT_NEAR(number(runner.v(20)[5]), 1, 1e-6);
  // By the neighbours of a quad: 4 elements from lane to lane.
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(4)[lane] = bits(lane % 2 * 4.0 / 16);
    runner.v(5)[lane] = bits(lane / 2 % 2 * 4.0 / 16);
  }
  ASSERT_EQ(run("image_sample", "v20", 2, type_2d, "dmask:0x1", true), WaveState::ended);
  EXPECT_NEAR(number(runner.v(20)[6]), 2, 1e-6);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(4)[lane] = runner.v(5)[lane] = 1;
    runner.v(6)[lane] = lane % 5;
  }
  ASSERT_EQ(run("image_load_mip", "v20", 3, type_2d, "dmask:0x1"), WaveState::ended);
  for (unsigned lane = 0; lane < 5; ++lane) EXPECT_EQ(number(runner.v(20)[lane]), lane < 4 ? lane : 0) << lane;
}

TEST_P(Images, GathersAndCompares) {
  const ImageShape shape{.type = type_2d, .width = 8, .height = 8};
  set_image(shape, float_1);
  for (unsigned i = 0; i < 64; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(element(shape, float_1, i % 8, i / 8), &value, 4);
  }
  set_sampler(2, true, true, 0, 3);  // reference <= element
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(4)[lane] = bits(3);  // between 2 and 3, and between 4 and 5
    runner.v(5)[lane] = bits(5);
  }
  ASSERT_EQ(run("image_gather4_lz", "v[20:23]", 2, type_2d, "dmask:0x1", true), WaveState::ended);
  EXPECT_EQ(number(runner.v(20)[1]), 42);  // lower left, lower right, upper right, upper left
  EXPECT_EQ(number(runner.v(21)[1]), 43);
  EXPECT_EQ(number(runner.v(22)[1]), 35);
  EXPECT_EQ(number(runner.v(23)[1]), 34);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(4)[lane] = bits(41.5);  // two of the four are not less
    runner.v(5)[lane] = bits(3);
    runner.v(6)[lane] = bits(5);
  }
  ASSERT_EQ(run("image_sample_c_lz", "v20", 3, type_2d, "dmask:0x1", true), WaveState::ended);
  EXPECT_EQ(number(runner.v(20)[1]), 0.5F);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(4)[lane] = 1 | (0x3F & -2) << 8;  // one to the right, two up
  }
  set_sampler(2, false, true);
  ASSERT_EQ(run("image_sample_lz_o", "v20", 3, type_2d, "dmask:0x1", true), WaveState::ended);
  EXPECT_EQ(number(runner.v(20)[1]), 28);
}

TEST_P(Images, ChangesElementsAtomically) {
  const ImageShape shape{.type = type_2d, .width = 8, .height = 8};
  set_image(shape, uint32_1);
  const uint32_t start = 100;
  std::memcpy(element(shape, uint32_1, 3, 2), &start, 4);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(4)[lane] = lane == 9 ? 50 : 3;  // one is outside
    runner.v(5)[lane] = 2;
    runner.v(20)[lane] = lane;
  }
  runner.wave().set_exec(0xFFFF);
  const std::string name = is("gfx12") ? "image_atomic_add_uint" : "image_atomic_add";
  ASSERT_EQ(run(name, "v20", 2, type_2d, is("gfx12") ? "dmask:0x1 th:TH_ATOMIC_RETURN" : "dmask:0x1 glc"),
            WaveState::ended);
  uint32_t sum = 0;
  std::memcpy(&sum, element(shape, uint32_1, 3, 2), 4);
  EXPECT_EQ(sum, 100U + 15 * 16 / 2 - 9);
  EXPECT_EQ(runner.v(20)[0], 100U);
  EXPECT_EQ(runner.v(20)[9], 0U);
  EXPECT_EQ(runner.v(20)[20], 20U);
}

TEST_P(Images, LoadsSamples) {
  if (is_old()) return;
  const ImageShape shape{.type = type_2d_msaa, .width = 8, .height = 4, .samples_log2 = 2};
  set_image(shape, float_1);
  for (unsigned sample = 0; sample < 4; ++sample) {
    for (unsigned i = 0; i < 32; ++i) {
      const auto value = static_cast<float>(sample * 100 + i);
      std::memcpy(element(shape, float_1, i % 8, i / 8, sample), &value, 4);
    }
  }
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(4)[lane] = lane % 8;
    runner.v(5)[lane] = lane / 8;
    runner.v(6)[lane] = lane % 4;
  }
  ASSERT_EQ(run("image_load", "v20", 3, type_2d_msaa, "dmask:0x1"), WaveState::ended);
  for (unsigned lane = 0; lane < lanes; ++lane) EXPECT_EQ(number(runner.v(20)[lane]), lane % 4 * 100 + lane);
  if (is("gfx1030")) return;  // text for one register alone
  for (unsigned lane = 0; lane < lanes; ++lane) runner.v(6)[lane] = 0;
  ASSERT_EQ(run("image_msaa_load", "v[20:23]", 3, type_2d_msaa, "dmask:0x1"), WaveState::ended);
  for (unsigned sample = 0; sample < 4; ++sample) EXPECT_EQ(number(runner.v(20 + sample)[9]), sample * 100 + 9);
}

TEST_P(Images, RefusesWordsWithoutMeaning) {
  const auto expect_fault = [&](const char* what) {
    EXPECT_EQ(run("image_load", "v20", 2, type_2d, "dmask:0x1"), WaveState::faulted);
    ASSERT_NE(runner.wave().fault, nullptr);
    EXPECT_NE(runner.wave().fault->what.find(what), std::string::npos) << runner.wave().fault->what;
  };
  set_image({.type = type_2d, .width = 8, .height = 8}, {4, 63, 3, 255, 255});
  expect_fault("no image format");
  set_image({.type = type_2d, .width = 8, .height = 8}, float_1);
  runner.s(8 + 3) |= 21U << 20;
  expect_fault("tiled");
  runner.s(8 + 3) = 4;
  expect_fault("type 0");
}

/// Tests of whatever forms of an instruction a processor has.
class ImageForms : public Images {
 protected:
  /// Calls for each instruction of the processor's that begins so.
  template <typename Visit>
  static void for_each_name(std::string_view prefix, const Visit& visit) {
    const target::Processor& processor = *target::find_processor(GetParam());
    unsigned count = 0;
    for (unsigned i = 1; i < static_cast<unsigned>(isa::Opcode::count); ++i) {
      const isa::InstructionRow& row = isa::row(static_cast<isa::Opcode>(i));
      const isa::Opcodes::Change now = row.opcodes.on(processor.generation);
      if (!row.name.starts_with(prefix) || now.opcode == isa::Opcodes::none) continue;
      if (!now.always && !processor.has(row.feature)) continue;
      visit(row.name, std::string(now.name.empty() ? row.name : now.name));
      ++count;
    }
    EXPECT_GT(count, 0U) << prefix;
  }
};

/// Whether "_c" and the like are among an instruction's parts.
bool has_part(std::string_view name, std::string_view part) {
  const std::string parts = std::string(name) + "_";
  return parts.find(std::string(part) + "_") != std::string::npos;
}

/// What an image of levels is filled with, so that each element can be told.
float value_at(unsigned level, int64_t x, int64_t y) { return static_cast<float>(1 + level * 1000 + y * 16 + x); }

class ImageSampleForms : public ImageForms {
 protected:
  static constexpr ImageShape shape{.type = type_2d, .width = 16, .height = 16, .levels = 4};

  void fill() {
    uint8_t* level_base = base;
    for (unsigned level = 0; level < 4; ++level) {
      const unsigned size = 16U >> level;
      for (unsigned i = 0; i < size * size; ++i) {
        const float value = value_at(level, i % size, i / size);
        std::memcpy(level_base + i / size * 256 + i % size * 4, &value, 4);
      }
      level_base += size_t{256} * size;
    }
    set_image(shape, float_1);
  }

  /// Puts the address's parts in their order, and runs. Lanes of a quad are 2 elements from each other.
  void run_form(std::string_view name, const std::string& spelt, bool gathers) {
    SCOPED_TRACE(name);
    const bool gradients = has_part(name, "_d") || has_part(name, "_cd"), halves = has_part(name, "_g16");
    unsigned lod = 1, words = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      unsigned next = 4;
      const auto add = [&](uint32_t word) { runner.v(next++)[lane] = word; };
      if (has_part(name, "_o")) add(1 | (0x3F & -1) << 8);
      if (has_part(name, "_b")) add(bits(1));
      if (has_part(name, "_c")) add(bits(value_at(0, 5, 5)));
      if (gradients && halves) add(half(0.25)), add(half(0.25) << 16);
      if (gradients && !halves) add(bits(0.25)), add(0), add(0), add(bits(0.25));
      add(bits(x_of(lane) / 16)), add(bits(y_of(lane) / 16));
      if (has_part(name, "_l")) add(bits(2));
      if (has_part(name, "_cl")) add(bits(3));
      words = next - 4;
    }
    if (gradients || has_part(name, "_l")) lod = 2;
    if (has_part(name, "_b")) ++lod;
    if (has_part(name, "_lz")) lod = 0;
    if (has_part(name, "_cl")) lod = 3;
    ASSERT_EQ(run(spelt, gathers ? "v[20:23]" : "v20", words, type_2d, "dmask:0x1", true), WaveState::ended);
    const int64_t size = 16 >> lod, dx = has_part(name, "_o") ? 1 : 0, dy = has_part(name, "_o") ? -1 : 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const auto expect = [&](unsigned reg, int64_t x, int64_t y) {
        const float element =
            value_at(lod, std::clamp<int64_t>(x + dx, 0, size - 1), std::clamp<int64_t>(y + dy, 0, size - 1));
        const bool compares = has_part(name, "_c");  // reference <= element
        EXPECT_EQ(number(runner.v(reg)[lane]), compares ? (value_at(0, 5, 5) <= element ? 1 : 0) : element) << lane;
      };
      const double u = x_of(lane) / 16 * static_cast<double>(size), v = y_of(lane) / 16 * static_cast<double>(size);
      if (!gathers) {
        expect(20, static_cast<int64_t>(u), static_cast<int64_t>(v));
        continue;
      }
      const auto x = static_cast<int64_t>(std::floor(u - 0.5)), y = static_cast<int64_t>(std::floor(v - 0.5));
      if (name.starts_with("image_gather4h")) {
        for (unsigned i = 0; i < 4; ++i) expect(20 + i, static_cast<int64_t>(u) + i, static_cast<int64_t>(v));
      } else {
        expect(20, x, y + 1), expect(21, x + 1, y + 1), expect(22, x + 1, y), expect(23, x, y);
      }
    }
  }
  static double x_of(unsigned lane) { return 2.25 + lane % 2 * 2 + lane / 8; }
  static double y_of(unsigned lane) { return 3.25 + lane / 2 % 2 * 2 + lane / 8 * 2; }
};

TEST_P(ImageSampleForms, FindThePartsOfTheirAddresses) {
  fill();
  set_sampler(2, false, false, 1, 3);
  for_each_name("image_sample", [&](std::string_view name, const std::string& spelt) { run_form(name, spelt, false); });
  if (is("gfx90a")) return;  // has no others
  for_each_name("image_gather4", [&](std::string_view name, const std::string& spelt) { run_form(name, spelt, true); });
}

TEST_P(ImageSampleForms, TellTheLevelOfDetail) {
  if (is("gfx90a")) return;
  fill();
  set_sampler(2, false, false, 1);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(4)[lane] = bits(x_of(lane) / 2);  // 16 elements from lane to lane
    runner.v(5)[lane] = bits(y_of(lane) / 16);
  }
  ASSERT_EQ(run("image_get_lod", "v[20:21]", 2, type_2d, "dmask:0x3", true), WaveState::ended);
  EXPECT_EQ(number(runner.v(20)[2]), 3);  // the image has no smaller level
  EXPECT_EQ(number(runner.v(21)[2]), 4);
}

TEST_P(ImageForms, MoveElementsAsTheyAre) {
  const ImageShape shape{.type = type_1d, .width = 64, .levels = 2};
  set_image(shape, sint16_2);
  for (unsigned i = 0; i < 64; ++i) {
    const uint32_t word = 0x8001'0000 + i;
    std::memcpy(base + i * 4, &word, 4);
  }
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(4)[lane] = lane;
    runner.v(5)[lane] = 0;
  }
  for (const char* name : {"image_load_pck", "image_load_pck_sgn", "image_load_mip_pck", "image_load_mip_pck_sgn"}) {
    ASSERT_EQ(run(name, "v20", has_part(name, "_mip") ? 2 : 1, type_1d, "dmask:0x1"), WaveState::ended);
    EXPECT_EQ(runner.v(20)[9], 0x8001'0009) << name;
  }
  for (const char* name : {"image_store_pck", "image_store_mip_pck", "image_store_mip"}) {
    for (unsigned lane = 0; lane < lanes; ++lane) runner.v(20)[lane] = 0x1234'0000 + lane;
    ASSERT_EQ(run(name, "v20", has_part(name, "_mip") ? 2 : 1, type_1d, "dmask:0x1"), WaveState::ended);
    uint32_t there = 0;
    std::memcpy(&there, base + 9 * 4, 4);
    EXPECT_EQ(there, has_part(name, "_pck") ? 0x1234'0009 : 0x7FFF) << name;  // a store converts: the largest there is
  }
  // Bytes are extended.
  set_image(shape, {1, 1, 5, 6, 6});
  base[3] = 0x80;
  ASSERT_EQ(run("image_load_pck", "v20", 1, type_1d, "dmask:0x1"), WaveState::ended);
  EXPECT_EQ(runner.v(20)[3], 0x80U);
  ASSERT_EQ(run("image_load_pck_sgn", "v20", 1, type_1d, "dmask:0x1"), WaveState::ended);
  EXPECT_EQ(runner.v(20)[3], 0xFFFF'FF80);
}

TEST_P(ImageForms, ReadAndWriteLevels) {
  set_image({.type = type_1d, .width = 64, .levels = 2}, uint32_1);
  for (unsigned i = 0; i < 128; ++i) std::memcpy(base + i * 4, &i, 4);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    runner.v(4)[lane] = lane;
    runner.v(5)[lane] = 1;
    runner.v(20)[lane] = 500 + lane;
  }
  ASSERT_EQ(run("image_load_mip", "v21", 2, type_1d, "dmask:0x1"), WaveState::ended);
  EXPECT_EQ(runner.v(21)[7], 64U + 7);
  ASSERT_EQ(run("image_store", "v20", 1, type_1d, "dmask:0x1"), WaveState::ended);
  ASSERT_EQ(run("image_load", "v22", 1, type_1d, "dmask:0x1"), WaveState::ended);
  EXPECT_EQ(runner.v(22)[7], 507U);
  ASSERT_EQ(run("image_load_mip", "v21", 2, type_1d, "dmask:0x1"), WaveState::ended);
  EXPECT_EQ(runner.v(21)[7], 64U + 7);
  for (unsigned lane = 0; lane < lanes; ++lane) runner.v(4)[lane] = 1;
  ASSERT_EQ(run("image_get_resinfo", "v21", 1, type_1d, "dmask:0x1"), WaveState::ended);
  EXPECT_EQ(runner.v(21)[7], 32U);
}

TEST_P(ImageForms, ChangeElementsAtomically) {
  const ImageShape shape{.type = type_1d, .width = 64};
  set_image(shape, uint32_1);
  const uint32_t data = bits(-2.5), other = bits(7.25);
  const auto number_of = [](uint32_t word) { return static_cast<int32_t>(word); };
  struct Operation {
    std::string_view name;
    uint32_t result;  // of data on other
  };
  const Operation operations[] = {
      {"swap", data},
      {"cmpswap", data},  // what is compared is what is there
      {"add", other + data},
      {"sub", other - data},
      {"rsub", data - other},
      {"smin", number_of(data) < number_of(other) ? data : other},
      {"umin", std::min(data, other)},
      {"smax", number_of(data) > number_of(other) ? data : other},
      {"umax", std::max(data, other)},
      {"and", data & other},
      {"or", data | other},
      {"xor", data ^ other},
      {"inc", other >= data ? 0 : other + 1},
      {"dec", other == 0 || other > data ? data : other - 1},
      {"fcmpswap", data},
      {"fmin", data},
      {"fmax", other},
      {"add_flt", bits(4.75)},
  };
  for_each_name("image_atomic_", [&](std::string_view name, const std::string& spelt) {
    const auto* found = std::ranges::find(operations, name.substr(13), &Operation::name);
    if (found == std::end(operations)) return;  // packed halves
    SCOPED_TRACE(name);
    std::memcpy(base + 4 * 4, &other, 4);
    runner.wave().set_exec(1);
    const bool compares = name.ends_with("cmpswap");
    runner.v(4)[0] = 4;
    runner.v(20)[0] = data;
    runner.v(21)[0] = other;
    const std::string modifiers = compares ? "dmask:0x3" : "dmask:0x1";
    ASSERT_EQ(run(spelt, compares ? "v[20:21]" : "v20", 1, type_1d,
                  modifiers + (is("gfx12") ? " th:TH_ATOMIC_RETURN" : " glc")),
              WaveState::ended);
    uint32_t there = 0;
    std::memcpy(&there, base + 4 * 4, 4);
    EXPECT_EQ(there, found->result);
    EXPECT_EQ(runner.v(20)[0], other);
  });
}

INSTANTIATE_TEST_SUITE_P(Processors, ImageForms,
                         testing::Values("gfx600", "gfx701", "gfx803", "gfx900", "gfx90a", "gfx1010", "gfx1030",
                                         "gfx1100", "gfx1150", "gfx1170", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });
INSTANTIATE_TEST_SUITE_P(Processors, ImageSampleForms,
                         testing::Values("gfx600", "gfx701", "gfx803", "gfx900", "gfx90a", "gfx1010", "gfx1030",
                                         "gfx1100", "gfx1150", "gfx1170", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });
INSTANTIATE_TEST_SUITE_P(Processors, ImagesInBothEngines,
                         testing::Values("gfx803", "gfx900", "gfx1030", "gfx1100", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });
INSTANTIATE_TEST_SUITE_P(Processors, Images, testing::Values("gfx803", "gfx900", "gfx1030", "gfx1100", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace Atoll::test
