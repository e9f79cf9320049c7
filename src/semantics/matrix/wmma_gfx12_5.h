// semantics: WMMA and SWMMAC of GFX12.5: D = A * B + C, of 16 rows (or 32) and 16 columns, in waves of 32 lanes.
//
// Where the elements are, by AMD's emulator of GFX12.5 (ROCm's rocjitsu, mma/layout.h), which cites the CDNA5 ISA
// reference: a row of A, or a column of B, is in two lanes, its number and 16 on. Runs of 8 elements of 16 bits, 16 of
// 8, 32 of 6 and 4 and 2 of 32 bits are in the one and the other in turn. Rows 16 to 31 of A, C and D are in the
// registers after those of the others. Row r of C and D is in lanes (r / 8 % 2) * 16 and on, register r % 8; elements
// of 16 bits are packed.
//
// A sparse A has two of every four elements in the direction of the depth, and B runs twice as long. Which two says the
// index: two bits for each element of A, the first half of a row's in lane r, the second in lane r + 16.
//
// Scales: of each 32 elements of a row of A or column of B (or 16, with registers of 64 bits) a byte that is E8M0, E5M3
// or E4M3, in the lane of its number or, if the instruction says so, 16 on. An A of 32 rows has them in 32 lanes.
//
// neg, neg_hi, the clamp bit and the sums are as on GFX12 (wmma.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "isa/opcode.h"
#include "semantics/host_isa.h"
#include "semantics/registry.h"

namespace Atoll::semantics {

enum class DeepElement : uint8_t { fp8, bf8, fp6, bf6, fp4, f32, f16, bf16, i8, i32 };  ///< the first as cbsz has them

struct DeepMatrixShape {
  isa::Opcode opcode;
  uint8_t rows, depth;
  DeepElement a, b;  ///< of f8f6f4, those that the instruction's formats replace
  DeepElement c, d;
  bool sparse = false, has_formats = false;
};

/// The row of an instruction, or null.
const DeepMatrixShape* deep_matrix_shape(isa::Opcode opcode);

enum class ScaleFormat : uint8_t { e8m0, e5m3, e4m3 };

struct DeepMatrixOperation {
  const DeepMatrixShape* shape = nullptr;
  DeepElement a{}, b{};
  std::array<bool, 3> negate{}, negate_high{};  ///< of A, B and C
  bool clamp = false;
  uint32_t constant = 0;  ///< C in all elements, if it is in no registers
  unsigned scaled = 0;    ///< elements that a scale is for: 32, 16; 0: there are none
  std::array<ScaleFormat, 2> scale_formats{};
  std::array<bool, 2> upper_scales{};  ///< of A, of B: those of the lanes from 16 on
};

struct DeepMatrixCall {
  const DeepMatrixOperation* operation = nullptr;
  Row* d = nullptr;
  const Row *a = nullptr, *b = nullptr;
  const Row* c = nullptr;  ///< null: the constant
  const Row* index = nullptr;
  const Row *a_scales = nullptr, *b_scales = nullptr;
};

ATOLL_HOST_ISA_BEGIN
/// One after the other. None may write what a later one reads as A, B, index or scales.
void deep_multiply(std::span<const DeepMatrixCall> calls);
ATOLL_HOST_ISA_END

}  // namespace Atoll::semantics
