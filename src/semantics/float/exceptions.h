// semantics: the exceptions that floating-point operations raise, as TRAPSTS collects them and MODE enables them.
//
// Only kernels that look for them pay: which exceptions an operation has raised is found out afterwards, lane by
// lane, from its sources and its result. What the documents leave open: input denormals are raised where the mode keeps
// them; operations that are approximations raise neither underflow nor inexact.
// Source: Vega and CDNA ISA guides, "TRAPSTS" and "MODE register" (EXCP, EXCP_EN); IEEE 754 for when each is raised.
#pragma once

#include <cstdint>
#include <string>

#include "isa/instruction.h"
#include "semantics/registry.h"

namespace Atoll::semantics {

/// Bits of TRAPSTS.EXCP; those of MODE.EXCP_EN stand in the same order.
namespace exception {
inline constexpr uint32_t invalid = 1, input_denormal = 2, division_by_zero = 4, overflow = 8, underflow = 16,
                          inexact = 32, integer_division_by_zero = 64;
inline constexpr uint32_t all = 127;
inline constexpr unsigned enable_shift = 12;  ///< of EXCP_EN in MODE
}  // namespace exception

/// Whether an instruction may raise any.
bool may_raise_exceptions(const isa::Instruction& instruction);

/// One operation that has been executed: its sources with their modifiers applied, what its destination held before
/// and the result before any modifier (null: it has none).
struct DoneOperation {
  const isa::Instruction& instruction;
  const isa::Operand* const* operands;  ///< of the sources
  const Row* const* sources;
  unsigned source_count = 0;
  const Row* old = nullptr;  ///< if it is a source as well; else null
  const Row* result = nullptr;
};

/// The exceptions that it raises in these lanes.
uint32_t exceptions_of(const DoneOperation& done, uint64_t exec, const FloatMode& mode);

/// "division by zero, inexact result"
std::string names_of_exceptions(uint32_t exceptions);

}  // namespace Atoll::semantics
