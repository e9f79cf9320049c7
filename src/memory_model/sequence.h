// memory_model: the code sequence of a memory operation: the instruction itself with its cache policy, and the waits
// and cache operations before and after it, each with its reason. Derived from the table of generations.
#pragma once

#include <string>
#include <vector>

#include "memory_model/generation.h"
#include "memory_model/operation.h"
#include "support/error.h"

namespace Atoll::memory_model {

enum class StepKind : uint8_t { access, wait, write_back, invalidate };

struct Step {
  StepKind kind = StepKind::access;
  isa::Opcode opcode{};
  CachePolicy policy;
  std::string instruction;  ///< its text without registers: "s_waitcnt vmcnt(0) lgkmcnt(0)", "global_load_b32 glc"
  Counters waits = 0;       ///< of a wait: the counters that have to be zero
  std::string reason;
};

/// What code of that generation has to do for the operation, in order; nothing for a fence that orders nothing there.
/// Accesses are of 32 bits, an atomicrmw is an addition. An error says why a generation has no such operation.
///
/// A wait may stand earlier, among the instructions before it, as long as nothing that it has to wait for comes
/// between.
support::Result<std::vector<Step>> sequence(const Generation& generation, const Operation& operation,
                                            const Placement& placement = {});

}  // namespace Atoll::memory_model
