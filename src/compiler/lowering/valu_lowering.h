// compiler: vector instructions as IR, on one chunk of lanes.
//
// An instruction is emitted in two steps. prepare() takes the scalar operands as they are then; emit() carries the
// instruction out on a chunk, perhaps later and within a loop over the chunks: so scalars can be computed before
// that loop, once.
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

  /// Whether the instruction's lanes don't meet (beyond 16 lanes), and its operands are of kinds known here.
  static bool takes(const isa::Instruction& instruction);
  /// Whether a lane's result depends on other lanes' sources; and on those of other chunks. The latter, a region has as
  /// its first instruction only: they are read as they are before the first chunk.
  static bool reads_other_lanes(const isa::Instruction& instruction);
  static bool crosses_chunks(const isa::Instruction& instruction);

  struct Source {
    llvm::Value* scalar[2] = {nullptr, nullptr};  ///< words of a scalar or constant; null: a row
    isa::Operand operand;
  };
  /// An instruction that takes() accepts, with its scalar operands. The instruction itself must stay where it is.
  struct Prepared {
    const isa::Instruction* instruction = nullptr;
    semantics::VectorShape shape;
    Source source[4];
    const isa::Operand* result = nullptr;
    const isa::Operand* mask_result = nullptr;
    const isa::Operand* mask = nullptr;
    llvm::Value* mask_whole = nullptr;  ///< 64 bits; null: the mask is varying
    llvm::Value* exec_whole = nullptr;  ///< 64 bits, of an instruction that crosses chunks
    semantics::FloatMode mode;          ///< that the wave is in
  };
  /// `varying` tells whether a register pair is varying.
  template <typename Sliced>
  Prepared prepare(const isa::Instruction& instruction, ScalarRegisters& registers, Sliced varying) {
    Prepared prepared = prepare(instruction, registers);
    if (prepared.mask != nullptr && !varying(prepared.mask->reg)) {
      prepared.mask_whole = lane_mask(frame_, registers, prepared.mask->reg);
    }
    return prepared;
  }

  /// `keep_inactive`: lanes outside EXEC keep what they have; otherwise they may get anything.
  void emit(const Prepared& prepared, bool keep_inactive, ChunkState& chunk);

 private:
  Prepared prepare(const isa::Instruction& instruction, ScalarRegisters& registers);
  static VectorOperation operation(const Prepared& prepared);
  template <typename T>
  llvm::Value* constant(const T& value);
  /// A row's words for the chunk, each from the lane that the move says; 0 in lanes that are not valid.
  llvm::Value* moved(const Prepared& prepared, const semantics::DppMove& move, unsigned key, ChunkState& chunk);
  llvm::Value* valid_lanes(const Prepared& prepared, const semantics::DppMove& move, ChunkState& chunk);
  /// The lanes that the chunk's lanes read, as 32-bit numbers.
  llvm::Value* sources_of(const semantics::LaneMap& map, ChunkState& chunk);
  /// Which of these lanes are in a mask of the whole wave.
  llvm::Value* are_in(llvm::Value* mask, llvm::Value* lanes);
  llvm::Value* words_of(llvm::Value* row, llvm::Value* lanes, llvm::Value* valid);
  void emit_exchange(const Prepared& prepared, bool keep_inactive, ChunkState& chunk);
  void emit_move(const Prepared& prepared, bool keep_inactive, ChunkState& chunk);
  static void emit_swap(const isa::Instruction& instruction, bool keep_inactive, ChunkState& chunk);

  Frame& frame_;
  Operations& operations_;
};

}  // namespace Atoll::compiler
