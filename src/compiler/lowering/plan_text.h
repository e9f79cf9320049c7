// compiler: prints plans of regions (region_plan.h) for `atoll-compiler --dump-regions` and for messages.
//
// For a region it prints its instructions, the registers it reads, writes, and keeps in host vector registers (holds),
// its chunk loops, and where and how each instruction is executed. For a loop it also prints the conditions under which
// chunks continue and exit.
#pragma once

#include <string>

#include "compiler/lowering/region_plan.h"

namespace Atoll::compiler {

/// "v[0:3] v7 a0"; "s[2:3] vcc scc".
std::string names_of(const VectorSet& rows);
std::string names_of(const ScalarSet& registers);
std::string name_of_scalar(unsigned reg);

std::string print(const RegionPlan& plan);
std::string print(const LoopPlan& plan, const engine::ControlFlow& flow, const Liveness& liveness);

}  // namespace Atoll::compiler
