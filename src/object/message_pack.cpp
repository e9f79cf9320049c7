// object: reading MessagePack into a tree, and printing the tree as YAML.
#include "object/message_pack.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>
#include <msgpack.hpp>

namespace Atoll::object {

namespace {

constexpr size_t max_depth = 32;

MessagePack tree_of(const msgpack::object& from) {
  switch (from.type) {
    case msgpack::type::BOOLEAN:
      return {from.via.boolean};
    case msgpack::type::POSITIVE_INTEGER:
      return {uint64_t{from.via.u64}};
    case msgpack::type::NEGATIVE_INTEGER:
      return {int64_t{from.via.i64}};
    case msgpack::type::FLOAT32:
    case msgpack::type::FLOAT64:
      return {from.via.f64};
    case msgpack::type::STR:
      return {std::string(from.via.str.ptr, from.via.str.size)};
    case msgpack::type::BIN: {
      const auto* bytes = reinterpret_cast<const uint8_t*>(from.via.bin.ptr);
      return {MessagePack::Binary(bytes, bytes + from.via.bin.size)};
    }
    case msgpack::type::ARRAY: {
      MessagePack::List list;
      for (uint32_t i = 0; i < from.via.array.size; ++i) list.push_back(tree_of(from.via.array.ptr[i]));
      return {std::move(list)};
    }
    case msgpack::type::MAP: {
      MessagePack::Map map;
      for (uint32_t i = 0; i < from.via.map.size; ++i)
        map.push_back({tree_of(from.via.map.ptr[i].key), tree_of(from.via.map.ptr[i].val)});
      return {std::move(map)};
    }
    default:
      return {};
  }
}

/// Prints a scalar. Text is quoted where YAML would read it as another type or as syntax.
class YamlWriter {
 public:
  std::string run(const MessagePack& document) {
    text_ = "---\n";
    block(document, 0);
    text_ += "...\n";
    return std::move(text_);
  }

 private:
  static std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
    return result + "'";
  }

  static bool is_plain(const std::string& text) {
    const auto is_safe = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    };
    if (text.empty() || !std::ranges::all_of(text, is_safe)) return false;
    const bool number = (text[0] >= '0' && text[0] <= '9') || (text[0] == '.' && text.size() > 1 && text[1] <= '9');
    constexpr std::string_view words[] = {"true", "false", "null", "yes", "no",  "on",  "off",  "y",   "n",
                                          "True", "Null",  "Yes",  "No",  "nan", "inf", ".nan", ".inf"};
    return !number && std::ranges::find(words, text) == std::end(words);
  }

  static std::string scalar(const MessagePack& node) {
    if (const auto* flag = node.as<bool>()) return *flag ? "true" : "false";
    if (const auto* number = node.as<uint64_t>())
      return *number < 10 ? fmt::format("{}", *number) : fmt::format("{:#x}", *number);
    if (const auto* number = node.as<int64_t>()) return fmt::format("{}", *number);
    if (const auto* number = node.as<double>()) return fmt::format("!float {}", *number);
    if (const auto* text = node.as<std::string>()) {
      if (is_plain(*text)) return *text;
      const bool printable = std::ranges::all_of(*text, [](char c) { return c >= ' ' && c <= '~'; });
      if (printable) return "!str " + quoted(*text);
      std::string escaped = "!str \"";
      for (const char c : *text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') escaped += '\\';
        if (c >= ' ' && c <= '~') {
          escaped += c;
        } else if (byte < 0x80) {
          fmt::format_to(std::back_inserter(escaped), "\\x{:02x}", byte);
        } else {
          escaped += c;  // UTF-8
        }
      }
      return escaped + '"';
    }
    if (const auto* list = node.as<MessagePack::List>(); list != nullptr && list->empty()) return "[]";
    if (const auto* map = node.as<MessagePack::Map>(); map != nullptr && map->empty()) return "{}";
    return "!nil ''";
  }

  static bool is_block(const MessagePack& node) {
    const auto* list = node.as<MessagePack::List>();
    const auto* map = node.as<MessagePack::Map>();
    return (list != nullptr && !list->empty()) || (map != nullptr && !map->empty());
  }

  /// Prints the lines of a list or map at a column; the first line's indentation is already there if `started`.
  void block(const MessagePack& node, size_t column, bool started = false) {
    const auto indent = [&] {
      if (!started) text_.append(column, ' ');
      started = false;
    };
    if (const auto* list = node.as<MessagePack::List>(); list != nullptr && !list->empty()) {
      for (const MessagePack& element : *list) {
        indent();
        text_ += "- ";
        is_block(element) ? block(element, column + 2, true) : line(element);
      }
    } else if (const auto* map = node.as<MessagePack::Map>(); map != nullptr && !map->empty()) {
      for (const auto& [key, value] : *map) {
        indent();
        text_ += scalar(key) + ':';
        if (is_block(value)) {
          text_ += '\n';
          block(value, column + 2);
        } else {
          text_ += ' ';
          line(value);
        }
      }
    } else {
      line(node);
    }
  }

  void line(const MessagePack& node) { text_ += scalar(node) + '\n'; }

  std::string text_;
};

}  // namespace

const MessagePack* MessagePack::find(std::string_view key) const {
  const auto* map = as<Map>();
  if (map == nullptr) return nullptr;
  for (const auto& [name, found] : *map)
    if (const auto* text = name.as<std::string>(); text != nullptr && *text == key) return &found;
  return nullptr;
}

std::string MessagePack::key_text() const {
  if (const auto* text = as<std::string>()) return *text;
  if (const auto* number = as<uint64_t>()) return fmt::format("{:#x}", *number);
  return "?";
}

support::Result<MessagePack> read_message_pack(std::span<const uint8_t> bytes) {
  try {  // the library reports errors by exceptions; they end here
    const size_t max = bytes.size();
    size_t used = 0;
    const auto handle = msgpack::unpack(reinterpret_cast<const char*>(bytes.data()), bytes.size(), used, nullptr,
                                        nullptr, msgpack::unpack_limit(max, max, max, max, max, max_depth));
    if (used != bytes.size())
      return support::fail(support::ErrorKind::invalid_file, "{} bytes follow the MessagePack document",
                           bytes.size() - used);
    return tree_of(handle.get());
  } catch (const std::exception&) {
    return support::fail(support::ErrorKind::invalid_file, "not valid MessagePack, or cut short");
  }
}

std::string to_yaml(const MessagePack& document) { return YamlWriter().run(document); }

}  // namespace Atoll::object
