// semantics: finding the row of an opcode in a table that has rows for few of them (matrices).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "isa/opcode.h"

namespace Atoll::semantics {

/// The row whose `opcode` that is, or null; at once, however many rows there are (up to 255).
template <const auto& rows>
constexpr auto find_row(isa::Opcode opcode) -> decltype(&rows[0]) {
  const auto number_of = [](isa::Opcode of) { return static_cast<size_t>(of); };
  const auto opcode_of = [](const auto& row) { return row.opcode; };
  constexpr size_t first = number_of(std::ranges::min(rows, {}, opcode_of).opcode);
  constexpr size_t last = number_of(std::ranges::max(rows, {}, opcode_of).opcode);
  // Which of the rows an opcode has, counted from 1; 0: none.
  constexpr auto places = [&] {
    std::array<uint8_t, last - first + 1> table{};
    uint8_t place = 0;
    for (const auto& row : rows) table[number_of(row.opcode) - first] = ++place;
    return table;
  }();
  const size_t number = number_of(opcode);
  if (number < first || number > last || places[number - first] == 0) return nullptr;
  return &rows[places[number - first] - 1];
}

}  // namespace Atoll::semantics
