// semantics: the table of matrix instructions (matrix.h).
#include <iterator>

#include "semantics/matrix/mfma.h"
#include "semantics/opcode_rows.h"

namespace Atoll::semantics {

namespace {

using isa::Opcode;
using enum MatrixElement;

// Opcode, rows, columns, depth, blocks, elements of A and of B. Sources: CDNA1 to CDNA4 ISA guides, the mnemonics.
// clang-format off
constexpr MatrixShape shapes[] = {
    {Opcode::v_mfma_f32_16x16x128_f8f6f4,       16, 16, 128,  1, fp8, fp8},
    {Opcode::v_mfma_f32_32x32x64_f8f6f4,        32, 32,  64,  1, fp8, fp8},
    {Opcode::v_mfma_scale_f32_16x16x128_f8f6f4, 16, 16, 128,  1, fp8, fp8},
    {Opcode::v_mfma_scale_f32_32x32x64_f8f6f4,  32, 32,  64,  1, fp8, fp8},
    {Opcode::v_mfma_f32_16x16x32_bf16,          16, 16,  32,  1, bf16, bf16},
    {Opcode::v_mfma_i32_16x16x64_i8,            16, 16,  64,  1, i8, i8},
    {Opcode::v_mfma_f32_32x32x16_bf16,          32, 32,  16,  1, bf16, bf16},
    {Opcode::v_mfma_i32_32x32x32_i8,            32, 32,  32,  1, i8, i8},
    {Opcode::v_smfmac_f32_16x16x64_bf16,        16, 16,  64,  1, bf16, bf16},
    {Opcode::v_smfmac_i32_16x16x128_i8,         16, 16, 128,  1, i8, i8},
    {Opcode::v_smfmac_f32_16x16x128_bf8_bf8,    16, 16, 128,  1, bf8, bf8},
    {Opcode::v_smfmac_f32_16x16x128_bf8_fp8,    16, 16, 128,  1, bf8, fp8},
    {Opcode::v_smfmac_f32_16x16x128_fp8_bf8,    16, 16, 128,  1, fp8, bf8},
    {Opcode::v_mfma_f32_16x16x8_xf32,           16, 16,   8,  1, xf32, xf32},
    {Opcode::v_mfma_f32_32x32x4_xf32,           32, 32,   4,  1, xf32, xf32},
    {Opcode::v_mfma_f32_32x32x1_2b_f32,         32, 32,   1,  2, f32, f32},
    {Opcode::v_mfma_f32_16x16x1_4b_f32,         16, 16,   1,  4, f32, f32},
    {Opcode::v_mfma_f32_4x4x1_16b_f32,           4,  4,   1, 16, f32, f32},
    {Opcode::v_smfmac_f32_16x16x128_fp8_fp8,    16, 16, 128,  1, fp8, fp8},
    {Opcode::v_mfma_f32_32x32x2_f32,            32, 32,   2,  1, f32, f32},
    {Opcode::v_mfma_f32_16x16x4_f32,            16, 16,   4,  1, f32, f32},
    {Opcode::v_smfmac_f32_32x32x32_bf16,        32, 32,  32,  1, bf16, bf16},
    {Opcode::v_smfmac_i32_32x32x64_i8,          32, 32,  64,  1, i8, i8},
    {Opcode::v_mfma_f32_32x32x4_2b_f16,         32, 32,   4,  2, f16, f16},
    {Opcode::v_mfma_f32_16x16x4_4b_f16,         16, 16,   4,  4, f16, f16},
    {Opcode::v_mfma_f32_4x4x4_16b_f16,           4,  4,   4, 16, f16, f16},
    {Opcode::v_smfmac_f32_32x32x64_bf8_bf8,     32, 32,  64,  1, bf8, bf8},
    {Opcode::v_mfma_f32_32x32x8_f16,            32, 32,   8,  1, f16, f16},
    {Opcode::v_mfma_f32_16x16x16_f16,           16, 16,  16,  1, f16, f16},
    {Opcode::v_smfmac_f32_32x32x64_bf8_fp8,     32, 32,  64,  1, bf8, fp8},
    {Opcode::v_smfmac_f32_32x32x64_fp8_bf8,     32, 32,  64,  1, fp8, bf8},
    {Opcode::v_mfma_i32_32x32x4_2b_i8,          32, 32,   4,  2, i8, i8},
    {Opcode::v_mfma_i32_16x16x4_4b_i8,          16, 16,   4,  4, i8, i8},
    {Opcode::v_mfma_i32_4x4x4_16b_i8,            4,  4,   4, 16, i8, i8},
    {Opcode::v_smfmac_f32_32x32x64_fp8_fp8,     32, 32,  64,  1, fp8, fp8},
    {Opcode::v_mfma_f32_16x16x32_f16,           16, 16,  32,  1, f16, f16},
    {Opcode::v_mfma_i32_32x32x8i8,              32, 32,   8,  1, i8, i8},
    {Opcode::v_mfma_f32_32x32x16_f16,           32, 32,  16,  1, f16, f16},
    {Opcode::v_mfma_i32_16x16x16i8,             16, 16,  16,  1, i8, i8},
    {Opcode::v_mfma_i32_32x32x16_i8,            32, 32,  16,  1, i8, i8},
    {Opcode::v_mfma_i32_16x16x32_i8,            16, 16,  32,  1, i8, i8},
    {Opcode::v_smfmac_f32_16x16x64_f16,         16, 16,  64,  1, f16, f16},
    {Opcode::v_smfmac_f32_32x32x32_f16,         32, 32,  32,  1, f16, f16},
    {Opcode::v_mfma_f32_32x32x4_2b_bf16,        32, 32,   4,  2, bf16, bf16},
    {Opcode::v_mfma_f32_16x16x4_4b_bf16,        16, 16,   4,  4, bf16, bf16},
    {Opcode::v_mfma_f32_4x4x4_16b_bf16,          4,  4,   4, 16, bf16, bf16},
    {Opcode::v_mfma_f32_32x32x8_bf16,           32, 32,   8,  1, bf16, bf16},
    {Opcode::v_mfma_f32_16x16x16_bf16,          16, 16,  16,  1, bf16, bf16},
    {Opcode::v_smfmac_f32_16x16x32_f16,         16, 16,  32,  1, f16, f16},
    {Opcode::v_smfmac_f32_32x32x16_f16,         32, 32,  16,  1, f16, f16},
    {Opcode::v_smfmac_f32_16x16x32_bf16,        16, 16,  32,  1, bf16, bf16},
    {Opcode::v_mfma_f32_32x32x2bf16,            32, 32,   2,  2, bf16, bf16},
    {Opcode::v_smfmac_f32_32x32x16_bf16,        32, 32,  16,  1, bf16, bf16},
    {Opcode::v_mfma_f32_16x16x2bf16,            16, 16,   2,  4, bf16, bf16},
    {Opcode::v_smfmac_i32_16x16x64_i8,          16, 16,  64,  1, i8, i8},
    {Opcode::v_mfma_f32_4x4x2bf16,               4,  4,   2, 16, bf16, bf16},
    {Opcode::v_mfma_f32_32x32x4bf16,            32, 32,   4,  1, bf16, bf16},
    {Opcode::v_smfmac_i32_32x32x32_i8,          32, 32,  32,  1, i8, i8},
    {Opcode::v_mfma_f32_16x16x8bf16,            16, 16,   8,  1, bf16, bf16},
    {Opcode::v_mfma_f64_16x16x4_f64,            16, 16,   4,  1, f64, f64},
    {Opcode::v_mfma_f64_4x4x4_4b_f64,            4,  4,   4,  4, f64, f64},
    {Opcode::v_mfma_f32_16x16x32_bf8_bf8,       16, 16,  32,  1, bf8, bf8},
    {Opcode::v_mfma_f32_16x16x32_bf8_fp8,       16, 16,  32,  1, bf8, fp8},
    {Opcode::v_mfma_f32_16x16x32_fp8_bf8,       16, 16,  32,  1, fp8, bf8},
    {Opcode::v_mfma_f32_16x16x32_fp8_fp8,       16, 16,  32,  1, fp8, fp8},
    {Opcode::v_mfma_f32_32x32x16_bf8_bf8,       32, 32,  16,  1, bf8, bf8},
    {Opcode::v_mfma_f32_32x32x16_bf8_fp8,       32, 32,  16,  1, bf8, fp8},
    {Opcode::v_mfma_f32_32x32x16_fp8_bf8,       32, 32,  16,  1, fp8, bf8},
    {Opcode::v_mfma_f32_32x32x16_fp8_fp8,       32, 32,  16,  1, fp8, fp8},
    {Opcode::v_smfmac_f32_16x16x64_bf8_bf8,     16, 16,  64,  1, bf8, bf8},
    {Opcode::v_smfmac_f32_16x16x64_bf8_fp8,     16, 16,  64,  1, bf8, fp8},
    {Opcode::v_smfmac_f32_16x16x64_fp8_bf8,     16, 16,  64,  1, fp8, bf8},
    {Opcode::v_smfmac_f32_16x16x64_fp8_fp8,     16, 16,  64,  1, fp8, fp8},
    {Opcode::v_smfmac_f32_32x32x32_bf8_bf8,     32, 32,  32,  1, bf8, bf8},
    {Opcode::v_smfmac_f32_32x32x32_bf8_fp8,     32, 32,  32,  1, bf8, fp8},
    {Opcode::v_smfmac_f32_32x32x32_fp8_bf8,     32, 32,  32,  1, fp8, bf8},
    {Opcode::v_smfmac_f32_32x32x32_fp8_fp8,     32, 32,  32,  1, fp8, fp8},
};
// clang-format on

}  // namespace

const MatrixShape* matrix_shape(isa::Opcode opcode) { return find_row<shapes>(opcode); }

MatrixElement matrix_format(uint8_t code) {
  constexpr MatrixElement formats[] = {fp8, bf8, fp6, bf6, fp4};
  return code < std::size(formats) ? formats[code] : fp8;
}

}  // namespace Atoll::semantics
