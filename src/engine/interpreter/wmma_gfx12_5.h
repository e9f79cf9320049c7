// engine: WMMA and SWMMAC of GFX12.5 (wmma_gfx12_5.cpp).
#pragma once

#include <span>

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

/// Whether it is one whose meaning is known, and its matrices are in registers.
bool is_deep_matrix(const isa::Instruction& instruction);

/// The handler of such an instruction; null for others.
Handler prepare_deep_matrix(Preparation& p);

/// Executes several (matrix.h: multiply_ops).
void multiply_deep_ops(const Wave& wave, std::span<const MicroOp* const> ops, Run& run);

}  // namespace Atoll::engine
