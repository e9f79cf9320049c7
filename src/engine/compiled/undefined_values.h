// engine/compiled: whether what translated code reads is defined, where somebody follows that
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

/// Called by translated code, which is about to execute instructions with that use of registers: whether what they read
/// is defined, but for upper halves that are not used. Then what they write is, too, from then on, but for what comes
/// of these.
using UndefinedValueFunction = uint8_t (*)(const machine::Wave* wave, machine::UndefinedRegisters* undefined,
                                           const machine::RegisterUse* uses, uint64_t count,
                                           const machine::UpperHalf* upper_halves, uint64_t upper_half_count);
uint8_t registers_are_defined(const machine::Wave* wave, machine::UndefinedRegisters* undefined,
                              const machine::RegisterUse* uses, uint64_t count, const machine::UpperHalf* upper_halves,
                              uint64_t upper_half_count);

}  // namespace Atoll::engine
