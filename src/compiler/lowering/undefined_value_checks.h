// compiler: looks at whether registers are defined, for one who follows that (machine/wave/undefined_registers.h).
//
// Before each stretch of a block (analysis/check_intervals.h) the code looks at whether what the stretch reads is
// defined. If not, the wave leaves, and the interpreter goes on, which tells of each instruction, so that the observer
// follows undefined bits through them. If so, all that the stretch writes counts as defined from then on. What it loads
// may not be: the engine tells of such loads (access_filter.h) at the stretch's end, and the observer changes what is
// known of their registers.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/analysis/check_intervals.h"
#include "compiler/lowering/frame.h"

namespace Atoll::compiler {

class UndefinedValueChecks {
 public:
  explicit UndefinedValueChecks(Frame& frame) : frame_(frame) {}

  /// Where the builder stands, before the stretch; no region is open. `leave` is called where the wave leaves.
  template <typename Leave>
  void begin(const CheckInterval& interval, const Leave& leave) {
    llvm::BasicBlock* undefined = look_at(interval);
    if (undefined == nullptr) return;
    const llvm::IRBuilderBase::InsertPointGuard guard(frame_.ir);
    frame_.ir.SetInsertPoint(undefined);
    leave();
  }
  /// After a stretch that accesses memory.
  void end_accesses();

 private:
  /// Goes on where all is defined; returns where the other way goes, without an end; null: there is none.
  llvm::BasicBlock* look_at(const CheckInterval& interval);
  llvm::Value* undefined_registers();
  llvm::Value* in_memory(std::span<const uint64_t> numbers);
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(frame_.context, name, frame_.function); }

  Frame& frame_;
};

}  // namespace Atoll::compiler
