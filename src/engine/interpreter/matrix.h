// engine: matrix instructions, as translated code has them executed.
#pragma once

#include "engine/interpreter/micro_op.h"
#include "semantics/host_isa.h"
#include "semantics/matrix/mfma.h"

namespace Atoll::engine {

/// An MFMA or SMFMAC as far as it is the same in all waves.
struct MatrixOperation {
  semantics::MatrixCall call;  ///< without registers
  bool has_c_rows = false;     ///< C is in registers; otherwise it is D (sparse) or the constant
  bool is_sparse = false, has_scales = false;
};

ATOLL_HOST_ISA_BEGIN
/// Executes `count` matrix instructions in a row. Of MFMA, all but the first are the first one with other factors, and
/// add to what it yields; of WMMA and SWMMAC, none may write what a later one reads as A, B, index or scales.
void multiply_ops(Wave* wave, const MicroOp* const* ops, uint64_t count, Run* run);
ATOLL_HOST_ISA_END

}  // namespace Atoll::engine
