// engine: decoding code that is to run: what an instruction does can depend on the GPU and on the wave's registers, not
// only on the code.
#pragma once

#include <cstdint>
#include <span>

#include "isa/instruction.h"
#include "machine/wave/wave.h"
#include "support/error.h"
#include "target/target.h"

namespace Atoll::engine {

/// How many registers waves of a kernel have.
struct RegisterCounts {
  static constexpr uint16_t all = 0xFFFF;
  uint16_t sgprs = all, vgprs = all, agprs = all;

  RegisterCounts() = default;
  RegisterCounts(const machine::Wave& wave, const target::Target& target);
  friend bool operator==(const RegisterCounts&, const RegisterCounts&) = default;

  /// Whether the wave has all registers that an instruction names.
  bool include(const isa::Instruction& instruction) const;
};

/// The instruction that `code` begins with, as the target executes it. Hardware registers have the numbers of namespace
/// isa::hardware.
support::Result<isa::Instruction> decode(std::span<const uint8_t> code, const target::Target& target);

/// What an instruction that names other registers than these does. Where it reads one that is missing, it reads s0 or
/// v0; where it writes one, it does nothing (Vega and CDNA ISA guides, "Out-of-range behavior").
isa::Instruction without_missing(const isa::Instruction& instruction, const RegisterCounts& registers);

/// Both, for code of waves with these registers, whose instructions name VGPRs of these banks (isa/vgpr_banks.h).
support::Result<isa::Instruction> decode(std::span<const uint8_t> code, const target::Target& target,
                                         const RegisterCounts& registers, uint8_t banks = 0);

}  // namespace Atoll::engine
