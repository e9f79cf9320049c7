// observe: the checkers `memory` and `leak`: whether every access is to memory that is there for it.
//
// Bounds are those of what the program asked for, to the byte: of the allocations of the runtime (allocations.h), the
// variables of loaded code, a kernel's arguments, the work-group's LDS and the lane's scratch. What a language runtime
// divides by itself (HIP's pools, OpenCL's sub-buffers, variables in LDS) cannot be seen from here.
#pragma once

#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

/// `checks`: accesses and copies. `reports_leaks`: as findings; otherwise a note says how much was never freed.
std::unique_ptr<Checker> make_memory_checker(Findings& findings, const CheckerContext& context, bool checks,
                                             bool reports_leaks);

}  // namespace Atoll::observe
