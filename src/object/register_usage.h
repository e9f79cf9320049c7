// object: how many registers a kernel takes, in the units that descriptors and occupancy are counted in.
// Source: user guide, "Kernel Descriptor" (GRANULATED_* fields) and "Assembler" (symbols and functions for register
// usage).
#pragma once

#include <cstdint>

#include "target/processor.h"

namespace Atoll::object {

/// SGPRs beyond the numbered ones: VCC, FLAT_SCRATCH and the XNACK mask, which lie at the end of a wave's SGPRs.
uint32_t extra_sgprs(const target::Processor& processor, bool vcc, bool flat_scratch, bool xnack_mask);

/// VGPRs that a wave with so many VGPRs and AGPRs takes.
uint32_t total_vgprs(const target::Processor& processor, uint32_t vgprs, uint32_t agprs);

/// A SIMD's registers.
struct VgprFile {
  uint32_t max_waves, vgpr_granule, vgprs_there_are;
};
/// Waves that fit on a SIMD: at most `waves`, and as many as the registers of each allow. No registers: no limit.
uint32_t occupancy(const VgprFile& file, const target::Processor& processor, uint32_t waves, uint32_t sgprs,
                   uint32_t vgprs);

}  // namespace Atoll::object
