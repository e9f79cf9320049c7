// semantics: the table of WMMA and SWMMAC of GFX12.5 (wmma_gfx12_5.h).
#include "semantics/matrix/wmma_gfx12_5.h"
#include "semantics/opcode_rows.h"

namespace Atoll::semantics {

namespace {

using isa::Opcode;
using enum DeepElement;

// Opcode, rows, depth, elements of A, B, C and D.
constexpr DeepMatrixShape shapes[] = {
    {Opcode::v_wmma_f32_16x16x4_f32, 16, 4, f32, f32, f32, f32},
    {Opcode::v_wmma_f32_16x16x32_f16, 16, 32, f16, f16, f32, f32},
    {Opcode::v_wmma_f16_16x16x32_f16, 16, 32, f16, f16, f16, f16},
    {Opcode::v_wmma_f32_16x16x32_bf16, 16, 32, bf16, bf16, f32, f32},
    {Opcode::v_wmma_bf16_16x16x32_bf16, 16, 32, bf16, bf16, bf16, bf16},
    {Opcode::v_wmma_bf16f32_16x16x32_bf16, 16, 32, bf16, bf16, f32, bf16},
    {Opcode::v_wmma_i32_16x16x64_iu8, 16, 64, i8, i8, i32, i32},
    {Opcode::v_wmma_f32_16x16x64_fp8_fp8, 16, 64, fp8, fp8, f32, f32},
    {Opcode::v_wmma_f32_16x16x64_fp8_bf8, 16, 64, fp8, bf8, f32, f32},
    {Opcode::v_wmma_f32_16x16x64_bf8_fp8, 16, 64, bf8, fp8, f32, f32},
    {Opcode::v_wmma_f32_16x16x64_bf8_bf8, 16, 64, bf8, bf8, f32, f32},
    {Opcode::v_wmma_f16_16x16x64_fp8_fp8, 16, 64, fp8, fp8, f16, f16},
    {Opcode::v_wmma_f16_16x16x64_fp8_bf8, 16, 64, fp8, bf8, f16, f16},
    {Opcode::v_wmma_f16_16x16x64_bf8_fp8, 16, 64, bf8, fp8, f16, f16},
    {Opcode::v_wmma_f16_16x16x64_bf8_bf8, 16, 64, bf8, bf8, f16, f16},
    {Opcode::v_wmma_f32_16x16x128_fp8_fp8, 16, 128, fp8, fp8, f32, f32},
    {Opcode::v_wmma_f32_16x16x128_fp8_bf8, 16, 128, fp8, bf8, f32, f32},
    {Opcode::v_wmma_f32_16x16x128_bf8_fp8, 16, 128, bf8, fp8, f32, f32},
    {Opcode::v_wmma_f32_16x16x128_bf8_bf8, 16, 128, bf8, bf8, f32, f32},
    {Opcode::v_wmma_f16_16x16x128_fp8_fp8, 16, 128, fp8, fp8, f16, f16},
    {Opcode::v_wmma_f16_16x16x128_fp8_bf8, 16, 128, fp8, bf8, f16, f16},
    {Opcode::v_wmma_f16_16x16x128_bf8_fp8, 16, 128, bf8, fp8, f16, f16},
    {Opcode::v_wmma_f16_16x16x128_bf8_bf8, 16, 128, bf8, bf8, f16, f16},
    {Opcode::v_swmmac_f32_16x16x64_f16, 16, 64, f16, f16, f32, f32, true},
    {Opcode::v_swmmac_f32_16x16x64_bf16, 16, 64, bf16, bf16, f32, f32, true},
    {Opcode::v_swmmac_f16_16x16x64_f16, 16, 64, f16, f16, f16, f16, true},
    {Opcode::v_swmmac_bf16_16x16x64_bf16, 16, 64, bf16, bf16, bf16, bf16, true},
    {Opcode::v_swmmac_f32_16x16x128_fp8_fp8, 16, 128, fp8, fp8, f32, f32, true},
    {Opcode::v_swmmac_f32_16x16x128_fp8_bf8, 16, 128, fp8, bf8, f32, f32, true},
    {Opcode::v_swmmac_f32_16x16x128_bf8_fp8, 16, 128, bf8, fp8, f32, f32, true},
    {Opcode::v_swmmac_f32_16x16x128_bf8_bf8, 16, 128, bf8, bf8, f32, f32, true},
    {Opcode::v_swmmac_f16_16x16x128_fp8_fp8, 16, 128, fp8, fp8, f16, f16, true},
    {Opcode::v_swmmac_f16_16x16x128_fp8_bf8, 16, 128, fp8, bf8, f16, f16, true},
    {Opcode::v_swmmac_f16_16x16x128_bf8_fp8, 16, 128, bf8, fp8, f16, f16, true},
    {Opcode::v_swmmac_f16_16x16x128_bf8_bf8, 16, 128, bf8, bf8, f16, f16, true},
    {Opcode::v_swmmac_i32_16x16x128_iu8, 16, 128, i8, i8, i32, i32, true},
    {Opcode::v_wmma_f32_16x16x128_f8f6f4, 16, 128, fp8, fp8, f32, f32, false, true},
    {Opcode::v_wmma_scale_f32_16x16x128_f8f6f4, 16, 128, fp8, fp8, f32, f32, false, true},
    {Opcode::v_wmma_scale16_f32_16x16x128_f8f6f4, 16, 128, fp8, fp8, f32, f32, false, true},
    {Opcode::v_wmma_f32_32x16x128_f4, 32, 128, fp4, fp4, f32, f32},
    {Opcode::v_wmma_scale_f32_32x16x128_f4, 32, 128, fp4, fp4, f32, f32},
    {Opcode::v_wmma_scale16_f32_32x16x128_f4, 32, 128, fp4, fp4, f32, f32},
};

}  // namespace

const DeepMatrixShape* deep_matrix_shape(isa::Opcode opcode) { return find_row<shapes>(opcode); }

}  // namespace Atoll::semantics
