// semantics: the way from an opcode to the function that carries it out.
//
// Every instruction that is a pure function of register values is found here by its opcode, as a native
// function over whole register rows (vector) or over words (scalar). What the engine must do itself is not
// here: control flow, memory addresses, waits, messages, and whatever moves data between lanes by position.
#pragma once

#include <cstdint>

#include "isa/opcode.h"
#include "semantics/lanes/lanes.h"
#include "target/processor.h"

namespace Atoll::semantics {

/// One VGPR of a wave: 64 lanes of 32 bits. A 64-bit value is two rows, the low words first.
using Row = uint32_t[wave_lanes];

/// How an operand holds floating-point numbers: half precision in the low half of a register or in both, single
/// precision in a register or in each of two, double precision in two.
enum class Floating : uint8_t { none, half, half_pair, single, single_pair, twice };

/// The operands of a vector function that the rounding and denormal mode concerns (float_mode.h).
struct FloatUse {
  Floating src[4]{};
  Floating old = Floating::none;  ///< the destination's old value, where it is a source
  Floating dst = Floating::none;
  bool overflows = true;  ///< infinite results can come of overflow

  constexpr bool any() const {
    bool found = old != Floating::none || dst != Floating::none;
    for (const Floating source : src) found |= source != Floating::none;
    return found;
  }
};

/// One call of a vector instruction over a whole wave.
struct VectorCall {
  uint64_t exec;      ///< lanes to write; other lanes of the result rows keep what they have
  Row* dst[2];        ///< first row of each vector result; may be one of the sources
  const Row* src[4];  ///< first row of each vector source, 64-byte aligned
  uint64_t mask_in;   ///< carry-in or selector, bit per lane (operations with a Mask source)
  uint64_t mask_out;  ///< result: compare result or carry-out; inactive lanes are 0
  uint64_t mask2_in;  ///< second Mask source where there are two
  FloatMode mode;
  bool mode_applied;    ///< set within run_in_mode() (float_mode.h): the function finds the mode dealt with
  bool clamp;           ///< the clamp bit, for functions that saturate an integer result themselves
  uint8_t truth_table;  ///< of v_bitop3
  /// For integer dot products whose neg bits select which of the first two sources are signed: one bit for
  /// each.
  uint8_t signed_sources;
  uint32_t first_lane;  ///< of a chunk that is called alone (row.h, run_alone); 0 otherwise
};
using VectorFunction = void (*)(VectorCall&);

/// Parameters of a vector function in C++ types: their widths must agree with the instruction table.
struct VectorShape {
  VectorFunction call = nullptr;
  uint8_t dst_words[2]{};  ///< registers that each vector result spans (1 for 8-, 16- and 32-bit elements)
  uint8_t src_words[4]{};
  uint8_t destinations = 0, sources = 0;  ///< vector results and sources
  uint8_t masks_in = 0;                   ///< Mask sources; they follow the vector sources
  bool mask_out = false;                  ///< yields a Mask (beside a vector result: a carry)
  bool reads_dst = false;  ///< the last source is the destination's old value (v_mac, v_fmac, dot accumulators)
  bool writes_low_half_only = false;  ///< a 16-bit result that leaves the upper half of the register as it was
  bool mixed_sources = false;         ///< sources are of single or half precision as op_sel_hi says (modifiers.h)
  uint8_t source_part = 0;            ///< the width of the part of the first source that op_sel chooses: 8, 16; 0: none
  bool writes_one_byte = false;       ///< op_sel chooses the byte of the result's register
  bool has_truth_table = false;       ///< v_bitop3
  bool has_signed_sources = false;    ///< neg of the first two sources says that they are signed (v_dot4_i32_iu8)
  FloatUse float_use{};               ///< for run_in_mode(); none: the function takes no notice of the mode
  bool handles_clamp = false;         ///< applies the clamp bit itself; otherwise clamp is the engine's [0, 1] step
};

ATOLL_HOST_ISA_BEGIN
/// The vector function of an opcode on that generation; `call` is null where semantics has none. Code that is itself
/// made for a level gets its own level's, other code that of the level in use (host_vectors.h). Who runs nothing but
/// GFX9 need not say the generation.
const VectorShape& vector_function(isa::Opcode opcode, target::Generation generation = target::Generation::gfx9);
ATOLL_HOST_ISA_END

/// One call of a scalar instruction. 64-bit values are whole; narrower ones are zero-extended.
struct ScalarCall {
  uint64_t src[3];
  uint64_t dst;   ///< in: the destination's old value (s_bitset, s_cmov, s_addk, ...); out: the result
  uint64_t exec;  ///< in and out: s_*_saveexec
  bool scc;       ///< in and out
};
using ScalarFunction = void (*)(ScalarCall&);

/// The scalar function of an opcode (SOP1, SOP2, SOPK, SOPC that are arithmetic or logic), or null.
/// Integer widths come from the instruction table. Sources are the instruction's in the order of the text, SOPK's
/// 16-bit immediate among them, extended or not: the function does it.
ScalarFunction scalar_function(isa::Opcode opcode);

}  // namespace Atoll::semantics
