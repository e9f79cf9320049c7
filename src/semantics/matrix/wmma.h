// semantics: the Radeons' matrix instructions, WMMA (GFX11 on) and SWMMAC (GFX11.7 on): D = A * B + C, the matrices
// spread over the registers of a wave of 32 or 64 lanes.
//
// D and C have 16 rows and 16 columns, A 16 rows, B 16 columns; a row of a table (wmma.cpp) has the depth and
// the elements. A block here is 16 neighbouring lanes: each has a row of A, a column of B, D or C. Where in a lane the
// elements are:
//
// GFX11 ("RDNA3" ISA guide, "Wave Matrix Multiply Accumulate", and AMD's article "How to accelerate AI applications on
// RDNA 3 using WMMA"): a lane has a whole row of A and column of B, and code keeps the same in all blocks; the first
// block is read here. Register r of D, block q, is row r * blocks + q. A result of 16 bits is in one half of each
// register, which op_sel chooses for C and D alike; the other half stays.
//
// GFX12: each element is in one lane. Of n elements of 16 bits, a lane of a wave of 32 has two runs of n / 2: those of
// block 1 follow those of block 0, then come the second runs; in a wave of 64 it has one run. Of narrower ones a lane
// has one run, and with four blocks their order is 0, 2, 1, 3; where a register would hold more than the runs are long,
// the first blocks have all. Register r of D, block q, is row r + 8q of a wave of 32, r + 8(q % 2) + 4(q / 2) of one of
// 64; 16-bit results are packed, two rows to a register. Sources: Mesa's description of the "RDNA4" guide's figures
// (radv, cooperative matrices), and AMD's own tests of the layouts on gfx1201 (ROCm's fpsan: swmmac_gfx12, int_isa).
//
// SWMMAC: A is sparse. Of every four elements in the direction of the depth two are there, and which ones say two bits
// each in a register of their own, in the lane and order of A's elements. They fill a part of the register, which the
// index key chooses. The accumulator is D.
//
// neg of the first two sources negates the even elements of 16 bits, neg_hi the odd ones; of integers, neg says that
// they are signed. Of C, neg_hi takes the absolute value, neg then negates (LLVM, SelectWMMAModsF32NegAbs). The clamp
// bit saturates integers. EXEC, MODE and denormals have no part in it.
//
// In which order products are summed up nobody has published measurements of. Here it is a chain of fused multiply-adds
// from C on in ascending depth, in single precision; results of 16 bits are rounded once, at the end. Integers are
// exact before they wrap or saturate, as AMD's tests have them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "semantics/registry.h"
#include "target/processor.h"

namespace Atoll::semantics {

enum class WaveElement : uint8_t { f32, f16, bf16, i32, i8, i4, fp8, bf8 };

struct WaveMatrixShape {
  isa::Opcode opcode;
  uint8_t depth;
  WaveElement a, b;
  WaveElement d;  ///< f32, f16, bf16, or i32
  bool sparse = false;
};

/// The whole table, and the row of an instruction, or null.
std::span<const WaveMatrixShape> wave_matrix_shapes();
const WaveMatrixShape* wave_matrix_shape(isa::Opcode opcode);

/// Properties of an instruction, without its registers.
struct WaveMatrixOperation {
  const WaveMatrixShape* shape = nullptr;
  target::WaveMatrices layout{};
  uint8_t wave_size = 32;
  uint8_t index_key = 0;
  std::array<bool, 3> negate{}, negate_high{};  ///< of A, B and C
  bool clamp = false;
  bool upper = false;     ///< 16-bit C and D are in the upper halves
  uint32_t constant = 0;  ///< C in all elements, if it is in no registers, as the result's type sees it
};

/// An instruction with its registers, which may overlap in any way.
struct WaveMatrixCall {
  const WaveMatrixOperation* operation = nullptr;
  Row* d = nullptr;
  const Row *a = nullptr, *b = nullptr;
  const Row* c = nullptr;      ///< null: the constant
  const Row* index = nullptr;  ///< of a sparse A
};

ATOLL_HOST_ISA_BEGIN
/// Executes instructions one after the other. None of them may write what a later one reads as A, B or index.
void wave_multiply(std::span<const WaveMatrixCall> calls);
ATOLL_HOST_ISA_END

}  // namespace Atoll::semantics
