// compiler: checks for undefined registers, for observers that track them (machine/wave/undefined_registers.h).
//
// Before each check interval of a block (analysis/check_intervals.h) code checks whether all registers that it reads
// are defined. If not, the wave leaves to the interpreter, which reports each instruction, so that the observer can
// propagate undefined bits. If so, everything that the interval writes counts as defined. Loaded values may be
// undefined: the engine reports such loads (access_filter.h) at the end of the interval, and the observer updates its
// shadow of their registers.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/analysis/check_intervals.h"
#include "compiler/lowering/frame.h"

namespace Atoll::compiler {

class UndefinedValueChecks {
 public:
  explicit UndefinedValueChecks(Frame& frame) : frame_(frame) {}

  /// Emits the check at the insertion point, before the interval and outside any region. `leave` is called in the block
  /// where the wave leaves.
  template <typename Leave>
  void begin(const CheckInterval& interval, const Leave& leave) {
    llvm::BasicBlock* undefined = look_at(interval);
    if (undefined == nullptr) return;
    const llvm::IRBuilderBase::InsertPointGuard guard(frame_.ir);
    frame_.ir.SetInsertPoint(undefined);
    leave();
  }
  /// Called after an interval that accesses memory.
  void end_accesses();

 private:
  /// Continues if everything is defined. Returns the other successor, which has no terminator; null: none.
  llvm::BasicBlock* look_at(const CheckInterval& interval);
  llvm::Value* undefined_registers();
  llvm::Value* in_memory(std::span<const uint64_t> numbers);
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(frame_.context, name, frame_.function); }

  Frame& frame_;
};

}  // namespace Atoll::compiler
