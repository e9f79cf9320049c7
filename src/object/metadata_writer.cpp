// object: writing metadata (metadata_writer.h).
#include "object/metadata_writer.h"

#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include <msgpack.hpp>

#include "object/metadata.h"
#include "object/yaml.h"

namespace Atoll::object {

namespace {

using support::ErrorKind;
using support::fail;

constexpr unsigned deepest_nesting = 64;

/// An integer as C writes it: decimal, or with 0x, 0b or a leading 0.
template <typename T>
std::optional<T> integer(std::string_view text) {
  int base = 10;
  const bool negative = text.starts_with("-");
  if (negative) text.remove_prefix(1);
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.starts_with("0b") || text.starts_with("0B")) {
    base = 2;
    text.remove_prefix(2);
  } else if (text.starts_with("0o")) {
    base = 8;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_unsigned_v<T>) {
    return negative ? std::nullopt : std::optional<T>(value);
  } else {
    return negative ? std::optional(static_cast<T>(-value)) : std::optional(static_cast<T>(value));
  }
}

std::optional<bool> boolean(std::string_view text) {
  if (text != "true" && text != "false") return std::nullopt;
  return text == "true";
}

std::optional<double> real(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? std::nullopt : std::optional(value);
}

using Packer = msgpack::packer<msgpack::sbuffer>;

void pack_text(Packer& packer, const std::string& text) {
  packer.pack_str(static_cast<uint32_t>(text.size()));
  packer.pack_str_body(text.data(), static_cast<uint32_t>(text.size()));
}

void pack_scalar(Packer& packer, const std::string& text, const std::string& tag) {
  const bool any = tag.empty() || tag == "?" || tag == "!" || tag == "tag:yaml.org,2002:str";
  if (any || tag == "!int") {
    if (const auto value = integer<uint64_t>(text)) return static_cast<void>(packer.pack_uint64(*value));
    if (const auto value = integer<int64_t>(text)) return static_cast<void>(packer.pack_int64(*value));
  }
  if (tag == "!nil") return static_cast<void>(packer.pack_nil());
  if (any || tag == "!bool") {
    if (const auto value = boolean(text)) {
      return static_cast<void>(*value ? packer.pack_true() : packer.pack_false());
    }
  }
  if (any || tag == "!float") {
    if (const auto value = real(text)) return static_cast<void>(packer.pack_double(*value));
  }
  pack_text(packer, text);
}

support::Result<void> pack(Packer& packer, const YAML::Node& node, unsigned depth) {
  if (depth > deepest_nesting) return fail(ErrorKind::invalid_file, "nested more than {} levels deep", deepest_nesting);
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      packer.pack_nil();
      return {};
    case YAML::NodeType::Scalar:
      pack_scalar(packer, node.Scalar(), node.Tag());
      return {};
    case YAML::NodeType::Sequence:
      packer.pack_array(static_cast<uint32_t>(node.size()));
      for (const YAML::Node& element : node) {
        if (auto ok = pack(packer, element, depth + 1); !ok) return ok;
      }
      return {};
    case YAML::NodeType::Map: {
      std::map<std::tuple<bool, uint64_t, std::string>, YAML::Node> sorted;  // numbers first
      for (const auto& entry : node) {
        if (!entry.first.IsScalar()) return fail(ErrorKind::invalid_file, "a non-scalar key");
        const auto number = integer<uint64_t>(entry.first.Scalar());
        if (!sorted.emplace(std::tuple(!number, number.value_or(0), entry.first.Scalar()), entry.second).second) {
          return fail(ErrorKind::invalid_file, "the key '{}' is there twice", entry.first.Scalar());
        }
      }
      packer.pack_map(static_cast<uint32_t>(sorted.size()));
      for (const auto& [key, value] : sorted) {
        pack_scalar(packer, std::get<std::string>(key), {});
        if (auto ok = pack(packer, value, depth + 1); !ok) return ok;
      }
      return {};
    }
  }
  return {};
}

/// `prepare(document)` may change it before it is packed; it yields an error or nothing.
template <typename Prepare>
support::Result<std::vector<uint8_t>> packed(std::string_view yaml, const Prepare& prepare) {
  // The library speaks of errors by exceptions; they end here.
  try {
    auto document = read_yaml(yaml);
    if (!document) return std::unexpected(document.error());
    if (auto ok = prepare(*document); !ok) return std::unexpected(ok.error());
    msgpack::sbuffer buffer;
    Packer packer(buffer);
    if (auto ok = pack(packer, *document, 0); !ok) return std::unexpected(ok.error());
    const auto* bytes = reinterpret_cast<const uint8_t*>(buffer.data());
    return std::vector<uint8_t>(bytes, bytes + buffer.size());
  } catch (const YAML::Exception& problem) {
    return fail(ErrorKind::invalid_file, "line {}: {}", problem.mark.line + 1, problem.msg);
  }
}

/// The first pipeline's registers, whose keys may have names after their numbers: 0x2e12 (COMPUTE_PGM_RSRC1).
support::Result<void> number_registers(YAML::Node& document) {
  if (!document.IsMap()) return fail(ErrorKind::invalid_file, "PAL metadata has to be a map");
  YAML::Node pipelines = document["amdpal.pipelines"];
  if (!pipelines.IsSequence()) document["amdpal.pipelines"] = pipelines = YAML::Node(YAML::NodeType::Sequence);
  if (pipelines.size() == 0) pipelines.push_back(YAML::Node(YAML::NodeType::Map));
  YAML::Node pipeline = pipelines[0];
  if (!pipeline.IsMap()) return fail(ErrorKind::invalid_file, "a pipeline has to be a map");
  YAML::Node numbered(YAML::NodeType::Map);
  for (const auto& entry : pipeline[".registers"]) {
    const std::string& key = entry.first.Scalar();
    const auto number = integer<uint64_t>(std::string_view(key).substr(0, key.find(' ')));
    if (!number) return fail(ErrorKind::invalid_file, "'{}' does not begin with a register's number", key);
    numbered[std::to_string(*number)] = entry.second;
  }
  pipeline[".registers"] = numbered;
  return {};
}

}  // namespace

support::Result<std::vector<uint8_t>> yaml_to_message_pack(std::string_view yaml) {
  return packed(yaml, [](YAML::Node&) -> support::Result<void> { return {}; });
}

support::Result<std::vector<uint8_t>> pal_metadata_from_yaml(std::string_view yaml) {
  return packed(yaml, number_registers);
}

support::Result<std::vector<uint8_t>> metadata_from_yaml(std::string_view yaml) {
  auto packed = yaml_to_message_pack(yaml);
  if (!packed) return packed;
  if (auto read = read_metadata(*packed); !read) return std::unexpected(read.error());
  return packed;
}

}  // namespace Atoll::object
