#include "library/device_printf.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "support/half.h"

namespace Atoll::library {

namespace {

/// Widths and precisions are a kernel's, and no reason to run out of memory.
constexpr int max_width = 4096;

/// "%-8.3hhd", taken apart.
struct Conversion {
  std::string_view text;  ///< as it is written
  std::string flags;      ///< of "-+ #0"
  int width = -1, precision = -1;
  bool width_is_argument = false, precision_is_argument = false;
  unsigned elements = 1;    ///< of OpenCL's vectors
  std::string_view length;  ///< "hh", "h", "hl", "l", "ll", "j", "z", "t"
  char kind = 0;            ///< 0: no conversion
};

/// A number or a star.
void parse_size(std::string_view format, size_t& at, int& size, bool& is_argument) {
  if (at < format.size() && format[at] == '*') {
    is_argument = true;
    ++at;
    return;
  }
  const auto [end, error] = std::from_chars(format.data() + at, format.data() + format.size(), size);
  if (error == std::errc::result_out_of_range) size = max_width;
  at = static_cast<size_t>(end - format.data());
  size = std::min(size, max_width);
}

Conversion parse_conversion(std::string_view format, size_t begin) {
  Conversion conversion;
  size_t at = begin + 1;
  while (at < format.size() && std::string_view("-+ #0").contains(format[at])) conversion.flags += format[at++];
  if (at < format.size() && format[at] != '-') parse_size(format, at, conversion.width, conversion.width_is_argument);
  if (at < format.size() && format[at] == '.') {
    conversion.precision = 0;
    ++at;
    if (at < format.size() && format[at] != '-')
      parse_size(format, at, conversion.precision, conversion.precision_is_argument);
  }
  if (at < format.size() && format[at] == 'v') {
    for (const unsigned elements : {16u, 2u, 3u, 4u, 8u}) {
      const std::string digits = fmt::format("{}", elements);
      if (!format.substr(at + 1).starts_with(digits)) continue;
      conversion.elements = elements;
      at += 1 + digits.size();
      break;
    }
  }
  for (const std::string_view length : {"hh", "hl", "ll", "h", "l", "j", "z", "t"}) {
    if (!format.substr(at).starts_with(length)) continue;
    conversion.length = length;
    at += length.size();
    break;
  }
  if (at < format.size() && std::string_view("diouxXcsfFeEgGaAp%n").contains(format[at]))
    conversion.kind = format[at++];
  conversion.text = format.substr(begin, at - begin);
  return conversion;
}

uint64_t bits_of(std::span<const std::byte> bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), std::min(bytes.size(), sizeof bits));
  return bits;
}

double float_of(std::span<const std::byte> bytes) {
  const uint64_t bits = bits_of(bytes);
  if (bytes.size() >= 8) return std::bit_cast<double>(bits);
  if (bytes.size() >= 4) return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return static_cast<double>(support::half_value(static_cast<uint32_t>(bits)));
}

/// Of so many bytes as the length says, or the argument has.
unsigned integer_bytes(const Conversion& conversion, size_t given) {
  unsigned bytes = 4;
  if (conversion.length == "hh") bytes = 1;
  if (conversion.length == "h") bytes = 2;
  if (!conversion.length.empty() && !conversion.length.starts_with('h')) bytes = 8;
  return std::min<unsigned>(bytes, static_cast<unsigned>(given));
}

int64_t extended(uint64_t bits, unsigned bytes, bool is_signed) {
  const unsigned shift = 64 - 8 * std::clamp(bytes, 1U, 8U);
  const uint64_t high = bits << shift;
  return is_signed ? static_cast<int64_t>(high) >> shift : static_cast<int64_t>(high >> shift);
}

template <typename Value>
std::string printed(const std::string& format, Value value) {
  char buffer[512];
  const int needed = std::snprintf(buffer, sizeof buffer, format.c_str(), value);
  if (needed < 0) return {};
  if (static_cast<size_t>(needed) < sizeof buffer) return buffer;
  std::string text(static_cast<size_t>(needed), '\0');
  std::snprintf(text.data(), text.size() + 1, format.c_str(), value);
  return text;
}

std::string format_one(const Conversion& conversion, std::span<const std::byte> bytes) {
  std::string format = "%" + conversion.flags;
  if (conversion.width >= 0) format += fmt::format("{}", conversion.width);
  if (conversion.precision >= 0) format += fmt::format(".{}", conversion.precision);
  const char kind = conversion.kind;
  switch (kind) {
    case 's': {
      const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return printed(format + 's', text.c_str());
    }
    case 'c':
      return printed(format + 'c', static_cast<int>(bits_of(bytes) & 0xFF));
    case 'p':
      return printed(format + 'p', reinterpret_cast<const void*>(bits_of(bytes)));
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X': {
      const bool is_signed = kind == 'd' || kind == 'i';
      return printed(format + "ll" + kind, static_cast<long long>(extended(
                                               bits_of(bytes), integer_bytes(conversion, bytes.size()), is_signed)));
    }
    default:
      return printed(format + kind, float_of(bytes));
  }
}

/// A width or precision that is an argument.
bool take_size(const NextArgument& next, bool is_argument, int& size) {
  if (!is_argument) return true;
  const auto bytes = next(false);
  if (bytes.empty()) return false;
  size = std::clamp(static_cast<int>(bits_of(bytes)), -max_width, max_width);
  return true;
}

std::string format_conversion(Conversion conversion, const NextArgument& next) {
  if (!take_size(next, conversion.width_is_argument, conversion.width) ||
      !take_size(next, conversion.precision_is_argument, conversion.precision))
    return std::string(conversion.text);
  if (conversion.width_is_argument && conversion.width < 0) {  // as C has it
    conversion.flags += '-';
    conversion.width = -conversion.width;
  }
  const auto bytes = next(conversion.kind == 's');
  if (bytes.data() == nullptr) return std::string(conversion.text);
  if (conversion.kind == 'n') return {};
  if (conversion.elements == 1) return format_one(conversion, bytes);
  // Three elements have the room of four.
  const size_t size = bytes.size() / std::bit_ceil(conversion.elements);
  std::string text;
  for (size_t i = 0; i < conversion.elements && size != 0; ++i)
    text += (i == 0 ? "" : ",") + format_one(conversion, bytes.subspan(i * size, size));
  return text;
}

}  // namespace

std::string format_printf(std::string_view format, const NextArgument& next) {
  std::string text;
  for (size_t at = 0; at < format.size();) {
    const size_t percent = std::min(format.find('%', at), format.size());
    text += format.substr(at, percent - at);
    if (percent == format.size()) break;
    const Conversion conversion = parse_conversion(format, percent);
    at = percent + std::max<size_t>(conversion.text.size(), 1);
    if (conversion.kind == '%')
      text += '%';
    else if (conversion.kind == 0)
      text += conversion.text;
    else
      text += format_conversion(conversion, next);
  }
  return text;
}

}  // namespace Atoll::library
