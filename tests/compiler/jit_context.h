// The JitContext that translated code needs, for tests that enter it without an engine.
#pragma once

#include "engine/compiled/jit_context.h"
#include "engine/compiled/load_records.h"
#include "engine/interpreter/hardware_register.h"
#include "engine/interpreter/matrix.h"

namespace Atoll::test {

/// Makes a context as Translations does, with a clock that stands still. `helper_ops` may be null.
inline engine::JitContext make_jit_context(uint64_t code_base, const engine::MicroOp* const* helper_ops) {
  return {.code_base = code_base,
          .helper_ops = helper_ops,
          .must_stop = [](const machine::Wave*) -> uint8_t { return 0; },
          .access = engine::access_chunk,
          .hardware_register = engine::hardware_register,
          .now = [] { return uint64_t{0}; },
          .multiply = engine::multiply_ops,
          .filtered_access = engine::filtered_access,
          .registers_are_defined = engine::registers_are_defined,
          .accesses_are_over = engine::accesses_are_over,
          .report_loads = engine::report_loads,
          .report_scalar_load = engine::report_scalar_load,
          .block_begins = engine::block_begins};
}

}  // namespace Atoll::test
