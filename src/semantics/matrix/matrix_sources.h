// semantics: the sources of a matrix instruction, taken out of the registers (matrix.h says where they are).
#pragma once

#include "semantics/host_isa.h"
#include "semantics/matrix/mfma.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

/// One source as single precision, which all but doubles fit. The elements of one depth stand side by side, `width` of
/// them: all rows (columns) of the first block, of the second, and so on.
struct alignas(64) MatrixSource {
  static constexpr unsigned max_elements = 2048;
  const float* elements = own;  ///< or in the register, where they stand as they are to
  unsigned width = 0, depth = 0;
  float own[max_elements];

  MatrixSource() = default;
  MatrixSource(const MatrixSource&) = delete;
  MatrixSource& operator=(const MatrixSource&) = delete;

  const float* at(unsigned k) const { return elements + size_t{k} * width; }
};

/// For a sparse A: the row of B that each element is multiplied with, at the places of A's elements.
struct SparseIndex {
  uint8_t depth[MatrixSource::max_elements];
};

/// Which lanes a source's elements are taken from instead of their own, by cbsz and abid of A, and by blgp of B.
struct MatrixLanes {
  uint8_t from[wave_lanes];
  bool moved = false;
};
MatrixLanes broadcast_block(const MatrixShape& shape, uint8_t cbsz, uint8_t abid);
MatrixLanes lane_group_pattern(uint8_t blgp);

/// The exponents of elements whose products are aligned (mfma_aligned.cpp): 75 or 76 minus the exponent, so that the
/// sum of one of A's and one of B's is 151 minus the product's. A zero's is as large as the sum can be.
///
/// Elements from 2^-37 to 2^28 have one, and denormals that of 0. Then no product counts that is denormal in single
/// precision or too large for it, 2^(24 - exponent) is within it, too, and so are one factor or a sum of such products
/// multiplied with that; and anything else from `least_addend` on.
struct Alignment {
  static constexpr uint8_t of_zero = 255;
  static constexpr int least_exponent = -37, max_exponent = 27;
  static constexpr float least_addend = 0x1p-96f;
  alignas(64) uint8_t of_a[MatrixSource::max_elements];
  alignas(64) uint32_t of_b[MatrixSource::max_elements];  ///< the same in all four bytes, one for each of A's rows
};
struct AlignedElements {
  bool all;            ///< all elements have an alignment
  bool has_denormals;  ///< in single precision
};
/// The least exponent is that of the smallest normal number.
AlignedElements read_a_alignment(const float* elements, unsigned count, int least_exponent, Alignment& alignment);
AlignedElements read_b_alignment(const float* elements, unsigned count, int least_exponent, Alignment& alignment);

/// Copies elements, with zeros instead of denormals.
void flush_denormals(const float* elements, unsigned count, float* flushed);

/// Returns a power of two such that all elements are whole multiples of it below 2^places; 0 if none exists.
/// `places` is 22 at most.
float unit_of(const float* elements, unsigned count, int places);

/// The exponent of the smallest normal number, which denormals have, too.
int least_normal_exponent(MatrixElement element, Fp8Format eight_bit);

/// Registers that hold D.
[[gnu::always_inline]] inline unsigned registers_of_d(const MatrixShape& shape) {
  const unsigned words = shape.a == MatrixElement::f64 ? 2 : 1;
  return shape.rows * shape.columns * shape.blocks * words / wave_lanes;
}

void read_a(const MatrixCall& call, MatrixSource& a);
void read_b(const MatrixCall& call, MatrixSource& b);
SparseIndex read_index(const MatrixCall& call, const MatrixSource& a);

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics
