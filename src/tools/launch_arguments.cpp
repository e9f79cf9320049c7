#include "tools/launch_arguments.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <random>

#include "library/kernel_arguments.h"
#include "tools/files.h"

namespace Atoll::tools {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

using library::element_types;
using library::ElementType;
using library::find_element_type;
using library::guess_element_type;
using Kind = ElementType::Kind;

std::string names_of_types() {
  std::string names;
  for (const ElementType& type : element_types()) names += fmt::format("{}{}", names.empty() ? "" : ", ", type.name);
  return names;
}

/// "64", "4K", "2M".
Result<uint64_t> parse_count(std::string_view text) {
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), count);
  const std::string_view unit(end, text.end());
  const unsigned shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  if (error != std::errc() || (shift == 0 && !unit.empty()) || count > UINT64_MAX >> 24 >> shift)
    return fail(ErrorKind::invalid_argument, "'{}' is not a size (64, 4K, 2M, 1G)", text);
  return count << shift;
}

/// An argument with these bytes; a number if `type` is given.
Argument argument_of(std::vector<std::byte> bytes, const ElementType* type = nullptr) {
  Argument argument(0);
  argument.bytes = std::move(bytes);
  argument.type = {};
  if (type != nullptr) argument.type = {.size = type->size, .is_floating = type->kind == Kind::floating};
  return argument;
}

Result<std::vector<std::byte>> parse_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < text.size() + text.size() % 2; i += 2) {
    uint8_t byte = 0;
    const auto pair = text.substr(i, 2);
    const auto [end, error] = std::from_chars(pair.begin(), pair.end(), byte, 16);
    if (error != std::errc() || end != pair.end() || pair.size() != 2)
      return fail(ErrorKind::invalid_argument, "'{}' is not pairs of hexadecimal digits", text);
    bytes.push_back(static_cast<std::byte>(byte));
  }
  return bytes;
}

/// Fills a buffer's elements with what "ramp", "const:2", "seed:42" say. ("file:" is done where the size is found.)
Result<void> fill(std::string_view text, const ElementType& type, std::byte* data, uint64_t count) {
  if (text.empty() || text == "zero") return {};
  if (text == "ramp") {
    for (uint64_t i = 0; i < count; i++) put_number(type, static_cast<double>(i), data + i * type.size);
    return {};
  }
  if (text.starts_with("const:")) {
    const auto value = parse_number(text.substr(6), type);
    if (!value) return std::unexpected(value.error());
    for (uint64_t i = 0; i < count; i++) std::memcpy(data + i * type.size, value->data(), type.size);
    return {};
  }
  if (text.starts_with("seed:")) {
    const auto seed = parse_number(text.substr(5), *find_element_type("u64"));
    if (!seed) return std::unexpected(seed.error());
    uint64_t number = 0;
    std::memcpy(&number, seed->data(), sizeof number);
    std::mt19937_64 random(number);  // the same numbers on every host
    for (uint64_t i = 0; i < count; i++) {
      const uint64_t bits = random();
      if (type.kind == Kind::floating)
        put_number(type, static_cast<double>(bits >> 40) * 0x1p-24, data + i * type.size);
      else
        std::memcpy(data + i * type.size, &bits, type.size);
    }
    return {};
  }
  return fail(ErrorKind::invalid_argument,
              "'{}': a buffer is filled with zero, ramp, const:VALUE, seed:NUMBER or "
              "file:PATH",
              text);
}

/// COUNT[:TYPE][=FILL], after "buf:".
Result<MadeArgument> make_buffer(std::string_view text, const Parameter& parameter, const Gpu& gpu) {
  const size_t equals = text.find('=');
  const std::string_view shape = text.substr(0, equals);
  const std::string_view filling = equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  const size_t colon = shape.find(':');

  const ElementType* type = find_element_type(parameter.element);
  if (type == nullptr) type = find_element_type("u8");
  if (colon != std::string_view::npos) {
    type = find_element_type(shape.substr(colon + 1));
    if (type == nullptr)
      return fail(ErrorKind::invalid_argument, "unknown element type '{}'; use one of {}", shape.substr(colon + 1),
                  names_of_types());
  }

  const bool from_file = filling.starts_with("file:");
  std::optional<support::MappedFile> file;
  if (from_file) {
    auto opened = open_input(std::string(filling.substr(5)));
    if (!opened) return std::unexpected(opened.error());
    file = std::move(*opened);
  }
  const std::string_view count_text = shape.substr(0, colon);
  uint64_t count = 0;
  if (count_text.empty() && from_file) {
    count = file->bytes().size() / type->size;
  } else {
    const auto parsed = parse_count(count_text);
    if (!parsed) return std::unexpected(parsed.error());
    count = *parsed;
  }

  auto buffer = gpu.allocate_bytes(count * type->size);
  if (!buffer) return fail(ErrorKind::out_of_resources, "{}", buffer.error().message);
  auto* data = static_cast<std::byte*>(buffer->data());
  if (from_file) {
    std::memcpy(data, file->bytes().data(), std::min<size_t>(buffer->size(), file->bytes().size()));
  } else if (auto ok = fill(filling, *type, data, count); !ok) {
    return std::unexpected(ok.error());
  }
  MadeArgument made{Argument(*buffer), *buffer, type};
  made.argument.type = {.size = type->size, .is_floating = type->kind == Kind::floating, .is_pointer = true};
  return made;
}

Result<MadeArgument> make_value(std::string_view text, const Parameter& parameter, size_t index) {
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos && text.substr(0, colon) == "hex") {
    auto bytes = parse_hex(text.substr(4));
    if (!bytes) return std::unexpected(bytes.error());
    return MadeArgument{argument_of(std::move(*bytes)), {}, nullptr};
  }
  const ElementType* type = nullptr;
  std::string_view number = text;
  if (colon != std::string_view::npos) {
    type = find_element_type(text.substr(0, colon));
    if (type == nullptr)
      return fail(ErrorKind::invalid_argument,
                  "'{}': an argument is a number, TYPE:NUMBER ({}), hex:BYTES, null, lds:SIZE or buf:COUNT", text,
                  names_of_types());
    number = text.substr(colon + 1);
  } else {
    if (parameter.kind == Parameter::Kind::pointer)
      return fail(ErrorKind::invalid_argument, "cannot pass the number {} for {}, a pointer; use buf:COUNT or null",
                  text, library::describe(parameter, index));
    type = find_element_type(parameter.element);
    if (type == nullptr) type = guess_element_type(number, parameter.size);
    if (type == nullptr)
      return fail(ErrorKind::invalid_argument, "'{}' for a parameter of {} bytes: give it as hex:BYTES", text,
                  parameter.size);
  }
  auto bytes = parse_number(number, *type);
  if (!bytes) return std::unexpected(bytes.error());
  return MadeArgument{argument_of(std::move(*bytes), type), {}, nullptr};
}

Result<MadeArgument> make_unchecked(std::string_view text, const Parameter& parameter, size_t index, const Gpu& gpu) {
  if (text.starts_with("buf:")) return make_buffer(text.substr(4), parameter, gpu);
  if (text == "null") return MadeArgument{Argument(static_cast<void*>(nullptr)), {}, nullptr};
  if (text.starts_with("lds:")) {
    const auto bytes = parse_count(text.substr(4));
    if (!bytes) return std::unexpected(bytes.error());
    if (*bytes > UINT32_MAX) return fail(ErrorKind::out_of_resources, "no GPU has {} bytes of LDS", *bytes);
    return MadeArgument{LocalMemory{static_cast<uint32_t>(*bytes)}, {}, nullptr};
  }
  return make_value(text, parameter, index);
}

}  // namespace

Result<MadeArgument> make_argument(std::string_view text, const Parameter& parameter, size_t index, const Gpu& gpu) {
  auto made = make_unchecked(text, parameter, index, gpu);
  if (!made) return made;
  const bool wants_lds = parameter.kind == Parameter::Kind::local_memory;
  if (made->argument.is_local_memory != wants_lds)
    return fail(ErrorKind::invalid_argument, "{} {}; use {}", library::describe(parameter, index),
                wants_lds ? "points to LDS" : "does not point to LDS",
                wants_lds ? "lds:BYTES" : "buf:COUNT or a number");
  if (auto same = library::check_type(parameter, index, made->argument); !same) return std::unexpected(same.error());
  return made;
}

}  // namespace Atoll::tools
