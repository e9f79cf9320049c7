// engine/compiled: the compiled engine: GPU machine code translated to host code.
//
// The way through the folder: the interpreter starts a kernel, and the engine counts what it does (entry_table.h). When
// that is much, follow() finds the code that can be reached (control_flow.h), which is sent to the compiler
// (translation.h, compilations.h): a process of its own (compiler_process.h, and the room src/compiler), because LLVM
// in the program's process could collide with the program's LLVM, and outlive exit(). What comes back is placed in
// memory (host_code.h) and called from then on; instructions that have no translation are executed by the
// interpreter's handlers in between (interpreter_fallback.h). Whatever fails on this way, the interpreter goes on.
#pragma once

#include <memory>

#include "machine/engine.h"
#include "machine/observer.h"
#include "target/target.h"

namespace Atoll::engine {

std::unique_ptr<machine::Engine> make_compiled_engine(const target::Target& target);

/// The same for a machine that is observed, by one who wants nothing that compiled code cannot tell. The observer must
/// outlive it.
std::unique_ptr<machine::Engine> make_observed_compiled_engine(const target::Target& target,
                                                               machine::Observer& observer);

}  // namespace Atoll::engine
