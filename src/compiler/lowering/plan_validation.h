// compiler: validates the plan of a region (region_plan.h).
//
// A valid plan has the same effect as the wave's program order. The checks are independent of how plans are made: they
// follow the instructions again. Every plan is validated in every build, since this is cheap compared with LLVM; a
// kernel with an invalid plan stays in the interpreter.
#pragma once

#include <string>
#include <vector>

#include "compiler/lowering/region_plan.h"

namespace Atoll::compiler {

/// Returns one line per fault; empty if the plan is valid.
std::vector<std::string> faults_of(const RegionPlan& plan);
std::vector<std::string> faults_of(const LoopPlan& plan, const engine::ControlFlow& flow, const Liveness& liveness);

}  // namespace Atoll::compiler
