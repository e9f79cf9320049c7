// compiler: what is wrong with the plan of a region (region_plan.h).
//
// A plan that is carried out as it stands must do what the wave does in its own order. These checks know nothing of how
// plans come about: they follow the instructions once more. Every plan is checked before code is made from it, in every
// build, for that takes little beside LLVM's time; a kernel whose plan is refused stays with the interpreter.
#pragma once

#include <string>
#include <vector>

#include "compiler/lowering/region_plan.h"

namespace Atoll::compiler {

/// A line for each fault; none: the plan is right.
std::vector<std::string> faults_of(const RegionPlan& plan);
std::vector<std::string> faults_of(const LoopPlan& plan, const engine::ControlFlow& flow, const Liveness& liveness);

}  // namespace Atoll::compiler
