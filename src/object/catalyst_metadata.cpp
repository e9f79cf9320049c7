// object: AMD IL metadata. The table of tokens comes first, then reading, then writing.
#include "object/catalyst_metadata.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <tuple>
#include <unordered_set>

#include "support/bytes.h"

namespace Atoll::object::catalyst {

using support::Error;
using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

constexpr std::string_view value_types[] = {"i1",  "i8",    "i16",    "i32",    "i64",   "u8",    "u16",   "u32",
                                            "u64", "float", "double", "struct", "union", "event", "opaque"};
constexpr std::string_view pointer_types[] = {"i1",  "i8",  "i16",   "i32",    "i64",    "u8",    "u16",
                                              "u32", "u64", "float", "double", "struct", "union", "opaque"};
constexpr std::string_view spaces[] = {"local", "hwlocal", "private", "hwprivate", "uavprivate", "hwregion"};
constexpr std::string_view dimensions[] = {"1D", "1DA", "1DB", "2D", "2DA", "3D"};
constexpr std::string_view accesses[] = {"RO", "WO", "RW"};
constexpr std::string_view memory_types[] = {"g", "p", "l", "uav", "c", "r", "hl", "hp", "hc", "hr"};
constexpr std::string_view flags[] = {"0", "1"};
constexpr std::string_view counter_bits[] = {"32", "64"};

constexpr TokenField version_fields[] = {
    {"major", FieldType::number}, {"minor", FieldType::number}, {"revision", FieldType::number}};
constexpr TokenField name_only_fields[] = {{"name", FieldType::rest}};
constexpr TokenField message_fields[] = {{"message", FieldType::rest}};
constexpr TokenField memory_size_fields[] = {{"space", FieldType::choice, spaces}, {"size", FieldType::number}};
constexpr TokenField id_fields[] = {{"id", FieldType::number}};
constexpr TokenField sampler_fields[] = {{"name", FieldType::text},
                                         {"id", FieldType::number},
                                         {"kernel_defined", FieldType::choice, flags},
                                         {"value", FieldType::number}};
constexpr TokenField image_fields[] = {
    {"name", FieldType::text}, {"dimension", FieldType::choice, dimensions}, {"access", FieldType::choice, accesses},
    {"id", FieldType::number}, {"constant_buffer", FieldType::number},       {"offset", FieldType::number}};
constexpr TokenField counter_fields[] = {{"name", FieldType::text},
                                         {"bits", FieldType::choice, counter_bits},
                                         {"id", FieldType::number},
                                         {"constant_buffer", FieldType::number},
                                         {"offset", FieldType::number}};
constexpr TokenField value_fields[] = {{"name", FieldType::text},
                                       {"type", FieldType::choice, value_types},
                                       {"count", FieldType::number},
                                       {"constant_buffer", FieldType::number},
                                       {"offset", FieldType::number}};
constexpr TokenField pointer_fields[] = {{"name", FieldType::text},
                                         {"type", FieldType::choice, pointer_types},
                                         {"count", FieldType::number},
                                         {"constant_buffer", FieldType::number},
                                         {"offset", FieldType::number},
                                         {"memory", FieldType::choice, memory_types},
                                         {"buffer", FieldType::number},
                                         {"alignment", FieldType::number},
                                         {"access", FieldType::choice, accesses},
                                         {"volatile", FieldType::choice, flags},
                                         {"restrict", FieldType::choice, flags}};
constexpr TokenField list_fields[] = {{"ids", FieldType::list}};
constexpr TokenField sizes_fields[] = {{"x", FieldType::number}, {"y", FieldType::number}, {"z", FieldType::number}};
constexpr TokenField size_fields[] = {{"size", FieldType::number}};
constexpr TokenField constant_argument_fields[] = {{"index", FieldType::number}, {"name", FieldType::text}};
constexpr TokenField reflection_fields[] = {{"index", FieldType::number}, {"type", FieldType::rest}};
/// The older form of arguments in the document's example: ";ARG:main:x:float:1:0:96".
constexpr TokenField older_argument_fields[] = {{"kernel", FieldType::text},
                                                {"name", FieldType::text},
                                                {"type", FieldType::text},
                                                {"count", FieldType::number},
                                                {"constant_buffer", FieldType::number},
                                                {"offset", FieldType::number},
                                                {"memory", FieldType::choice, memory_types},
                                                {"buffer", FieldType::number},
                                                {"alignment", FieldType::number}};

constexpr TokenKind kinds[] = {
    {"version", "", version_fields, 3, true, true},
    {"device", "", name_only_fields, 1, true, true},
    {"error", "", message_fields, 1, false, true},
    {"warning", "", message_fields, 1, false, true},
    {"memory", "compilerwrite", {}, 0, true, true},
    {"memory", "datareqd", {}, 0, true, true},
    {"memory", "64bitABI", {}, 0, true, false},
    {"memory", "", memory_size_fields, 2, false, true},
    {"uniqueid", "", id_fields, 1, true, true},
    {"sampler", "", sampler_fields, 4, false, true},
    {"image", "", image_fields, 6, false, true},
    {"counter", "", counter_fields, 5, false, true},
    {"value", "", value_fields, 5, false, true},
    {"pointer", "", pointer_fields, 8, false, true},
    {"ARG", "", older_argument_fields, 6, false, true},
    {"uavid", "", id_fields, 1, true, true},
    {"function", "", list_fields, 1, false, true},
    {"intrinsic", "", list_fields, 1, false, true},
    {"cws", "", sizes_fields, 3, true, true},
    {"lws", "", size_fields, 1, true, true},
    {"limitgroupsize", "", {}, 0, true, true},
    {"constarg", "", constant_argument_fields, 2, false, false},
    {"cbid", "", id_fields, 1, true, false},
    {"printfid", "", id_fields, 1, true, false},
    {"privateid", "", id_fields, 1, true, false},
    {"reflection", "", reflection_fields, 2, false, false},
    {"WavesPerSimdHint", "", size_fields, 1, true, false},
};

constexpr size_t code_length = 4, message_length = 32;  // of errors and warnings
constexpr uint32_t largest_data = 256 << 20;
constexpr std::string_view placeholder = ";$$$$$$$$$$";

std::optional<uint32_t> number_of(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Splits off the text before the next colon.
std::string_view next(std::string_view& rest, bool& more) {
  const size_t colon = rest.find(':');
  more = colon != std::string_view::npos;
  const std::string_view field = rest.substr(0, colon);
  rest = more ? rest.substr(colon + 1) : std::string_view();
  return field;
}

std::unexpected<Error> wrong(size_t line, std::string text) {
  return fail(ErrorKind::invalid_file, "metadata: line {}: {}", line, text);
}

struct Lines {
  std::string_view rest;
  size_t number = 0;

  std::optional<std::string_view> next() {
    if (rest.empty()) return std::nullopt;
    ++number;
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
};

/// Returns what is wrong with the values of a token beyond their types, or an empty text.
std::string contradiction(const MetadataToken& token) {
  const std::string_view name = token.kind->name;
  if (name == "error" || name == "warning") {
    const size_t length = token.values[0].size();
    // The code may be set apart by a colon or blank.
    if (length < code_length || length > code_length + 1 + message_length)
      return fmt::format("the message has {} characters; a code of {} and up to {} are allowed", length, code_length,
                         message_length);
  }
  if (name == "value") {
    const std::string_view type = token.text("type");
    const uint32_t count = token.number("count");
    const bool sized = type == "struct" || type == "union";
    const bool single = type == "event" || type == "opaque";
    constexpr uint32_t vectors[] = {1, 2, 3, 4, 8, 16};
    if (!sized && std::ranges::find(vectors, count) == std::end(vectors))
      return fmt::format("{} elements; 1, 2, 3, 4, 8 and 16 are allowed", count);
    if (single && count != 1) return fmt::format("{} elements of type {}; 1 is allowed", count, type);
  }
  if (name == "pointer" && token.number("count") != 1)
    return fmt::format("{} pointers in one argument; 1 is allowed", token.number("count"));
  if (name == "pointer") {
    // Drivers write the size of a structure as its alignment.
    const bool scalar = metadata_type_size(token.text("type")).has_value();
    const uint32_t alignment = token.number("alignment");
    if (scalar && (alignment == 0 || (alignment & (alignment - 1)) != 0))
      return fmt::format("alignment {} is not a power of two", alignment);
  }
  return {};
}

Result<MetadataToken> read_token(std::string_view line, size_t number) {
  std::string_view rest = line.substr(1);
  bool more = false;
  const std::string_view name = next(rest, more);
  const TokenKind* kind = nullptr;
  for (const TokenKind& each : kinds) {
    if (each.name != name) continue;
    if (each.word.empty()) {
      kind = &each;
    } else if (more && rest == each.word) {
      kind = &each;
      more = false;
      break;
    }
  }
  if (kind == nullptr) return wrong(number, fmt::format("unknown token '{}'", name));
  MetadataToken token{.kind = kind, .values = {}};
  const auto missing = [&](std::string_view field) {
    return wrong(number, fmt::format("token '{}' ends before its field '{}'", name, field));
  };
  for (const TokenField& field : kind->fields) {
    const size_t index = static_cast<size_t>(&field - kind->fields.data());
    if (!more) {
      if (index < kind->required) return missing(field.name);
      if (index > kind->required) return missing(field.name);
      break;
    }
    if (field.type == FieldType::rest) {
      token.values.emplace_back(rest);
      more = false;
      continue;
    }
    const std::string_view text = next(rest, more);
    const auto invalid = [&](std::string_view what) {
      return wrong(number, fmt::format("token '{}' has '{}' as field '{}', {}", name, text, field.name, what));
    };
    if (field.type == FieldType::number && !number_of(text)) return invalid("not a 32-bit number");
    if (field.type == FieldType::choice && std::ranges::find(field.choices, text) == field.choices.end())
      return invalid(fmt::format("not one of {}", fmt::join(field.choices, ", ")));
    if (field.type != FieldType::list) {
      token.values.emplace_back(text);
      continue;
    }
    const auto count = number_of(text);
    if (!count) return invalid("not a 32-bit number");
    for (uint32_t i = 0; i < *count; ++i) {
      if (!more) return wrong(number, fmt::format("token '{}' has {} of its {} values", name, i, *count));
      const std::string_view each = next(rest, more);
      if (!number_of(each)) return wrong(number, fmt::format("token '{}' has '{}', not a number", name, each));
      token.values.emplace_back(each);
    }
  }
  if (more) return wrong(number, fmt::format("token '{}' has ':{}' after its last field", name, rest));
  if (const std::string text = contradiction(token); !text.empty())
    return wrong(number, fmt::format("token '{}': {}", name, text));
  return token;
}

/// Reads ";printf_fmt:ID:numArgs:sizes:strLen:fmtStr;".
Result<PrintfFormat> read_printf(std::string_view rest, size_t line) {
  PrintfFormat result;
  bool more = true;
  const auto number = [&](std::string_view field) -> Result<uint32_t> {
    if (!more) return wrong(line, fmt::format("token 'printf_fmt' ends before its field '{}'", field));
    const std::string_view text = next(rest, more);
    const auto value = number_of(text);
    if (!value) return wrong(line, fmt::format("token 'printf_fmt' has '{}' as field '{}', not a number", text, field));
    return *value;
  };
  const auto id = number("id");
  if (!id) return std::unexpected(id.error());
  result.id = *id;
  const auto count = number("arguments");
  if (!count) return std::unexpected(count.error());
  for (uint32_t i = 0; i < *count; ++i) {
    const auto bytes = number("argument size");
    if (!bytes) return std::unexpected(bytes.error());
    result.argument_sizes.push_back(*bytes);
  }
  const auto length = number("length");
  if (!length) return std::unexpected(length.error());
  if (!more || !rest.ends_with(';')) return wrong(line, "the format of token 'printf_fmt' does not end with ';'");
  result.escaped = rest.substr(0, rest.size() - 1);
  if (const size_t real = result.format().size(); real != *length)
    return wrong(line, fmt::format("the format of token 'printf_fmt' has {} characters instead of {}", real, *length));
  return result;
}

/// Returns the scalar type of a data vector's type, "i32" of "v3i32".
std::string_view scalar_of(std::string_view type) {
  if (!type.starts_with('v')) return type;
  const size_t end = type.find_first_not_of("0123456789", 1);
  return end == std::string_view::npos || end == 1 ? type : type.substr(end);
}

bool is_real(std::string_view scalar) { return scalar == "float" || scalar == "double"; }

/// Returns the bytes of an element in a data segment. Unlike in constant buffers a boolean has one byte.
std::optional<uint32_t> data_size(std::string_view scalar) {
  return scalar == "i1" ? std::optional<uint32_t>(1) : metadata_type_size(scalar);
}

std::optional<uint64_t> data_value(std::string_view text, std::string_view scalar) {
  const bool negative = !is_real(scalar) && text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, is_real(scalar) ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return negative ? 0 - value : value;
}

Result<DataSegment> read_data(std::string_view start, Lines& lines) {
  DataSegment segment;
  bool more = false;
  std::string_view rest = start;
  const std::string_view first = next(rest, more);
  const auto a = number_of(first);
  const auto b = more ? number_of(rest) : a;
  if (!a || !b) return wrong(lines.number, fmt::format("token '#DATASTART' has '{}', not a number", start));
  if (more) segment.constant_buffer = *a;
  segment.size = *b;
  if (segment.size > largest_data)
    return wrong(lines.number, fmt::format("a data segment of {} bytes; {} are supported", segment.size, largest_data));
  while (const auto line = lines.next()) {
    if (!line->starts_with(";#")) return wrong(lines.number, "a line in the data segment does not begin with ';#'");
    rest = line->substr(2);
    const std::string_view type = next(rest, more);
    if (type == "DATAEND") {
      const auto end = more ? number_of(rest) : std::optional<uint32_t>(0);
      if (end != segment.constant_buffer.value_or(0))
        return wrong(lines.number, fmt::format("token '#DATAEND' has '{}'; the segment began with {}", rest,
                                               segment.constant_buffer.value_or(0)));
      return segment;
    }
    const std::string_view scalar = scalar_of(type);
    const auto element = data_size(scalar);
    if (!element) return wrong(lines.number, fmt::format("unknown type '{}' of data", type));
    DataVector vector{.type = std::string(type), .offset = 0, .values = {}};
    const auto offset = more ? number_of(next(rest, more)) : std::nullopt;
    const auto count = more ? number_of(next(rest, more)) : std::nullopt;
    if (!offset || !count) return wrong(lines.number, fmt::format("data of type '{}' has no offset and count", type));
    vector.offset = *offset;
    for (uint32_t i = 0; i < *count; ++i) {
      if (!more) return wrong(lines.number, fmt::format("data has {} of its {} values", i, *count));
      const std::string_view text = next(rest, more);
      if (!data_value(text, scalar)) return wrong(lines.number, fmt::format("'{}' is not a value of '{}'", text, type));
      vector.values.emplace_back(text);
    }
    if (more) return wrong(lines.number, fmt::format("data has ':{}' after its last value", rest));
    if (uint64_t{*offset} + uint64_t{*count} * *element > segment.size)
      return wrong(lines.number, fmt::format("data of {} bytes at {} is past the segment's {} bytes",
                                             uint64_t{*count} * *element, *offset, segment.size));
    segment.vectors.push_back(std::move(vector));
  }
  return wrong(lines.number, "the data segment has no '#DATAEND'");
}

Result<KernelText> read_kernel(std::string_view name, Lines& lines) {
  KernelText kernel{.name = std::string(name), .tokens = {}, .printf_formats = {}, .printf_places = {}};
  while (const auto line = lines.next()) {
    if (line->empty()) continue;
    if (!line->starts_with(';')) return wrong(lines.number, "a line of a kernel's block does not begin with ';'");
    if (line->starts_with(";ARGEND:")) {
      if (line->substr(8) != name)
        return wrong(lines.number, fmt::format("'{}' ends the block of '{}'", line->substr(8), name));
      return kernel;
    }
    if (line->starts_with(";ARGSTART:"))
      return wrong(lines.number, fmt::format("the block of '{}' has no ';ARGEND'", name));
    if (line->starts_with(";printf_fmt:")) {
      auto format = read_printf(line->substr(12), lines.number);
      if (!format) return std::unexpected(format.error());
      kernel.printf_formats.push_back(std::move(*format));
      kernel.printf_places.push_back(kernel.tokens.size());
      continue;
    }
    auto token = read_token(*line, lines.number);
    if (!token) return std::unexpected(token.error());
    if (token->kind->once && kernel.find(token->kind->name, token->kind->word) != nullptr)
      return wrong(lines.number, fmt::format("token '{}' occurs twice", token->kind->name));
    kernel.tokens.push_back(std::move(*token));
  }
  return wrong(lines.number, fmt::format("the block of '{}' has no ';ARGEND'", name));
}

}  // namespace

std::span<const TokenKind> token_kinds() { return kinds; }

std::string_view MetadataToken::text(std::string_view field) const {
  for (size_t i = 0; i < values.size() && i < kind->fields.size(); ++i)
    if (kind->fields[i].name == field) return values[i];
  return {};
}

uint32_t MetadataToken::number(std::string_view field) const { return number_of(text(field)).value_or(0); }

std::vector<uint32_t> MetadataToken::numbers() const {
  std::vector<uint32_t> all;
  for (const std::string& each : values) all.push_back(number_of(each).value_or(0));
  return all;
}

std::string PrintfFormat::format() const {
  std::string text;
  for (size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '\\' || i + 1 == escaped.size()) {
      text += escaped[i];
      continue;
    }
    constexpr std::string_view letters = "ntrabfv\\\"'", meanings = "\n\t\r\a\b\f\v\\\"'";
    const size_t which = letters.find(escaped[++i]);
    if (which == std::string_view::npos) text += '\\';
    text += which == std::string_view::npos ? escaped[i] : meanings[which];
  }
  return text;
}

std::vector<uint8_t> DataSegment::bytes() const {
  std::vector<uint8_t> all(size);
  for (const DataVector& vector : vectors) {
    const std::string_view scalar = scalar_of(vector.type);
    const uint32_t element = data_size(scalar).value_or(0);
    size_t at = vector.offset;
    for (const std::string& text : vector.values) {
      const uint64_t bits = data_value(text, scalar).value_or(0);
      for (uint32_t i = 0; i < element && at < all.size(); ++i) all[at++] = static_cast<uint8_t>(bits >> (8 * i));
    }
  }
  return all;
}

const MetadataToken* KernelText::find(std::string_view token, std::string_view word) const {
  const auto found = std::ranges::find_if(tokens, [&](const MetadataToken& each) { return each.is(token, word); });
  return found == tokens.end() ? nullptr : &*found;
}

std::optional<uint32_t> KernelText::number(std::string_view token) const {
  const MetadataToken* found = find(token);
  if (found == nullptr || found->values.size() != 1) return std::nullopt;
  return number_of(found->values[0]);
}

uint64_t KernelText::memory(std::string_view space) const {
  uint64_t sum = 0;
  for (const MetadataToken& token : tokens)
    if (token.is("memory") && token.text("space") == space) sum += token.number("size");
  return sum;
}

std::vector<MetadataArgument> KernelText::arguments() const {
  constexpr std::pair<std::string_view, ArgumentToken> kinds_of_argument[] = {{"value", ArgumentToken::value},
                                                                              {"pointer", ArgumentToken::pointer},
                                                                              {"image", ArgumentToken::image},
                                                                              {"counter", ArgumentToken::counter}};
  std::vector<MetadataArgument> all;
  for (const MetadataToken& token : tokens) {
    const auto kind =
        std::ranges::find(kinds_of_argument, token.kind->name, &std::pair<std::string_view, ArgumentToken>::first);
    if (kind == std::end(kinds_of_argument)) continue;
    MetadataArgument argument{
        .token = kind->second,
        .name = std::string(token.text("name")),
        .type = std::string(token.text(kind->second == ArgumentToken::image ? "dimension" : "type")),
        .count = token.number(kind->second == ArgumentToken::counter ? "bits" : "count"),
        .constant_buffer = token.number("constant_buffer"),
        .offset = token.number("offset"),
        .memory = std::string(token.text("memory")),
        .access = std::string(token.text("access")),
        .id = token.number(kind->second == ArgumentToken::pointer ? "buffer" : "id"),
        .alignment = token.number("alignment")};
    if (kind->second == ArgumentToken::image) argument.count = 1;
    all.push_back(std::move(argument));
  }
  // A sampler argument's value is passed where a ";value" of its name says; its ";sampler" has the sampler's number.
  for (const MetadataToken& token : tokens) {
    if (!token.is("sampler") || token.text("kernel_defined") != "0") continue;
    const auto argument = std::ranges::find(all, token.text("name"), &MetadataArgument::name);
    if (argument == all.end()) continue;
    argument->token = ArgumentToken::sampler;
    argument->id = token.number("id");
  }
  std::ranges::sort(all, {}, [](const MetadataArgument& each) {
    return std::tuple(each.constant_buffer, each.offset, std::string_view(each.name));
  });
  return all;
}

std::vector<uint32_t> KernelText::functions(std::string_view token) const {
  std::vector<uint32_t> all;
  for (const MetadataToken& each : tokens) {
    if (!each.is(token)) continue;
    const std::vector<uint32_t> some = each.numbers();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

const KernelText* MetadataText::find_kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &KernelText::name);
  return found == kernels.end() ? nullptr : &*found;
}

Result<MetadataText> read_metadata_text(std::string_view text) {
  MetadataText result;
  Lines lines{.rest = text};
  bool in_debug = false;
  std::unordered_set<std::string_view> names;
  while (const auto line = lines.next()) {
    if (line->starts_with(";DEBUGSTART")) {
      if (in_debug) return wrong(lines.number, "';DEBUGSTART' occurs within debug information");
      in_debug = true;
    } else if (line->starts_with(";DEBUGEND")) {
      if (!in_debug) return wrong(lines.number, "';DEBUGEND' without ';DEBUGSTART'");
      in_debug = false;
    } else if (in_debug) {
      continue;
    } else if (line->starts_with(";#DATASTART:")) {
      auto data = read_data(line->substr(12), lines);
      if (!data) return std::unexpected(data.error());
      result.data.push_back(std::move(*data));
    } else if (line->starts_with(";ARGSTART:")) {
      const std::string_view name = line->substr(10);
      if (!names.insert(name).second) return wrong(lines.number, fmt::format("a second block of '{}'", name));
      auto kernel = read_kernel(name, lines);
      if (!kernel) return std::unexpected(kernel.error());
      result.kernels.push_back(std::move(*kernel));
    } else if (line->starts_with(";ARGEND:")) {
      return wrong(lines.number, fmt::format("'{}' without ';ARGSTART'", *line));
    } else if (line->starts_with(";#")) {
      return wrong(lines.number, fmt::format("'{}' is outside a data segment", *line));
    } else if (*line == placeholder) {
      result.has_entry_placeholder = true;
    }
  }
  if (in_debug) return wrong(lines.number, "';DEBUGSTART' has no ';DEBUGEND'");
  return result;
}

std::string write_kernel_text(const KernelText& kernel) {
  std::string text = fmt::format(";ARGSTART:{}\n", kernel.name);
  size_t format = 0;
  const auto write_formats = [&](size_t place) {
    for (; format < kernel.printf_formats.size() && kernel.printf_places[format] <= place; ++format) {
      const PrintfFormat& each = kernel.printf_formats[format];
      text += fmt::format(";printf_fmt:{}:{}", each.id, each.argument_sizes.size());
      for (const uint32_t bytes : each.argument_sizes) text += fmt::format(":{}", bytes);
      text += fmt::format(":{}:{};\n", each.format().size(), each.escaped);
    }
  };
  for (size_t i = 0; i < kernel.tokens.size(); ++i) {
    write_formats(i);
    const MetadataToken& token = kernel.tokens[i];
    text += fmt::format(";{}", token.kind->name);
    if (!token.kind->word.empty()) text += fmt::format(":{}", token.kind->word);
    if (!token.kind->fields.empty() && token.kind->fields[0].type == FieldType::list)
      text += fmt::format(":{}", token.values.size());
    for (const std::string& each : token.values) text += fmt::format(":{}", each);
    text += '\n';
  }
  write_formats(kernel.tokens.size());
  return text + fmt::format(";ARGEND:{}\n", kernel.name);
}

std::string write_data_segment(const DataSegment& segment) {
  std::string text = segment.constant_buffer
                         ? fmt::format(";#DATASTART:{}:{}\n", *segment.constant_buffer, segment.size)
                         : fmt::format(";#DATASTART:{}\n", segment.size);
  for (const DataVector& vector : segment.vectors) {
    text += fmt::format(";#{}:{}:{}", vector.type, vector.offset, vector.values.size());
    for (const std::string& each : vector.values) text += fmt::format(":{}", each);
    text += '\n';
  }
  return text + fmt::format(";#DATAEND:{}\n", segment.constant_buffer.value_or(0));
}

std::optional<uint32_t> metadata_value_bytes(std::string_view type, uint32_t count) {
  if (type == "struct" || type == "union") return count;
  const auto element = metadata_type_size(type);
  if (!element || count > 16) return std::nullopt;
  return *element * (count == 3 ? 4 : count);
}

std::optional<uint32_t> metadata_type_size(std::string_view type) {
  struct Row {
    std::string_view type;
    uint32_t bytes;
  };
  constexpr Row rows[] = {{"i1", 4},  {"i8", 1},  {"u8", 1},  {"i16", 2},   {"u16", 2},   {"i32", 4},
                          {"u32", 4}, {"i64", 8}, {"u64", 8}, {"float", 4}, {"double", 8}};
  const auto row = std::ranges::find(rows, type, &Row::type);
  return row == std::end(rows) ? std::nullopt : std::optional(row->bytes);
}

}  // namespace Atoll::object::catalyst
