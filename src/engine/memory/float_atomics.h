// engine: denormal handling of the interpreter's float atomics.
#pragma once

#include "engine/interpreter/vector.h"
#include "engine/target_code.h"
#include "semantics/memory/atomic.h"

namespace Atoll::engine {

/// Returns how an atomic on memory treats denormals.
inline semantics::Denormals memory_denormals(const Wave& wave, const Run& run, semantics::AtomicOperation operation,
                                             unsigned bytes) {
  return semantics::memory_atomic_denormals(operation, bytes, wave.float_mode, *run.code->target().processor);
}

/// Returns how a flat atomic at `address` treats denormals: LDS and memory have different rules.
inline semantics::Denormals flat_denormals(const Wave& wave, const Run& run, semantics::AtomicOperation operation,
                                           unsigned bytes, uint64_t address) {
  const machine::WorkGroup& group = *wave.work_group;
  const bool on_lds = address - reinterpret_cast<uint64_t>(group.lds) < group.lds_bytes;
  return on_lds ? semantics::lds_atomic_denormals(operation, bytes, wave.float_mode)
                : memory_denormals(wave, run, operation, bytes);
}

}  // namespace Atoll::engine
