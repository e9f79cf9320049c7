// semantics: the one table of vector instructions, joined from the tables of the instruction files (entries.h).
#include <array>
#include <cassert>
#include <initializer_list>

#include "semantics/entries.h"
#include "semantics/registry.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

namespace {

using target::Generation;

constexpr size_t opcodes = static_cast<size_t>(isa::Opcode::count);
constexpr size_t generations = static_cast<size_t>(Generation::gfx12_5) + 1;

/// Each opcode's function, by generation.
using Table = std::array<std::array<const VectorShape*, opcodes>, generations>;

Table join() {
  static constexpr VectorShape none{};
  Table table;
  for (auto& of_generation : table) of_generation.fill(&none);
  const std::initializer_list<std::span<const VectorEntry>> lists = {
      float_arithmetic_entries(),
      float_brain_entries(),
      float_compare_entries(),
      float_convert_entries(),
      float_cube_entries(),
      float_division_entries(),
      float_dot_entries(),
      float_eight_entries(),
      float_half_entries(),
      float_interpolation_entries(),
      float_minmax_entries(),
      float_rounding_entries(),
      float_scaled_entries(),
      float_transcendental_entries(),
      //
      integer_arithmetic_entries(),
      integer_bits_entries(),
      integer_bytes_entries(),
      integer_compare_entries(),
      integer_packed_entries(),
  };
  std::array<Generation, opcodes> latest{};
  for (const auto& list : lists) {
    for (const VectorEntry& entry : list) {
      const auto opcode = static_cast<size_t>(entry.opcode);
      assert((table.back()[opcode] == &none || entry.since > latest[opcode]) && "two entries for the same instruction");
      latest[opcode] = entry.since;
      for (size_t generation = static_cast<size_t>(entry.since); generation < generations; ++generation) {
        const bool keeping = keeps_upper_halves(static_cast<Generation>(generation)) && entry.keeping.call != nullptr;
        table[generation][opcode] = keeping ? &entry.keeping : &entry.shape;
      }
    }
  }
  return table;
}

}  // namespace

const VectorShape& vector_function(isa::Opcode opcode, Generation generation) {
  static const Table table = join();
  return *table[static_cast<size_t>(generation)][static_cast<size_t>(opcode)];
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
