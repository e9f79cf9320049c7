// library: number types that `atoll launch` reads, fills buffers with and prints: i8 to i64, u8 to u64, f16 to f64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace Atoll::library {

struct ElementType {
  enum class Kind : uint8_t { signed_integer, unsigned_integer, floating };
  std::string_view name;  ///< "f32"
  std::string_view c;     ///< "float": OpenCL's name
  Kind kind;
  uint8_t size;  ///< bytes
};

/// Returns all types.
std::span<const ElementType> element_types();
/// "f32", or nullptr.
const ElementType* find_element_type(std::string_view name);
/// Returns the type of "float" or, for a pointer ("float*", "float4 const*"), of its elements. OpenCL's metadata and
/// demangled C++ names spell types this way. Returns nullptr for structures, vectors by value, and void.
const ElementType* element_type_of_c(std::string_view c_type);
/// Returns the type of a number without a given type: an integer of `size` bytes or, with a point or exponent, a
/// floating-point number; nullptr if none has that size.
const ElementType* guess_element_type(std::string_view number, size_t size);

/// Parses "-5", "0xff", "1.5", "1e-3", "nan" to bytes. Fails if the type cannot represent the number.
support::Result<std::vector<std::byte>> parse_number(std::string_view text, const ElementType& type);

/// Converts `value` to the type's bytes. Integers wrap.
void put_number(const ElementType& type, double value, std::byte* out);

/// Prints the shortest text that parses to the same value.
std::string print_number(const ElementType& type, const std::byte* bytes);

}  // namespace Atoll::library
