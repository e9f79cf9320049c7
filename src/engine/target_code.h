// engine: decodes code for execution. The result can depend on the GPU and the wave's registers besides the code.
#pragma once

#include <cstdint>
#include <span>

#include "isa/instruction.h"
#include "machine/wave/wave.h"
#include "support/error.h"
#include "target/target.h"

namespace Atoll::engine {

/// The number of registers that a kernel's waves have.
struct RegisterCounts {
  static constexpr uint16_t all = 0xFFFF;
  uint16_t sgprs = all, vgprs = all, agprs = all;

  RegisterCounts() = default;
  RegisterCounts(const machine::Wave& wave, const target::Target& target);
  friend bool operator==(const RegisterCounts&, const RegisterCounts&) = default;

  /// Returns whether the wave has all registers of an instruction.
  bool include(const isa::Instruction& instruction) const;
};

/// Decodes the first instruction of `code` as the target executes it. Hardware registers use the numbers of namespace
/// isa::hardware.
support::Result<isa::Instruction> decode(std::span<const uint8_t> code, const target::Target& target);

/// Returns the equivalent of an instruction with nonexistent registers. Reads of missing registers return s0 or v0;
/// writes are ignored (Vega and CDNA ISA guides, "Out-of-range behavior").
isa::Instruction without_missing(const isa::Instruction& instruction, const RegisterCounts& registers);

/// Does both, for waves with these registers and VGPR banks (isa/vgpr_banks.h).
support::Result<isa::Instruction> decode(std::span<const uint8_t> code, const target::Target& target,
                                         const RegisterCounts& registers, uint8_t banks = 0);

}  // namespace Atoll::engine
