// compiler: waves that begin where others have ended (machine::WaveBatch).
//
// A kernel of few instructions has many waves, and to begin one and call its code takes as long as the code. So the
// code goes on by itself: where a wave ends, the next one of its work-group begins in the same Wave and rows, and what
// differs between them is put in its place.
#pragma once

#include "compiler/analysis/liveness.h"
#include "compiler/lowering/frame.h"

namespace Atoll::compiler {

class WaveChaining {
 public:
  /// `start`: what is live where waves begin. `written`: rows that the function may change.
  WaveChaining(Frame& frame, const Live& start, const VectorSet& written)
      : frame_(frame), start_(start), rows_written_(written) {}

  /// Whether it takes little to begin a wave of such a kernel.
  static bool can(const Live& start);

  /// Emits, where the builder stands and a wave has ended, the way to `begin`, where the next one begins, or to `done`
  /// if there is none.
  void emit(llvm::BasicBlock* begin, llvm::BasicBlock* done);

 private:
  void begin_wave(llvm::Value* series, llvm::Value* waves_left, llvm::Value* index);

  Frame& frame_;
  const Live& start_;
  const VectorSet rows_written_;
};

}  // namespace Atoll::compiler
