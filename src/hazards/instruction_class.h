// hazards: the classes of instructions and the roles of registers that hazards are stated in.
//
// A row of the hazard table (hazard_table.h) names classes ("a transcendental instruction") and roles ("a VGPR that it
// reads"). This file maps a decoded instruction to both. All classification by opcode, encoding or flag of the room's
// hazards is here, so that columns of the instruction table can replace it.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "hazards/register_range.h"
#include "isa/effects.h"
#include "isa/instruction.h"
#include "target/processor.h"

namespace Atoll::hazards {

enum class InstructionClass : uint8_t {
  any,
  vector_alu,          ///< VALU, including dual instructions, interpolation and copies to LDS
  vector_nop,          ///< v_nop
  transcendental,      ///< executed by the transcendental unit
  scalar_writing_alu,  ///< a VALU instruction with a scalar result besides its vector result, or a comparison
  exec_comparison,     ///< v_cmpx
  dpp,
  lane_select,         ///< v_readlane_b32, v_writelane_b32
  lane_read,           ///< v_readlane_b32, v_readfirstlane_b32
  lane_access,         ///< all three
  division_fixup,      ///< v_div_fmas
  permlane,            ///< v_permlane16_b32 and its kind
  permlane_swap,       ///< v_permlane16_swap_b32, v_permlane32_swap_b32
  wave_matrix,         ///< WMMA, SWMMAC
  vector_memory,       ///< buffers, images, flat, global, scratch
  non_flat_memory,     ///< of these, buffers and images
  vector_memory_only,  ///< of these, all but copies to LDS
  wide_nsa_image,      ///< an image whose NSA address makes it 16 bytes or longer
  unaligned_buffer,    ///< a buffer access with bit 1 or 2 of its offset set
  float_atomic,        ///< a floating-point atomic of vector memory
  lds,                 ///< DS instructions
  memory,              ///< vector memory and DS instructions
  vector,              ///< vector ALU and memory instructions
  lds_or_copy,         ///< DS instructions and copies to LDS
  lds_direct,          ///< lds_direct_load, lds_param_load
  late_lds_direct,     ///< of these, those that do not wait for VM_VSRC themselves
  lds_nop,             ///< ds_nop
  async_arrive,        ///< ds_atomic_async_barrier_arrive_b64
  export_,
  scalar_memory,
  scalar_alu,          ///< SALU, including SOPP
  chained_scalar_alu,  ///< SALU that takes part in the order of results: neither SOPP nor a wait
  alu,                 ///< vector and scalar ALU
  scalar,              ///< scalar ALU and memory
  sgpr_reading_salu,   ///< SALU that reads an SGPR
  vcc_using_salu,      ///< SALU that reads or writes VCC
  vcc_writing_valu,    ///< VALU that writes VCC
  in_flight,           ///< what s_waitcnt_depctr waits for: all but SOPP
  set_hardware,        ///< s_setreg
  get_hardware,        ///< s_getreg
  set_mode,            ///< s_setreg of MODE as a whole word's first bit
  set_any_mode,        ///< s_setreg of any bits of MODE
  get_status,          ///< s_getreg of a register that has the state of exceptions
  denorm_mode,         ///< s_denorm_mode
  set_vgpr_msb,        ///< s_set_vgpr_msb
  uses_m0,             ///< an instruction that takes an index or an address from M0
  counter_wait,        ///< s_waitcnt and its successors
  branch,
  leaves_function,  ///< calls, returns and indirect branches
  dual,             ///< VOPD, VOPD3
  count
};
using ClassSet = std::bitset<static_cast<size_t>(InstructionClass::count)>;

template <typename... Classes>
ClassSet classes(Classes... wanted) {
  ClassSet set;
  (set.set(static_cast<size_t>(wanted)), ...);
  return set;
}

ClassSet classes_of(const isa::Instruction& instruction, const isa::Effects& effects);

/// Which registers of an instruction a hazard is about.
enum class Role : uint8_t {
  none,        ///< the instruction itself
  reads_sgpr,  ///< SGPRs and VCC
  writes_sgpr,
  reads_sgpr_pair,  ///< likewise, SGPRs by their number in pairs, without VCC
  writes_tracked,   ///< SGPRs without VCC
  reads_tracked,
  reads_vcc,
  writes_vcc,
  reads_scalar,  ///< SGPRs, VCC, M0 and EXEC
  names_scalar,  ///< likewise, as a result that the instruction names
  reads_exec,
  writes_exec,
  writes_m0,
  m0,                   ///< M0, whether the instruction names it or not
  exec,                 ///< EXEC, likewise
  hardware_register,    ///< of s_getreg and s_setreg
  lane_selection,       ///< an SGPR that selects a lane
  lane_mask,            ///< an SGPR that a VALU instruction takes a bit for each lane from
  writes_scratch_sgpr,  ///< s102 and s103, from which SRC_FLAT_SCRATCH_BASE is forwarded
  reads_scratch_base,   ///< by the numbers of these
  reads_vgpr,
  writes_vgpr,
  accesses_vgpr,  ///< reads or writes
  names_vgpr,     ///< VGPRs that are sources by name
  names_half,     ///< halves of VGPRs that are sources by name: twice the VGPR's number, and 1 for the upper half
  writes_half,    ///< likewise, halves of VGPRs that are results
  writes_part,    ///< of a VGPR
  dpp_source,
  lane_source,  ///< the VGPR that a lane is read from
  stored_data,  ///< of a store of more than 64 bits
  matrix_result,
  matrix_factors,     ///< A, B and, from GFX12 on, the index
  shared_gather,      ///< sources of a dual instruction's halves in one slot and of one parity
  forwarded_product,  ///< sources of v_mad_u64_u32 that its result overlaps
  last_of_granule,    ///< sources of VOPD3's second half, of which an allocation granule may end
};

/// The registers of an instruction in that role: numbers of isa::ScalarSet or isa::VectorSet; a 0 for Role::none.
std::vector<uint16_t> registers_in(Role role, const isa::Instruction& instruction, const isa::Effects& effects,
                                   const target::Processor& processor);

/// Whether the numbers of a role are those of vector registers.
bool is_vector_role(Role role);

/// The register that a number of a role stands for.
constexpr unsigned register_of(Role role, unsigned number) {
  return role == Role::names_half || role == Role::writes_half ? number / 2 : number;
}

/// The vector registers that an instruction names as sources, in the order of its operands.
std::vector<RegisterRange> named_sources(const isa::Instruction& instruction);

}  // namespace Atoll::hazards
