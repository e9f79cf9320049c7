// settings: which compute units the kernels of a queue may run on. Atoll has no compute units that could be left idle;
// what kernels see of them is the number that HW_ID shows, and that is one of the mask's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace Atoll::settings {

/// A bit for each compute unit, as hsa_amd_queue_cu_set_mask() takes them. Empty: all of them.
using ComputeUnitMask = std::vector<uint32_t>;

/// The mask of all `units` compute units.
ComputeUnitMask all_compute_units(uint32_t units);

/// The numbers of the bits that are set.
std::vector<uint16_t> numbers_of(const ComputeUnitMask& mask);

/// Reads ROCr's variable HSA_CU_MASK for one GPU, numbered among those that the program sees: "0:0-7,12" or
/// "0-3:0x10ff", sets for several GPUs separated by ';'. Empty when no set names this GPU. Errors: the text has another
/// form, or selects none of the GPU's `units` compute units. (ROCr ignores such a value.)
support::Result<ComputeUnitMask> read_compute_unit_mask(std::string_view text, uint32_t gpu, uint32_t units);

}  // namespace Atoll::settings
