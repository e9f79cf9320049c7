// isa: the unit of the hardware that executes an instruction.
//
// Encoding, operation and flags of a row give it. Sources: the vendor's ISA guides, "Instruction issue"; for the
// transcendental unit the CDNA3 and RDNA3 guides; for double precision LLVM 22's SISchedule.td (Write64Bit,
// WriteDouble).
#pragma once

#include <cstdint>

#include "isa/table.h"

namespace Atoll::isa {

enum class Unit : uint8_t {
  none,
  salu,
  valu,
  transcendental,  ///< a quarter of the rate
  double_rate,     ///< VALU with double-precision floats
  matrix,
  smem,
  vmem,  ///< MUBUF, MTBUF, MIMG, and GLOBAL and SCRATCH, whose addresses need no LDS
  flat,  ///< VMEM and LDS, as the address decides
  lds,
  gds,
  export_,
  branch,
  message,  ///< branches, waits and messages leave the wave's instruction buffer without a unit of arithmetic
};

/// The unit of a row.
Unit unit_of(const InstructionRow& row);

/// The unit of a decoded instruction. A DS instruction with its gds bit is GDS'.
Unit unit_of(const Instruction& instruction);

/// True for the five encodings of the scalar ALU. SOPP, which is control, is among them.
constexpr bool is_scalar_alu(Encoding encoding) {
  switch (encoding) {
    case Encoding::sop1:
    case Encoding::sop2:
    case Encoding::sopk:
    case Encoding::sopc:
    case Encoding::sopp:
      return true;
    default:
      return false;
  }
}

/// True for the encodings of the vector ALU other than dual instructions and interpolation.
constexpr bool is_vector_alu(Encoding encoding) {
  switch (encoding) {
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
    case Encoding::vop3:
    case Encoding::vop3p:
      return true;
    default:
      return false;
  }
}

/// True for encodings that access memory through the vector caches, or scratch. VSAMPLE is GFX12's only and is not
/// among them.
constexpr bool is_vector_memory(Encoding encoding) {
  switch (encoding) {
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
    case Encoding::mubuf:
    case Encoding::mtbuf:
    case Encoding::mimg:
      return true;
    default:
      return false;
  }
}

/// True for instructions of the vector ALU in the wide sense: lanes of VGPRs in, VGPRs or a lane mask out.
constexpr bool is_vector_alu(Unit unit) {
  return unit == Unit::valu || unit == Unit::transcendental || unit == Unit::double_rate || unit == Unit::matrix;
}

std::string_view name_of(Unit unit);

}  // namespace Atoll::isa
