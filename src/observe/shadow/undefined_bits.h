// observe: shadow propagation: the uninitialized bits of an instruction's result as a function of its sources.
//
// A result bit is uninitialized if uninitialized source bits might change it. Without a bitwise rule for the
// instruction, any uninitialized source bit makes the whole result uninitialized. In sums and products a bit depends on
// all lower source bits, because carries propagate upwards.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "isa/table.h"

namespace Atoll::observe {

/// A value of up to 64 bits and its uninitialized bits.
struct Bits {
  uint64_t value = 0, undefined = 0;
};

/// The result's shadow for one lane, or for a scalar instruction.
struct ShadowTransfer {
  uint64_t undefined = 0;       ///< of the result
  bool flag_undefined = false;  ///< carry, comparison result, or SCC
};

/// Computes the shadow of the result and of SCC, a carry or a comparison bit. `sources` are in the instruction's order;
/// of a lane mask (carry, condition) the source is the lane's bit. `scc` is the SCC that it reads.
ShadowTransfer transfer_function(const isa::InstructionRow& row, std::span<const Bits> sources, unsigned result_bits,
                                 Bits scc);

}  // namespace Atoll::observe
