// Image instructions: elements by integer coordinates, and samples against the formulas of the OpenCL C specification,
// "Image addressing and filtering", in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "engine/image_fixture.h"

namespace Atoll::test {
namespace {

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
  for (unsigned lane = 0; lane < lanes; ++lane) runner.v(6)[lane] = 0;
  const bool is_one = is("gfx1030");  // LLVM has text for one register alone
  ASSERT_EQ(run("image_msaa_load", is_one ? "v20" : "v[20:23]", 3, type_2d_msaa, "dmask:0x1"), WaveState::ended);
  for (unsigned sample = 0; sample < (is_one ? 1 : 4); ++sample) {
    EXPECT_EQ(number(runner.v(20 + sample)[9]), sample * 100 + 9);
  }
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

INSTANTIATE_TEST_SUITE_P(Processors, ImagesInBothEngines,
                         testing::Values("gfx803", "gfx900", "gfx1030", "gfx1100", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });
INSTANTIATE_TEST_SUITE_P(Processors, Images,
                         testing::Values("gfx803", "gfx900", "gfx1030", "gfx1100", "gfx1150", "gfx1170", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace Atoll::test
