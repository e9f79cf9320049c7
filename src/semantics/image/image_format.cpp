// semantics: the numbers of image formats (image_format.h).
#include "semantics/image/image_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string_view>

#include "isa/buffer_formats.h"

namespace Atoll::semantics {

namespace {

using target::Generation;

// IMG_DATA_FORMAT_*, by their numbers until GFX9. Names list the widths of the components from the highest bits down.
constexpr auto data_format_names = [] {
  std::array<std::string_view, 64> names{};
  constexpr std::string_view first[] = {"",        "8",        "16",          "8_8",        "32",
                                        "16_16",   "10_11_11", "11_11_10",    "10_10_10_2", "2_10_10_10",
                                        "8_8_8_8", "32_32",    "16_16_16_16", "32_32_32",   "32_32_32_32"};
  std::ranges::copy(first, names.begin());
  names[16] = "5_6_5";
  names[17] = "1_5_5_5";
  names[18] = "5_5_5_1";
  names[19] = "4_4_4_4";
  names[57] = "4_4";
  names[58] = "6_5_5";
  return names;
}();

struct NumberName {
  std::string_view name;
  NumberFormat number;
  uint8_t value;  ///< IMG_NUM_FORMAT_*
};
constexpr NumberName number_names[] = {
    {"UNORM", NumberFormat::unorm, 0},     {"SNORM", NumberFormat::snorm, 1}, {"USCALED", NumberFormat::uscaled, 2},
    {"SSCALED", NumberFormat::sscaled, 3}, {"UINT", NumberFormat::uint, 4},   {"SINT", NumberFormat::sint, 5},
    {"FLOAT", NumberFormat::floating, 7},  {"SRGB", NumberFormat::srgb, 9},
};

/// Formats that images have beyond those of buffers, from GFX10 on.
struct FurtherFormat {
  uint16_t of_gfx10, of_gfx11;
  std::string_view name;
};
constexpr FurtherFormat further_formats[] = {
    {128, 64, "8_SRGB"},        {129, 65, "8_8_SRGB"},      {130, 66, "8_8_8_8_SRGB"},  {133, 68, "5_6_5_UNORM"},
    {134, 69, "1_5_5_5_UNORM"}, {135, 70, "5_5_5_1_UNORM"}, {136, 71, "4_4_4_4_UNORM"}, {137, 72, "4_4_UNORM"},
};

/// The format whose components have the widths of `name` ("5_6_5"), if there are such numbers.
std::optional<BufferFormat> format_of(std::string_view name, NumberFormat number) {
  BufferFormat format{.number = number};
  unsigned bits = 0;
  for (std::string_view left = name; !left.empty();) {
    const size_t start = left.rfind('_') + 1;  // 0 where there is none
    uint8_t width = 0;
    std::from_chars(left.data() + start, left.data() + left.size(), width);
    format.width[format.components++] = width;
    bits += width;
    // 32-bit components are integers or floats only, floats have 10 bits or more, the curve is that of bytes, and what
    // packs components into less than 32 bits has fractions only.
    const bool packed = width < 8 && !name.starts_with("2_") && !name.ends_with("_2");
    if (number < NumberFormat::uint && width == 32) return {};
    if (number == NumberFormat::floating && width < 10) return {};
    if (number == NumberFormat::srgb && width != 8) return {};
    if (packed && number != NumberFormat::unorm) return {};
    left = left.substr(0, start == 0 ? 0 : start - 1);
  }
  format.bytes = static_cast<uint8_t>(bits / 8);
  if (format.components == 0) return {};
  return format;
}

std::optional<BufferFormat> format_named(std::string_view name) {
  const size_t end = name.rfind('_');
  if (end == std::string_view::npos) return {};
  const auto* number = std::ranges::find(number_names, name.substr(end + 1), &NumberName::name);
  const std::string_view data = name.substr(0, end);
  if (number == std::end(number_names) || std::ranges::find(data_format_names, data) == data_format_names.end()) {
    return {};
  }
  return format_of(data, number->number);
}

using Formats = std::array<std::optional<BufferFormat>, 256>;

Formats unified_formats_of(Generation generation) {
  Formats formats;
  for (unsigned i = 0; i < formats.size(); ++i) formats[i] = format_named(isa::unified_format_name(i, generation));
  for (const FurtherFormat& further : further_formats) {
    formats[generation < Generation::gfx11 ? further.of_gfx10 : further.of_gfx11] = format_named(further.name);
  }
  return formats;
}

const Formats& unified_formats(Generation generation) {
  static const Formats of_gfx10 = unified_formats_of(Generation::gfx10),
                       of_gfx11 = unified_formats_of(Generation::gfx11);
  return generation < Generation::gfx11 ? of_gfx10 : of_gfx11;
}

/// By data format * 16 + number format.
const std::array<std::optional<BufferFormat>, 1024>& separate_formats() {
  static const auto table = [] {
    std::array<std::optional<BufferFormat>, 1024> formats;
    for (unsigned data = 0; data < data_format_names.size(); ++data) {
      for (const NumberName& number : number_names) {
        formats[data * 16 + number.value] = format_of(data_format_names[data], number.number);
      }
    }
    return formats;
  }();
  return table;
}

}  // namespace

std::optional<BufferFormat> image_format(ImageFormatFields fields, Generation generation) {
  if (generation >= Generation::gfx10) {
    const Formats& formats = unified_formats(generation);
    return fields.data < formats.size() ? formats[fields.data] : std::nullopt;
  }
  if (fields.data >= data_format_names.size() || fields.number >= 16) return {};
  return separate_formats()[fields.data * 16U + fields.number];
}

std::optional<ImageFormatFields> image_format_fields(const BufferFormat& format, Generation generation) {
  const auto index_in = [&](const auto& formats) -> std::optional<unsigned> {
    const auto* found = std::ranges::find(formats, std::optional(format));
    if (found == formats.end()) return {};
    return static_cast<unsigned>(found - formats.begin());
  };
  const bool is_unified = generation >= Generation::gfx10;
  const auto index = is_unified ? index_in(unified_formats(generation)) : index_in(separate_formats());
  if (!index) return {};
  return is_unified ? ImageFormatFields{static_cast<uint16_t>(*index), 0}
                    : ImageFormatFields{static_cast<uint16_t>(*index / 16), static_cast<uint8_t>(*index % 16)};
}

}  // namespace Atoll::semantics
