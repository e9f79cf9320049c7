// compiler: lowers vector instructions on one chunk of lanes.
//
// Lowering has two steps. prepare() evaluates the scalar operands; emit() emits the instruction for a chunk, possibly
// later and inside the chunk loop. Scalars are thus computed once, before the loop.
#pragma once

#include "compiler/lowering/chunk_state.h"
#include "compiler/lowering/operation.h"
#include "isa/instruction.h"
#include "semantics/lanes/lane_movement.h"
#include "semantics/registry.h"

namespace Atoll::compiler {

class ValuLowering {
 public:
  ValuLowering(Frame& frame, Operations& operations) : frame_(frame), operations_(operations) {}

  Operations& operations() { return operations_; }

  /// Returns whether the instruction is lane-wise (at most within 16 lanes) and its operands are supported.
  static bool takes(const isa::Instruction& instruction);
  /// Returns whether a lane's result depends on other lanes, or on other chunks. The latter may only be the first
  /// instruction of a region, because it reads rows from before the first chunk.
  static bool reads_other_lanes(const isa::Instruction& instruction);
  static bool crosses_chunks(const isa::Instruction& instruction);

  struct Source {
    llvm::Value* scalar[2] = {nullptr, nullptr};  ///< words of a scalar or constant; null: a row
    isa::Operand operand;
  };
  /// A supported instruction with its scalar operands. The instruction must outlive it.
  struct Prepared {
    const isa::Instruction* instruction = nullptr;
    semantics::VectorShape shape;
    Source source[4];
    const isa::Operand* result = nullptr;
    const isa::Operand* mask_result = nullptr;
    const isa::Operand* mask = nullptr;
    llvm::Value* mask_whole = nullptr;  ///< 64 bits; null: the mask is varying
    llvm::Value* exec_whole = nullptr;  ///< i64, for an instruction that crosses chunks
    semantics::FloatMode mode;          ///< mode of the wave
  };
  /// `varying` returns whether a register pair is a varying mask.
  template <typename Sliced>
  Prepared prepare(const isa::Instruction& instruction, ScalarRegisters& registers, Sliced varying) {
    Prepared prepared = prepare(instruction, registers);
    if (prepared.mask != nullptr && !varying(prepared.mask->reg)) {
      prepared.mask_whole = lane_mask(frame_, registers, prepared.mask->reg);
    }
    return prepared;
  }

  /// `keep_inactive`: lanes outside EXEC are preserved; otherwise they are arbitrary.
  void emit(const Prepared& prepared, bool keep_inactive, ChunkState& chunk);

 private:
  Prepared prepare(const isa::Instruction& instruction, ScalarRegisters& registers);
  static VectorOperation operation(const Prepared& prepared);
  template <typename T>
  llvm::Value* constant(const T& value);
  /// Returns a row's words for the chunk, permuted by `move`; 0 in invalid lanes.
  llvm::Value* moved(const Prepared& prepared, const semantics::DppMove& move, unsigned key, ChunkState& chunk);
  llvm::Value* valid_lanes(const Prepared& prepared, const semantics::DppMove& move, ChunkState& chunk);
  /// Returns the source lanes of the chunk's lanes as i32.
  llvm::Value* sources_of(const semantics::LaneMap& map, ChunkState& chunk);
  /// Returns which of these lanes are in a mask of the whole wave.
  llvm::Value* are_in(llvm::Value* mask, llvm::Value* lanes);
  llvm::Value* words_of(llvm::Value* row, llvm::Value* lanes, llvm::Value* valid);
  void emit_exchange(const Prepared& prepared, bool keep_inactive, ChunkState& chunk);
  void emit_move(const Prepared& prepared, bool keep_inactive, ChunkState& chunk);
  static void emit_swap(const isa::Instruction& instruction, bool keep_inactive, ChunkState& chunk);

  Frame& frame_;
  Operations& operations_;
};

}  // namespace Atoll::compiler
