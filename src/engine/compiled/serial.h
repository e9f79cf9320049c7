// engine/compiled: serialisation in host format, for engine, compiler and cache. Only the same build on the same host
// reads it.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "support/bytes.h"

namespace Atoll::engine {

class SerialWriter {
 public:
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  /// Writes the size and the elements.
  template <typename T>
  void put_all(std::span<const T> values) {
    put(static_cast<uint64_t>(values.size()));
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    bytes_.insert(bytes_.end(), bytes, bytes + values.size_bytes());
  }
  void put_text(std::string_view text) { put_all(std::span(text.data(), text.size())); }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

/// Reads the output of a SerialWriter. After the end or an impossible size it returns zeros and empty values, and
/// complete() is false.
class SerialReader {
 public:
  explicit SerialReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
    requires std::is_trivially_copyable_v<T>
  T get() {
    const auto value = support::read<T>(bytes_, at_);
    if (!value) return fail<T>();
    at_ += sizeof(T);
    return *value;
  }
  template <typename T>
  std::vector<T> get_all() {
    const auto count = get<uint64_t>();
    if (count > (bytes_.size() - at_) / sizeof(T)) return fail<std::vector<T>>();
    std::vector<T> values(count);
    if (count != 0) std::memcpy(values.data(), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return values;
  }
  std::string get_text() {
    const std::vector<char> text = get_all<char>();
    return {text.begin(), text.end()};
  }
  /// Returns whether everything was read without error and nothing is left.
  bool complete() const { return !failed_ && at_ == bytes_.size(); }

 private:
  template <typename T>
  T fail() {
    failed_ = true;
    at_ = bytes_.size();
    return T{};
  }
  std::span<const uint8_t> bytes_;
  uint64_t at_ = 0;
  bool failed_ = false;
};

}  // namespace Atoll::engine
