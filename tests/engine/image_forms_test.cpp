// Every form of image instructions that a generation has: the parts of addresses in their order, by hand-made images of
// which each element can be told.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "engine/image_fixture.h"
#include "isa/table.h"

namespace Atoll::test {
namespace {

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
  const auto value_of = [](uint32_t word) { return std::bit_cast<_Float16>(static_cast<uint16_t>(word)); };
  const _Float16 low = value_of(data) + value_of(other), high = value_of(data >> 16) + value_of(other >> 16);
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
      {"pk_add_f16", std::bit_cast<uint16_t>(low) | uint32_t{std::bit_cast<uint16_t>(high)} << 16},
      {"pk_add_bf16", bits(4.75)},  // whose lower half is 0
  };
  for_each_name("image_atomic_", [&](std::string_view name, const std::string& spelt) {
    const auto* found = std::ranges::find(operations, name.substr(13), &Operation::name);
    ASSERT_NE(found, std::end(operations)) << name;
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

}  // namespace
}  // namespace Atoll::test
