// observe: the `memory` and `leak` checkers: each access must be inside live memory.
//
// Bounds are exact to the byte: runtime allocations (allocations.h), variables of loaded code, kernel arguments, the
// work-group's LDS and the lane's scratch. Suballocations that a language runtime makes by itself (HIP's pools,
// OpenCL's sub-buffers, variables in LDS) are not visible here.
#pragma once

#include <memory>

#include "observe/checkers.h"

namespace Atoll::observe {

/// `checks`: checks accesses and copies. `reports_leaks`: reports leaks as findings; otherwise a note gives their
/// total.
std::unique_ptr<Checker> make_memory_checker(Findings& findings, const CheckerContext& context, bool checks,
                                             bool reports_leaks);

}  // namespace Atoll::observe
