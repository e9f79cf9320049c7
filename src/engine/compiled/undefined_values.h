// engine/compiled: checks whether translated code reads undefined registers
// (compiler/lowering/undefined_value_checks.h).
#pragma once

#include <cstdint>

namespace Atoll::machine {
struct RegisterUse;
struct UndefinedRegisters;
struct UpperHalf;
struct Wave;
}  // namespace Atoll::machine

namespace Atoll::engine {

/// Called by translated code before instructions with that register use. Returns whether all registers read are defined
/// (except unused upper halves). If so, marks the written registers as defined, except those derived from such halves.
using UndefinedValueFunction = uint8_t (*)(const machine::Wave* wave, machine::UndefinedRegisters* undefined,
                                           const machine::RegisterUse* uses, uint64_t count,
                                           const machine::UpperHalf* upper_halves, uint64_t upper_half_count);
uint8_t registers_are_defined(const machine::Wave* wave, machine::UndefinedRegisters* undefined,
                              const machine::RegisterUse* uses, uint64_t count, const machine::UpperHalf* upper_halves,
                              uint64_t upper_half_count);

}  // namespace Atoll::engine
