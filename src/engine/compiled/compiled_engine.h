// engine/compiled: the compiled engine: translates GPU machine code to host code.
//
// Life of a kernel: the interpreter starts it and counts its instructions (entry_table.h). Once it is hot, follow()
// builds the control-flow graph (control_flow.h), which is sent to the compiler (translation.h, compilations.h). The
// compiler is a separate process (compiler_process.h, src/compiler), because LLVM could collide with the program's own
// LLVM and with exit(). The result is mapped into memory (host_code.h) and called from then on. Untranslated
// instructions call the interpreter's handlers (interpreter_fallback.h). If any step fails, the interpreter continues.
#pragma once

#include <memory>

#include "machine/engine.h"
#include "machine/observer.h"
#include "target/target.h"

namespace Atoll::engine {

std::unique_ptr<machine::Engine> make_compiled_engine(const target::Target& target);

/// Creates the engine for an observed machine. The observer may subscribe only to events that compiled code reports,
/// and must outlive the engine.
std::unique_ptr<machine::Engine> make_observed_compiled_engine(const target::Target& target,
                                                               machine::Observer& observer);

}  // namespace Atoll::engine
