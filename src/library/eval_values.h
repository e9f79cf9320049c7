// library: what `atoll eval` takes as the state that its code begins with: DESTINATION=VALUE.
//
// Values are read in two steps, since their bits depend on the destination. parse_assignment() parses the text and
// reports its mistakes. bytes_of_item() yields the bits for one lane or for one element of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "library/element_type.h"
#include "support/error.h"

namespace Atoll::library {

/// What stands left of the `=`.
struct Destination {
  enum class Kind : uint8_t { vgpr, agpr, scalar, exec, vcc, scc, mode, lds, memory };
  Kind kind = Kind::vgpr;
  unsigned reg = 0, words = 1;      ///< of registers; a scalar one has its number of namespace isa::scalar
  std::vector<uint8_t> lanes{};     ///< of vector registers: these alone; empty: all
  std::optional<bool> high{};       ///< one half of a vector register
  uint64_t address = 0;             ///< of memory and LDS
  std::optional<uint64_t> bytes{};  ///< how much of it; empty: what the value fills
};

/// What stands right of it: `TYPE:ITEM,ITEM,...`, each item being `ELEMENT:ELEMENT:...` with the lowest first.
struct Value {
  std::string text;                             ///< for messages
  const ElementType* type = nullptr;            ///< null: as wide as there is room, an integer or a float by its look
  std::optional<uint64_t> seed{};               ///< random bits, or floats from 0 to 1
  std::vector<std::vector<std::string>> items;  ///< expressions, one item for each lane; then from the first one on
};

struct Assignment {
  std::string text;
  Destination destination;
  Value value;
};

/// Whether a word of the command line is an assignment, and not a line of code.
bool is_assignment(std::string_view word);

support::Result<Assignment> parse_assignment(std::string_view word);

/// The bits of the value's item with that number, `bits` wide (a multiple of 8) and lowest byte first; `index` is what
/// `lane` and `i` stand for in it. Errors: no number, or one that does not fit.
support::Result<std::vector<uint8_t>> bytes_of_item(const Value& value, uint64_t item, unsigned bits, uint64_t index);

/// How many bits an item has where nothing else says it, in memory: those of its elements; 32 for what has no type.
unsigned natural_bits(const Value& value, uint64_t item);

/// "0-7, 9": lane numbers in ascending order, with runs joined.
std::string lane_ranges(const std::vector<uint8_t>& lanes);

}  // namespace Atoll::library
