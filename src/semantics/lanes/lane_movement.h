// semantics: what moves data between the lanes of a wave by their position: DPP, ds_swizzle, ds_permute and
// ds_bpermute, v_readlane and its like, v_permlane.
//
// Most of these are a LaneMap: for every lane, the lane that its value comes from. A map depends on the instruction
// alone, so an engine makes it once when it decodes, and applies it each time the instruction runs. What the
// instructions differ in is what becomes of lanes whose source does not exist or is switched off by EXEC.
#pragma once

#include <cstdint>
#include <optional>

#include "isa/instruction.h"
#include "semantics/registry.h"

namespace Atoll::semantics {

/// For every lane of a wave, where its value comes from.
struct LaneMap {
  uint8_t from[wave_lanes];  ///< a lane's own number where it has no source
  uint64_t in_range;         ///< lanes that have a source
};

// --- DPP: the first source of a VOP1, VOP2 or VOPC instruction, read from other lanes -------------------------------

/// A DPP control, ready to be applied (ISA guides, "DPP").
struct DppMove {
  LaneMap map;
  uint64_t enabled;     ///< lanes that row_mask and bank_mask let be written
  bool zero_invalid;    ///< a lane without a valid source reads 0 (bound_ctrl) rather than not being written
  bool fetch_inactive;  ///< a source lane that EXEC switches off is valid
};

/// The move of a DPP16 or DPP8 instruction, with the controls of every generation; nothing if the control is none.
std::optional<DppMove> dpp_move(isa::Extension extension, const isa::Dpp& dpp);

ATOLL_HOST_ISA_BEGIN
/// Reads `source` through the move into `result` (not the same row), 0 in lanes without a valid source. Yields the
/// lanes that the instruction writes: its EXEC. A 64-bit source is two rows, each moved on its own.
uint64_t apply_dpp(const DppMove& move, uint64_t exec, const Row& source, Row& result);
ATOLL_HOST_ISA_END

// --- ds_swizzle_b32, ds_permute_b32, ds_bpermute_b32 ----------------------------------------------------------------
// All three read 0 from lanes that EXEC switches off, and fill the whole result row; it is the caller who writes
// back only the lanes of EXEC. `result` must be none of the sources.

/// The map of ds_swizzle_b32's 16-bit offset: quad permute, bit masks within 32 lanes, rotation, or FFT order.
LaneMap swizzle_map(uint16_t offset);
ATOLL_HOST_ISA_BEGIN
void swizzle(const LaneMap& map, uint64_t exec, const Row& source, Row& result);

/// Push: each lane of EXEC sends its value to lane (address + offset) / 4; of several senders the highest lane wins.
/// Lanes are counted within groups of `reach`, 32 or 64 (target::Processor::permute_lanes, and the wave's size).
void permute(uint64_t exec, const Row& address, uint16_t offset, const Row& source, Row& result, unsigned reach);
/// Pull: each lane reads the value of lane (address + offset) / 4, likewise.
void backward_permute(uint64_t exec, const Row& address, uint16_t offset, const Row& source, Row& result,
                      unsigned reach);
ATOLL_HOST_ISA_END

// --- Between one lane and the scalar registers ----------------------------------------------------------------------

/// v_readlane_b32: EXEC has no part in it.
inline uint32_t read_lane(const Row& row, uint32_t lane) { return row[lane % wave_lanes]; }
/// v_writelane_b32: EXEC has no part in it.
inline void write_lane(Row& row, uint32_t lane, uint32_t value) { row[lane % wave_lanes] = value; }
/// v_readfirstlane_b32: reads the lowest lane of EXEC, or lane 0 if EXEC is 0.
inline uint32_t read_first_lane(const Row& row, uint64_t exec) {
  return row[exec == 0 ? 0 : static_cast<unsigned>(__builtin_ctzll(exec))];
}

// --- gfx950
// -----------------------------------------------------------------------------------------------------------

/// ds_read_b*_tr_b*: what 16 lanes have loaded, `lane_bits` bits each, are the rows of a tile of 16 columns, one after
/// the other, of elements of `element_bits`; each lane gets the column of its number. `result` is not `loaded`.
void transpose_tiles(const Row* loaded, unsigned lane_bits, unsigned element_bits, Row* result);

/// global_load_tr_b128 and global_load_tr_b64 in waves of 32 lanes: what 8 lanes have loaded are the rows of a tile of
/// 8 columns; each lane gets the column of its number. (Measured on gfx1201 by others for elements of 16 bits, by
/// transposing the numbers 0 to 255; the layout of WMMA's matrices asks for the same of 8 bits.) `result` is not
/// `loaded`.
void transpose_octets(const Row* loaded, unsigned element_bits, Row* result);

/// v_permlane16_swap_b32, v_permlane32_swap_b32: of each 2 * `width` lanes, the second half of `a` and the first of `b`
/// change places. A lane that EXEC switches off is not written, and not read unless `fetch_inactive`: instead of its
/// value there is 0 if `zero_inactive`, else nothing changes.
void swap_halves(Row& a, Row& b, unsigned width, uint64_t exec, bool fetch_inactive, bool zero_inactive);

// --- v_permlane (GFX10 and later) -----------------------------------------------------------------------------------

/// v_permlane16_b32: within each row of 16 lanes, lane n reads lane selects[4n+3:4n]; v_permlanex16_b32 (`crossed`)
/// reads it from the other row of the pair. A source lane that EXEC switches off is valid if `fetch_inactive`; lanes
/// without a valid one read 0 if `zero_invalid`, else they are not written (LLVM, llvm.amdgcn.permlane16).
DppMove permlane16_move(uint64_t selects, bool crossed, bool fetch_inactive, bool zero_invalid);
/// v_permlane16_var_b32, v_permlanex16_var_b32: each lane has its own select.
DppMove permlane16_var_move(const Row& selects, bool crossed, bool fetch_inactive, bool zero_invalid);
/// v_permlane64_b32: the wave's halves change places, whatever EXEC says of the source lanes. In waves of 32 it does
/// nothing.
DppMove permlane64_move();

}  // namespace Atoll::semantics
