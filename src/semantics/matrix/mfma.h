// semantics: matrix instructions (MFMA, SMFMAC): D = A * B + C, the matrices spread over the registers of a wave.
//
// One row of a table (mfma_table.cpp) says all about an instruction: the sizes of its matrices, how many products it
// does beside each other (blocks), and what the elements are. Everything else follows:
//
// Where elements are. A is rows x depth, B depth x columns. A lane of the first source holds elements of one row of
// one block of A, neighbours in the direction of the depth; lanes go through the rows first, then the blocks, then on
// in the depth. B likewise, by columns. Of D and C each four registers hold four neighbouring rows at a time, as long
// as there are lanes; of a double's matrix each register pair holds one row at a time. Source: the formulas of AMD's
// Matrix Instruction Calculator (ROCm/amd_matrix_instruction_calculator, gfx9), and the CDNA ISA guides, "Matrix
// Arithmetic Instructions". v_mfma_*_f8f6f4 differ: of 8-bit elements a lane holds two runs of 16, the second after
// the first runs of all lanes ("Matrix Core Programming on AMD CDNA3 and CDNA4", sections 5.4 and 5.5, and Composable
// Kernel's test/mx_mfma_op, which has the 6-bit formats too).
//
// In which order it is summed up. The guides say "fused multiply-add" and no more; what is known has been measured on
// the GPUs, by Xie and others ("Bit-Accurate Modeling of GPU Matrix Multiply-Accumulate Units", arXiv 2511.10909v2,
// table 6, and microsoft/MMA-Sim) and by Khattak and Mikaitis (north-numerical-computing/MATLAB-tensor-core, models/),
// which agree except in the bits that mfma_aligned.cpp names:
// - f32 and f64, everywhere: a chain of fused multiply-adds from C on, in ascending depth.
// - f16 and bf16 on gfx908: the products that one lane's elements make and what there is already are one sum, rounded
//   once (mfma_exact.cpp). Version 1 of the first source had it in pairs.
// - f16 and bf16 on gfx90a: those products are summed up in pairs, then pairs of those, and the sum is added to C, each
//   sum rounded. Denormals of sources and C become +0, those of products and sums 0 with their sign; that they are
//   flushed is in MIOpen's documentation, too ("MI200 MFMA behavior specifics").
// - f16, bf16, xf32 and 8 bits on gfx942: groups of 4 to 16 products are aligned to the largest of them, cut off and
//   summed up; then C is added, and rounded once (mfma_aligned.cpp).
// Nobody has measured gfx950, nor sparse matrices. These are chains of fused multiply-adds here, like f32's.
// All round to nearest even, whatever MODE says, and keep denormals but for gfx90a. Each NaN that comes out is the
// default one. Integers wrap around. EXEC has no part in it: all lanes are read and written.
//
// v_smfmac_*: A is sparse. Of every four elements in the direction of the depth two are there, and which ones say
// pairs of bits in a register of their own. B lies in runs of 16 bytes as 8-bit elements of v_mfma_*_f8f6f4 do:
// gfx950's wide instructions have two of them in a lane, as the kernels of AMD's hipSPARSELt for gfx950 load them. A
// lane's pairs fill a part of that register; abid says which, unless cbsz is set, which chooses the first.
//
// v_mfma_scale_*: each 32 elements in the direction of the depth have a scale, E8M0: a power of two biased by 127, or
// NaN (255). It stands in the lane that would hold those elements if lanes held 32, in the byte that op_sel and
// op_sel_hi choose. Each 32 products are summed up by themselves, multiplied with both scales, and added.
#pragma once

#include <array>
#include <span>

#include "semantics/registry.h"
#include "target/processor.h"

namespace Atoll::semantics {

enum class MatrixElement : uint8_t { f64, f32, xf32, f16, bf16, i8, fp8, bf8, fp6, bf6, fp4 };

struct MatrixShape {
  isa::Opcode opcode;
  uint8_t rows, columns, depth, blocks;
  MatrixElement a, b;  ///< for *_f8f6f4: what cbsz and blgp of 0 mean
};

/// The row of a matrix instruction, or null.
const MatrixShape* matrix_shape(isa::Opcode opcode);

/// Meaning of cbsz for the elements of A, and of blgp for those of B, in *_f8f6f4; fp8 for reserved codes.
MatrixElement matrix_format(uint8_t code);

/// One matrix instruction. Registers may overlap in any way.
struct MatrixCall {
  const MatrixShape* shape = nullptr;
  MatrixElement a_element{}, b_element{};
  Row* d = nullptr;
  const Row *a = nullptr, *b = nullptr;
  const Row* c = nullptr;        ///< null: `constant` in all elements
  uint64_t constant = 0;         ///< as the result's type sees it
  const Row* index = nullptr;    ///< of a sparse A; null: A is dense
  const Row* scale[2] = {};      ///< of A and B; null: not scaled
  uint8_t scale_byte[2] = {};    ///< which byte of each lane
  uint8_t cbsz = 0, abid = 0;    ///< a block of A for 2^cbsz blocks (dense), or the part of `index` (sparse)
  uint8_t blgp = 0;              ///< which lanes B comes from
  std::array<bool, 3> negate{};  ///< A, B, C; doubles only
  Fp8Format eight_bit{};
  target::MatrixSums sums{};
};

/// The factors of another one, which is otherwise the same.
struct MatrixFactors {
  const Row *a, *b;
};

/// How many instructions a call of multiply() executes at most.
constexpr size_t max_multiplied = 16;

ATOLL_HOST_ISA_BEGIN
/// Carries out an instruction, and then `further` ones, which add their products to D.
void multiply(const MatrixCall& call, std::span<const MatrixFactors> further);
ATOLL_HOST_ISA_END

}  // namespace Atoll::semantics
