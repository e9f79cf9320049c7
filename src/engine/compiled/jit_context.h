// engine/compiled: the calling convention of translated code, and the context passed to it.
#pragma once

#include <cstdint>

#include "engine/compiled/block_events.h"
#include "engine/compiled/chunk_access.h"
#include "engine/compiled/filtered_access.h"
#include "engine/compiled/load_records.h"
#include "engine/compiled/undefined_values.h"
#include "engine/interpreter/micro_op.h"

namespace Atoll::engine {

/// Host code is position-independent, so that it can be cached on disk and used at any load address of the GPU code.
/// Everything that depends on addresses is in this context.
struct JitContext {
  uint64_t code_base;  ///< guest address of the code; the translation's PCs are relative to it
  const MicroOp* const*
      helper_ops;  ///< interpreter fallbacks (interpreter_fallback.h) and matrix instructions by number
  /// Returns 1 if the wave's dispatch should be preempted. Polled by translated loops.
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

/// Why a translated function returned. For `interpreted`, as after a failed access, Run::chunk is the chunk that the
/// region at Wave::pc had reached.
enum class ExitReason : uint8_t {
  stops,       ///< the wave has stopped
  goes_on,     ///< at Wave::pc, which is outside the function or not executed by it
  faults,      ///< the interpreter will determine the fault
  interpreted  ///< the interpreter has to continue at Wave::pc, even if code exists for it
};

/// A translated function. Runs a wave from the entry with that number.
using HostFunction = ExitReason (*)(Wave* wave, Run* run, uint64_t entry, const JitContext* context);

/// Calls the function. UndefinedBehaviorSanitizer would read a type signature before it, and there is no memory before
/// the first function.
[[clang::no_sanitize("function")]] inline ExitReason enter(HostFunction function, Wave* wave, Run* run, uint64_t entry,
                                                           const JitContext* context) {
  return function(wave, run, entry, context);
}

}  // namespace Atoll::engine
