// compiler: emits a loop region (loop_region.h): a chunk loop around the region's own blocks.
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

  /// Emits the region at the insertion point. Afterwards rows and Wave are up to date, and `leave` is called in a
  /// separate block for each exit, which it has to terminate.
  void emit(const std::function<void(uint64_t exit)>& leave);

 private:
  // Emits the chunk loop.
  void make_locals();
  void choose_chunks(llvm::Value* exec, const ChunkLoop& loop, llvm::BasicBlock* begin, llvm::BasicBlock* idle);
  void begin_chunk(llvm::Value* exec, llvm::Value* first_lane);
  void end_chunk(const ChunkLoop& loop, ChunkState& chunk);
  void skip_chunk(const ChunkLoop& loop, llvm::Instruction* once_end);
  void give_back();
  void finish();
  void emit_exits(const std::function<void(uint64_t exit)>& leave);

  // Emits the region's blocks.
  void emit_rounds(const ChunkLoop& loop, llvm::BasicBlock* end, ChunkState& chunk);
  void emit_block(uint64_t pc, ChunkState& chunk);
  void emit(const engine::Located& at, bool is_needed, VaryingMasks& state, ChunkState& chunk);
  void emit_poll(llvm::Value* count);
  llvm::Value* is_not_zero(const BlockEnd& end, const VaryingMasks& state, ChunkState& chunk);
  /// Converts masks that are whole here and varying at the successor.
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

  std::map<uint64_t, llvm::BasicBlock*> blocks_;  ///< the region's blocks, and one per exit
  llvm::BasicBlock* stopped_ = nullptr;           ///< faulted inside
  llvm::BasicBlock* given_back_ = nullptr;        ///< left to start again; null: never

  // Locals of 64 bits.
  std::map<unsigned, llvm::Value*> masks_;  ///< gathered
  llvm::Value* gathered_scc_ = nullptr;
  std::map<unsigned, llvm::Value*> words_;  ///< values that the last chunk leaves
  llvm::Value* scc_ = nullptr;
  llvm::Value *count_ = nullptr, *next_poll_ = nullptr;  ///< instructions of this chunk
  llvm::Value* longest_ = nullptr;                       ///< instructions of the longest chunk
  llvm::Value* way_out_ = nullptr;                       ///< index of the exit

  llvm::Value* backoff_address_ = nullptr;
  llvm::Value* had_backoff_ = nullptr;
  llvm::Value* waits_ = nullptr;  ///< instructions until the wave is preempted to start again
};

}  // namespace Atoll::compiler
