// support: amounts of memory as users write them.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "support/error.h"

namespace Atoll::support {

/// The bytes of "4G", "512M", "65536K", "1T" or, without a letter, "4294967296".
inline Result<uint64_t> parse_byte_size(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  constexpr std::string_view units = "KMGT";
  const size_t power = unit.empty() ? 0 : units.find(unit[0]) + 1;  // 0 for a letter that there is not
  if (error != std::errc{} || unit.size() > 1 || (!unit.empty() && power == 0) || number == 0 ||
      number > UINT64_MAX >> 10 * power)
    return fail(ErrorKind::invalid_argument, "'{}' is not an amount of memory; use 4G, 512M or a number of bytes",
                text);
  return number << 10 * power;
}

}  // namespace Atoll::support
