// semantics: the sources of a matrix instruction, taken out of the registers (matrix.h says where they are).
#pragma once

#include "semantics/level.h"
#include "semantics/matrix.h"

namespace Atoll::semantics {
ATOLL_LEVEL_BEGIN

/// One source as single precision, which all but doubles fit. The elements of one depth stand side by side, `width` of
/// them: all rows (columns) of the first block, of the second, and so on.
struct alignas(64) MatrixSource {
  static constexpr unsigned most_elements = 2048;
  float elements[most_elements];
  unsigned width = 0, depth = 0;

  const float* at(unsigned k) const { return elements + size_t{k} * width; }
};

/// Of a sparse A: which of the rows of B each element is multiplied with; the places are those of A's elements.
struct SparseIndex {
  uint8_t depth[MatrixSource::most_elements];
};

/// Which lanes a source's elements are taken from instead of their own, by cbsz and abid of A, and by blgp of B.
struct MatrixLanes {
  uint8_t from[wave_lanes];
  bool moved = false;
};
MatrixLanes broadcast_block(const MatrixShape& shape, uint8_t cbsz, uint8_t abid);
MatrixLanes lane_group_pattern(uint8_t blgp);

MatrixSource read_a(const MatrixCall& call);
MatrixSource read_b(const MatrixCall& call);
SparseIndex read_index(const MatrixCall& call, const MatrixSource& a);

ATOLL_LEVEL_END
}  // namespace Atoll::semantics
