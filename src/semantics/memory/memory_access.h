// semantics: what a memory instruction moves: how many bytes, between which parts of which registers, and for
// an atomic, what it computes. One table for DS, FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF and SMEM.
//
// How the address comes about is no part of it: that is the encoding's and the machine's business.
#pragma once

#include <cstdint>

#include "isa/instruction.h"
#include "semantics/memory/atomic.h"

namespace Atoll::semantics {

struct MemoryAccess {
  enum class Kind : uint8_t {
    none,                  ///< moves no data (cache control, GWS), or is no memory instruction
    load,                  ///< memory to registers
    store,                 ///< registers to memory
    atomic,                ///< `operation` on memory
    load_to_lds,           ///< memory to LDS, at M0 and the lane's place; also what a MUBUF load with its lds bit does
    store_from_lds,        ///< buffer_store_lds_dword
    append,                ///< ds_append: adds the number of active lanes to one word, for the wave; old value to all
    consume,               ///< ds_consume: subtracts it
    load_block,            ///< of 32 registers, those whose bits M0 has, from memory where they have their places, too
    store_block,           ///< the same to memory
    conditional_exchange,  ///< ds_condxchg32: exchanges each of two words whose data has bit 31, without that bit
  };
  /// Which half of its register a value of 16 bits or less is in; the other half stays as it was, or becomes 0.
  enum class Half : uint8_t { none, low, high };

  Kind kind = Kind::none;
  uint8_t bytes = 0;         ///< of each element in memory: 1 to 16 (SMEM: to 64); 0 where the format says (components)
  uint8_t elements = 1;      ///< 2 for the DS forms with two offsets, which have an element at each
  uint16_t offset_unit = 1;  ///< bytes that one step of a DS offset means; more than 1 only with two offsets
  bool sign_extend = false;  ///< of loaded bytes and shorts
  Half half = Half::none;    ///< D16 loads and stores of one value
  bool clears_other_half = false;  ///< D16 loads: bits that get no value become 0 (target::Target::d16_loads_clear)
  uint8_t components = 0;          ///< formatted access: 1 to 4 components, converted (buffer_format.h); else 0
  bool is_d16 = false;             ///< formatted access with 16 bits for each component, two to a register
  bool by_lane = false;      ///< *_addtid: 4 * lane is added to the address (DS: M0[15:0]; GLOBAL: the base) and offset
  bool data_in_lds = false;  ///< ds_*_src2: the data come from a second LDS address, see src2_address()
  AtomicOperation operation = AtomicOperation::none;
  bool returns = false;  ///< a DS instruction that yields the old value; all others do if their glc bit is set

  /// Whether a load keeps half of what its result register held.
  bool keeps_half() const { return half != Half::none && !clears_other_half; }
  /// Registers that one element's data fill.
  unsigned words() const { return components != 0 ? (is_d16 ? (components + 1u) / 2 : components) : (bytes + 3u) / 4; }
};

/// Names one of the table's rows in compiled code.
enum class AccessNumber : uint32_t {};
AccessNumber access_number(const isa::Instruction& instruction);

/// Data that an instruction moves; of kind `none` if it moves nothing.
const MemoryAccess& memory_access(AccessNumber number);
inline const MemoryAccess& memory_access(const isa::Instruction& instruction) {
  return memory_access(access_number(instruction));
}

/// The second LDS address of a ds_*_src2 instruction: `address` plus a signed distance in words, which the two offset
/// fields hold, or, if the top bit of offset1 is set, the upper half of the address itself (Vega ISA guide, "DS
/// instructions with two LDS addresses").
constexpr uint32_t src2_address(uint32_t address, uint8_t offset0, uint8_t offset1) {
  const int32_t words = (offset1 & 0x80) != 0
                            ? static_cast<int32_t>(address) >> 17
                            : static_cast<int32_t>(static_cast<uint32_t>(offset1 << 8 | offset0) << 17) >> 17;
  return address + static_cast<uint32_t>(words) * 4;
}

}  // namespace Atoll::semantics
