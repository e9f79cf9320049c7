// semantics: the one table of vector instructions, joined from the tables of the instruction files (entries.h).
#include <array>
#include <cassert>
#include <initializer_list>

#include "semantics/entries.h"
#include "semantics/registry.h"

namespace Atoll::semantics {
ATOLL_LEVEL_BEGIN

namespace {

using Table = std::array<VectorShape, static_cast<size_t>(isa::Opcode::count)>;

Table join() {
  Table table{};
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
  for (const auto& list : lists) {
    for (const VectorEntry& entry : list) {
      VectorShape& shape = table[static_cast<size_t>(entry.opcode)];
      assert(shape.call == nullptr && "two files define the same instruction");
      shape = entry.shape;
    }
  }
  return table;
}

}  // namespace

const VectorShape& vector_function(isa::Opcode opcode) {
  static const Table table = join();
  return table[static_cast<size_t>(opcode)];
}

ATOLL_LEVEL_END
}  // namespace Atoll::semantics
