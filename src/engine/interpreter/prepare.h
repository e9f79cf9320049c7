// engine: converts an isa::Instruction to a MicroOp.
//
// Each family of instructions has a file with its handlers and one function declared here. It fills in the MicroOp and
// returns the handler, or null if the instruction belongs to another family or is not supported. prepare_op() replaces
// null by a fault with the instruction's name.
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

/// Handler of unsupported instructions: faults with the instruction's name.
void not_implemented(Wave& wave, const MicroOp* op, Run& run);

/// Returns the value of an operand that is the same for all waves: a constant or an aperture. nullopt for others.
std::optional<uint64_t> constant_value(const isa::Operand& operand);

/// Returns the current value of a scalar operand: SGPRs, constants, SCC, EXECZ, VCCZ, LDS_DIRECT.
uint64_t scalar_value(const Wave& wave, const isa::Operand& operand);

/// True for instructions without an effect here: waits, hints, and maintenance of caches and counters.
bool does_nothing(isa::Opcode opcode);
/// True for cache-control instructions. They are no-ops except that memory accesses may not be reordered across them.
bool orders_memory(isa::Opcode opcode);

/// Returns whether an operand is a VGPR or AGPR, with a value per lane.
inline bool is_row(const isa::Operand& operand) {
  return operand.kind == isa::OperandKind::vgpr || operand.kind == isa::OperandKind::agpr;
}

/// Returns the base of a VGPR or AGPR operand's rows; row offsets are relative to it.
inline RowBase row_base(const isa::Operand& operand) {
  return operand.kind == isa::OperandKind::agpr ? RowBase::agpr : RowBase::vgpr;
}
inline uint32_t row_offset(const isa::Operand& operand) { return operand.reg * uint32_t{sizeof(Row)}; }

/// Returns whether all registers of the instruction are among 256 VGPRs and 256 AGPRs (GFX12.5: 1024 VGPRs). The last
/// wave of a work-group is followed by rows for all of them (machine/wave/initial_state.cpp), so no instruction can
/// access other host memory, however few registers a wave has allocated.
bool registers_exist(const isa::Instruction& instruction);

}  // namespace Atoll::engine
