// engine: from an isa::Instruction to a MicroOp.
//
// Each family of instructions has its file, with its handlers and with one function here that prepares them: it fills
// in the MicroOp and returns the handler, or null for an instruction that is not the family's or that it cannot carry
// out (which prepare_op then makes a fault with the instruction's name).
#pragma once

#include <optional>

#include "engine/interpreter/code_cache.h"
#include "engine/interpreter/micro_op.h"

namespace Atoll::engine {

struct Preparation {
  OpMetadata& origin;
  const isa::Instruction& instruction;
  MicroOp& op;
  CodePage& page;
  CodeCache& cache;
};

Handler prepare_control(Preparation& p);            // control.cpp: branches, barriers, traps, messages, waits
Handler prepare_dual(Preparation& p);               // vopd.cpp: VOPD
Handler prepare_fork_join(Preparation& p);          // fork_join.cpp: s_cbranch_*_fork, s_cbranch_join
Handler prepare_hardware_register(Preparation& p);  // hardware_registers.cpp: s_getreg, s_setreg
Handler prepare_image(Preparation& p);              // image.cpp: the other instructions of images
Handler prepare_ray_tracing(Preparation& p);        // ray_tracing.cpp: image_bvh*_intersect_ray
Handler prepare_register_index(Preparation& p);     // register_index.cpp: s_set_gpr_idx_*, s_movrel*
Handler prepare_scalar(Preparation& p);             // scalar.cpp
Handler prepare_scalar_memory(Preparation& p);      // scalar_memory.cpp

ATOLL_HOST_ISA_BEGIN
Handler prepare_vector(Preparation& p);          // vector.cpp
Handler prepare_matrix(Preparation& p);          // matrix.cpp: MFMA, SMFMAC
Handler prepare_lane_operation(Preparation& p);  // cross_lane.cpp: v_readlane and its like
Handler prepare_flat_memory(Preparation& p);     // global_memory.cpp: FLAT, GLOBAL, SCRATCH
Handler prepare_buffer(Preparation& p);          // buffer.cpp: MUBUF, MTBUF
Handler prepare_lds(Preparation& p);             // lds.cpp: DS
ATOLL_HOST_ISA_END

/// The handler of an instruction that no family executes: a fault with its name.
void not_implemented(Wave& wave, const MicroOp* op, Run& run);

/// The value of an operand that no wave changes: a constant or an aperture. Null for the others.
std::optional<uint64_t> constant_value(const isa::Operand& operand);

/// The words of a scalar operand now: SGPRs and the like, constants, SCC, EXECZ, VCCZ, LDS_DIRECT.
uint64_t scalar_value(const Wave& wave, const isa::Operand& operand);

/// Whether an instruction has nothing to do here: waits, hints, and upkeep of caches and counters that there are not.
bool does_nothing(isa::Opcode opcode);
/// Whether all that an instruction does is to write back or invalidate caches, which there are not: only, accesses
/// after it are not to come before those ahead of it.
bool orders_memory(isa::Opcode opcode);

/// Whether an operand is a VGPR or an AGPR, and so has a value for each lane.
inline bool is_row(const isa::Operand& operand) {
  return operand.kind == isa::OperandKind::vgpr || operand.kind == isa::OperandKind::agpr;
}

/// Where the rows of a VGPR or AGPR operand are: the base and the byte offset from it.
inline RowBase row_base(const isa::Operand& operand) {
  return operand.kind == isa::OperandKind::agpr ? RowBase::agpr : RowBase::vgpr;
}
inline uint32_t row_offset(const isa::Operand& operand) { return operand.reg * uint32_t{sizeof(Row)}; }

/// Whether every register that the instruction names is one of 256 VGPRs and 256 AGPRs, on GFX12.5 of 1024 VGPRs.
/// Behind the registers of a work-group's last wave there are rows for all of them (machine/wave/initial_state.cpp), so
/// whatever a wave has allocated, none of its instructions can touch other memory of the host.
bool registers_exist(const isa::Instruction& instruction);

}  // namespace Atoll::engine
