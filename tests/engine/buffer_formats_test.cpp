// Loads and stores of buffers with formats, by the instruction (MTBUF) and by the resource (MUBUF), of one to four
// components and of halves of registers, on each generation. Formats are converted here: components of integers, parts
// of 1, small floats by the host's half precision. Numbers of formats are those of the ISA guides, "Buffer Resource
// Descriptor" and "Buffer formats"; LLVM's assembler has those of the instructions from their names.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using target::Generation;
using test::Machine;
using test::registers;
using test::WaveRunner;

enum class Number : uint8_t { unorm, snorm, uscaled, sscaled, uint, sint, floating };

struct Format {
  std::string data, number_name;  ///< as LLVM names them
  unsigned gfx9, gfx10, gfx11;    ///< in a resource's word 3, from bit 12 on
  unsigned components;
  std::array<unsigned, 4> width;  ///< bits
  Number number;

  unsigned bytes() const { return (width[0] + width[1] + width[2] + width[3]) / 8; }
};
constexpr unsigned of_gfx9(unsigned data, unsigned number) { return number | data << 3; }
const Format formats[] = {
    {"8", "UINT", of_gfx9(1, 4), 5, 5, 1, {8}, Number::uint},
    {"16", "FLOAT", of_gfx9(2, 7), 13, 13, 1, {16}, Number::floating},
    {"32", "FLOAT", of_gfx9(4, 7), 22, 22, 1, {32}, Number::floating},
    {"8_8", "SSCALED", of_gfx9(3, 3), 17, 17, 2, {8, 8}, Number::sscaled},
    {"16_16", "SNORM", of_gfx9(5, 1), 24, 24, 2, {16, 16}, Number::snorm},
    {"10_11_11", "FLOAT", of_gfx9(6, 7), 36, 30, 3, {11, 11, 10}, Number::floating},
    {"32_32_32", "UINT", of_gfx9(13, 4), 72, 58, 3, {32, 32, 32}, Number::uint},
    {"8_8_8_8", "UNORM", of_gfx9(10, 0), 56, 42, 4, {8, 8, 8, 8}, Number::unorm},
    {"2_10_10_10", "SNORM", of_gfx9(9, 1), 51, 37, 4, {10, 10, 10, 2}, Number::snorm},
    {"16_16_16_16", "FLOAT", of_gfx9(12, 7), 71, 57, 4, {16, 16, 16, 16}, Number::floating},
    {"16_16_16_16", "SINT", of_gfx9(12, 5), 70, 56, 4, {16, 16, 16, 16}, Number::sint},
    {"32_32_32_32", "SINT", of_gfx9(14, 5), 76, 62, 4, {32, 32, 32, 32}, Number::sint},
};

bool is_integer(Number number) { return number == Number::uint || number == Number::sint; }
uint32_t ones(unsigned width) { return ~uint32_t{0} >> (32 - width); }
double largest(Number number, unsigned width) { return number == Number::unorm ? ones(width) : ones(width) >> 1; }

/// The number that the bits of a component are; of integers too.
double value_of(Number number, uint32_t bits, unsigned width) {
  const auto integer = static_cast<int32_t>(bits << (32 - width)) >> (32 - width);
  switch (number) {
    case Number::uint:
    case Number::uscaled:
      return bits;
    case Number::sint:
    case Number::sscaled:
      return integer;
    case Number::unorm:
      return bits / largest(number, width);
    case Number::snorm:
      return std::max(integer / largest(number, width), -1.0);
    case Number::floating:
      break;
  }
  if (width == 32) return std::bit_cast<float>(bits);
  // Elements of 11 and 10 bits are halves without the sign and the last bits.
  return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(width == 16 ? bits : bits << (15 - width))));
}

/// The inverse, of numbers in the format's range.
uint32_t bits_of(Number number, double value, unsigned width) {
  switch (number) {
    case Number::uint:
    case Number::sint:
    case Number::uscaled:
    case Number::sscaled:
      return static_cast<uint32_t>(std::llrint(value)) & ones(width);
    case Number::unorm:
    case Number::snorm:
      return static_cast<uint32_t>(std::llrint(value * largest(number, width))) & ones(width);
    case Number::floating:
      break;
  }
  if (width == 32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  const uint32_t half = std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  return width == 16 ? half : half >> (15 - width);
}

/// A component as a register holds it: an integer or a float.
uint32_t whole(Number number, double value) {
  if (is_integer(number)) return static_cast<uint32_t>(static_cast<int64_t>(value));
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}
uint16_t half(Number number, double value) {
  if (is_integer(number)) return static_cast<uint16_t>(static_cast<int64_t>(value));
  return std::bit_cast<uint16_t>(static_cast<_Float16>(static_cast<float>(value)));
}
double value_of_half(Number number, uint16_t bits) {
  if (number == Number::uint) return bits;
  if (number == Number::sint) return static_cast<int16_t>(bits);
  return static_cast<float>(std::bit_cast<_Float16>(bits));
}

using Components = std::array<uint32_t, 4>;  ///< their bits

/// Any that are numbers, and no snorm below -1, which a store does not make.
Components components_of(const Format& format, unsigned element) {
  Components components{};
  for (unsigned i = 0; i < format.components; ++i) {
    const unsigned width = format.width[i];
    uint32_t bits = (0x9E37'79B9 * (element * 4 + i + 1) >> 3) & ones(width);
    if (format.number == Number::floating && width == 32) bits = 0x3E00'0000 + (bits & 0x83FF'FFFF);
    const uint32_t exponent = width == 16 ? 0x7C00 : 31u << (width - 5 & 31);
    if (format.number == Number::floating && width < 32 && (bits & exponent) == exponent) bits ^= exponent;
    if (format.number == Number::snorm && bits == ones(width) - (ones(width) >> 1)) bits += 1;
    components[i] = bits;
  }
  return components;
}

void write_element(const Format& format, const Components& components, uint8_t* memory) {
  for (unsigned i = 0, position = 0; i < format.components; position += format.width[i++]) {
    for (unsigned bit = 0; bit < format.width[i]; ++bit) {
      uint8_t& byte = memory[(position + bit) / 8];
      const unsigned place = (position + bit) % 8;
      byte = static_cast<uint8_t>((byte & ~(1u << place)) | (components[i] >> bit & 1) << place);
    }
  }
}

struct Access {
  bool store, typed, d16, high;
  unsigned components;
  std::string name;
};

constexpr uint64_t masks[] = {~uint64_t{0}, 0xF7FF'FFFE'DFFF'7FF9};
/// DST_SEL of the resource: X, Y, Z and W; and Y, 1, X, 0.
constexpr unsigned selects[] = {4 | 5 << 3 | 6 << 6 | 7 << 9, 5 | 1 << 3 | 4 << 6 | 0 << 9};

constexpr unsigned element_stride = 20, result = 40;
constexpr unsigned wholes = 10, halves = 14, high_half = 16;  ///< registers of what is stored

struct FormattedAccesses {
  explicit FormattedAccesses(const Machine& machine)
      : processor(*target::find_processor(machine.processor)), lanes(machine.wave_size) {}

  void are_converted() const;
  void are_all_known() const;

  std::vector<Access> accesses(const Format& format) const;
  std::string text(const Format& format, const Access& access, unsigned data, unsigned place) const;
  uint32_t resource_word(const Format& format, unsigned select) const;
  void run(const Format& format, const std::vector<Access>& all, const std::vector<uint8_t>& code,
           std::string_view sramecc, uint64_t exec, unsigned select) const;

  const target::Processor& processor;
  unsigned lanes;
};

std::vector<Access> FormattedAccesses::accesses(const Format& format) const {
  std::vector<Access> all;
  for (const bool store : {false, true}) {
    for (const bool typed : {false, true}) {
      for (const bool d16 : {false, true}) {
        // Halves of registers are new in GFX8, which has a whole register for each unless it packs them (gfx810).
        if (d16 && processor.generation < Generation::gfx9) continue;
        for (unsigned count = 1; count <= 4; ++count) {
          // The effect of a store on components that it does not name is not documented, nor is the
          // narrowing of integers.
          if (store && count < format.components) continue;
          if (d16 && is_integer(format.number) && format.width[0] > 16) continue;
          const auto name = test::name_on(
              processor, fmt::format("{}buffer_{}_format_{}{}", typed ? "t" : "", store ? "store" : "load",
                                     d16 ? "d16_" : "", std::string_view("xyzw").substr(0, count)));
          EXPECT_FALSE(name.empty());
          all.push_back({store, typed, d16, false, count, name});
        }
      }
    }
    if (store && format.components > 1) continue;
    if (is_integer(format.number) && format.width[0] > 16) continue;
    if (processor.generation < Generation::gfx9) continue;
    const auto name = test::name_on(processor, fmt::format("buffer_{}_format_d16_hi_x", store ? "store" : "load"));
    EXPECT_FALSE(name.empty());
    all.push_back({store, false, true, true, 1, name});
  }
  return all;
}

std::string FormattedAccesses::text(const Format& format, const Access& access, unsigned data, unsigned place) const {
  const unsigned words = access.d16 ? (access.components + 1) / 2 : access.components;
  std::string source =
      fmt::format("{} {}, v{}, s[4:7], s8", access.name, registers('v', data, words), access.store ? 3 : 2);
  if (access.typed) {
    source += processor.generation >= Generation::gfx10
                  ? fmt::format(" format:[BUF_FMT_{}_{}]", format.data, format.number_name)
                  : fmt::format(" format:[BUF_DATA_FORMAT_{},BUF_NUM_FORMAT_{}]", format.data, format.number_name);
  }
  return source + fmt::format(" offen offset:{}\n", place);
}

uint32_t FormattedAccesses::resource_word(const Format& format, unsigned select) const {
  constexpr uint32_t raw = 3u << 28;  // OOB_SELECT
  if (processor.generation >= Generation::gfx11) return select | format.gfx11 << 12 | raw;
  if (processor.generation >= Generation::gfx10) return select | format.gfx10 << 12 | 1u << 24 | raw;
  return select | format.gfx9 << 12;
}

void FormattedAccesses::run(const Format& format, const std::vector<Access>& all, const std::vector<uint8_t>& code,
                            std::string_view sramecc, uint64_t exec, unsigned select) const {
  WaveRunner runner(std::string(processor.name) + std::string(sramecc), "", lanes);
  if (lanes == 32) exec &= 0xFFFF'FFFF;
  runner.wave().set_exec(exec);
  const unsigned first_store = 64 * element_stride, lane_bytes = static_cast<unsigned>(all.size()) * 16;
  std::vector<uint8_t> memory(first_store + 64 * lane_bytes + 4096);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 167 + i / 256 * 13);
  runner.set_pair(4, memory.data());
  runner.s(6) = static_cast<uint32_t>(memory.size());
  runner.s(7) = resource_word(format, select);
  runner.s(8) = 4;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const Components components = components_of(format, lane);
    const unsigned place = (lane * 29 + 7) % 64 * element_stride;
    write_element(format, components, &memory[4 + place]);
    runner.v(2)[lane] = place;
    runner.v(3)[lane] = first_store + lane * lane_bytes;
    for (unsigned i = 0; i < 4; ++i) {
      // Stored is what others have loaded; components that the format has not are not seen.
      const bool is_there = i < format.components;
      const double value = is_there ? value_of(format.number, components_of(format, lane + 64)[i], format.width[i]) : 3;
      runner.v(wholes + i)[lane] = whole(format.number, value);
      const uint32_t bits = half(format.number, value);
      uint32_t& pair = runner.v(halves + i / 2)[lane];
      pair = i % 2 == 0 ? bits : (pair & 0xFFFF) | bits << 16;
      if (i == 0) runner.v(high_half)[lane] = bits << 16 | 0x5A5A;
    }
    for (unsigned i = 0; i < all.size() * 4; ++i) runner.v(result + i)[lane] = 0xDEAD'BEEF - i;
  }

  std::vector<uint8_t> expected = memory;
  std::vector<std::array<uint32_t, 64>> results(all.size() * 4);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const bool on = (exec >> lane & 1) != 0;
    const Components components = components_of(format, lane);
    for (unsigned a = 0; a < all.size(); ++a) {
      const Access& access = all[a];
      uint32_t words[4];
      for (unsigned i = 0; i < 4; ++i) words[i] = runner.v(result + a * 4 + i)[lane];
      for (unsigned i = 0; on && !access.store && i < access.components; ++i) {
        const unsigned from = access.typed ? i + 4 : select >> (3 * i) & 7;
        double value = from == 1 || from == 7 ? 1 : 0;
        if (from >= 4 && from - 4 < format.components) {
          value = value_of(format.number, components[from - 4], format.width[from - 4]);
        }
        if (!access.d16) {
          words[i] = whole(format.number, value);
          continue;
        }
        const uint32_t bits = half(format.number, value);
        if (i % 2 == 0 && sramecc == ":sramecc+") words[i / 2] = 0;
        const bool high = access.high || i % 2 != 0;
        words[i / 2] = high ? (words[i / 2] & 0xFFFF) | bits << 16 : (words[i / 2] & 0xFFFF'0000) | bits;
      }
      for (unsigned i = 0; i < 4; ++i) results[a * 4 + i][lane] = words[i];
      if (!on || !access.store) continue;
      Components stored{};
      for (unsigned i = 0; i < format.components; ++i) {
        const auto bits = static_cast<uint16_t>(runner.v(halves + i / 2)[lane] >> (i % 2 * 16));
        stored[i] = access.d16 ? bits_of(format.number, value_of_half(format.number, bits), format.width[i])
                               : components_of(format, lane + 64)[i];
      }
      write_element(format, stored, &expected[4 + first_store + lane * lane_bytes + a * 16]);
    }
  }

  ASSERT_EQ(runner.run_instructions(code), WaveState::ended);
  for (unsigned a = 0; a < all.size(); ++a) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < 4; ++i) {
        ASSERT_EQ(runner.v(result + a * 4 + i)[lane], results[a * 4 + i][lane])
            << all[a].name << ", word " << i << " of lane " << lane << ", DST_SEL " << select;
      }
      if (!all[a].store) continue;
      const size_t place = 4 + first_store + lane * lane_bytes + a * 16;
      ASSERT_EQ(std::memcmp(&memory[place], &expected[place], 16), 0) << all[a].name << ", lane " << lane;
    }
  }
  EXPECT_TRUE(memory == expected);
}

void FormattedAccesses::are_converted() const {
  std::vector<std::vector<Access>> all;
  std::vector<std::string> sources;
  for (const Format& format : formats) {
    all.push_back(accesses(format));
    sources.emplace_back();
    for (unsigned a = 0; a < all.back().size(); ++a) {
      const Access& access = all.back()[a];
      const unsigned stored = access.high ? high_half : access.d16 ? halves : wholes;
      sources.back() += text(format, access, access.store ? stored : result + a * 4, access.store ? a * 16 : 0);
    }
  }
  const auto codes = test::assemble_programs(sources, processor, lanes);
  for (size_t i = 0; i < codes.size(); ++i) {
    SCOPED_TRACE(fmt::format("{} {}", formats[i].data, formats[i].number_name));
    for (const std::string_view sramecc : {"", ":sramecc-", ":sramecc+"}) {
      if (sramecc.empty() == processor.supports_sramecc) continue;
      for (unsigned j = 0; j < std::size(masks); ++j) run(formats[i], all[i], codes[i], sramecc, masks[j], selects[j]);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

/// Every format that the generation has (ISA guides, "Buffer formats"), by LLVM's names.
void FormattedAccesses::are_all_known() const {
  const bool is_gfx11 = processor.generation >= Generation::gfx11;
  constexpr std::string_view all_data[] = {"8",        "16",          "8_8",        "32",         "16_16",
                                           "10_11_11", "11_11_10",    "10_10_10_2", "2_10_10_10", "8_8_8_8",
                                           "32_32",    "16_16_16_16", "32_32_32",   "32_32_32_32"};
  constexpr std::pair<Number, std::string_view> all_numbers[] = {
      {Number::unorm, "UNORM"}, {Number::snorm, "SNORM"}, {Number::uscaled, "USCALED"}, {Number::sscaled, "SSCALED"},
      {Number::uint, "UINT"},   {Number::sint, "SINT"},   {Number::floating, "FLOAT"}};
  std::vector<Format> here;
  for (const std::string_view data : all_data) {
    const bool has_10 = data == "10_11_11" || data == "11_11_10";
    for (const auto& [number, number_name] : all_numbers) {
      const bool is_scaled = number == Number::uscaled || number == Number::sscaled;
      if (data.starts_with("32") && !is_integer(number) && number != Number::floating) continue;
      if (number == Number::floating && (data.starts_with('8') || data.find("10_10") != std::string_view::npos))
        continue;
      if (is_gfx11 && ((has_10 && number != Number::floating) || (data == "10_10_10_2" && is_scaled))) continue;
      Format format{std::string(data), std::string(number_name), 0, 0, 0, 0, {}, number};
      // The name begins with the highest bits.
      for (std::string_view left = data; !left.empty();) {
        const size_t before = left.rfind('_');
        const std::string_view last = before == std::string_view::npos ? left : left.substr(before + 1);
        format.width[format.components++] = static_cast<unsigned>(std::stoul(std::string(last)));
        left = before == std::string_view::npos ? std::string_view{} : left.substr(0, before);
      }
      here.push_back(format);
    }
  }
  const std::vector<Access> all = {
      {false, true, false, false, 4, test::name_on(processor, "tbuffer_load_format_xyzw")},
      {true, true, false, false, 4, test::name_on(processor, "tbuffer_store_format_xyzw")}};
  std::vector<std::string> sources;
  sources.reserve(here.size());
  for (const Format& format : here) {
    sources.push_back(text(format, all[0], result, 0) + text(format, all[1], wholes, 16));
  }
  const auto codes = test::assemble_programs(sources, processor, lanes);
  for (size_t i = 0; i < codes.size(); ++i) {
    SCOPED_TRACE(sources[i]);
    run(here[i], all, codes[i], "", masks[1], selects[0]);
  }
}

TEST(BufferFormatsOnEachGeneration, AreConverted) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (test::name_on(processor, "buffer_load_format_x").empty()) {
      EXPECT_EQ(processor.generation, Generation::gfx12_5);
      continue;
    }
    ASSERT_NO_FATAL_FAILURE(FormattedAccesses(machine).are_converted());
  }
}

TEST(BufferFormatsOnEachGeneration, AreAllKnown) {
  for (const Machine& machine : {Machine{"gfx900", 64}, Machine{"gfx1010", 64}, Machine{"gfx1100", 32}}) {
    SCOPED_TRACE(test::name_of_machine(machine));
    ASSERT_NO_FATAL_FAILURE(FormattedAccesses(machine).are_all_known());
  }
}

}  // namespace
}  // namespace Atoll
