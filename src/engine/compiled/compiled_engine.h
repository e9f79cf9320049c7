// engine/compiled: the compiled engine: GPU machine code translated to host code through LLVM.
//
// The way through the folder: follow() finds the basic blocks of a kernel (control_flow.h); translate() makes one
// LLVM function of them (translate.h), vector instructions by regions (region.h), out of the semantics room's own
// functions, which are there as bitcode (semantics_bitcode.h); HostCompiler makes it host code (host_code.h). This
// happens on a thread of its own, while the interpreter runs the kernel; what cannot be translated stays with it.
//
// In the making. Missing: vector memory, LDS, SDWA and DPP within regions (each is a single step now), the modes other
// than the usual one, a cache on disk, tests. And the thread has to become a process: LLVM makes global objects while
// it compiles, which exit() destroys before any handler of ours can stop the thread.
#pragma once

#include <memory>

#include "machine/engine.h"
#include "target/processor.h"

namespace Atoll::engine {

std::unique_ptr<machine::Engine> make_compiled_engine(const target::Processor& processor);

}  // namespace Atoll::engine
