// library: parses the initial state for `atoll eval`: DESTINATION=VALUE.
//
// Parsing has two steps, because bits depend on the destination. parse_assignment() parses the text and reports errors.
// bytes_of_item() returns the bits for one lane or memory element.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "library/element_type.h"
#include "support/error.h"

namespace Atoll::library {

/// The left side of `=`.
struct Destination {
  enum class Kind : uint8_t { vgpr, agpr, scalar, exec, vcc, scc, mode, lds, memory };
  Kind kind = Kind::vgpr;
  unsigned reg = 0, words = 1;      ///< registers; SGPRs by their number in namespace isa::scalar
  std::vector<uint8_t> lanes{};     ///< lanes of vector registers; empty: all
  std::optional<bool> high{};       ///< half of a vector register
  uint64_t address = 0;             ///< for memory and LDS
  std::optional<uint64_t> bytes{};  ///< size; empty: size of the value
};

/// The right side: `TYPE:ITEM,ITEM,...`, each item being `ELEMENT:ELEMENT:...`, lowest first.
struct Value {
  std::string text;                             ///< for messages
  const ElementType* type = nullptr;            ///< null: integer or float by syntax, as wide as the destination
  std::optional<uint64_t> seed{};               ///< random bits, or floats from 0 to 1
  std::vector<std::vector<std::string>> items;  ///< expressions, one item per lane; repeated from the first
};

struct Assignment {
  std::string text;
  Destination destination;
  Value value;
};

/// Returns whether a command-line word is an assignment rather than code.
bool is_assignment(std::string_view word);

support::Result<Assignment> parse_assignment(std::string_view word);

/// Returns the bits of an item, `bits` wide (a multiple of 8), lowest byte first. `index` is the value of `lane` and
/// `i`. Fails if it is not a number or does not fit.
support::Result<std::vector<uint8_t>> bytes_of_item(const Value& value, uint64_t item, unsigned bits, uint64_t index);

/// Returns the number of bits of an item in memory without other information: those of its elements; 32 if untyped.
unsigned natural_bits(const Value& value, uint64_t item);

/// "0-7, 9": lane numbers in ascending order, with runs joined.
std::string lane_ranges(const std::vector<uint8_t>& lanes);

}  // namespace Atoll::library
