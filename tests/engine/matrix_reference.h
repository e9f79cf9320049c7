// What a matrix instruction yields, worked out element by element from its name: the tests' own reading of where
// elements are and how they are summed up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::test {

/// What the mnemonic says: "v_mfma_f32_16x16x4_4b_f16" is 4 blocks of 16x4 times 4x16 halves.
struct MatrixName {
  bool sparse = false;
  char result = 'f';  ///< 'f' or 'i'
  unsigned result_bits = 32;
  unsigned m = 0, n = 0, k = 0, blocks = 1;
  std::string a, b;  ///< "f16", "bf16", "i8", "fp8", ...
};
MatrixName parse_matrix_name(std::string_view mnemonic);

/// A wave's registers as an operand sees them: words[register][lane].
using Registers = std::vector<std::vector<uint32_t>>;

struct MatrixOperands {
  Registers a, b, c;
  Registers index;             ///< sparse
  Registers scale_a, scale_b;  ///< scaled
  unsigned scale_byte_a = 0, scale_byte_b = 0;
  unsigned cbsz = 0, abid = 0, blgp = 0;
  bool negate[3] = {};
};

/// How a processor sums up products of floats of 16 bits and less.
enum class MatrixOrder : uint8_t { chain, exact, flushing_pairs, aligned };

/// What the processor has of its own.
struct MatrixArithmetic {
  MatrixOrder order = MatrixOrder::chain;
  bool ocp = false;
};
MatrixArithmetic matrix_arithmetic(std::string_view processor);

/// D, in registers.
Registers multiply_reference(const MatrixName& name, const MatrixOperands& operands,
                             const MatrixArithmetic& arithmetic);

/// The number of a format with a sign, so many bits of exponent and fraction, and no special codes.
double small_number(uint64_t bits, int exponent_bits, int fraction_bits, int bias);

/// Bits of an element of that type, and the number that they are.
unsigned matrix_element_bits(const std::string& type);
double matrix_element(const std::string& type, uint64_t bits, bool ocp);

}  // namespace Atoll::test
