// engine: WMMA and SWMMAC of GFX12.5 (wmma_gfx12_5.cpp).
#pragma once

#include <span>

#include "engine/interpreter/prepare.h"

namespace Atoll::engine {

/// Returns whether the instruction's semantics are known and its matrices are in registers.
bool is_deep_matrix(const isa::Instruction& instruction);

/// Returns the instruction's handler; null for others.
Handler prepare_deep_matrix(Preparation& p);

/// Executes several instructions (see multiply_ops() in matrix.h).
void multiply_deep_ops(const Wave& wave, std::span<const MicroOp* const> ops, Run& run);

}  // namespace Atoll::engine
