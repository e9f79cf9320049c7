#include "library/element_type.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace Atoll::library {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

using Kind = ElementType::Kind;

constexpr std::array types{
    ElementType{"i8", "char", Kind::signed_integer, 1},   ElementType{"u8", "uchar", Kind::unsigned_integer, 1},
    ElementType{"i16", "short", Kind::signed_integer, 2}, ElementType{"u16", "ushort", Kind::unsigned_integer, 2},
    ElementType{"i32", "int", Kind::signed_integer, 4},   ElementType{"u32", "uint", Kind::unsigned_integer, 4},
    ElementType{"i64", "long", Kind::signed_integer, 8},  ElementType{"u64", "ulong", Kind::unsigned_integer, 8},
    ElementType{"f16", "half", Kind::floating, 2},        ElementType{"f32", "float", Kind::floating, 4},
    ElementType{"f64", "double", Kind::floating, 8},
};

/// How names in C++ spell those types that OpenCL calls otherwise.
struct Spelling {
  std::string_view cxx, c;
};
constexpr std::array spellings{
    Spelling{"signed char", "char"},
    Spelling{"unsigned char", "uchar"},
    Spelling{"bool", "uchar"},
    Spelling{"long long", "long"},
    Spelling{"unsigned long long", "ulong"},
    Spelling{"unsigned short", "ushort"},
    Spelling{"unsigned int", "uint"},
    Spelling{"unsigned long", "ulong"},
    Spelling{"_Float16", "half"},
    Spelling{"__half", "half"},
    Spelling{"std::byte", "uchar"},
    Spelling{"size_t", "ulong"},
    Spelling{"uintptr_t", "ulong"},
    Spelling{"ptrdiff_t", "long"},
    Spelling{"intptr_t", "long"},
    Spelling{"int8_t", "char"},
    Spelling{"uint8_t", "uchar"},
    Spelling{"int16_t", "short"},
    Spelling{"uint16_t", "ushort"},
    Spelling{"int32_t", "int"},
    Spelling{"uint32_t", "uint"},
    Spelling{"int64_t", "long"},
    Spelling{"uint64_t", "ulong"},
};

/// Reduces "float4" (OpenCL) and "HIP_vector_type<float, 4u>" to "float".
std::string_view scalar_of(std::string_view c_type) {
  constexpr std::string_view hip_vector = "HIP_vector_type<";
  if (c_type.starts_with(hip_vector)) {
    c_type.remove_prefix(hip_vector.size());
    return c_type.substr(0, c_type.find(','));
  }
  for (const std::string_view lanes : {"16", "2", "3", "4", "8"})
    if (c_type.ends_with(lanes)) return c_type.substr(0, c_type.size() - lanes.size());
  return c_type;
}

std::string_view without_qualifiers(std::string_view c_type) {
  for (bool removed = true; removed;) {
    removed = false;
    for (const std::string_view qualifier : {" volatile", " const", " restrict", " __restrict", " __restrict__"}) {
      if (!c_type.ends_with(qualifier)) continue;
      c_type.remove_suffix(qualifier.size());
      removed = true;
    }
  }
  for (const std::string_view qualifier : {"const ", "volatile "})
    if (c_type.starts_with(qualifier)) c_type.remove_prefix(qualifier.size());
  return c_type;
}

const ElementType* find_c_type(std::string_view c_type) {
  const auto spelling = std::ranges::find(spellings, c_type, &Spelling::cxx);
  if (spelling != spellings.end()) c_type = spelling->c;
  const auto found = std::ranges::find(types, c_type, &ElementType::c);
  return found == types.end() ? nullptr : &*found;
}

template <typename T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <typename T>
T value_of(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::vector<std::byte> floating_bytes(const ElementType& type, double value) {
  if (type.size == 2) return bytes_of(static_cast<_Float16>(value));
  if (type.size == 4) return bytes_of(static_cast<float>(value));
  return bytes_of(value);
}

}  // namespace

std::span<const ElementType> element_types() { return types; }

const ElementType* find_element_type(std::string_view name) {
  const auto found = std::ranges::find(types, name, &ElementType::name);
  return found == types.end() ? nullptr : &*found;
}

const ElementType* element_type_of_c(std::string_view c_type) {
  c_type = without_qualifiers(c_type);
  const bool is_pointer = c_type.ends_with('*');
  if (is_pointer) c_type = without_qualifiers(c_type.substr(0, c_type.size() - 1));
  if (const ElementType* const type = find_c_type(c_type)) return type;
  return is_pointer ? find_c_type(scalar_of(c_type)) : nullptr;
}

const ElementType* guess_element_type(std::string_view number, size_t size) {
  const bool hexadecimal = number.find("0x") != std::string_view::npos;
  const bool floating = !hexadecimal && number.find_first_of(".eEnN") != std::string_view::npos;
  const auto found = std::ranges::find_if(types, [&](const ElementType& type) {
    return type.size == size && type.kind == (floating ? Kind::floating : Kind::signed_integer);
  });
  return found == types.end() ? nullptr : &*found;
}

Result<std::vector<std::byte>> parse_number(std::string_view text, const ElementType& type) {
  const auto wrong = [&] {
    return fail(ErrorKind::invalid_argument, "'{}' is not a number of type {}", text, type.name);
  };
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  if (type.kind == Kind::floating) {
    double value = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    if (error != std::errc() || end != digits.end() || digits.empty()) return wrong();
    return floating_bytes(type, value);
  }
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), magnitude, base);
  if (error == std::errc::invalid_argument || end != digits.end() || digits.empty()) return wrong();
  // The bit pattern of a signed type may be given in hexadecimal: i32:0xffffffff.
  const unsigned bits = type.size * 8u;
  const uint64_t all = std::numeric_limits<uint64_t>::max() >> (64 - bits);
  const uint64_t most = type.kind == Kind::unsigned_integer || base == 16 ? (negative ? 0 : all)
                        : negative                                        ? (all >> 1) + 1
                                                                          : all >> 1;
  if (error != std::errc() || magnitude > most)
    return fail(ErrorKind::invalid_argument, "{} does not fit into {}", text, type.name);
  auto bytes = bytes_of(negative ? uint64_t{0} - magnitude : magnitude);
  bytes.resize(type.size);
  return bytes;
}

void put_number(const ElementType& type, double value, std::byte* out) {
  const auto bytes = type.kind == Kind::floating ? floating_bytes(type, value) : bytes_of(static_cast<int64_t>(value));
  std::memcpy(out, bytes.data(), type.size);
}

std::string print_number(const ElementType& type, const std::byte* bytes) {
  if (type.kind == Kind::floating) {
    if (type.size == 2) return fmt::format("{}", static_cast<float>(value_of<_Float16>(bytes)));
    return type.size == 4 ? fmt::format("{}", value_of<float>(bytes)) : fmt::format("{}", value_of<double>(bytes));
  }
  uint64_t value = 0;
  std::memcpy(&value, bytes, type.size);
  if (type.kind == Kind::unsigned_integer) return fmt::format("{}", value);
  const unsigned shift = 64 - type.size * 8u;
  return fmt::format("{}", static_cast<int64_t>(value << shift) >> shift);
}

}  // namespace Atoll::library
