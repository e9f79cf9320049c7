// machine: the set of a wave's undefined (uninitialized) registers.
//
// An observer that tracks them (observe/shadow/register_shadow.h) owns it. Translated code, whose instructions are not
// reported one by one, reads and updates it (compiler/lowering/undefined_value_checks.h).
#pragma once

#include <cstdint>

#include "isa/effects.h"

namespace Atoll::machine {

struct UndefinedRegisters {
  static constexpr unsigned row_words = isa::vector_registers / 64, scalar_words = (isa::scalar_registers + 63) / 64;

  /// A bit for each vector register that has lanes with undefined bits, numbered as in isa::VectorSet ...
  uint64_t rows[row_words]{};
  /// ... and for each scalar register (isa::ScalarSet) with undefined bits.
  uint64_t scalars[scalar_words]{};
  /// By the vector register's number, the lanes that have undefined bits; whether all bits of these lanes are
  /// undefined, other than what the observer keeps of each bit; and where they came from, as a number of the
  /// observer's. Good for registers whose bit is set.
  uint64_t* lanes = nullptr;
  uint8_t* is_whole = nullptr;
  uint32_t* origins = nullptr;
  /// By the scalar register's number, its undefined bits and where they came from.
  uint32_t* scalar_bits = nullptr;
  uint32_t* scalar_origins = nullptr;

  bool has_row(unsigned number) const { return (rows[number / 64] >> number % 64 & 1) != 0; }
  uint64_t lanes_of(unsigned number) const { return has_row(number) ? lanes[number] : 0; }
  void set_lanes(unsigned number, uint64_t undefined) {
    const uint64_t bit = uint64_t{1} << number % 64;
    rows[number / 64] = undefined != 0 ? rows[number / 64] | bit : rows[number / 64] & ~bit;
    if (undefined != 0) lanes[number] = undefined;
  }
  bool has_scalar(unsigned number) const { return (scalars[number / 64] >> number % 64 & 1) != 0; }
  void set_scalar(unsigned number, bool is_undefined) {
    const uint64_t bit = uint64_t{1} << number % 64;
    scalars[number / 64] = is_undefined ? scalars[number / 64] | bit : scalars[number / 64] & ~bit;
  }
};

/// Operands of a 64-bit addition whose addend may have an undefined upper half. That is harmless unless the upper
/// half of the sum is used: compilers put any register there.
struct UpperHalf {
  static constexpr uint64_t none = UINT64_MAX;

  uint64_t addend;  ///< the vector register
  uint64_t sum;     ///< as undefined as that, or none
  uint64_t carry;   ///< the first scalar register of the mask that is as undefined as that, or none
};

/// Registers that a group of instructions, executed as one, reads before it writes them, and registers that it
/// writes. The array has as many words as UndefinedRegisters; all-zero words may be omitted.
struct RegisterUse {
  uint64_t word;       ///< of UndefinedRegisters::rows; from row_words on, of `scalars`
  uint64_t reads;      ///< in the lanes that EXEC has
  uint64_t reads_all;  ///< in all lanes
  uint64_t writes;     ///< in the lanes that EXEC has
};

}  // namespace Atoll::machine
