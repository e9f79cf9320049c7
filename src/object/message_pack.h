// object: MessagePack documents as trees of values, for readers that show all of a document and check it against a
// table of keys. Maps keep the order of the file. Source: msgpack/spec.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/error.h"

namespace Atoll::object {

struct MessagePack {
  using Binary = std::vector<uint8_t>;
  using List = std::vector<MessagePack>;
  struct Entry;
  using Map = std::vector<Entry>;

  /// Non-negative integers are uint64_t, negative ones int64_t.
  std::variant<std::monostate, bool, uint64_t, int64_t, double, std::string, Binary, List, Map> value;

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  /// Returns a map's value by a text key, or nullptr.
  const MessagePack* find(std::string_view key) const;
  std::string key_text() const;  ///< of a key: the text, or the number in hexadecimal
};

struct MessagePack::Entry {
  MessagePack key, value;
};

/// Reads exactly one document. The limits of nesting and size keep garbled input from taking more memory than its own
/// size allows.
support::Result<MessagePack> read_message_pack(std::span<const uint8_t> bytes);

/// Prints a document as YAML in block style, as LLVM's assembly output does: unsigned integers above 9 in hexadecimal.
std::string to_yaml(const MessagePack& document);

}  // namespace Atoll::object
