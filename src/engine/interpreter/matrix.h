// engine: execution of matrix instructions for translated code.
#pragma once

#include "engine/interpreter/micro_op.h"
#include "semantics/host_isa.h"
#include "semantics/matrix/mfma.h"

namespace Atoll::engine {

/// The wave-independent part of an MFMA or SMFMAC.
struct MatrixOperation {
  semantics::MatrixCall call;  ///< without register contents
  bool has_c_rows = false;     ///< C is in registers; otherwise C is D (sparse) or a constant
  bool is_sparse = false, has_scales = false;
};

ATOLL_HOST_ISA_BEGIN
/// Executes `count` consecutive matrix instructions. MFMAs after the first have the same shape and accumulate into its
/// result. WMMAs and SWMMACs must not write A, B, index or scales of a later one.
void multiply_ops(Wave* wave, const MicroOp* const* ops, uint64_t count, Run* run);
ATOLL_HOST_ISA_END

}  // namespace Atoll::engine
