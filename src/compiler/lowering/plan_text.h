// compiler: the plans of regions as text (region_plan.h), for `atoll-compiler --dump-regions` and for messages.
//
// Of a region it says which instructions are in it, which registers it begins with (reads), leaves behind (writes) and
// has in the host's vector registers meanwhile (holds), what its loops over chunks are, and then of each instruction
// where and how it is executed; of a loop, also under which conditions chunks go on and leave.
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
