// observe: which bits of an instruction's result mean nothing, as bits of its sources do that nobody has written.
//
// A bit is undefined if the undefined bits of the sources might change it. Where an instruction's rule is not known bit
// by bit, all of its result is undefined as soon as any of its sources' bits is. Rules for sums and products take a bit
// to depend on all lower bits of the sources, as carries run upwards.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "isa/table.h"

namespace Atoll::observe {

/// A value of up to 64 bits; of its undefined bits, the value means nothing.
struct Bits {
  uint64_t value = 0, undefined = 0;
};

/// Of one lane, or of a scalar instruction.
struct ShadowTransfer {
  uint64_t undefined = 0;       ///< of the result
  bool flag_undefined = false;  ///< of the carry, the comparison, or SCC
};

/// What follows for the result, and for SCC, a carry or a comparison's bit. `sources` are as the instruction has them;
/// a lane mask's (a carry, a condition) is the lane's own bit. `scc` is the SCC that it reads.
ShadowTransfer transfer_function(const isa::InstructionRow& row, std::span<const Bits> sources, unsigned result_bits,
                                 Bits scc);

}  // namespace Atoll::observe
