// engine: the interpreter.
//
// It decodes each instruction once into a prepared form (MicroOp) and executes it for the whole wave before the next:
// operands are fetched into rows, semantics computes, and the result is written under EXEC.
#pragma once

#include <memory>

#include "machine/engine.h"
#include "machine/observer.h"
#include "target/target.h"

namespace Atoll::engine {

std::unique_ptr<machine::Engine> make_interpreter(const target::Target& target);

/// Creates the interpreter for an observed machine; the observer must outlive it.
std::unique_ptr<machine::Engine> make_observed_interpreter(const target::Target& target, machine::Observer& observer);

/// Makes an interpreter with an exact budget: it preempts a wave after that many instructions. `observer` may be null.
std::unique_ptr<machine::Engine> make_stepping_interpreter(const target::Target& target, machine::Observer* observer);

}  // namespace Atoll::engine
