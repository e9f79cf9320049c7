// library: the numbers that `atoll launch` reads, fills buffers with and prints: i8 to i64, u8 to u64, f16 to f64.
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

/// All of them.
std::span<const ElementType> element_types();
/// "f32", or nullptr.
const ElementType* find_element_type(std::string_view name);
/// Returns the type of "float" or, for a pointer ("float*", "float4 const*"), of the numbers that it points to.
/// OpenCL's metadata and demangled C++ names spell types so. Returns nullptr for structures, vectors by value, and
/// void.
const ElementType* element_type_of_c(std::string_view c_type);
/// What a number is when nothing says so: an integer of `size` bytes or, with a point or an exponent, a
/// floating-point number; nullptr when there is none of that size.
const ElementType* guess_element_type(std::string_view number, size_t size);

/// Reads "-5", "0xff", "1.5", "1e-3", "nan": writes its bytes. The error says what the type cannot hold.
support::Result<std::vector<std::byte>> parse_number(std::string_view text, const ElementType& type);

/// `value` as the type's bytes: integers wrap.
void put_number(const ElementType& type, double value, std::byte* out);

/// As short as it can be read back.
std::string print_number(const ElementType& type, const std::byte* bytes);

}  // namespace Atoll::library
