// compiler: the host code of a loop region (loop_region.h): a loop over the chunks around the region's own blocks.
#pragma once

#include <functional>
#include <map>

#include "compiler/analysis/loop_region.h"
#include "compiler/lowering/chunk_loop.h"
#include "compiler/lowering/region_plan.h"
#include "compiler/lowering/salu_lowering.h"
#include "compiler/lowering/valu_lowering.h"
#include "compiler/memory/chunk_memory.h"

namespace Atoll::compiler {

/// Emits one region, once.
class LoopLowering {
 public:
  LoopLowering(Frame& frame, ValuLowering& lanes, SaluLowering& scalars, const engine::ControlFlow& flow,
               const Liveness& liveness, const LoopPlan& plan)
      : frame_(frame),
        lanes_(lanes),
        scalars_(scalars),
        memory_(frame, lanes.operations(), /*has_bases_checked=*/false),
        flow_(flow),
        liveness_(liveness),
        plan_(plan),
        region_(plan.region) {}

  /// Emits the region where the builder stands. After it, the rows and the Wave are as the region leaves them, and
  /// the builder stands in a block of its own for each exit, which `leave` has to end.
  void emit(const std::function<void(uint64_t exit)>& leave);

 private:
  // The loop over the chunks, around the rounds of each.
  void make_locals();
  void choose_chunks(llvm::Value* exec, const ChunkLoop& loop, llvm::BasicBlock* begin, llvm::BasicBlock* idle);
  void begin_chunk(llvm::Value* exec, llvm::Value* first_lane);
  void end_chunk(const ChunkLoop& loop, ChunkState& chunk);
  void skip_chunk(const ChunkLoop& loop, llvm::Instruction* once_end);
  void give_back();
  void finish();
  void emit_exits(const std::function<void(uint64_t exit)>& leave);

  // The region's own code.
  void emit_rounds(const ChunkLoop& loop, llvm::BasicBlock* end, ChunkState& chunk);
  void emit_block(uint64_t pc, ChunkState& chunk);
  void emit(const engine::Located& at, bool is_needed, VaryingMasks& state, ChunkState& chunk);
  void emit_poll(llvm::Value* count);
  llvm::Value* is_not_zero(const BlockEnd& end, const VaryingMasks& state, ChunkState& chunk);
  /// Masks that are whole here and varying where the code goes on.
  void slice_for(const VaryingMasks& here, const VaryingMasks& there, ChunkState& chunk);

  llvm::BasicBlock* new_block(const char* name);
  llvm::Value* new_local(uint64_t value);
  llvm::Value* load(llvm::Value* from) { return frame_.ir.CreateLoad(frame_.i64(), from); }
  void add_to_count(llvm::Value* instructions);

  Frame& frame_;
  ValuLowering& lanes_;
  SaluLowering& scalars_;
  ChunkMemory memory_;
  const engine::ControlFlow& flow_;
  const Liveness& liveness_;
  const LoopPlan& plan_;
  const LoopRegion& region_;

  std::map<uint64_t, llvm::BasicBlock*> blocks_;  ///< of the region, and one for each exit
  llvm::BasicBlock* stopped_ = nullptr;           ///< in the middle, for good
  llvm::BasicBlock* given_back_ = nullptr;        ///< to begin anew; null: never

  // Locals of 64 bits.
  std::map<unsigned, llvm::Value*> masks_;  ///< gathered
  llvm::Value* gathered_scc_ = nullptr;
  std::map<unsigned, llvm::Value*> words_;  ///< as the last chunk leaves them
  llvm::Value* scc_ = nullptr;
  llvm::Value *count_ = nullptr, *next_poll_ = nullptr;  ///< instructions of this chunk
  llvm::Value* longest_ = nullptr;                       ///< those of the chunk with the most
  llvm::Value* way_out_ = nullptr;                       ///< the number of the exit

  llvm::Value* backoff_address_ = nullptr;
  llvm::Value* had_backoff_ = nullptr;
  llvm::Value* waits_ = nullptr;  ///< instructions until the wave is given back to begin anew
};

}  // namespace Atoll::compiler
