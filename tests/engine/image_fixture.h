// Common parts of tests of image instructions: an image in memory, and its words and those of samplers, built from
// the ISA guides and ROCr's resource headers.
#pragma once

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

using machine::WaveState;

inline constexpr unsigned lanes = 32;
inline constexpr unsigned type_1d = 8, type_2d = 9, type_3d = 10, type_2d_array = 13, type_2d_msaa = 14;
inline constexpr std::array<const char*, 8> dimension_names{"1D",       "2D",       "3D",      "CUBE",
                                                            "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};

inline uint32_t bits(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }
inline float number(uint32_t word) { return std::bit_cast<float>(word); }
inline uint32_t half(double value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

/// An image's format: its numbers on GFX8 and GFX9, on GFX10, and on GFX11 and later.
struct Format {
  unsigned bytes, data, number, of_gfx10, of_gfx11;
};
inline constexpr Format float_1{4, 4, 7, 22, 22}, float_4{16, 14, 7, 77, 63}, unorm8_4{4, 10, 0, 56, 42},
    uint32_1{4, 4, 4, 20, 20}, srgb8_4{4, 10, 9, 130, 66}, unorm_565{2, 16, 0, 133, 68}, sint16_2{4, 5, 5, 28, 28};

struct ImageShape {
  unsigned type = type_2d, width = 1, height = 1, depth = 1, layers = 1, levels = 1, samples_log2 = 0;
};

/// Sets `width` bits from `bit` on.
inline void put(std::array<uint32_t, 8>& words, unsigned bit, unsigned width, uint64_t value) {
  ASSERT_EQ(value >> width, 0U);
  for (unsigned i = 0; i < width; ++i) {
    if ((value >> i & 1) != 0) words[(bit + i) / 32] |= 1U << (bit + i) % 32;
  }
}

class Images : public testing::TestWithParam<std::string> {
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

}  // namespace Atoll::test
