// machine: the registers with which a wave starts.
// Source: user guide, "Initial Kernel Execution State", "Flat Scratch", "Private Segment Buffer",
// "Preloaded Kernel Arguments".
#pragma once

#include <cstdint>

#include "machine/dispatch.h"
#include "machine/wave.h"

namespace Atoll::machine {

/// The memory that a work-group's state lives in. Registers and LDS are zeroed when a work-group begins, so that runs
/// repeat exactly even where a program reads what it never wrote; scratch keeps whatever was in it, as on hardware.
struct WorkGroupStorage {
  Row* rows;         ///< rows_needed(), 64-byte aligned
  uint8_t* lds;      ///< Dispatch::lds_bytes, 64-byte aligned
  uint8_t* scratch;  ///< scratch_bytes_per_wave for each wave of a whole work-group
};

/// Waves of a whole work-group, and register rows that they need together.
uint32_t waves_needed(const Dispatch& dispatch);
uint64_t rows_needed(const Dispatch& dispatch);

/// Makes `group` work-group number `index` of the dispatch, x running fastest, with all its waves ready at the entry.
/// Reads the kernarg segment when the kernel has preloaded arguments: call it inside guarded().
void begin_work_group(WorkGroup& group, Dispatch& dispatch, uint64_t index, const WorkGroupStorage& storage);

/// The work-item id of a lane of a wave, in its work-group.
void work_item_of(const WorkGroup& group, uint32_t wave, uint32_t lane, uint32_t (&id)[3]);

/// The scratch buffer resource (V#) of GFX9: swizzled for 64 lanes by dwords, lane id added (user guide, "Private
/// Segment Buffer"; ISA guide, "Buffer Resource Descriptor").
void scratch_resource(uint64_t base, uint64_t bytes, uint32_t (&resource)[4]);

}  // namespace Atoll::machine
