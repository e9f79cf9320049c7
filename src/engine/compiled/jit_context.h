// engine/compiled: translated code as it is called, and what it needs at hand while it runs.
#pragma once

#include <cstdint>

#include "engine/compiled/block_events.h"
#include "engine/compiled/chunk_access.h"
#include "engine/compiled/filtered_access.h"
#include "engine/compiled/load_records.h"
#include "engine/compiled/undefined_values.h"
#include "engine/interpreter/micro_op.h"

namespace Atoll::engine {

/// Nothing absolute is in the host code, so that it can lie on disk and be used wherever the GPU code is loaded: what
/// depends on where that is, is here.
struct JitContext {
  uint64_t code_base;  ///< guest address from which the translation's PCs count
  const MicroOp* const*
      helper_ops;  ///< interpreter fallbacks (interpreter_fallback.h) and matrix instructions by number
  /// Whether the wave's dispatch is to be given up (1). Translated loops ask now and then.
  uint8_t (*must_stop)(const Wave* wave);
  AccessFunction access;                                                              ///< access_chunk()
  uint32_t (*hardware_register)(const machine::Wave* wave, uint16_t immediate);       ///< hardware_register.h
  uint64_t (*now)();                                                                  ///< the machine's clock
  void (*multiply)(Wave* wave, const MicroOp* const* ops, uint64_t count, Run* run);  ///< multiply_ops()
  FilteredAccessFunction filtered_access;                                             ///< filtered_access()
  UndefinedValueFunction registers_are_defined;                                       ///< registers_are_defined()
  void (*accesses_are_over)(const Wave* wave, CompiledRun* run);                      ///< accesses_are_over()
  void (*report_loads)(const Wave* wave, CompiledRun* run);                           ///< report_loads()
  ScalarLoadFunction report_scalar_load;                                              ///< report_scalar_load()
  PathFunction block_begins;                                                          ///< block_begins()
};

/// What a translated function yields. In the last case, as when an access fails, Run::chunk says how far the region
/// was that begins at Wave::pc.
enum class ExitReason : uint8_t {
  stops,       ///< the wave does
  goes_on,     ///< at Wave::pc, which is not in the function or not to be run by it
  faults,      ///< as the interpreter will find out
  interpreted  ///< the interpreter is to go on at Wave::pc, be there code for it or not
};

/// A translated function. It runs a wave from the entry of that number.
using HostFunction = ExitReason (*)(Wave* wave, Run* run, uint64_t entry, const JitContext* context);

/// Calls it. UndefinedBehaviorSanitizer would look for the function's type before it, where clang puts it; before
/// the first translated function there is no memory.
[[clang::no_sanitize("function")]] inline ExitReason enter(HostFunction function, Wave* wave, Run* run, uint64_t entry,
                                                           const JitContext* context) {
  return function(wave, run, entry, context);
}

}  // namespace Atoll::engine
