// support: reading bytes that may be anything: every access says what it wants and learns whether it is there.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace Atoll::support {

/// `size` bytes from `offset` on, or nothing when they are not all there. Offsets may be as wild as they like.
inline std::optional<std::span<const uint8_t>> slice(std::span<const uint8_t> bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, size);
}

/// The little-endian T at `offset`, aligned or not, or nothing when it is not all there.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::optional<T> read(std::span<const uint8_t> bytes, uint64_t offset) {
  const auto found = slice(bytes, offset, sizeof(T));
  if (!found) return std::nullopt;
  T value;
  std::memcpy(&value, found->data(), sizeof value);
  return value;
}

/// The zero-terminated text at `offset`, or nothing when it does not end inside.
inline std::optional<std::string_view> read_text(std::span<const uint8_t> bytes, uint64_t offset) {
  if (offset >= bytes.size()) return std::nullopt;
  const std::string_view rest(reinterpret_cast<const char*>(bytes.data()) + offset, bytes.size() - offset);
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

inline bool starts_with(std::span<const uint8_t> bytes, std::string_view prefix) {
  return bytes.size() >= prefix.size() && std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

/// Puts the bytes of `value` after others.
template <typename T>
  requires std::is_trivially_copyable_v<T>
void append(std::vector<uint8_t>& bytes, const T& value) {
  const auto* raw = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof value);
}

/// `value` rounded up to a multiple of `alignment`, a power of two.
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

}  // namespace Atoll::support
