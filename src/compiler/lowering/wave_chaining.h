// compiler: wave chaining: translated code starts the next wave itself (machine::WaveBatch).
//
// A short kernel has many waves, and starting one and calling its code takes as long as the code. Where a wave ends,
// the next one of its work-group therefore starts in the same Wave and rows, with only the differences updated.
#pragma once

#include "compiler/analysis/liveness.h"
#include "compiler/lowering/frame.h"

namespace Atoll::compiler {

class WaveChaining {
 public:
  /// `start`: registers live at the start of waves. `written`: rows that the function may change.
  WaveChaining(Frame& frame, const Live& start, const VectorSet& written)
      : frame_(frame), start_(start), rows_written_(written) {}

  /// Returns whether starting a wave of such a kernel is cheap.
  static bool can(const Live& start);

  /// Emits, at the end of a wave, the branch to `begin`, where the next one starts, or to `done` if there is none.
  void emit(llvm::BasicBlock* begin, llvm::BasicBlock* done);

 private:
  void begin_wave(llvm::Value* series, llvm::Value* waves_left, llvm::Value* index);

  Frame& frame_;
  const Live& start_;
  const VectorSet rows_written_;
};

}  // namespace Atoll::compiler
