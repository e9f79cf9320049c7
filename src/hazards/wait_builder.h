// hazards: the instructions that wait: the inverse of counters.h, for code generators and for advice in reports.
//
// GFX6 to GFX9 have one s_waitcnt for all counters; GFX10 and GFX11 count stores apart (s_waitcnt_vscnt); from GFX12 on
// each counter has an instruction of its own. counter_waits(), dependency_wait() and wait_states() of what is built
// give the requirement again. Source: the ISA guides' "S_WAITCNT" and "S_NOP".
#pragma once

#include <vector>

#include "hazards/counters.h"
#include "isa/instruction.h"
#include "target/processor.h"

namespace Atoll::hazards {

/// Returns instructions after which no counter is above its limit; empty if nothing is to be waited for. Where one
/// counter counts what two limits name, the lower limit holds. Left out are counters that a GPU lacks, and limits of
/// s_waitcnt that the counter cannot exceed.
std::vector<isa::Instruction> counter_waits_for(const CounterWaits& waits, const target::Processor& processor);

/// Returns the s_waitcnt_depctr (s_wait_alu) that waits for these fields to become 0. From GFX10 on.
isa::Instruction dependency_wait_for(DependencyFields fields, const target::Processor& processor);

/// Returns as few s_nop as take that many wait states.
std::vector<isa::Instruction> wait_states_for(uint32_t states, const target::Processor& processor);

/// Returns that many v_nop.
std::vector<isa::Instruction> vector_nops(uint32_t count, const target::Processor& processor);

}  // namespace Atoll::hazards
