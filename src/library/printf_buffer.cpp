#include "library/printf_buffer.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "library/device_printf.h"

namespace Atoll::library {

namespace {

constexpr uint32_t buffer_bytes = 4 << 20, header_bytes = 8;

/// "12:" from the beginning.
std::optional<uint32_t> take_number(std::string_view& text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ':') return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return number;
}

/// A format as the metadata spells it: control characters and colons are escaped, as in C.
std::string unescaped(std::string_view text) {
  constexpr std::string_view letters = "abfnrtv", characters = "\a\b\f\n\r\t\v";
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      result += text[at];
      continue;
    }
    const char next = text[++at];
    if (const size_t letter = letters.find(next); letter != std::string_view::npos) {
      result += characters[letter];
    } else if (next >= '0' && next <= '7') {
      unsigned code = 0;
      size_t digits = 0;
      for (; digits < 3 && at + digits < text.size() && text[at + digits] >= '0' && text[at + digits] <= '7'; ++digits)
        code = code * 8 + static_cast<unsigned>(text[at + digits] - '0');
      at += digits - 1;
      result += static_cast<char>(code);
    } else {
      result += next;
    }
  }
  return result;
}

}  // namespace

std::vector<PrintfFormat> parse_printf_formats(std::span<const std::string> metadata) {
  std::vector<PrintfFormat> formats;
  for (std::string_view text : metadata) {
    const auto id = take_number(text), count = take_number(text);
    if (!id || !count) continue;
    PrintfFormat format{.id = *id, .sizes = {}, .text = {}};
    for (uint32_t i = 0; i < *count; ++i) {
      const auto size = take_number(text);
      if (!size) break;
      format.sizes.push_back(*size);
    }
    if (format.sizes.size() != *count) continue;
    format.text = unescaped(text);
    formats.push_back(std::move(format));
  }
  return formats;
}

std::string print_records(std::span<const PrintfFormat> formats, std::span<const std::byte> records) {
  std::string text;
  while (records.size() >= sizeof(uint32_t)) {
    uint32_t id = 0;
    std::memcpy(&id, records.data(), sizeof id);
    const auto format = std::ranges::find(formats, id, &PrintfFormat::id);
    if (format == formats.end()) break;
    records = records.subspan(sizeof id);
    size_t argument = 0;
    text += format_printf(format->text, [&](bool is_string) -> std::span<const std::byte> {
      if (argument == format->sizes.size()) return {};
      const size_t size = std::min<size_t>(format->sizes[argument++], records.size());
      const auto bytes = records.first(size);
      records = records.subspan(size);
      // A string has been filled up with zeros.
      return is_string ? bytes.first(strnlen(reinterpret_cast<const char*>(bytes.data()), size)) : bytes;
    });
    for (; argument < format->sizes.size(); ++argument)
      records = records.subspan(std::min<size_t>(format->sizes[argument], records.size()));
  }
  return text;
}

support::Result<PrintfBuffer> PrintfBuffer::create(machine::Memory& memory) {
  const auto address = memory.allocate(buffer_bytes, 0, "the output of printf");
  if (!address) return std::unexpected(address.error());
  const uint32_t header[2] = {0, buffer_bytes};
  std::memcpy(reinterpret_cast<void*>(*address), header, sizeof header);
  return PrintfBuffer(memory, *address);
}

PrintfBuffer::~PrintfBuffer() {
  if (address_ != 0) static_cast<void>(memory_->free(address_));  // it was allocated there: cannot fail
}

std::span<const std::byte> PrintfBuffer::records() const {
  uint32_t taken = 0;
  std::memcpy(&taken, reinterpret_cast<const void*>(address_), sizeof taken);
  return {reinterpret_cast<const std::byte*>(address_) + header_bytes, std::min(taken, buffer_bytes - header_bytes)};
}

}  // namespace Atoll::library
