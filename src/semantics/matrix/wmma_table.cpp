// semantics: the table of WMMA and SWMMAC instructions (wmma.h). Sources: "RDNA3" and "RDNA4" ISA guides, the
// mnemonics.
#include "semantics/matrix/wmma.h"
#include "semantics/opcode_rows.h"

namespace Atoll::semantics {

namespace {

using isa::Opcode;
using enum WaveElement;

// Opcode, depth, elements of A, of B, of C and D.
constexpr WaveMatrixShape shapes[] = {
    {Opcode::v_wmma_f32_16x16x16_f16, 16, f16, f16, f32},
    {Opcode::v_wmma_f32_16x16x16_bf16, 16, bf16, bf16, f32},
    {Opcode::v_wmma_f16_16x16x16_f16, 16, f16, f16, f16},
    {Opcode::v_wmma_bf16_16x16x16_bf16, 16, bf16, bf16, bf16},
    {Opcode::v_wmma_i32_16x16x16_iu8, 16, i8, i8, i32},
    {Opcode::v_wmma_i32_16x16x16_iu4, 16, i4, i4, i32},
    {Opcode::v_wmma_i32_16x16x32_iu4, 32, i4, i4, i32},
    {Opcode::v_wmma_f32_16x16x16_fp8_fp8, 16, fp8, fp8, f32},
    {Opcode::v_wmma_f32_16x16x16_fp8_bf8, 16, fp8, bf8, f32},
    {Opcode::v_wmma_f32_16x16x16_bf8_fp8, 16, bf8, fp8, f32},
    {Opcode::v_wmma_f32_16x16x16_bf8_bf8, 16, bf8, bf8, f32},
    {Opcode::v_swmmac_f32_16x16x32_f16, 32, f16, f16, f32, true},
    {Opcode::v_swmmac_f32_16x16x32_bf16, 32, bf16, bf16, f32, true},
    {Opcode::v_swmmac_f16_16x16x32_f16, 32, f16, f16, f16, true},
    {Opcode::v_swmmac_bf16_16x16x32_bf16, 32, bf16, bf16, bf16, true},
    {Opcode::v_swmmac_i32_16x16x32_iu8, 32, i8, i8, i32, true},
    {Opcode::v_swmmac_i32_16x16x32_iu4, 32, i4, i4, i32, true},
    {Opcode::v_swmmac_i32_16x16x64_iu4, 64, i4, i4, i32, true},
    {Opcode::v_swmmac_f32_16x16x32_fp8_fp8, 32, fp8, fp8, f32, true},
    {Opcode::v_swmmac_f32_16x16x32_fp8_bf8, 32, fp8, bf8, f32, true},
    {Opcode::v_swmmac_f32_16x16x32_bf8_fp8, 32, bf8, fp8, f32, true},
    {Opcode::v_swmmac_f32_16x16x32_bf8_bf8, 32, bf8, bf8, f32, true},
};

}  // namespace

std::span<const WaveMatrixShape> wave_matrix_shapes() { return shapes; }

const WaveMatrixShape* wave_matrix_shape(isa::Opcode opcode) { return find_row<shapes>(opcode); }

}  // namespace Atoll::semantics
