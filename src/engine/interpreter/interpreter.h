// engine: how waves are run.
//
// This file: the interpreter. It decodes each instruction once, keeps it in a form that is quick to run, and
// carries it out over the whole wave before the next: operands are fetched into register rows, semantics does the
// work, the result is written under EXEC.
#pragma once

#include <memory>

#include "machine/engine.h"
#include "machine/observer.h"
#include "target/target.h"

namespace Atoll::engine {

std::unique_ptr<machine::Engine> make_interpreter(const target::Target& target);

/// The same for a machine that is observed; the observer must outlive it.
std::unique_ptr<machine::Engine> make_observed_interpreter(const target::Target& target, machine::Observer& observer);

/// Makes an interpreter with an exact budget: it preempts a wave after that many instructions. `observer` may be null.
std::unique_ptr<machine::Engine> make_stepping_interpreter(const target::Target& target, machine::Observer* observer);

}  // namespace Atoll::engine
