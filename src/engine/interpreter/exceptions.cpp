#include "engine/interpreter/exceptions.h"

#include <bit>

#include <fmt/format.h>

#include "isa/table.h"

namespace Atoll::engine {

bool raise_exceptions(Wave& wave, const MicroOp& op, const semantics::DoneOperation& done, uint64_t exec) {
  namespace exception = semantics::exception;
  const uint32_t raised = semantics::exceptions_of(done, exec, wave.float_mode);
  wave.trap_status |= raised;
  const uint32_t trapped = raised & wave.mode >> exception::enable_shift & exception::all;
  if (trapped == 0) return true;
  uint64_t lanes = exec;  // the first that raises it
  while (lanes != 0 && (semantics::exceptions_of(done, lanes & -lanes, wave.float_mode) & trapped) == 0) {
    lanes &= lanes - 1;
  }
  fault(wave, op.origin->pc, machine::Fault::Kind::exception,
        fmt::format("{}, which MODE enables", semantics::names_of_exceptions(trapped)), 0, false,
        lanes != 0 ? static_cast<unsigned>(std::countr_zero(lanes)) : 0);
  return false;
}

}  // namespace Atoll::engine
