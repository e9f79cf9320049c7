// semantics: converting between memory and registers by buffer format (buffer_format.h).
#include "semantics/memory/buffer_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string_view>

#include "isa/buffer_formats.h"

namespace Atoll::semantics {

namespace {

struct Layout {
  uint8_t components;
  std::array<uint8_t, 4> width;
};

// By the DATA_FORMAT field, whose names they have. Names list the components from the highest bits down, so 2_10_10_10
// begins with W.
constexpr Layout layouts[16] = {
    {0, {}},                // invalid
    {1, {8}},               // 8
    {1, {16}},              // 16
    {2, {8, 8}},            // 8_8
    {1, {32}},              // 32
    {2, {16, 16}},          // 16_16
    {3, {11, 11, 10}},      // 10_11_11
    {3, {10, 11, 11}},      // 11_11_10
    {4, {2, 10, 10, 10}},   // 10_10_10_2
    {4, {10, 10, 10, 2}},   // 2_10_10_10
    {4, {8, 8, 8, 8}},      // 8_8_8_8
    {2, {32, 32}},          // 32_32
    {4, {16, 16, 16, 16}},  // 16_16_16_16
    {3, {32, 32, 32}},      // 32_32_32
    {4, {32, 32, 32, 32}},  // 32_32_32_32
    {0, {}},                // reserved
};

constexpr std::string_view data_format_names[] = {"INVALID", "8",        "16",          "8_8",        "32",
                                                  "16_16",   "10_11_11", "11_11_10",    "10_10_10_2", "2_10_10_10",
                                                  "8_8_8_8", "32_32",    "16_16_16_16", "32_32_32",   "32_32_32_32"};
constexpr std::string_view number_format_names[] = {"UNORM", "SNORM", "USCALED",  "SSCALED",
                                                    "UINT",  "SINT",  "SNORM_NZ", "FLOAT"};

bool is_signed(NumberFormat number) {
  return number == NumberFormat::snorm || number == NumberFormat::sscaled || number == NumberFormat::sint;
}

/// Bit patterns of the floats that are smaller than 32 bits: 5 bits of exponent, biased by 15, and the mantissa; a sign
/// bit only in the 16-bit one.
float small_float(uint32_t bits, unsigned width) {
  const unsigned mantissa_bits = width == 16 ? 10 : width - 5;
  const float sign = width == 16 && (bits >> 15) != 0 ? -1.0F : 1.0F;
  const uint32_t exponent = bits >> mantissa_bits & 31, mantissa = bits & ((1U << mantissa_bits) - 1);
  const auto scaled = [&](uint32_t value, int power) {
    return sign * std::ldexp(static_cast<float>(value), power - static_cast<int>(mantissa_bits));
  };
  if (exponent == 0) return scaled(mantissa, -14);
  if (exponent == 31) {
    return mantissa == 0 ? sign * INFINITY : std::bit_cast<float>(0x7FC00000 | mantissa << (23 - mantissa_bits));
  }
  return scaled(mantissa | 1U << mantissa_bits, static_cast<int>(exponent) - 15);
}

/// The nearest pattern (ties to even); what has no sign bit turns negative values into 0.
uint32_t to_small_float(float value, unsigned width) {
  const unsigned mantissa_bits = width == 16 ? 10 : width - 5;
  const uint32_t infinity = 31U << mantissa_bits;
  const uint32_t sign = width == 16 && std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | infinity | 1U << (mantissa_bits - 1);
  if (width != 16 && value < 0) return 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isinf(magnitude)) return sign | infinity;
  const int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
  // In units of the last place of its binade: exact, then rounded once. A carry moves into the exponent by itself.
  const double units = __builtin_roundeven(std::ldexp(magnitude, static_cast<int>(mantissa_bits) - exponent));
  const uint32_t pattern = (static_cast<uint32_t>(exponent + 14) << mantissa_bits) + static_cast<uint32_t>(units);
  return sign | std::min(pattern, infinity);
}

/// The curve of sRGB (IEC 61966-2-1): from what is stored to light, and back.
double from_srgb(double stored) { return stored <= 0.04045 ? stored / 12.92 : std::pow((stored + 0.055) / 1.055, 2.4); }
double to_srgb(double light) { return light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055; }

/// The largest integer of so many bits.
double largest_of(unsigned width, NumberFormat number) {
  return static_cast<double>((uint64_t{1} << (is_signed(number) ? width - 1 : width)) - 1);
}

uint32_t decode(uint32_t bits, unsigned width, NumberFormat number) {
  if (width == 32) return bits;  // what has 32 bits is an integer or a float
  const auto extended = static_cast<int32_t>(bits << (32 - width)) >> (32 - width);
  const double largest = largest_of(width, number);
  const auto as_float = [](double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); };
  switch (number) {
    case NumberFormat::unorm:
      return as_float(bits / largest);
    case NumberFormat::snorm:
      return as_float(std::max(extended / largest, -1.0));
    case NumberFormat::uscaled:
      return as_float(bits);
    case NumberFormat::sscaled:
      return as_float(extended);
    case NumberFormat::uint:
      return bits;
    case NumberFormat::sint:
      return static_cast<uint32_t>(extended);
    case NumberFormat::floating:
      return std::bit_cast<uint32_t>(small_float(bits, width));
    case NumberFormat::srgb:
      return as_float(from_srgb(bits / largest));
    case NumberFormat::snorm_nz:
      break;
  }
  return 0;
}

uint32_t encode(uint32_t component, unsigned width, NumberFormat number) {
  const uint32_t ones = width == 32 ? ~0U : (1U << width) - 1;
  const auto value = std::bit_cast<float>(component);
  // Integers of up to 32 bits and products with them are exact in double.
  const auto rounded = [&](double scale, double low, double high) {
    if (std::isnan(value)) return 0U;
    const double integer = __builtin_roundeven(std::clamp(value * scale, low, high));
    return static_cast<uint32_t>(static_cast<int64_t>(integer)) & ones;
  };
  const double largest = largest_of(width, number);
  switch (number) {
    case NumberFormat::unorm:
      return rounded(largest, 0, largest);
    case NumberFormat::snorm:
      return rounded(largest, -largest, largest);
    case NumberFormat::uscaled:
      return rounded(1, 0, largest);
    case NumberFormat::sscaled:
      return rounded(1, -largest - 1, largest);
    case NumberFormat::uint:
      return std::min(component, ones);
    case NumberFormat::sint: {
      const auto high = static_cast<int32_t>(ones >> 1);
      return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(component), -high - 1, high)) & ones;
    }
    case NumberFormat::floating:
      return width == 32 ? component : to_small_float(value, width);
    case NumberFormat::srgb: {
      const double light = std::isnan(value) ? 0 : std::clamp<double>(value, 0, 1);
      return static_cast<uint32_t>(__builtin_roundeven(to_srgb(light) * largest));
    }
    case NumberFormat::snorm_nz:
      break;
  }
  return 0;
}

/// Alpha of an sRGB format is stored as it is.
NumberFormat number_of(const BufferFormat& format, unsigned component) {
  return format.number == NumberFormat::srgb && component == 3 ? NumberFormat::unorm : format.number;
}

}  // namespace

uint32_t one(NumberFormat number) { return is_integer(number) ? 1U : std::bit_cast<uint32_t>(1.0F); }

std::optional<BufferFormat> buffer_format(uint8_t data_format, uint8_t number_format) {
  if (data_format >= std::size(layouts) || number_format > 7) return {};
  const Layout& layout = layouts[data_format];
  const auto number = static_cast<NumberFormat>(number_format);
  if (layout.components == 0 || number == NumberFormat::snorm_nz) return {};
  unsigned bits = 0;
  for (const uint8_t width : layout.width) {
    bits += width;
    // 8-bit and 2-bit floats do not exist, and 32-bit components are integers or floats only.
    if (number == NumberFormat::floating && width != 0 && width < 10) return {};
    if (number < NumberFormat::uint && width == 32) return {};
  }
  return BufferFormat{.components = layout.components,
                      .bytes = static_cast<uint8_t>(bits / 8),
                      .width = layout.width,
                      .number = number};
}

namespace {

using Formats = std::array<std::optional<BufferFormat>, 128>;

/// By their numbers: each name is a data format's and a number format's, "8_8_8_8_UNORM".
Formats formats_of(target::Generation generation) {
  Formats formats;
  for (unsigned number = 0; number < formats.size(); ++number) {
    const std::string_view name = isa::unified_format_name(number, generation);
    const size_t end = name.rfind('_');
    if (end == std::string_view::npos) continue;
    const auto* data = std::ranges::find(data_format_names, name.substr(0, end));
    const auto* meaning = std::ranges::find(number_format_names, name.substr(end + 1));
    if (data == std::end(data_format_names) || meaning == std::end(number_format_names)) continue;
    formats[number] = buffer_format(static_cast<uint8_t>(data - data_format_names),
                                    static_cast<uint8_t>(meaning - number_format_names));
  }
  return formats;
}

const Formats& unified_formats(target::Generation generation) {
  using enum target::Generation;
  static const Formats of_gfx10 = formats_of(gfx10), of_gfx11 = formats_of(gfx11);
  return generation < gfx11 ? of_gfx10 : of_gfx11;
}

}  // namespace

std::optional<BufferFormat> unified_buffer_format(unsigned format, target::Generation generation) {
  const Formats& formats = unified_formats(generation);
  return format < formats.size() ? formats[format] : std::nullopt;
}

std::optional<unsigned> unified_format_number(const BufferFormat& format, target::Generation generation) {
  const Formats& formats = unified_formats(generation);
  const auto* found = std::ranges::find(formats, std::optional(format));
  if (found == formats.end()) return std::nullopt;
  return static_cast<unsigned>(found - formats.begin());
}

std::array<uint32_t, 4> read_components(const BufferFormat& format, const uint8_t* memory) {
  std::array<uint32_t, 4> result{0, 0, 0, one(format.number)};
  unsigned position = 0;
  for (unsigned i = 0; i < format.components; ++i) {
    const unsigned width = format.width[i];
    // A component lies within 32 bits from the last multiple of 32, for all formats.
    uint32_t word = 0;
    const unsigned first = position / 32 * 4;
    std::memcpy(&word, memory + first, std::min<size_t>(sizeof word, format.bytes - first));
    const uint32_t ones = width == 32 ? ~0U : (1U << width) - 1;
    result[i] = decode(word >> position % 32 & ones, width, number_of(format, i));
    position += width;
  }
  return result;
}

void write_components(const BufferFormat& format, const std::array<uint32_t, 4>& components, uint8_t* memory) {
  uint32_t words[4]{};
  unsigned position = 0;
  for (unsigned i = 0; i < format.components; ++i) {
    words[position / 32] |= encode(components[i], format.width[i], number_of(format, i)) << position % 32;
    position += format.width[i];
  }
  std::memcpy(memory, words, format.bytes);
}

std::array<uint32_t, 4> select_components(const BufferFormat& format, const std::array<uint32_t, 4>& components,
                                          uint32_t resource_word3) {
  std::array<uint32_t, 4> result{};
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned select = resource_word3 >> (3 * i) & 7;
    result[i] = select >= 4 ? components[select - 4] : select == 1 ? one(format.number) : 0;
  }
  return result;
}

uint16_t narrow_component(const BufferFormat& format, uint32_t component) {
  if (is_integer(format.number)) return static_cast<uint16_t>(component);
  return static_cast<uint16_t>(to_small_float(std::bit_cast<float>(component), 16));
}

uint32_t widen_component(const BufferFormat& format, uint16_t component) {
  if (format.number == NumberFormat::sint) {
    return static_cast<uint32_t>(int32_t{static_cast<int16_t>(component)});
  }
  if (format.number == NumberFormat::uint) return component;
  return std::bit_cast<uint32_t>(small_float(component, 16));
}

}  // namespace Atoll::semantics
