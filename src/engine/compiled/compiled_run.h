// engine/compiled: the state of one call of Engine::run in which translated code may execute: a Run, and what the
// instrumentation of translated code (instrumentation.h) keeps beside it.
//
// Translated code gets a pointer to the Run, which is the first member, and reaches the rest by offsets from it.
#pragma once

#include <type_traits>
#include <vector>

#include "engine/compiled/filtered_access.h"
#include "engine/interpreter/micro_op.h"
#include "machine/wave/undefined_registers.h"

namespace Atoll::engine {

struct LoadRecords;

struct CompiledRun {
  Run run;
  PassedFilter ordinary;
  std::vector<FilteredAccess> filtered_accesses;
  bool has_filtered_accesses = false;                ///< not filtered_accesses.empty(), for translated code
  LoadRecords* loads = nullptr;                      ///< null: translated code records no loads
  machine::UndefinedRegisters* undefined = nullptr;  ///< the wave's if they are tracked, ...
  machine::UndefinedRegisters nothing_undefined;     ///< ... else this, in which no bit is ever set
};
static_assert(std::is_standard_layout_v<CompiledRun>);  // so that a pointer to the Run points to all of it

/// Returns the calling thread's CompiledRun as the last run left it.
CompiledRun& compiled_run_of_thread();

}  // namespace Atoll::engine
