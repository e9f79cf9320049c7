// isa: the list of opcodes. One enumerator per row of the instruction table (table/), named as the vendor and
// LLVM name the instruction, without the _e32, _e64, _sdwa and _dpp suffixes that only tell its encoding.
// An instruction that was renamed without changing its meaning is one row with several names.
#pragma once

#include <cstdint>

namespace Atoll::isa {

enum class Opcode : uint16_t {
  invalid,
#include "isa/opcode_names.inc"  // generated from table/*.inc by cmake/OpcodeNames.cmake
  count
};

}  // namespace Atoll::isa
