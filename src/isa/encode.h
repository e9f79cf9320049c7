// isa: from Instruction to bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "isa/instruction.h"
#include "support/error.h"
#include "target/processor.h"

namespace Atoll::isa {

/// The bytes of an instruction.
struct Encoded {
  std::array<uint8_t, 20> bytes{};
  uint8_t size = 0;

  std::span<const uint8_t> view() const { return std::span(bytes).first(size); }
};

/// The bytes of `instruction` on `processor`, in the encoding and with the extension (SDWA, DPP) that it names; what
/// decode() makes of them is the instruction again. A constant becomes an inline constant where there is one, and a
/// literal where there is none or where `is_literal` says so; then Instruction::literal is what stands after the
/// instruction. The error says which operand or modifier the encoding cannot hold. Lane masks have the width of
/// `wave_size`, as for decode().
support::Result<Encoded> encode(const Instruction& instruction, const target::Processor& processor,
                                unsigned wave_size = 0);

}  // namespace Atoll::isa
